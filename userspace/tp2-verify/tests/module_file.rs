// SPDX-License-Identifier: GPL-2.0-only

//! `tp2-verify module FILE`: module files as built here, compressed, signed, cut short.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made ends the test")]

mod support;

use std::{fs, io::Write, process::Command};

use serde_json::Value;
use support::module_file::{module, module_with, signed};
use tp2_verify::collect::module_file::describe;

/// Compresses with a tool of the system, as kernel builds do.
fn compressed(tool: &str, arguments: &[&str], bytes: &[u8]) -> Vec<u8> {
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("a.ko");
    fs::write(&file, bytes).unwrap();
    let output = Command::new(tool).args(arguments).arg("-c").arg(&file).output().unwrap();
    assert!(output.status.success(), "{tool}");
    output.stdout
}

#[test]
fn plain_file() {
    let file = describe("a.ko", &module()).unwrap();
    assert_eq!(file.version.as_deref(), Some("0.1.0"));
    assert_eq!(file.implementation.as_deref(), Some("c"));
    assert_eq!(file.parameters, ["mode", "pcie_p2p"]);
    assert_eq!(file.needed, ["pci_p2pdma_distance_many"]);
    assert_eq!(file.signature, None);
}

#[test]
fn compressed_files_say_the_same() {
    let plain = describe("a.ko", &module()).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&module()).unwrap();
    assert_eq!(describe("a.ko", &gzip.finish().unwrap()).unwrap(), plain);
    // As scripts/Makefile.modinst compresses.
    let xz = compressed("xz", &["--check=crc32", "--lzma2=dict=1MiB"], &module());
    assert_eq!(describe("a.ko", &xz).unwrap(), plain);
    let zstd = compressed("zstd", &["-q", "-19"], &module());
    assert_eq!(describe("a.ko", &zstd).unwrap(), plain);
}

#[test]
fn signature_is_described() {
    let signature = describe("a.ko", &signed()).unwrap().signature.unwrap();
    assert_eq!(signature.hash.as_deref(), Some("sha256"));
    assert_eq!(signature.signer.as_deref(), Some("DKMS module signing key"));
    assert_eq!(signature.key_id.as_deref(), Some("1234"));
}

#[test]
fn cut_short_at_every_length() {
    let file = signed();
    for length in 0..file.len() {
        // Whether it is an error depends on where; it must not panic.
        let _ = describe("a.ko", &file[..length]);
        // A cut within the signed part, with the marker still at the end.
        let mut damaged = file[..length].to_vec();
        damaged.extend(b"~Module signature appended~\n");
        let _ = describe("a.ko", &damaged);
    }
    for tool in ["xz", "zstd", "gzip"] {
        let packed = compressed(tool, &[], &module());
        for length in 0..packed.len() {
            assert!(describe("a.ko", &packed[..length]).is_err(), "{tool}, {length} bytes");
        }
    }
}

#[test]
fn the_command_describes_and_refuses() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("tp2_p2pdma.ko");
    fs::write(&path, signed()).unwrap();
    let name = path.to_str().unwrap();
    let table = support::run(&["module", name]);
    assert_eq!(table.exit, 0);
    assert!(table.stdout.contains("implementation  c\n"), "{}", table.stdout);
    let json = support::run(&["module", name, "--json"]);
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    support::validate(&value);
    assert_eq!(value["module"]["signature"]["hash"], "sha256");

    fs::write(&path, &signed()[..100]).unwrap();
    for bad in [name, directory.path().to_str().unwrap(), "/nonexistent.ko", "/dev/zero"] {
        let run = support::run(&["module", bad]);
        assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{bad}");
        assert!(run.stderr.contains(bad) && run.stderr.lines().count() == 1, "{}", run.stderr);
    }
}

#[test]
fn damaged_at_every_byte() {
    let mut files = vec![signed()];
    files.extend(["xz", "zstd", "gzip"].map(|tool| compressed(tool, &[], &module())));
    for file in files {
        for at in 0..file.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = file.clone();
                damaged[at] ^= flip;
                let _ = describe("a.ko", &damaged);
            }
        }
    }
}

