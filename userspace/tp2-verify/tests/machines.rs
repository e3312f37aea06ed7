// SPDX-License-Identifier: GPL-2.0-only

//! Whole machines: tree in, verdict, failing gates and words out. All trees are simulated.

#![allow(clippy::unwrap_used, reason = "JSON of another form ends the test")]

mod support;

use serde_json::Value;
use support::{Acs, Tree, ZEN, shared_switch, two_cards, two_cards_overridden};

/// Gates that fail, each once, in order.
fn failing(report: &Value) -> Vec<&str> {
    let mut gates: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["status"] == "fail")
        .map(|finding| finding["gate"].as_str().unwrap())
        .collect();
    gates.dedup();
    gates
}

/// Status of the first finding of a gate.
fn status<'a>(report: &'a Value, gate: &str) -> &'a str {
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["gate"] == gate);
    finding.unwrap_or_else(|| panic!("no finding of {gate}"))["status"]
        .as_str()
        .unwrap()
}

/// Checks verdict, failing gates, words that must be there and words that must not.
fn expect(tree: &Tree, verdict: &str, fails: &[&str], must: &[&str], must_not: &[&str]) -> Value {
    let report = tree.json();
    let table = tree
        .run(&["-v"])
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert_eq!(report["verdict"], verdict, "{table}");
    assert_eq!(failing(&report), fails, "{table}");
    for words in must {
        assert!(table.contains(words), "{words:?} is missing in {table}");
    }
    for words in must_not {
        assert!(!table.contains(words), "{words:?} is in {table}");
    }
    report
}

#[test]
fn reference_machine_before_the_override() {
    let report = expect(
        &two_cards("8086:6f00"),
        "module-will-help",
        &[
            "module.dkms",
            "module.loaded",
            "pair.route",
            "pair.kfd-link",
        ],
        &[
            "host bridge 8086:6f00",
            "both ways",
            "install the package tp2-p2pdma-dkms",
            "0000:04:00.0 -> 0000:03:00.0",
        ],
        &["client chip", "dkms autoinstall"],
    );
    assert_eq!(report["exit"], 1);
    let way = &report["pairs"][0]["distance"]["a_to_b"];
    assert_eq!(way["expected"], -1);
    assert_eq!(way["kernel"], Value::Null);
    assert_eq!(way["module"]["predicted_rule"], "override");
}

#[test]
fn reference_machine_after_the_override() {
    let report = expect(
        &two_cards_overridden("8086:6f00"),
        "ready",
        &[],
        &[
            "answered 8",
            "weight 40, max_bandwidth 8000 MB/s, flags 3",
            "compare them before trusting",
        ],
        &["verified", "install the package tp2-p2pdma-dkms and reboot"],
    );
    let way = &report["pairs"][0]["distance"]["b_to_a"];
    assert_eq!(
        (&way["kernel"], &way["expected"], &way["module"]["answer"]),
        (&(-1).into(), &(-1).into(), &8.into())
    );
}

#[test]
fn override_without_root_is_predicted() {
    let tree = two_cards_overridden("8086:6f00");
    tree.remove("sys/kernel/debug");
    let report = expect(
        &tree,
        "ready",
        &[],
        &["is predicted to answer 8"],
        &["measured"],
    );
    assert_eq!(
        report["pairs"][0]["distance"]["a_to_b"]["kernel"],
        Value::Null
    );
}

#[test]
fn debian_kernel_in_a_guest_without_kfd() {
    let tree = two_cards("8086:29c0");
    tree.file("proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nflags\t: fpu hypervisor\n")
        .file("proc/sys/kernel/osrelease", "7.3.4+deb13-amd64")
        .file("boot/config-7.3.4+deb13-amd64", "CONFIG_PCI_P2PDMA=y\n# CONFIG_HSA_AMD_P2P is not set\nCONFIG_KPROBES=y\nCONFIG_KRETPROBES=y")
        .file("lib/modules/7.3.4+deb13-amd64/modules.dep", "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.xz:")
        .remove("sys/module/amdgpu")
        .remove("sys/devices/virtual")
        .remove("sys/devices/pci0000:00/0000:00:02.0/0000:03:00.0/0000:04:00.0/0000:05:00.0/driver");
    expect(
        &tree,
        "blocked",
        &["kernel.hsa-amd-p2p", "gpu.kfd", "pair.route"],
        &[
            "this amdgpu was compiled without HSA_AMD_P2P, so KFD cannot use it; loading the module does not help HIP or RCCL on this kernel",
            "this is a virtual machine",
            "0000:05:00.0 has no driver",
            "there is no KFD",
        ],
        &[
            "install the package",
            "tp2_p2pdma overrides it",
            "can override",
        ],
    );
}

