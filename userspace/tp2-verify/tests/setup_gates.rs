// SPDX-License-Identifier: GPL-2.0-only

//! How the machine is set up: device nodes, signing, order of modules, environment, IPC, and the runtime's answers.
//! All trees are simulated.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made ends the test")]

mod support;

use serde_json::Value;
use support::{
    RELEASE, Tree, ZEN, expect, finding,
    module_file::{certificate, module_for, mok_list, signed_for},
    status, two_cards, two_cards_overridden,
};
use tp2_verify::{
    facts::{
        Facts, Initramfs,
        runtime::{Outcome, PeerAnswer, Runtime},
    },
    report,
};

const NODES: &str = "tp2/device-nodes";
const LOCKDOWN: &str = "sys/kernel/security/lockdown";
const ENFORCED: &str = "sys/module/module/parameters/sig_enforce";
const MOK_LIST: &str = "sys/firmware/efi/efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23";

fn host<'a>(report: &'a Value, gate: &str) -> (&'a str, &'a str) {
    let finding = finding(report, gate, "host");
    (finding["status"].as_str().unwrap(), finding["summary"].as_str().unwrap())
}

fn judged(facts: &Facts) -> Value {
    let value = serde_json::to_value(report::make(facts)).unwrap();
    support::validate(&value);
    value
}

/// A machine whose pair works, and a user with these numbers.
fn user(uid: u32, groups: &str, nodes: &str) -> Tree {
    let tree = two_cards_overridden("8086:6f00");
    tree.file(
        "proc/self/status",
        &format!("Name:\tx\nUid:\t{uid} {uid} {uid} {uid}\nGid:\t1000 1000 1000 1000\nGroups:\t{groups}"),
    )
    .file(NODES, nodes);
    tree
}

const USUAL: &str = "dev/kfd c 660 0 109\ndev/dri/renderD128 c 660 0 109\ndev/dri/renderD129 c 660 0 109";

#[test]
fn rights_of_device_nodes() {
    for (uid, groups, nodes, wanted) in [
        (0, "", USUAL, "pass"),
        (1000, "44 109", USUAL, "pass"),
        (1000, "44", USUAL, "fail"),
        (1000, "44", "dev/kfd c 666 0 109\ndev/dri/renderD128 c 666 0 109", "pass"),
        (1000, "109", "dev/kfd c 640 0 109\ndev/dri/renderD128 c 660 0 109", "fail"),
        // The owner's bits come first, even where the group has more.
        (1000, "109", "dev/kfd c 060 1000 109\ndev/dri/renderD128 c 660 0 109", "fail"),
        // What opening gave outweighs what the mode says.
        (1000, "44", "dev/kfd c 660 0 109 fine\ndev/dri/renderD128 c 660 0 109 fine", "pass"),
        (0, "", "dev/kfd c 660 0 109 denied\ndev/dri/renderD128 c 660 0 109", "fail"),
        (0, "", "dev/kfd c 660 0 109 no-device\ndev/dri/renderD128 c 660 0 109", "fail"),
        (0, "", "dev/kfd c 660 0 109 absent\ndev/dri/renderD128 c 660 0 109", "fail"),
        (0, "", "dev/kfd f 660 0 109\ndev/dri/renderD128 c 660 0 109", "fail"),
        (0, "", "dev/dri/renderD128 c 660 0 109", "fail"),
        (0, "", "rubbish", "unknown"),
    ] {
        let report = user(uid, groups, nodes).json();
        assert_eq!(host(&report, "env.access").0, wanted, "{uid} {groups} {nodes}: {}", host(&report, "env.access").1);
    }
}

#[test]
fn render_nodes() {
    let all = |nodes: &str| user(1000, "109", nodes).json();
    let one_of_two = all("dev/kfd c 660 0 109\ndev/dri/renderD128 c 660 0 44\ndev/dri/renderD129 c 660 0 109");
    assert_eq!(one_of_two["verdict"], "ready", "render nodes of other GPUs do not matter");
    for nodes in ["dev/kfd c 660 0 109\ndev/dri/renderD128 c 660 0 44", "dev/kfd c 660 0 109"] {
        assert_eq!(all(nodes)["verdict"], "blocked", "{nodes}");
    }
}