/// Left out, they would count as absent, and looking each up in a list takes hours.
#[test]
fn names_without_end_are_refused() {
    let numbered = |count: usize| (0..count).map(|number| format!("p{number}")).collect::<Vec<_>>();
    let parameters = |count| numbered(count).join(":x\0parm=");
    let many = format!("parm={}", parameters(16_384));
    assert_eq!(describe("x", &module_with(&many, &[])).unwrap().parameters.len(), 16_384);
    let more = format!("parm={}", parameters(100_000));
    let error = describe("x", &module_with(&more, &[])).unwrap_err();
    assert_eq!(error.reason, "has more than 16384 parameters");
    let names = numbered(16_385);
    let symbols: Vec<&str> = names.iter().map(String::as_str).collect();
    let error = describe("x", &module_with("name=x", &symbols)).unwrap_err();
    assert_eq!(error.reason, "has more than 16384 undefined symbols");
    let error = describe("x", &module_with("name=x", &["a".repeat(4097).as_str()])).unwrap_err();
    assert!(error.reason.contains("a name of more than 4096 bytes"), "{error}");
}

/// The reference machine with the module file in place, which says that it is for 7.3.4.
fn installed(release: &str) -> support::Tree {
    let tree = support::two_cards("8086:6f00");
    let directory = format!("lib/modules/{release}");
    tree.file("proc/sys/kernel/osrelease", release)
        .file(&format!("boot/config-{release}"), support::CONFIG)
        .file(&format!("{directory}/modules.dep"), "updates/dkms/amdgpu.ko:\nupdates/dkms/tp2_p2pdma.ko:")
        .bytes(&format!("{directory}/updates/dkms/amdgpu.ko"), &module())
        .bytes(&format!("{directory}/updates/dkms/tp2_p2pdma.ko"), &module())
        .bytes(&format!("var/lib/dkms/tp2_p2pdma/0.1.0/{release}/x86_64/module/tp2_p2pdma.ko"), b"");
    tree
}

/// Status of a gate.
fn status(report: &Value, gate: &str) -> String {
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["gate"] == gate);
    finding.unwrap()["status"].as_str().unwrap().to_owned()
}

#[test]
fn file_for_this_kernel_or_another() {
    let stale = installed(support::RELEASE).json();
    assert_eq!((status(&stale, "module.match").as_str(), &stale["verdict"]), ("fail", &"ineffective".into()));
    let good = installed("7.3.4").json();
    assert_eq!((status(&good, "module.match").as_str(), &good["verdict"]), ("pass", &"module-will-help".into()));
    assert_eq!(status(&good, "module.dkms"), "pass");
}

#[test]
fn file_and_loaded_module_differ() {
    let tree = installed("7.3.4");
    tree.module().p2p_link(1, 2).p2p_link(2, 1);
    assert_eq!(tree.json()["verdict"], "ready");
    tree.module_says("srcversion", "OTHER");
    let report = tree.json();
    assert_eq!((status(&report, "module.match").as_str(), &report["verdict"]), ("warn", &"ready".into()));
    // A module that does not act, and another on disk: that is worth a failure.
    tree.module_says(
        "override/self_test",
        "fail: the hook did not run (sysctl kernel.ftrace_enabled=0, or kprobes disabled?)",
    );
    let report = tree.json();
    assert_eq!((status(&report, "module.match").as_str(), &report["verdict"]), ("fail", &"ineffective".into()));
}

#[test]
fn driver_file_outside_the_kernel_proves_itself() {
    let tree = installed("7.3.4");
    tree.remove("sys/module/amdgpu/parameters");
    assert_eq!(status(&tree.json(), "kernel.hsa-amd-p2p"), "pass");
    tree.bytes("lib/modules/7.3.4/updates/dkms/amdgpu.ko", &module()[..200]);
    assert_eq!(status(&tree.json(), "kernel.hsa-amd-p2p"), "unknown");
}

#[test]
fn a_compressed_bomb_does_not_eat_memory() {
    // A block of 8 MiB, again and again: between the stream's header and its index, the size of which is in its footer.
    let stream = compressed("xz", &["--check=crc32", "-0"], &vec![0; 8 << 20]);
    let (header, rest) = stream.split_at(12);
    let (rest, footer) = rest.split_at(rest.len() - 12);
    let index = (u32::from_le_bytes(footer[4..8].try_into().unwrap()) + 1) * 4;
    let block = &rest[..rest.len() - usize::try_from(index).unwrap()];
    let bomb = [header, &block.repeat(33)].concat();
    let error = describe("x", &bomb).unwrap_err();
    assert!(error.reason.contains("xz: too large"), "{error}");
}
