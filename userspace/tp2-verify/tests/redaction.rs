// SPDX-License-Identifier: GPL-2.0-only

//! Planted private values do not come out of a report, and what has to stay the same stays the same.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made ends the test")]

mod support;

use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::PermissionsExt,
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde_json::json;
use support::{CONFIG, RELEASE, Tree, run, two_cards, two_cards_overridden};
use tp2_verify::{
    archive,
    collect::{
        Root,
        record::{Entry, Record, Seen},
    },
    redact::{culprit, redact},
};

const PLANTED: [&str; 25] = [
    "sk-secret",
    "wifi",
    "hunter2",
    "erin",
    "secret-kernel-line",
    "bobs-box",
    "corp.example",
    "bob",
    "Bob Miller",
    "alice",
    "sesame",
    "0f3a2b1c-1111-4222-8333-0123456789ab",
    "11112222333344445555666677778888",
    "52:54:00:12:34:56",
    "10.11.12.13",
    "fe80::dead:1",
    "12609507387757274807",
    "1234567890123456789",
    "112210f47de98115",
    "PF2ABCDE",
    "carol@",
    "ks.corp",
    "/dev/mapper/vg",
    "my-user-id",
    "dave",
];

const REFUSED: &str =
    "amdgpu 0000:05:00.0: PCIe P2P access from peer device 0000:08:00.0 is not supported by the chipset";

/// A machine with private values wherever a collector reads.
fn private() -> Tree {
    let tree = two_cards_overridden("8086:6f00");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    writeln!(encoder, "{CONFIG}CONFIG_MODULE_SIG_KEY=\"/home/dave/key.pem\"").unwrap();
    let release = format!("{RELEASE}-bobs-box");
    let node = |number| format!("sys/devices/virtual/kfd/kfd/topology/nodes/{number}/properties");
    for number in [1, 2] {
        let path = node(number);
        let old = fs::read_to_string(tree.path().join(&path)).unwrap();
        tree.file(&path, &format!("{}\nunique_id 1234567890123456789", old.trim()));
    }
    tree.file("proc/sys/kernel/hostname", "bobs-box.corp.example")
        .file("etc/passwd", "bob:x:1000:1000:Bob Miller,,,:/home/bob:/bin/sh\namd:x:1001:1001::/home/amd:/bin/sh")
        .file("home/alice/x", "")
        .file("etc/os-release", "NAME=\"erin\"\nID=debian\nHOME_URL=http://erin")
        .bytes("proc/self/environ", b"VLLM_API_KEY=sk-secret\0CUDA_TOKEN=sk-secret\0A=\xff\0NCCL_DEBUG=INFO\0")
        .file("etc/modprobe.d/site.conf", "# ask erin\noptions wifi key=hunter2\noptions amdgpu pcie_p2p=1\nalias erin x")
        // As a link, the file is recorded under another name.
        .file("data/dkms", "# erin\nmok_password=hunter2\nmok_certificate=\"/etc/mok.der\" # erin\nmok_signing_key=/erin")
        .link("etc/dkms/framework.conf", "../../data/dkms")
        .file("data/log", &format!("[ 1.0] secret-kernel-line erin\n[ 2.0] {REFUSED}\n[ 3.0] usb: Erin's phone"))
        .link("tp2/kernel-log", "../data/log")
        .file("etc/machine-id", "11112222333344445555666677778888")
        .file("proc/sys/kernel/osrelease", &release)
        .file("proc/version", &format!("Linux version {release} (carol@build.corp.example) (gcc 14.2.0) #1 SMP"))
        .file(
            "proc/cmdline",
            "root=UUID=0f3a2b1c-1111-4222-8333-0123456789ab cryptdevice=/dev/mapper/vg:sesame ip=10.11.12.13 \
             ifname=eth0:52:54:00:12:34:56 ks=http://bob:sesame@ks.corp.example/x iommu=pt pci=10.11.12.13,fe80::dead:1 \
             systemd.machine_id=11112222333344445555666677778888 user=my-user-id quiet erin pci_key=hunter2",
        )
        .file("sys/class/dmi/id/product_name", "X99 of Bob Miller")
        .bytes("proc/config.gz", &encoder.finish().unwrap())
        .file(
            &format!("lib/modules/{release}/modules.dep"),
            "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst:\nupdates/bob/bobs-box.ko:",
        )
        .file(&format!("lib/modules/{release}/modules.builtin"), "kernel/fs/ext4/ext4.ko");
    tree
}