#[test]
fn driver_without_the_parameter_beats_the_configuration() {
    let tree = two_cards("8086:6f00");
    tree.remove("sys/module/amdgpu/parameters/pcie_p2p")
        .file("sys/module/amdgpu/parameters/dc", "-1");
    expect(
        &tree,
        "blocked",
        &["kernel.hsa-amd-p2p", "pair.route"],
        &["has no such parameter"],
        &["install the package", "tp2_p2pdma overrides"],
    );
}

#[test]
fn outside_driver_is_not_judged_by_the_configuration() {
    let tree = two_cards("8086:6f00");
    tree.remove("sys/module/amdgpu/parameters").file(
        &format!("lib/modules/{}/modules.dep", support::RELEASE),
        "updates/dkms/amdgpu.ko.zst:",
    );
    let report = tree.json();
    assert_eq!(report["verdict"], "inconclusive");
    assert_eq!(status(&report, "kernel.hsa-amd-p2p"), "unknown");
}

#[test]
fn parameter_switched_off() {
    let tree = two_cards_overridden("8086:6f00");
    tree.file("sys/module/amdgpu/parameters/pcie_p2p", "N");
    expect(
        &tree,
        "blocked",
        &["amdgpu.pcie-p2p"],
        &["remove amdgpu.pcie_p2p=0"],
        &[],
    );
}

#[test]
fn kernel_without_p2pdma() {
    let tree = two_cards("8086:6f00");
    tree.file(
        &format!("boot/config-{}", support::RELEASE),
        "CONFIG_HSA_AMD_P2P=y\nCONFIG_KPROBES=y\nCONFIG_KRETPROBES=y",
    );
    expect(
        &tree,
        "blocked",
        &["kernel.p2pdma"],
        &["built without CONFIG_PCI_P2PDMA"],
        &["and reboot, so that"],
    );
}

#[test]
fn kernel_without_kretprobes() {
    let tree = two_cards("8086:6f00");
    tree.file(
        &format!("boot/config-{}", support::RELEASE),
        "CONFIG_PCI_P2PDMA=y\nCONFIG_HSA_AMD_P2P=y\nCONFIG_KPROBES=y",
    );
    let report = tree.json();
    assert_eq!(report["verdict"], "blocked");
    assert_eq!(failing(&report)[0], "kernel.kprobes");
}

#[test]
fn ftrace_switched_off_disarms() {
    let tree = two_cards_overridden("8086:6f00");
    tree.file("proc/sys/kernel/ftrace_enabled", "0")
        .module_says("override/self_test", "fail: the hook is disarmed");
    let report = tree.json();
    assert_eq!(
        failing(&report)[..2],
        ["kernel.kprobes", "module.effective"]
    );
    assert_eq!(report["exit"], 1);
}

#[test]
fn shared_switch_without_redirect() {
    let tree = shared_switch(Acs::None);
    tree.p2p_link(1, 2).p2p_link(2, 1);
    let report = expect(
        &tree,
        "module-not-needed",
        &[],
        &["without ACS redirect", "not needed"],
        &["install the package"],
    );
    assert_eq!(report["exit"], 0);
}

#[test]
fn shared_switch_with_redirect() {
    expect(
        &shared_switch(Acs::Word(0x000c)),
        "blocked",
        &["pair.route", "pair.kfd-link"],
        &[
            "ACS redirect is set at",
            "pci=disable_acs_redir=",
            "0000:04:08.0",
            "leaves such routes alone",
        ],
        &["install the package", "reboot, so that tp2_p2pdma"],
    );
}

#[test]
fn shared_switch_without_root() {
    let tree = shared_switch(Acs::Unreadable);
    let report = expect(
        &tree,
        "inconclusive",
        &["pair.kfd-link"],
        &[
            "run it as root",
            "as root it would also read whether bridges redirect",
        ],
        &["install the package"],
    );
    assert_eq!(report["exit"], 4);
    assert_eq!(
        report["pairs"][0]["distance"]["a_to_b"]["expected"],
        Value::Null
    );
}

#[test]
fn zen_needs_nothing() {
    let tree = two_cards("1022:14d8");
    tree.file("proc/cpuinfo", ZEN).p2p_link(1, 2).p2p_link(2, 1);
    expect(
        &tree,
        "module-not-needed",
        &[],
        &["allow this route by itself, 8 hops"],
        &["install the package"],
    );
}

