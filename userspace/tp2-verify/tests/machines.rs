// SPDX-License-Identifier: GPL-2.0-only

//! Whole machines: tree in, verdict, failing gates and words out. All trees are simulated.

#![allow(clippy::unwrap_used, reason = "JSON of another form ends the test")]

mod support;

use serde_json::Value;
use support::{Acs, Tree, ZEN, expect, failing, shared_switch, status, two_cards, two_cards_overridden};

#[test]
fn reference_machine_before_the_override() {
    let report = expect(
        &two_cards("8086:6f00"),
        "module-will-help",
        &["module.dkms", "module.loaded", "pair.route", "pair.kfd-link"],
        &["host bridge 8086:6f00", "both ways", "install the package tp2-p2pdma-dkms", "0000:04:00.0 -> 0000:03:00.0"],
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
        &["answered 8", "weight 40, max_bandwidth 8000 MB/s, flags 3", "nothing in this version compares them"],
        &["verdict: verified", "install the package tp2-p2pdma-dkms and reboot"],
    );
    let way = &report["pairs"][0]["distance"]["b_to_a"];
    assert_eq!((&way["kernel"], &way["expected"], &way["module"]["answer"]), (&(-1).into(), &(-1).into(), &8.into()));
}

#[test]
fn override_without_root_is_predicted() {
    let tree = two_cards_overridden("8086:6f00");
    tree.remove("sys/kernel/debug");
    let report = expect(&tree, "ready", &[], &["is predicted to answer 8"], &["measured"]);
    assert_eq!(report["pairs"][0]["distance"]["a_to_b"]["kernel"], Value::Null);
}

#[test]
fn debian_kernel_in_a_guest_without_kfd() {
    let tree = two_cards("8086:29c0");
    tree.file("proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nflags\t: fpu hypervisor\n")
        .file("proc/sys/kernel/osrelease", "7.3.4+deb13-amd64")
        .file(
            "boot/config-7.3.4+deb13-amd64",
            "CONFIG_PCI_P2PDMA=y\n# CONFIG_HSA_AMD_P2P is not set\nCONFIG_KPROBES=y\nCONFIG_KRETPROBES=y",
        )
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
        &["install the package", "tp2_p2pdma overrides it", "once tp2_p2pdma overrides"],
    );
}

#[test]
fn driver_without_the_parameter_beats_the_configuration() {
    let tree = two_cards("8086:6f00");
    tree.remove("sys/module/amdgpu/parameters/pcie_p2p").file("sys/module/amdgpu/parameters/dc", "-1");
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
    tree.remove("sys/module/amdgpu/parameters")
        .file(&format!("lib/modules/{}/modules.dep", support::RELEASE), "updates/dkms/amdgpu.ko.zst:");
    let report = tree.json();
    assert_eq!(report["verdict"], "inconclusive");
    assert_eq!(status(&report, "kernel.hsa-amd-p2p"), "unknown");
}

#[test]
fn parameter_switched_off() {
    let tree = two_cards_overridden("8086:6f00");
    tree.file("sys/module/amdgpu/parameters/pcie_p2p", "N");
    expect(&tree, "blocked", &["amdgpu.pcie-p2p"], &["remove amdgpu.pcie_p2p=0"], &[]);
}