#[test]
fn planted_values_do_not_come_out() {
    let tree = private();
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("r.tar.gz");
    let before = tree.json();
    let written = tree.run(&["report", "-o", file.to_str().unwrap()]);
    assert_eq!(written.exit, 0, "{}", written.stderr);
    let listed = tree.run(&["report", "--dry-run"]).stdout;
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(&file).unwrap()).read_to_end(&mut bytes).unwrap();
    let mut all = String::from_utf8_lossy(&bytes).into_owned();
    let record = archive::open(&file).unwrap();
    let config = record.entries["proc/config.gz"].content.as_ref().unwrap().as_ref().unwrap();
    GzDecoder::new(config.as_slice()).read_to_string(&mut all).unwrap();
    for text in [&all, &written.stdout, &listed] {
        for value in PLANTED {
            assert!(!text.contains(value), "{value} came out");
        }
    }
    for kept in [
        "NCCL_DEBUG=INFO",
        "options amdgpu pcie_p2p=1",
        "mok_certificate=\"/etc/mok.der\"",
        REFUSED,
        "iommu=pt",
        "quiet",
        "root=REMOVED",
        "gcc 14.2.0",
        "drm/amd/amdgpu",
        "7.0.0-38-generic-host",
        "CONFIG_MODULE_SIG_KEY=\"/home/user",
    ] {
        assert!(all.contains(kept), "{kept} is missing");
    }
    let after = run(&["replay", file.to_str().unwrap(), "--json"]);
    let after: serde_json::Value = serde_json::from_str(&after.stdout).unwrap();
    assert_eq!((&before["verdict"], &before["pairs"]), (&after["verdict"], &after["pairs"]));
}

#[test]
fn a_hive_stays_a_hive() {
    let tree = two_cards("8086:6f00");
    tree.kfd_gpu_at(1, 0, 0x05, "hive_id 12609507387757274807").kfd_gpu_at(2, 0, 0x08, "hive_id 12609507387757274807");
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("r.tar.gz");
    assert_eq!(tree.run(&["report", "-o", file.to_str().unwrap()]).exit, 0);
    let after = run(&["replay", file.to_str().unwrap(), "--json"]).stdout;
    assert!(after.contains("joined by XGMI") && !after.contains("12609507387757274807"), "{after}");
}

fn file(content: &[u8]) -> Entry {
    Entry { content: Some(Ok(content.to_vec())), ..Entry::new(Ok(Seen::File)) }
}

/// Redacts files of a machine without names.
fn redacted(files: &[(&str, &[u8])]) -> Record {
    let tree = two_cards("8086:6f00");
    let mut record = Record::default();
    for (path, content) in files {
        record.entries.insert((*path).to_owned(), file(content));
    }
    redact(&record, &Root::open(tree.path()).unwrap())
}

fn text(record: &Record, path: &str) -> String {
    String::from_utf8_lossy(record.entries[path].content.as_ref().unwrap().as_ref().unwrap()).into_owned()
}

#[test]
fn serial_numbers_keep_their_identity() {
    let gpu = "sys/devices/pci0000:00/0000:05:00.0";
    let other = "sys/devices/pci0000:00/0000:08:00.0";
    let node = "sys/devices/virtual/kfd/kfd/topology/nodes/1/properties";
    let mut config = vec![0x5a; 4096];
    // An ACS capability at 0x100 leads to a serial number at 0x200, the last.
    config[0x100..0x104].copy_from_slice(&0x2001_000d_u32.to_le_bytes());
    config[0x200..0x204].copy_from_slice(&0x0001_0003_u32.to_le_bytes());
    config[0x204..0x20c].copy_from_slice(&1_234_567_890_123_456_789_u64.to_le_bytes());
    let record = redacted(&[
        (&format!("{gpu}/unique_id"), b"112210f47de98115\n"),
        (&format!("{other}/unique_id"), b"00000000deadbeef\n"),
        (&format!("{gpu}/serial_number"), b"PF2ABCDE\n"),
        (&format!("{gpu}/config"), &config),
        (node, b"hive_id 0\nunique_id 1234567890123456789\nsimd_count 96\n"),
    ]);
    let unique = text(&record, &format!("{gpu}/unique_id"));
    let number = u64::from_str_radix(unique.trim(), 16).unwrap();
    // 0x112210f47de98115 is 1234567890123456789.
    assert_eq!(text(&record, node), format!("hive_id 0\nunique_id {number}\nsimd_count 96\n"));
    assert_ne!(text(&record, &format!("{other}/unique_id")), unique);
    assert!(text(&record, &format!("{gpu}/serial_number")).starts_with("serial"));
    let clean = record.entries[&format!("{gpu}/config")].content.clone().unwrap().unwrap();
    assert_eq!(clean[0x204..0x20c], number.to_le_bytes());
    assert_eq!((&clean[..0x204], &clean[0x20c..]), (&config[..0x204], &config[0x20c..]), "nothing else is touched");
}

