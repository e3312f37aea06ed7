// SPDX-License-Identifier: GPL-2.0-only

//! What public reports deserve, and what must not be said of them. All trees are simulated.

#![allow(clippy::unwrap_used, reason = "JSON of another form ends the test")]

mod support;

use support::{Acs, RELEASE, Tree, ZEN, expect, shared_switch, status, two_cards, two_cards_overridden};

/// Words that send a reader to the module.
const TO_THE_MODULE: [&str; 3] = ["install the package", "and reboot, so that tp2_p2pdma", "once tp2_p2pdma overrides"];

#[test]
fn bridge_that_corrupts_is_no_matter_of_mode() {
    let tree = two_cards("8086:4c43");
    tree.module().module_says("parameters/mode", "off");
    let report = expect(
        &tree,
        "blocked",
        &["pair.route", "pair.kfd-link"],
        &["known to corrupt peer reads", "do not override this bridge"],
        &["set mode=force", "out of memory", "pcie_acs_override", "once tp2_p2pdma overrides"],
    );
    assert_eq!(status(&report, "module.effective"), "warn");
}

#[test]
fn redirect_into_a_bridge_that_corrupts_is_unsafe_once_forced() {
    let tree = shared_switch(Acs::Word(0x000c));
    tree.p2p_link(1, 2).p2p_link(2, 1);
    let report = expect(&tree, "unsafe", &["pair.route"], &["is being forced"], &TO_THE_MODULE);
    assert_eq!(report["exit"], 3);
}

#[test]
fn measured_refusal_is_enough_to_be_unsafe() {
    let tree = two_cards_overridden("8086:4c43");
    tree.module_says("parameters/allow_denied", "1").remove("proc/cpuinfo");
    assert_eq!(tree.json()["verdict"], "unsafe");
}

#[test]
fn redirect_names_ports_and_the_list() {
    expect(
        &shared_switch(Acs::Word(0x000c)),
        "blocked",
        &["pair.route", "pair.kfd-link"],
        &["0000:04:08.0", "0000:04:10.0", "8086:4c43 is not in its list"],
        &TO_THE_MODULE,
    );
}

#[test]
fn zen_is_not_sent_to_the_module() {
    let tree = two_cards("1022:14d8");
    tree.file("proc/cpuinfo", ZEN).p2p_link(1, 2).p2p_link(2, 1);
    let words = ["nothing in this version compares them"];
    expect(&tree, "module-not-needed", &[], &words, &TO_THE_MODULE);
    expect(&tree, "module-not-needed", &[], &[], &["is not in its list"]);
}

#[test]
fn driver_from_outside_without_the_option_is_unknown() {
    let tree = two_cards("8086:6f00");
    tree.remove("sys/module/amdgpu/parameters/pcie_p2p")
        .file("sys/module/amdgpu/parameters/dc", "-1")
        .file(&format!("lib/modules/{RELEASE}/modules.dep"), "updates/dkms/amdgpu.ko.zst:");
    expect(
        &tree,
        "inconclusive",
        &["pair.route", "pair.kfd-link"],
        &["goes by DMA masks alone", "CONFIG_DMABUF_MOVE_NOTIFY"],
        &["install the package", "so KFD cannot use it", "makes no links between GPUs"],
    );
}

#[test]
fn kernel_without_the_options_gets_no_advice_on_the_module() {
    let tree = two_cards("8086:6f00");
    tree.file(&format!("boot/config-{RELEASE}"), "CONFIG_HSA_AMD=y\n# CONFIG_PCI_P2PDMA is not set")
        .remove("sys/module/amdgpu/parameters/pcie_p2p")
        .file("sys/module/amdgpu/parameters/dc", "-1");
    let report = expect(
        &tree,
        "blocked",
        &["kernel.p2pdma", "kernel.hsa-amd-p2p"],
        &["CONFIG_PCI_P2PDMA=y", "CONFIG_HSA_AMD_P2P=y", "CONFIG_DMABUF_MOVE_NOTIFY=y"],
        &TO_THE_MODULE,
    );
    for gate in ["pair.route", "pair.kfd-link"] {
        assert_eq!(status(&report, gate), "skip");
    }
}

#[test]
fn one_hive_is_one_xgmi() {
    let tree = two_cards("8086:6f00");
    tree.kfd_gpu_at(1, 0, 0x05, "hive_id 12609507387757274807").kfd_gpu_at(2, 0, 0x08, "hive_id 12609507387757274807");
    expect(&tree, "not-applicable", &[], &["joined by XGMI"], &["no link between the two"]);
    let open = two_cards("8086:6f00");
    open.file("sys/devices/virtual/kfd/kfd/topology/nodes/2/io_links/0/properties", "rubbish");
    let report = open.json();
    assert_eq!(report["verdict"], "inconclusive");
    assert_eq!(status(&report, "pair.kind"), "unknown");
}