#[test]
fn allowed_by_the_kernel_but_without_links() {
    let tree = two_cards("1022:14d8");
    tree.file("proc/cpuinfo", ZEN);
    expect(
        &tree,
        "blocked",
        &["pair.kfd-link"],
        &["Resizable BAR"],
        &["install the package"],
    );
}

#[test]
fn link_one_way_only() {
    let tree = two_cards("1022:14d8");
    tree.file("proc/cpuinfo", ZEN).p2p_link(1, 2);
    expect(
        &tree,
        "blocked",
        &["pair.kfd-link"],
        &["from 0000:05:00.0 to 0000:08:00.0, but none back"],
        &["KFD has links both ways"],
    );
}

#[test]
fn link_to_the_cpu_is_no_pair() {
    let tree = two_cards("1022:14d8");
    tree.file("proc/cpuinfo", ZEN).p2p_link(1, 0).p2p_link(2, 0);
    expect(
        &tree,
        "blocked",
        &["pair.kfd-link"],
        &["no link between the two"],
        &["KFD has links both ways"],
    );
}

#[test]
fn two_host_bridges() {
    let tree = Tree::new();
    tree.host_bridge("pci0000:00", "8086:6f00")
        .host_bridge("pci0000:80", "8086:6f00")
        .card("pci0000:00/0000:00:02.0", 0x03, Acs::None)
        .card("pci0000:80/0000:80:02.0", 0x83, Acs::None)
        .kfd()
        .kfd_gpu(1, 0x05)
        .kfd_gpu(2, 0x85);
    expect(
        &tree,
        "blocked",
        &["pair.route", "pair.kfd-link"],
        &["crosses two host bridges"],
        &["install the package"],
    );
}

#[test]
fn denied_bridge() {
    expect(
        &two_cards("8086:4c43"),
        "blocked",
        &["pair.route", "pair.kfd-link"],
        &["known to corrupt peer reads", "do not override this bridge"],
        &[
            "install the package",
            "reboot, so that tp2_p2pdma",
            "tp2_p2pdma overrides",
        ],
    );
}

#[test]
fn denied_bridge_forced() {
    let tree = two_cards_overridden("8086:4c43");
    tree.module_says("parameters/allow_denied", "1");
    let report = expect(
        &tree,
        "unsafe",
        &["pair.route"],
        &["is being forced", "remove the option allow_denied"],
        &["ready"],
    );
    assert_eq!(report["exit"], 3);
}

#[test]
fn denied_bridge_forced_by_something_else() {
    let tree = two_cards("8086:4c43");
    tree.p2p_link(1, 2).p2p_link(2, 1);
    assert_eq!(tree.json()["verdict"], "unsafe");
}

#[test]
fn client_bridge_is_called_unverified() {
    expect(
        &two_cards("8086:7d04"),
        "module-will-help",
        &[
            "module.dkms",
            "module.loaded",
            "pair.route",
            "pair.kfd-link",
        ],
        &["the route is unverified until bytes are compared"],
        &["it works"],
    );
}

#[test]
fn module_loaded_too_late() {
    let tree = two_cards("8086:6f00");
    tree.module()
        .module_says("override/gpu_driver_was_bound", "1");
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
    tree.module()
        .module_says("override/self_test", "fail: the hook did not run");
    expect(
        &tree,
        "ineffective",
        &["module.effective", "pair.route", "pair.kfd-link"],
        &["the hook did not run"],
        &[],
    );
}

#[test]
fn mode_off_and_observe() {
    for mode in ["off", "observe"] {
        let tree = two_cards("8086:6f00");
        tree.module().module_says("parameters/mode", mode);
        expect(
            &tree,
            "ineffective",
            &["module.effective", "pair.route", "pair.kfd-link"],
            &["changes no answer"],
            &[],
        );
    }
}

#[test]
fn calls_were_missed() {
    let tree = two_cards("8086:6f00");
    tree.module().module_says("override/missed", "2");
    expect(
        &tree,
        "ineffective",
        &["module.effective", "pair.kfd-link"],
        &["maxactive"],
        &[],
    );
}

#[test]
fn pair_not_named() {
    let tree = two_cards("8086:6f00");
    tree.module()
        .module_says("parameters/pairs", "0000:05:00.0+0000:0b:00.0");
    expect(
        &tree,
        "ineffective",
        &["pair.route", "pair.kfd-link"],
        &["does not name it"],
        &[],
    );
}