#[test]
fn a_serial_number_that_is_cut_short_goes_too() {
    let mut config = vec![0x5a; 4096];
    config[0x100..0x104].copy_from_slice(&0x0001_0003_u32.to_le_bytes());
    config[0x104..0x10c].copy_from_slice(&[0xab; 8]);
    config.truncate(0x108);
    let path = "sys/devices/pci0000:00/0000:05:00.0/config";
    let record = redacted(&[(path, &config)]);
    assert_eq!(record.entries[path].content.clone().unwrap().unwrap()[0x104..], [0; 4]);
}

#[test]
fn what_is_not_text_is_not_kept() {
    let record = redacted(&[("sys/firmware/table", b"\xff\xfe secret"), ("proc/config.gz", b"\x1f\x8b secret")]);
    for path in ["sys/firmware/table", "proc/config.gz"] {
        assert_eq!(record.entries[path].content, Some(Ok(vec![0xff])));
    }
}

#[test]
fn what_is_asked_comes_back_and_is_not_asked_again() {
    let live = Root::open(std::path::Path::new("/")).unwrap().recording();
    assert_eq!(live.ask("device/kfd", || Ok("opened by 10.1.2.3".to_owned())).unwrap(), "opened by 10.1.2.3");
    let record = redact(&live.record(), &live);
    let replay = Root::replay(record);
    let never = || -> Result<String, _> { panic!("a replay asked the machine") };
    assert_eq!(replay.ask("device/kfd", never).unwrap(), "opened by 192.0.2.1");
    assert!(replay.is_live());
    // Nobody looked, which is not absence.
    assert!(!replay.ask("other", never).unwrap_err().is_absent());
    assert!(!replay.text("etc/nothing").unwrap_err().is_absent());
    let captured = Root::open(two_cards("8086:6f00").path()).unwrap();
    assert!(captured.ask("device/kfd", never).is_err());
}

#[test]
fn of_a_process_little_is_kept() {
    let record = redacted(&[
        (
            "proc/4711/environ",
            b"PATH=/opt/x\0NCCL_P2P_LEVEL=SYS\0TOKEN=sesame\0hip_visible_devices=0\0NCCL_DEBUG=10.1.2.3\0\xff=\xff\0\
              VLLM_API_KEY=sesame\0CUDA_X=sesame\0GGML_TOKEN=sesame\0GPU_X=sesame\0HSA_X=sesame\0",
        ),
        ("proc/4711/status", b"Name:\tsesame\nUid:\t0\t0\t0\t0\nGid:\t5\t5\t5\t5\nGroups:\t44 109 \nVmPeak:\t1\n"),
        ("proc/4711/cmdline", b"sesame"),
        ("proc/self/environ", b"HOME=/home/dave\0NCCL_ALGO=1\0VLLM_API_KEY=sesame\0"),
    ]);
    assert_eq!(text(&record, "proc/self/environ"), "NCCL_ALGO=1\0");
    assert_eq!(text(&record, "proc/4711/environ"), "NCCL_P2P_LEVEL=SYS\0hip_visible_devices=0\0NCCL_DEBUG=192.0.2.1\0");
    assert_eq!(text(&record, "proc/4711/status"), "Uid:\t0\t0\t0\t0\nGid:\t5\t5\t5\t5\nGroups:\t44 109 \n");
    assert_eq!(text(&record, "proc/4711/cmdline"), "");
}

#[test]
fn keys_stay_the_same_key() {
    let mut record = Record::default();
    for (path, derived) in [
        ("a.ko", json!({"signature": {"key_id": "0a1b2c3d", "signer": "bobs-box Secure Boot Module Signature key"}})),
        ("b", json!([{"serial": "0a1b2c3d", "subject": "bobs-box"}, {"serial": "ffff", "subject": null}])),
    ] {
        record.entries.insert(path.to_owned(), Entry { derived: Some(Ok(derived)), ..Entry::new(Ok(Seen::File)) });
    }
    let clean = redact(&record, &Root::open(private().path()).unwrap());
    let of = |path: &str| clean.entries[path].derived.clone().unwrap().unwrap();
    assert_eq!(of("b")[0]["serial"], of("a.ko")["signature"]["key_id"]);
    assert_ne!(of("b")[0]["serial"], of("b")[1]["serial"]);
    let all = format!("{}{}", of("a.ko"), of("b"));
    assert!(!all.contains("0a1b2c3d") && !all.contains("bobs-box"), "{all}");
    assert!(all.contains("Secure Boot Module Signature key"), "{all}");
}