#[test]
fn container_is_told_to_act_on_the_host() {
    let tree = two_cards("8086:6f00");
    tree.file(".dockerenv", "");
    expect(
        &tree,
        "module-will-help",
        &["module.loaded", "pair.route", "pair.kfd-link"],
        &["on the host, not in this container"],
        &["tp2_p2pdma is not installed", "no AMD GPU"],
    );
}

#[test]
fn subsystem_for_linux_is_asked_for_nothing() {
    let tree = two_cards("8086:6f00");
    tree.file("proc/version", "Linux version 6.6.87.2-microsoft-standard-WSL2")
        .file(&format!("boot/config-{RELEASE}"), "CONFIG_HSA_AMD=y");
    expect(
        &tree,
        "not-applicable",
        &[],
        &["booted on the machine itself"],
        &["CONFIG_", "install the package", "modprobe"],
    );
}

#[test]
fn built_but_not_put_in_place() {
    let tree = two_cards("8086:6f00");
    tree.file(&format!("var/lib/dkms/tp2_p2pdma/0.1.0/{RELEASE}/x86_64/module/tp2_p2pdma.ko.zst"), "");
    expect(
        &tree,
        "module-will-help",
        &["module.loaded", "pair.route", "pair.kfd-link"],
        &["sudo dkms install tp2_p2pdma/0.1.0 -k 7.0.0-38-generic"],
        &["install the package", "dkms autoinstall"],
    );
}

#[test]
fn two_sockets() {
    let sockets = |bridge: &str| {
        let tree = Tree::new();
        tree.host_bridge("pci0000:00", bridge)
            .host_bridge("pci0000:80", bridge)
            .card("pci0000:00/0000:00:02.0", 0x03, Acs::None)
            .card("pci0000:80/0000:80:02.0", 0x83, Acs::None)
            .kfd()
            .kfd_gpu(1, 0x05)
            .kfd_gpu(2, 0x85);
        tree
    };
    let fails = ["pair.route", "pair.kfd-link"];
    let words = ["crosses two host bridges", "one socket"];
    for bridge in ["8086:3c00", "8086:2f00"] {
        expect(&sockets(bridge), "blocked", &fails, &words, &["ACS", "DMA mask"]);
        let loaded = sockets(bridge);
        loaded.module();
        expect(&loaded, "blocked", &fails, &words, &["ACS", "DMA mask"]);
    }
    let lifted = sockets("8086:3c00");
    lifted.module().module_says("parameters/cross_host_bridge", "1");
    lifted.p2p_link(1, 2).p2p_link(2, 1);
    expect(&lifted, "ready", &[], &["for pairs under one host bridge only"], &["is not in its list"]);
    let server = sockets("8086:2030");
    server.p2p_link(1, 2).p2p_link(2, 1);
    assert_eq!(server.json()["verdict"], "module-not-needed");
}

#[test]
fn devices_come_before_their_pairs() {
    let tree = two_cards("8086:6f00");
    tree.remove("sys/devices/virtual/kfd/kfd/topology/nodes/2");
    let text = tree.run(&[]).stdout;
    let at = |words: &str| text.find(words).unwrap();
    assert!(at("KFD has no node for it") < at("pair 0000:05:00.0"), "{text}");
    assert!(text.contains("PCI rejects atomics"), "{text}");
    assert!(!text.contains("/dev/kfd"), "{text}");
}

#[test]
fn guest_with_a_gpu_on_its_root_bus() {
    let tree = two_cards("8086:29c0");
    tree.file("proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nflags\t: fpu hypervisor\n")
        .pci("pci0000:00/0000:00:09.0", "1002:744c", "030000", 0, Acs::None)
        .kfd_gpu_at(3, 0, 0, "hive_id 0");
    let report = tree.json();
    assert_eq!(status(&report, "env.platform"), "warn");
    let pairs = report["pairs"].as_array().unwrap();
    for pair in pairs.iter().filter(|pair| pair["kind"] == "unknown") {
        assert!(["inconclusive", "blocked"].contains(&pair["verdict"].as_str().unwrap()), "{pair}");
    }
}

#[test]
fn kernels_beyond_the_tables() {
    let with_release = |bridge: &str, release: &str| {
        let tree = two_cards(bridge);
        tree.file("proc/sys/kernel/osrelease", release).file(&format!("boot/config-{release}"), support::CONFIG);
        tree
    };
    let fails = ["module.dkms", "module.loaded", "pair.route", "pair.kfd-link"];
    expect(
        &with_release("8086:6f00", "7.9.1-arch1-1"),
        "module-will-help",
        &fails,
        &["going by the list of Linux 7.3.4", "this kernel is newer"],
        &[],
    );
    for (bridge, release, words) in [
        ("8086:6f00", "5.15.0-101-generic", "older than 6.1.176"),
        ("8086:0b25", "6.14.0-29-generic", "this kernel is between the two"),
    ] {
        expect(
            &with_release(bridge, release),
            "inconclusive",
            &["pair.kfd-link"],
            &[words, "is not supported by the chipset"],
            &["TooOld", "Between", "HostBridge(", "install the package"],
        );
    }
}

