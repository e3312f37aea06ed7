// SPDX-License-Identifier: GPL-2.0-only

//! Machines with the override module in every state that it can be in. All trees are simulated.

#![allow(clippy::unwrap_used, reason = "JSON of another form ends the test")]

mod support;

use support::{Acs, ZEN, expect, failing, shared_switch, status, two_cards, two_cards_overridden};

#[test]
fn ftrace_switched_off_disarms() {
    let tree = two_cards_overridden("8086:6f00");
    tree.file("proc/sys/kernel/ftrace_enabled", "0").module_says(
        "override/self_test",
        "fail: the hook did not run (sysctl kernel.ftrace_enabled=0, or kprobes disabled?)",
    );
    let report = tree.json();
    assert_eq!(failing(&report)[..2], ["kernel.kprobes", "module.effective"]);
    assert_eq!(report["verdict"], "ineffective");
}

#[test]
fn kprobes_switched_off_disarm_on_every_kernel() {
    let switch = "sys/kernel/debug/kprobes/enabled";
    let tree = two_cards_overridden("8086:6f00");
    tree.file(switch, "0").module_says(
        "override/self_test",
        "fail: the hook did not run (sysctl kernel.ftrace_enabled=0, or kprobes disabled?)",
    );
    let must = ["echo 1 | sudo tee /sys/kernel/debug/kprobes/enabled", "runs at every read"];
    let report = expect(&tree, "ineffective", &["kernel.kprobes", "module.effective", "pair.route"], &must, &[]);
    assert_eq!(report["exit"], 1);
    // What was proven just now is not disproven by a switch.
    tree.module_says("override/self_test", "pass");
    assert_eq!(status(&tree.json(), "kernel.kprobes"), "warn");
    // Nothing would act once it is loaded, either.
    let absent = two_cards("8086:6f00");
    absent.file(switch, "0");
    assert_eq!(absent.json()["verdict"], "blocked");
    let unreadable = two_cards("8086:6f00");
    expect(
        &unreadable,
        "module-will-help",
        &["module.dkms", "module.loaded", "pair.route", "pair.kfd-link"],
        &["the kernel has kretprobes"],
        &["not switched off"],
    );
}

#[test]
fn observed_when_asked_and_forced_since() {
    let tree = two_cards("8086:6f00");
    tree.module().table("0000:05:00.0 0000:08:00.0 3 -1 -1 7:observe\n0000:08:00.0 0000:05:00.0 3 -1 -1 7:observe");
    expect(
        &tree,
        "ineffective",
        &["pair.route", "pair.kfd-link"],
        &["left it so when it was last asked (rule 7:observe)", "reboot with mode=force"],
        &["answered -1"],
    );
}

#[test]
fn denied_bridge_forced() {
    let tree = two_cards_overridden("8086:4c43");
    tree.module_says("parameters/allow_denied", "1");
    let report =
        expect(&tree, "unsafe", &["pair.route"], &["is being forced", "remove the option allow_denied"], &["ready"]);
    assert_eq!(report["exit"], 3);
}

#[test]
fn denied_bridge_forced_by_something_else() {
    let tree = two_cards("8086:4c43");
    tree.p2p_link(1, 2).p2p_link(2, 1);
    assert_eq!(tree.json()["verdict"], "unsafe");
}

#[test]
fn module_loaded_too_late() {
    let tree = two_cards("8086:6f00");
    tree.module().module_says("override/gpu_driver_was_bound", "1");
    expect(
        &tree,
        "ineffective",
        &["module.effective", "pair.kfd-link"],
        &["loaded too late", "rebuild the initramfs"],
        &["install the package tp2-p2pdma-dkms and reboot"],
    );
}

#[test]
fn module_loaded_anew_keeps_its_links() {
    let tree = two_cards_overridden("8086:6f00");
    tree.module_says("override/gpu_driver_was_bound", "1");
    let report = expect(&tree, "ready", &[], &["loaded before once"], &["too late:"]);
    assert_eq!(status(&report, "module.effective"), "warn");
}

#[test]
fn self_test_fails() {
    let tree = two_cards("8086:6f00");
    tree.module().module_says(
        "override/self_test",
        "fail: the hook did not run (sysctl kernel.ftrace_enabled=0, or kprobes disabled?)",
    );
    expect(&tree, "ineffective", &["module.effective", "pair.route", "pair.kfd-link"], &["the hook did not run"], &[]);
}

#[test]
fn mode_off_and_observe() {
    for mode in ["off", "observe"] {
        let tree = two_cards("8086:6f00");
        tree.module().module_says("parameters/mode", mode);
        expect(&tree, "ineffective", &["module.effective", "pair.route", "pair.kfd-link"], &["changes no answer"], &[]);
    }
}

#[test]
fn calls_were_missed() {
    let tree = two_cards("8086:6f00");
    tree.module().module_says("override/missed", "2");
    expect(&tree, "ineffective", &["module.effective", "pair.kfd-link"], &["maxactive"], &[]);
}

#[test]
fn pair_not_named() {
    let tree = two_cards("8086:6f00");
    tree.module().module_says("parameters/pairs", "0000:05:00.0+0000:0b:00.0");
    expect(&tree, "ineffective", &["pair.route", "pair.kfd-link"], &["does not name it"], &[]);
}

#[test]
fn built_for_another_kernel_only() {
    let tree = two_cards("8086:6f00");
    tree.file("var/lib/dkms/tp2_p2pdma/0.1.0/7.0.0-37-generic/x86_64/module/tp2_p2pdma.ko.zst", "")
        .file("usr/src/tp2_p2pdma-0.1.0/dkms.conf", "")
        .link("var/lib/dkms/tp2_p2pdma/0.1.0/source", "/usr/src/tp2_p2pdma-0.1.0");
    expect(
        &tree,
        "ineffective",
        &["module.dkms", "module.loaded", "pair.route", "pair.kfd-link"],
        &["not for the running kernel", "7.0.0-37-generic"],
        &["install the package tp2-p2pdma-dkms, or"],
    );
}

#[test]
fn prediction_contradicted() {
    let tree = two_cards_overridden("8086:6f00");
    tree.table("0000:05:00.0 0000:08:00.0 3 4 4 1:kernel-allows\n0000:08:00.0 0000:05:00.0 3 4 4 1:kernel-allows");
    expect(&tree, "blocked", &["pair.route"], &["contradicts the prediction"], &[]);
}

#[test]
fn idle_module_is_ineffective_where_it_is_wanted_and_only_there() {
    let wanted = two_cards("8086:6f00");
    wanted
        .module()
        .module_says("parameters/mode", "off")
        .remove("sys/module/amdgpu/parameters")
        .file(&format!("lib/modules/{}/modules.dep", support::RELEASE), "updates/dkms/amdgpu.ko.zst:");
    assert_eq!(wanted.json()["verdict"], "ineffective");
    let perhaps = shared_switch(Acs::Unreadable);
    perhaps.module().module_says("parameters/mode", "off");
    assert_eq!(perhaps.json()["verdict"], "inconclusive");
    let unneeded = two_cards("1022:14d8");
    unneeded.file("proc/cpuinfo", ZEN).p2p_link(1, 2).p2p_link(2, 1).module().module_says("parameters/mode", "off");
    assert_eq!(unneeded.json()["verdict"], "module-not-needed");
}