#[test]
fn owners_and_rights_come_back() {
    let tree = two_cards("8086:6f00");
    tree.fifo("dev/kfd");
    fs::set_permissions(tree.path().join("dev/kfd"), fs::Permissions::from_mode(0o640)).unwrap();
    let recording = Root::open(tree.path()).unwrap().recording();
    let before = recording.owner("dev/kfd").unwrap();
    assert_eq!((before.mode, before.is_character_device), (0o640, false));
    assert!(Root::open(std::path::Path::new("/")).unwrap().owner("dev/null").unwrap().is_character_device);
    let package = archive::Package::new(&recording.record(), Vec::new()).unwrap();
    assert!(package.listing().contains("special  /dev/kfd 640 "), "{}", package.listing());
    let replay = Root::replay(archive::unpack("x", &archive::pack(&package).unwrap()).unwrap());
    assert_eq!((replay.owner("dev/kfd"), replay.owner("dev/other")), (Some(before), None));
}

/// The answer of a runtime, as it is recorded: JSON, in which `\n` is two letters.
#[test]
fn private_values_at_the_start_of_a_line_of_an_answer() {
    let stderr = "first\nbobs-box said\tbob\n10.1.2.3\nhttp://x\r\ncarol@corp.example\n\u{1b}[31mbobs-box\u{1b}[0m";
    let mut record = Record { live: true, ..Record::default() };
    for question in ["runtime", "device-access"] {
        record.answers.insert(question.to_owned(), Ok(json!({"stderr": stderr, "n": 1, "list": [stderr]}).to_string()));
    }
    let clean = redact(&record, &Root::open(private().path()).unwrap());
    for answer in clean.answers.values() {
        let answer = answer.as_ref().unwrap();
        for value in ["bob", "10.1.2.3", "carol", "corp"] {
            assert!(!answer.contains(value), "{value} came out: {answer}");
        }
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        assert!(answer["stderr"].as_str().unwrap().starts_with("first\nhost"), "{answer}");
        assert_eq!((&answer["n"], &answer["list"][0]), (&json!(1), &answer["stderr"]));
    }
}

#[test]
fn who_signed_is_a_name() {
    let mut record = Record::default();
    for (path, derived) in [
        ("a.ko", json!({"signature": {"signer": "bob.x@mail.example, 10.1.2.3"}})),
        ("b.ko", json!({"signature": {"signer": "attic Secure Boot Module Signature key 10.1.2.3"}})),
        ("c", json!([{"subject": "attic Secure Boot Module Signature key"}, {"subject": "DKMS module signing key"}])),
    ] {
        record.entries.insert(path.to_owned(), Entry { derived: Some(Ok(derived)), ..Entry::new(Ok(Seen::File)) });
    }
    let clean = redact(&record, &Root::open(two_cards("8086:6f00").path()).unwrap());
    let of = |path: &str| clean.entries[path].derived.clone().unwrap().unwrap();
    assert_eq!(of("a.ko")["signature"]["signer"], "user@host, 192.0.2.1");
    assert_eq!(of("b.ko")["signature"]["signer"], "host1 Secure Boot Module Signature key 192.0.2.1");
    assert_eq!(of("c")[0]["subject"], "host1 Secure Boot Module Signature key");
    assert_eq!(of("c")[1]["subject"], "DKMS module signing key");
}

#[test]
fn accounts_with_homes_are_people() {
    let tree = two_cards("8086:6f00");
    tree.file("etc/passwd", "oldie:x:501:501::/home/oldie:/bin/sh\nmail:x:8:8::/var/mail:/bin/false")
        .file("home/corp.example/frida/x", "")
        .file("etc/hostname", "zorkhost");
    let mut record = Record::default();
    let words = "oldie mail zorkhost_eth x_zorkhost zorkhost2 azorkhost zorkhosts frida /home/other.example/gabi/x";
    record.entries.insert("etc/x".to_owned(), file(words.as_bytes()));
    let clean = redact(&record, &Root::open(tree.path()).unwrap());
    let expected = "user1 mail host1_eth x_host1 host12 azorkhost zorkhosts user2 /home/user3/user4/x";
    assert_eq!(text(&clean, "etc/x"), expected);
}

#[test]
fn the_name_that_makes_a_difference_is_found() {
    let tree = two_cards("8086:6f00");
    tree.file("etc/passwd", "bob:x:1000:1000::/home/bob:/bin/sh\nzork:x:1001:1001::/home/zork:/bin/sh");
    let root = Root::open(tree.path()).unwrap();
    let mut record = Record::default();
    record.entries.insert("sys/x".to_owned(), file(b"bob zork"));
    assert_eq!(culprit(&record, &root, |record| text(record, "sys/x").contains("zork")), Some("zork".to_owned()));
    assert_eq!(culprit(&record, &root, |_| false), None);
}