#[test]
fn tree_that_lacks_files_is_no_proof() {
    let gone = |path: &str| {
        let tree = two_cards("8086:6f00");
        tree.remove(path);
        tree
    };
    let config = format!("boot/config-{RELEASE}");
    let emptied = |path: &str| {
        let tree = two_cards("8086:6f00");
        tree.file(path, "");
        tree
    };
    for (what, tree) in [
        ("host bridge", gone("sys/bus/pci/devices/0000:00:00.0")),
        ("modules", gone("sys/module")),
        ("parameters", gone("sys/module/amdgpu/parameters")),
        ("root port", gone("sys/bus/pci/devices/0000:00:02.0")),
        ("cpuinfo", gone("proc/cpuinfo")),
        ("release", gone("proc/sys/kernel/osrelease")),
        ("configuration", gone(&config)),
        ("links", gone("sys/devices/pci0000:00")),
        ("empty cpuinfo", emptied("proc/cpuinfo")),
        ("empty configuration", emptied(&config)),
    ] {
        let report = tree.json();
        let verdict = report["verdict"].as_str().unwrap();
        let is_yes = ["ready", "module-not-needed", "verified"].contains(&verdict);
        // A root port's own facts do not matter here: there is no common bridge.
        assert!(!is_yes && (verdict != "module-will-help" || what == "root port"), "{what}: {report}");
        for finding in report["findings"].as_array().unwrap() {
            let silent = finding["status"] == "unknown" && finding["remedy"].is_null();
            assert!(!silent, "{what}: nothing to do in {finding}");
        }
    }
}

#[test]
fn built_in_driver_is_too_early() {
    let tree = two_cards("8086:6f00");
    tree.file(&format!("lib/modules/{RELEASE}/modules.builtin"), "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko");
    expect(
        &tree,
        "blocked",
        &["amdgpu.origin", "module.dkms", "module.loaded", "pair.route", "pair.kfd-link"],
        &["comes too late"],
        &[],
    );
}

#[test]
fn what_no_override_could_do_is_not_in_the_way_of_pairs_that_need_none() {
    let tree = shared_switch(Acs::None);
    tree.card("pci0000:00/0000:00:03.0", 0x30, Acs::None)
        .kfd_gpu(3, 0x32)
        .p2p_link(1, 2)
        .p2p_link(2, 1)
        .file("sys/devices/pci0000:00/0000:00:00.0/device", "0x6f00")
        .file(&format!("boot/config-{RELEASE}"), "CONFIG_PCI_P2PDMA=y\nCONFIG_HSA_AMD_P2P=y\nCONFIG_KPROBES=y");
    let report = tree.json();
    assert_eq!(status(&report, "kernel.kprobes"), "fail");
    let verdicts: Vec<_> = report["pairs"].as_array().unwrap().iter().map(|pair| &pair["verdict"]).collect();
    assert_eq!(verdicts, ["module-not-needed", "blocked", "blocked"]);
}

#[test]
fn devices_that_nobody_saw_are_not_said_to_be_absent() {
    let tree = two_cards("8086:6f00");
    tree.remove("sys/devices/pci0000:00");
    expect(
        &tree,
        "inconclusive",
        &[],
        &["9 PCI devices could not be read", "needs /sys/devices"],
        &["there is no AMD GPU", "not needed", "no pair here"],
    );
}

#[test]
fn several_domains() {
    let tree = Tree::new();
    for root in ["pci0000:00", "pci0001:00"] {
        let bus = root.strip_prefix("pci").unwrap();
        tree.host_bridge(root, "8086:2030").card(&format!("{root}/{bus}:02.0"), 0x03, Acs::None);
    }
    tree.kfd().kfd_gpu(1, 0x05).kfd_gpu_at(2, 1, 0x05, "hive_id 0").p2p_link(1, 2).p2p_link(2, 1);
    let report = tree.json();
    assert_eq!(report["verdict"], "module-not-needed");
    assert_eq!(report["gpus"][1]["bdf"], "0001:05:00.0");
    assert_eq!(report["gpus"][1]["kfd_node"], 2);
}

#[test]
fn old_topology_without_domain_is_ambiguous() {
    let tree = two_cards("8086:6f00");
    tree.file(
        "sys/devices/virtual/kfd/kfd/topology/nodes/2/properties",
        "cpu_cores_count 0\nsimd_count 192\nlocation_id 1280",
    );
    let report = tree.json();
    assert_eq!(report["verdict"], "inconclusive");
    assert_eq!(report["gpus"][0]["kfd_node"], serde_json::Value::Null);
}