#[test]
fn kernel_without_p2pdma() {
    let tree = two_cards("8086:6f00");
    tree.file(
        &format!("boot/config-{}", support::RELEASE),
        "CONFIG_HSA_AMD_P2P=y\nCONFIG_KPROBES=y\nCONFIG_KRETPROBES=y",
    );
    expect(&tree, "blocked", &["kernel.p2pdma"], &["built without CONFIG_PCI_P2PDMA"], &["and reboot, so that"]);
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
fn shared_switch_without_redirect() {
    let tree = shared_switch(Acs::None);
    tree.p2p_link(1, 2).p2p_link(2, 1);
    let report =
        expect(&tree, "module-not-needed", &[], &["without ACS redirect", "not needed"], &["install the package"]);
    assert_eq!(report["exit"], 0);
}

#[test]
fn shared_switch_with_redirect() {
    expect(
        &shared_switch(Acs::Word(0x000c)),
        "blocked",
        &["pair.route", "pair.kfd-link"],
        &["ACS redirect is set at", "pci=disable_acs_redir=", "0000:04:08.0", "leaves such routes alone"],
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
        &["run tp2-verify as root", "as root it would also read whether bridges redirect"],
        &["install the package"],
    );
    assert_eq!(report["exit"], 4);
    assert_eq!(report["pairs"][0]["distance"]["a_to_b"]["expected"], Value::Null);
}

#[test]
fn zen_needs_nothing() {
    let tree = two_cards("1022:14d8");
    tree.file("proc/cpuinfo", ZEN).p2p_link(1, 2).p2p_link(2, 1);
    expect(&tree, "module-not-needed", &[], &["allow this route by itself, 8 hops"], &["install the package"]);
}

#[test]
fn allowed_by_the_kernel_but_without_links() {
    let tree = two_cards("1022:14d8");
    tree.file("proc/cpuinfo", ZEN);
    expect(&tree, "blocked", &["pair.kfd-link"], &["gpu.bar-size and gpu.bar-address"], &["install the package"]);
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
    expect(&tree, "blocked", &["pair.kfd-link"], &["no link between the two"], &["KFD has links both ways"]);
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
    expect(&tree, "blocked", &["pair.route", "pair.kfd-link"], &["crosses two host bridges"], &["install the package"]);
}

#[test]
fn denied_bridge() {
    expect(
        &two_cards("8086:4c43"),
        "blocked",
        &["pair.route", "pair.kfd-link"],
        &["known to corrupt peer reads", "do not override this bridge"],
        &["install the package", "reboot, so that tp2_p2pdma", "tp2_p2pdma overrides"],
    );
}

#[test]
fn client_bridge_is_called_unverified() {
    expect(
        &two_cards("8086:7d04"),
        "module-will-help",
        &["module.dkms", "module.loaded", "pair.route", "pair.kfd-link"],
        &["until then the route is unverified", "Intel client chip"],
        &["it works"],
    );
}

#[test]
fn nothing_to_judge() {
    let none = Tree::new();
    none.host_bridge("pci0000:00", "8086:6f00");
    let one = Tree::new();
    one.host_bridge("pci0000:00", "8086:6f00").card("pci0000:00/0000:00:02.0", 0x03, Acs::None).kfd().kfd_gpu(1, 5);
    for tree in [none, one] {
        let report = expect(&tree, "not-applicable", &[], &["no pair of AMD cards"], &["install the package"]);
        assert_eq!(report["exit"], 5);
    }
}

#[test]
fn subsystem_for_linux() {
    let tree = two_cards("8086:6f00");
    tree.file("proc/version", "Linux version 6.6.87.2-microsoft-standard-WSL2");
    assert_eq!(tree.json()["verdict"], "not-applicable");
}

#[test]
fn xgmi_pair() {
    let tree = two_cards("8086:6f00");
    tree.xgmi(1, 2);
    let report = expect(&tree, "not-applicable", &[], &["joined by XGMI"], &["install the package"]);
    assert_eq!(report["pairs"][0]["kind"], "xgmi");
}

#[test]
fn integrated_gpu_beside_a_card() {
    let tree = Tree::new();
    let port = "pci0000:00/0000:00:08.1";
    tree.host_bridge("pci0000:00", "1022:14d8")
        .card("pci0000:00/0000:00:01.1", 0x03, Acs::None)
        .pci(port, "1022:14dd", "060400", 4, Acs::None)
        .pci(&format!("{port}/0000:c1:00.0"), "1002:150e", "038000", 0, Acs::None)
        .pci(&format!("{port}/0000:c1:00.2"), "1022:17e0", "108000", 0, Acs::None)
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
    tree.card("pci0000:00/0000:00:01.0", 0x0a, Acs::None).kfd_gpu(3, 0x0c);
    let report = tree.json();
    let verdicts: Vec<&Value> = report["pairs"].as_array().unwrap().iter().map(|pair| &pair["verdict"]).collect();
    assert_eq!(verdicts, ["ready", "blocked", "blocked"]);
    assert_eq!(report["verdict"], "blocked");
}