#[test]
fn built_for_another_kernel_only() {
    let tree = two_cards("8086:6f00");
    tree.file(
        "var/lib/dkms/tp2_p2pdma/0.1.0/7.0.0-37-generic/x86_64/module/tp2_p2pdma.ko.zst",
        "",
    )
    .file("usr/src/tp2_p2pdma-0.1.0/dkms.conf", "")
    .link(
        "var/lib/dkms/tp2_p2pdma/0.1.0/source",
        "/usr/src/tp2_p2pdma-0.1.0",
    );
    expect(
        &tree,
        "ineffective",
        &[
            "module.dkms",
            "module.loaded",
            "pair.route",
            "pair.kfd-link",
        ],
        &["not for the running kernel", "7.0.0-37-generic"],
        &["install the package tp2-p2pdma-dkms, or"],
    );
}

#[test]
fn prediction_contradicted() {
    let tree = two_cards_overridden("8086:6f00");
    tree.table("0000:05:00.0 0000:08:00.0 3 4 4 1:kernel-allows\n0000:08:00.0 0000:05:00.0 3 4 4 1:kernel-allows");
    expect(
        &tree,
        "blocked",
        &["pair.route"],
        &["contradicts the prediction"],
        &[],
    );
}

#[test]
fn nothing_to_judge() {
    let none = Tree::new();
    none.host_bridge("pci0000:00", "8086:6f00");
    let one = Tree::new();
    one.host_bridge("pci0000:00", "8086:6f00")
        .card("pci0000:00/0000:00:02.0", 0x03, Acs::None)
        .kfd()
        .kfd_gpu(1, 5);
    for tree in [none, one] {
        let report = expect(
            &tree,
            "not-applicable",
            &[],
            &["no pair of AMD cards"],
            &["install the package"],
        );
        assert_eq!(report["exit"], 5);
    }
}

#[test]
fn subsystem_for_linux() {
    let tree = two_cards("8086:6f00");
    tree.file(
        "proc/version",
        "Linux version 6.6.87.2-microsoft-standard-WSL2",
    );
    assert_eq!(tree.json()["verdict"], "not-applicable");
}

#[test]
fn xgmi_pair() {
    let tree = two_cards("8086:6f00");
    tree.xgmi(1, 2);
    let report = expect(
        &tree,
        "not-applicable",
        &[],
        &["joined by XGMI"],
        &["install the package"],
    );
    assert_eq!(report["pairs"][0]["kind"], "xgmi");
}

#[test]
fn integrated_gpu_beside_a_card() {
    let tree = Tree::new();
    let port = "pci0000:00/0000:00:08.1";
    tree.host_bridge("pci0000:00", "1022:14d8")
        .card("pci0000:00/0000:00:01.1", 0x03, Acs::None)
        .pci(port, "1022:14dd", "060400", 4, Acs::None)
        .pci(
            &format!("{port}/0000:c1:00.0"),
            "1002:150e",
            "038000",
            0,
            Acs::None,
        )
        .pci(
            &format!("{port}/0000:c1:00.2"),
            "1022:17e0",
            "108000",
            0,
            Acs::None,
        )
        .file("proc/cpuinfo", ZEN)
        .kfd()
        .kfd_gpu(1, 5)
        .kfd_gpu(2, 0xc1);
    let report = expect(&tree, "not-applicable", &[], &["is the GPU of a CPU"], &[]);
    assert_eq!(report["pairs"][0]["kind"], "integrated");
}

#[test]
fn three_cards_give_three_pairs() {
    let tree = two_cards_overridden("8086:6f00");
    tree.card("pci0000:00/0000:00:01.0", 0x0a, Acs::None)
        .kfd_gpu(3, 0x0c);
    let report = tree.json();
    let verdicts: Vec<&Value> = report["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| &pair["verdict"])
        .collect();
    assert_eq!(verdicts, ["ready", "blocked", "blocked"]);
    assert_eq!(report["verdict"], "blocked");
}

#[test]
fn idle_module_is_ineffective_where_it_is_wanted_and_only_there() {
    let wanted = two_cards("8086:6f00");
    wanted
        .module()
        .module_says("parameters/mode", "off")
        .remove("sys/module/amdgpu/parameters")
        .file(
            &format!("lib/modules/{}/modules.dep", support::RELEASE),
            "updates/dkms/amdgpu.ko.zst:",
        );
    assert_eq!(wanted.json()["verdict"], "ineffective");
    let perhaps = shared_switch(Acs::Unreadable);
    perhaps.module().module_says("parameters/mode", "off");
    assert_eq!(perhaps.json()["verdict"], "inconclusive");
    let unneeded = two_cards("1022:14d8");
    unneeded
        .file("proc/cpuinfo", ZEN)
        .p2p_link(1, 2)
        .p2p_link(2, 1)
        .module()
        .module_says("parameters/mode", "off");
    assert_eq!(unneeded.json()["verdict"], "module-not-needed");
}