#[test]
fn advice_on_rights_names_the_group_of_the_node() {
    expect(
        &user(1000, "44", USUAL),
        "blocked",
        &["env.access"],
        &[r#"sudo usermod -aG 109 "$USER""#, "groups 44 1000"],
        &["no AMD GPU", "usermod -aG video"],
    );
    let container = user(1000, "44", USUAL);
    container.file(".dockerenv", "");
    expect(&container, "blocked", &["env.access"], &["--group-add 109"], &["usermod"]);
    let rootless = user(1000, "44", "dev/kfd c 660 65534 65534\ndev/dri/renderD128 c 660 65534 65534");
    rootless.file("run/.containerenv", "");
    expect(&rootless, "blocked", &["env.access"], &["keep-groups"], &["usermod"]);
    let without = user(0, "", "dev/dri/renderD128 c 660 0 109");
    without.file(".dockerenv", "");
    expect(&without, "blocked", &["env.access"], &["--device=/dev/kfd"], &["udev"]);
}

#[test]
fn a_copy_without_a_list_of_nodes_is_not_judged() {
    let report = two_cards_overridden("8086:6f00").json();
    assert_eq!((host(&report, "env.access").0, &report["verdict"]), ("skip", &"ready".into()));
}

/// A machine that wants the module, which is installed but not loaded, and takes signed modules only.
fn locked(bytes: &[u8]) -> Tree {
    let tree = two_cards("8086:6f00");
    tree.installed(bytes)
        .ordered()
        .file("sys/firmware/efi/fw_platform_size", "64")
        .file(LOCKDOWN, "none [integrity] confidentiality")
        .file(ENFORCED, "N");
    tree
}

#[test]
fn unsigned_module_on_a_locked_kernel() {
    let tree = locked(&module_for(RELEASE));
    let report = tree.json();
    assert_eq!(host(&report, "module.signature").0, "fail");
    assert_eq!(report["verdict"], "ineffective");
    let text = tree.run(&[]).stdout;
    assert!(text.contains("the certificate that DKMS names"), "{text}");
    assert!(!text.contains("shim-signed") && !text.to_lowercase().contains("disable secure boot"), "{text}");
    // sig_enforce alone will do.
    tree.file(LOCKDOWN, "[none] integrity confidentiality").file(ENFORCED, "Y");
    assert_eq!(host(&tree.json(), "module.signature").0, "fail");
    tree.file(ENFORCED, "N");
    let report = tree.json();
    assert_eq!((host(&report, "module.signature").0, &report["verdict"]), ("pass", &"module-will-help".into()));
}

#[test]
fn key_that_is_enrolled_or_not() {
    let tree = locked(&signed_for(RELEASE));
    tree.bytes(MOK_LIST, &mok_list(&[0x12, 0x34], "DKMS of this machine"));
    let report = tree.json();
    assert_eq!(
        host(&report, "module.signature"),
        ("pass", "tp2_p2pdma is signed, and its key is enrolled (DKMS of this machine)")
    );
    tree.bytes(MOK_LIST, &mok_list(&[0x12, 0x35], "another"));
    let report = tree.json();
    assert_eq!(host(&report, "module.signature").0, "fail");
    assert!(tree.run(&[]).stdout.contains("Key was rejected by service"));
    // Nothing enrolled at all.
    tree.remove(MOK_LIST);
    assert_eq!(host(&tree.json(), "module.signature").0, "fail");
    for rubbish in [&b""[..], b"\x06", b"\x06\0\0\0rubbish", &[0xff; 100], &[0; 64]] {
        tree.bytes(MOK_LIST, rubbish);
        let report = tree.json();
        let (status, words) = host(&report, "module.signature");
        // An empty list is a list.
        assert!(status == "unknown" || (status == "fail" && rubbish.len() < 5), "{rubbish:?}: {status} {words}");
    }
}

#[test]
fn certificate_of_the_key_that_signed_is_named() {
    let named = |tree: &Tree| {
        let report = tree.json();
        let remedy = &finding(&report, "module.signature", "host")["remedy"];
        remedy.as_str().unwrap().to_owned()
    };
    let tree = locked(&signed_for(RELEASE));
    tree.bytes("var/lib/shim-signed/mok/MOK.der", &certificate(&[0x99], "old"))
        .bytes("var/lib/dkms/mok.pub", &certificate(&[0x12, 0x34], "signed it"))
        .file("etc/dkms/framework.conf", "mok_certificate=/etc/keys/other.der");
    assert!(named(&tree).contains("certificate /var/lib/dkms/mok.pub"), "{}", named(&tree));
    // Two that may be it, and nothing that tells which.
    tree.bytes("var/lib/dkms/mok.pub", &certificate(&[0x98], "old too")).remove("etc/dkms/framework.conf");
    assert!(named(&tree).contains("the certificate that DKMS names"), "{}", named(&tree));
}

#[test]
fn certificate_of_this_distribution_is_named() {
    for (file, text, words) in [
        ("var/lib/shim-signed/mok/MOK.der", "x", "mokutil --import /var/lib/shim-signed/mok/MOK.der"),
        ("var/lib/dkms/mok.pub", "x", "mokutil --import /var/lib/dkms/mok.pub"),
        (
            "etc/dkms/framework.conf",
            "# mok_certificate=/no\nmok_certificate=\"/etc/keys/mine.der\"",
            "mokutil --import /etc/keys/mine.der",
        ),
        (
            "etc/dkms/framework.conf.d/own.conf",
            "mok_certificate=/etc/keys/mine.der",
            "mokutil --import /etc/keys/mine.der",
        ),
        ("etc/dkms/framework.conf", "mok_certificate=$HOME/x", "the certificate that DKMS names"),
    ] {
        let tree = locked(&signed_for(RELEASE));
        tree.file(file, text);
        let text = tree.run(&[]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{words:?} is missing in {text}");
    }
}

#[test]
fn signing_matters_for_modules_that_are_wanted() {
    let loaded = locked(&module_for(RELEASE));
    loaded.module();
    let report = loaded.json();
    assert_eq!(host(&report, "module.signature").0, "warn");
    let unwanted = locked(&module_for(RELEASE));
    unwanted.file("proc/cpuinfo", ZEN).p2p_link(1, 2).p2p_link(2, 1);
    let report = unwanted.json();
    assert_eq!((host(&report, "module.signature").0, &report["verdict"]), ("warn", &"module-not-needed".into()));
    let none = two_cards("8086:6f00");
    assert_eq!(host(&none.json(), "module.signature").0, "na");
    let unread = locked(&module_for(RELEASE));
    unread.remove(LOCKDOWN).fifo(LOCKDOWN);
    assert_eq!(host(&unread.json(), "module.signature").0, "unknown");
}

/// The module is installed, and not loaded.
fn waiting() -> Tree {
    let tree = two_cards("8086:6f00");
    tree.installed(&module_for(RELEASE));
    tree
}

#[test]
fn softdep_that_is_missing() {
    let tree = waiting();
    tree.file("etc/modprobe.d/other.conf", "softdep amdgpu post: tp2_p2pdma\nsoftdep i915 pre: tp2_p2pdma");
    let report = tree.json();
    assert_eq!(host(&report, "module.order").0, "fail");
    assert_eq!(report["verdict"], "ineffective");
    assert!(tree.run(&[]).stdout.contains("softdep amdgpu pre: tp2_p2pdma"));
    for line in [
        "softdep amdgpu pre: tp2_p2pdma",
        "softdep  amdgpu\tpre: drm tp2-p2pdma post: x",
        "softdep amdgpu \\\n pre: tp2_p2pdma",
    ] {
        tree.file("etc/modprobe.d/other.conf", line);
        let report = tree.json();
        assert_eq!(
            (host(&report, "module.order").0, &report["verdict"]),
            ("pass", &"module-will-help".into()),
            "{line:?}"
        );
    }
}

#[test]
fn modprobe_files_hide_others_of_their_name() {
    let tree = waiting();
    tree.ordered().file("etc/modprobe.d/tp2_p2pdma.conf", "# emptied by the administrator");
    assert_eq!(host(&tree.json(), "module.order").0, "fail");
    // Not a configuration file.
    tree.file("etc/modprobe.d/x.conf.bak", "softdep amdgpu pre: tp2_p2pdma");
    assert_eq!(host(&tree.json(), "module.order").0, "fail");
    tree.file("etc/modprobe.d/x.conf", "softdep amdgpu pre: tp2_p2pdma\nblacklist tp2_p2pdma");
    let report = tree.json();
    let all: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["gate"] == "module.order")
        .map(|finding| finding["status"].as_str().unwrap())
        .collect();
    assert_eq!(all, ["pass", "warn"]);
}

#[test]
fn modprobe_configuration_that_cannot_be_read() {
    let absent = waiting();
    assert_eq!(host(&absent.json(), "module.order").0, "unknown");
    let fifo = waiting();
    fifo.fifo("etc/modprobe.d/a.conf");
    assert_eq!(host(&fifo.json(), "module.order").0, "unknown");
    let file = waiting();
    file.file("etc/modprobe.d", "not a directory");
    assert_eq!(host(&file.json(), "module.order").0, "unknown");
}

#[test]
fn order_in_the_initial_ram_file_system() {
    for (format, has_amdgpu, has_override, has_conf, wanted, words) in [
        ("initramfs-tools", true, false, true, "fail", format!("update-initramfs -u -k {RELEASE}")),
        ("dracut", true, false, false, "fail", format!("dracut --force --kver {RELEASE}")),
        ("mkinitcpio", true, false, true, "fail", "MODULES+=(tp2_p2pdma)".to_owned()),
        ("other", true, true, false, "fail", "rebuild".to_owned()),
        ("dracut", true, true, true, "pass", String::new()),
        ("dracut", false, false, false, "pass", String::new()),
    ] {
        let tree = waiting();
        let mut facts = tree.ordered().facts();
        facts.initramfs = Ok(Initramfs {
            path: "boot/initrd.img".to_owned(),
            maker: Some(format.to_owned()),
            segments: Vec::new(),
            has_amdgpu,
            has_override,
            has_modprobe_conf: has_conf,
        });
        let value = judged(&facts);
        let found = finding(&value, "module.order", "host");
        assert_eq!(found["status"], wanted, "{format}");
        assert!(format!("{} {}", found["remedy"], found["commands"]).contains(&words), "{found}");
        // A module that came first is only warned of for the next boot.
        if wanted == "fail" {
            let loaded = two_cards_overridden("8086:6f00");
            let mut other = loaded.facts();
            other.initramfs = facts.initramfs;
            let value = judged(&other);
            assert_eq!((host(&value, "module.order").0, &value["verdict"]), ("warn", &"ready".into()));
        }
    }
}

#[test]
fn variables_and_their_traps() {
    let tree = two_cards_overridden("8086:6f00");
    tree.bytes(
        "proc/self/environ",
        b"HOME=/home/x\0NCCL_SHM_Disable=1\0GGML_CUDA_P2P=0\0HIP_VISIBLE_DEVICES=0\0NCCL_P2P_DISABLE=0\0SECRET_TOKEN=abc\0",
    );
    let text = tree.run(&["-v"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["NCCL_SHM_Disable has no effect", "whatever its value, 0 included", "HIP_VISIBLE_DEVICES hides"] {
        assert!(text.contains(words), "{words:?} is missing in {text}");
    }
    assert!(!text.contains("abc") && !text.contains("NCCL_P2P_DISABLE is set"), "{text}");
    let kept = tree.facts().environment.unwrap();
    assert!(!kept.contains_key("HOME") && !kept.contains_key("SECRET_TOKEN"));
    assert_eq!(tree.json()["verdict"], "ready");
}

#[test]
fn memory_between_processes() {
    let pair = "pair:0000:05:00.0+0000:08:00.0";
    let ipc = |tree: &Tree| finding(&tree.json(), "pair.ipc", pair)["status"].as_str().unwrap().to_owned();
    let tree = two_cards_overridden("8086:6f00");
    assert_eq!(ipc(&tree), "warn");
    tree.bytes("proc/self/environ", b"HSA_ENABLE_IPC_MODE_LEGACY=1\0");
    assert_eq!(ipc(&tree), "warn");
    tree.bytes("proc/self/environ", b"HSA_ENABLE_IPC_MODE_LEGACY=0\0");
    assert_eq!(ipc(&tree), "pass");
    let outside = two_cards_overridden("8086:6f00");
    outside.file(&format!("lib/modules/{RELEASE}/modules.dep"), "updates/dkms/amdgpu.ko.zst:");
    assert_eq!(ipc(&outside), "pass");
    assert_eq!(ipc(&two_cards("8086:6f00")), "skip");
    let unread = two_cards_overridden("8086:6f00");
    unread.remove(&format!("lib/modules/{RELEASE}/modules.dep"));
    assert_eq!(ipc(&unread), "unknown");
}

/// Facts with the runtime's answers added: the second GPU reaching the first, and the other way.
fn with_runtime(tree: &Tree, there: Option<bool>, back: Option<bool>) -> Value {
    let answer = |yes| if yes { PeerAnswer::Yes } else { PeerAnswer::No };
    let mut facts = tree.facts();
    facts.runtime = Ok(support::runtime::saying(there.map(answer), back.map(answer)));
    judged(&facts)
}

fn runtime_says(report: &Value) -> (&str, &str) {
    let found = finding(report, "pair.runtime", "pair:0000:05:00.0+0000:08:00.0");
    (found["status"].as_str().unwrap(), report["verdict"].as_str().unwrap())
}

#[test]
fn yes_of_the_runtime_against_a_no_of_the_kernel() {
    for (there, back) in [(true, true), (true, false), (false, true)] {
        let report = with_runtime(&two_cards("8086:6f00"), Some(there), Some(back));
        assert_eq!(runtime_says(&report), ("fail", "unsafe"));
        assert_eq!(report["exit"], 3);
        let words = finding(&report, "pair.runtime", "pair:0000:05:00.0+0000:08:00.0")["summary"].to_string();
        assert!(words.contains("CONTRADICTION"), "{words}");
    }
    // With links the kernel must have allowed it, whatever is predicted: that is a question, not an alarm.
    let patched = two_cards("8086:6f00");
    patched.p2p_link(1, 2).p2p_link(2, 1);
    assert_eq!(runtime_says(&with_runtime(&patched, Some(true), Some(true))), ("warn", "inconclusive"));
}

#[test]
fn runtime_that_agrees_or_not() {
    let overridden = two_cards_overridden("8086:6f00");
    assert_eq!(runtime_says(&with_runtime(&overridden, Some(true), Some(true))), ("pass", "ready"));
    assert_eq!(runtime_says(&with_runtime(&overridden, Some(true), Some(false))), ("fail", "blocked"));
    assert_eq!(runtime_says(&with_runtime(&overridden, Some(false), Some(false))), ("fail", "blocked"));
    assert_eq!(runtime_says(&with_runtime(&overridden, Some(true), None)), ("unknown", "inconclusive"));
    overridden.remove("sys/kernel/debug");
    assert_eq!(runtime_says(&with_runtime(&overridden, Some(true), Some(true))), ("pass", "ready"));
    let zen = two_cards("1022:14d8");
    zen.file("proc/cpuinfo", ZEN);
    assert_eq!(runtime_says(&with_runtime(&zen, Some(true), Some(true))), ("fail", "unsafe"));
    assert_eq!(runtime_says(&with_runtime(&zen, Some(false), Some(false))), ("skip", "blocked"));
    let mut facts = overridden.facts();
    facts.runtime = Ok(Runtime::ended(Outcome::NotFound));
    assert_eq!(judged(&facts)["verdict"], "ready");
}

#[test]
fn cards_of_two_architectures() {
    let tree = two_cards_overridden("8086:6f00");
    tree.kfd_gpu_at(1, 0, 5, "gfx_target_version 120000").kfd_gpu_at(2, 0, 8, "gfx_target_version 120001");
    let report = expect(&tree, "ready", &[], &["gfx1200, gfx1201", "invalid device function"], &[]);
    assert_eq!(status(&report, "pair.kind"), "warn");
    tree.kfd_gpu_at(1, 0, 5, "gfx_target_version 90010").kfd_gpu_at(2, 0, 8, "gfx_target_version 90010");
    assert_eq!(status(&tree.json(), "pair.kind"), "pass");
}
