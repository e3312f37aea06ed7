// SPDX-License-Identifier: GPL-2.0-only

//! Slot, link, atomics, power and errors on the way from a GPU to the CPU. All trees are simulated.

#![allow(clippy::unwrap_used, reason = "JSON of another form ends the test")]

mod support;

use support::{
    Acs, Tree, ZEN,
    device::{DEVICE_CAPABILITIES_2, DEVICE_CONTROL, DEVICE_CONTROL_2},
    expect, finding, status, two_cards,
};

const GPU: &str = "0000:05:00.0";
const CARD: &str = "0000:03:00.0";
const ROOT_PORT: &str = "0000:00:02.0";
const FULL: (&str, u32) = ("16.0 GT/s PCIe", 16);

/// A machine that needs nothing, all of its registers readable.
fn healthy() -> Tree {
    let tree = Tree::new();
    tree.host_bridge("pci0000:00", "1022:14d8")
        .card("pci0000:00/0000:00:02.0", 0x03, Acs::None)
        .card("pci0000:00/0000:00:03.0", 0x06, Acs::None)
        .kfd()
        .kfd_gpu(1, 0x05)
        .kfd_gpu(2, 0x08)
        .p2p_link(1, 2)
        .p2p_link(2, 1)
        .file("proc/cpuinfo", ZEN);
    tree
}

fn of_gpu<'a>(report: &'a serde_json::Value, gate: &str) -> (&'a str, &'a str) {
    let finding = finding(report, gate, &format!("gpu:{GPU}"));
    (finding["status"].as_str().unwrap(), finding["summary"].as_str().unwrap())
}

#[test]
fn healthy_machine_passes_all() {
    let report = healthy().json();
    assert_eq!(report["verdict"], "module-not-needed");
    for gate in ["gpu.atomics", "gpu.slot", "gpu.link", "gpu.power", "gpu.aer"] {
        assert_eq!(status(&report, gate), "pass", "{gate}");
    }
}

#[test]
fn slot_is_not_what_the_endpoint_claims() {
    let tree = healthy();
    tree.rate(GPU, ("32.0 GT/s PCIe", 16), ("32.0 GT/s PCIe", 16)).rate(CARD, ("8.0 GT/s PCIe", 8), FULL).rate(
        ROOT_PORT,
        ("8.0 GT/s PCIe", 8),
        ("8.0 GT/s PCIe", 8),
    );
    let report = tree.json();
    let (slot, words) = of_gpu(&report, "gpu.slot");
    assert_eq!(slot, "pass");
    assert!(words.contains("8.0 GT/s x8: at most 7.88 GB/s"), "{words}");
    assert!(words.contains("0000:00:02.0 to 0000:03:00.0"), "{words}");
    assert!(!tree.run(&[]).stdout.contains("32.0 GT/s"));
    // Both ends cannot do more than 8 lanes.
    assert_eq!(of_gpu(&report, "gpu.link").0, "pass");
}

#[test]
fn narrowest_link_above_a_switch() {
    let tree = Tree::new();
    let port = "pci0000:00/0000:00:02.0";
    let switch = format!("{port}/0000:01:00.0");
    let down = format!("{switch}/0000:02:08.0");
    tree.host_bridge("pci0000:00", "1022:14d8")
        .pci(port, "1022:14db", "060400", 4, Acs::None)
        .pci(&switch, "10b5:8747", "060400", 5, Acs::None)
        .pci(&down, "10b5:8747", "060400", 6, Acs::None)
        .card(&down, 0x03, Acs::None)
        .kfd()
        .kfd_gpu(1, 0x05)
        .rate("0000:01:00.0", ("8 GT/s", 4), FULL)
        .rate("0000:00:02.0", ("8 GT/s", 4), ("8 GT/s", 4));
    let report = tree.json();
    let (_, words) = of_gpu(&report, "gpu.slot");
    assert!(
        words.contains("the narrowest link to the CPU (0000:00:02.0 to 0000:01:00.0) runs at 8.0 GT/s x4"),
        "{words}"
    );
}

#[test]
fn card_without_a_switch_of_its_own() {
    let tree = Tree::new();
    let port = "pci0000:00/0000:00:02.0";
    tree.host_bridge("pci0000:00", "8086:6f00")
        .pci(port, "8086:6f08", "060400", 4, Acs::None)
        .gpu(&format!("{port}/0000:05:00.0"), "1002:67df", Acs::None)
        .rate(GPU, ("5.0 GT/s PCIe", 16), FULL)
        .rate("0000:00:02.0", ("5.0 GT/s PCIe", 16), ("5.0 GT/s PCIe", 16));
    let report = tree.json();
    assert!(of_gpu(&report, "gpu.slot").1.contains("5.0 GT/s x16: at most 8.00 GB/s"));
    // Both ends sleep, which says nothing of what the link can do.
    tree.rate(GPU, ("2.5 GT/s PCIe", 16), FULL).rate("0000:00:02.0", ("2.5 GT/s PCIe", 16), ("8.0 GT/s PCIe", 16));
    let report = tree.json();
    let (status, words) = of_gpu(&report, "gpu.slot");
    assert!(words.contains("idle links slow down, and this one can run at 8.0 GT/s x16 (15.75 GB/s)"), "{words}");
    assert_eq!(status, "pass");
}

#[test]
fn chipset_slots() {
    let pch = Tree::new();
    pch.host_bridge("pci0000:00", "8086:591f").card("pci0000:00/0000:00:1c.0", 0x03, Acs::None).kfd().kfd_gpu(1, 5);
    let amd = Tree::new();
    let port = "pci0000:00/0000:00:01.2";
    let up = format!("{port}/0000:01:00.0");
    let down = format!("{up}/0000:02:02.0");
    amd.host_bridge("pci0000:00", "1022:1480")
        .pci(port, "1022:1483", "060400", 4, Acs::None)
        .pci(&up, "1022:57ad", "060400", 5, Acs::None)
        .pci(&down, "1022:57a3", "060400", 6, Acs::None)
        .card(&down, 0x03, Acs::None)
        .kfd()
        .kfd_gpu(1, 5);
    for tree in [pch, amd] {
        let report = tree.json();
        let (status, words) = of_gpu(&report, "gpu.slot");
        assert_eq!(status, "warn");
        assert!(words.contains("slot of the chipset"), "{words}");
    }
}

#[test]
fn bridges_that_a_copy_lacks() {
    let tree = healthy();
    tree.remove("sys/bus/pci/devices/0000:03:00.0").rate(ROOT_PORT, ("8.0 GT/s PCIe", 8), FULL);
    // The driver's word on atomics is as good without them.
    let node = "sys/devices/virtual/kfd/kfd/topology/nodes/1/io_links";
    tree.remove(node);
    let report = tree.json();
    for gate in ["gpu.slot", "gpu.link", "gpu.atomics"] {
        let (status, words) = of_gpu(&report, gate);
        assert_eq!(status, "unknown", "{gate}");
        assert!(words.contains("/sys/bus/pci/devices/0000:03:00.0"), "{words}");
    }
}

#[test]
fn link_that_came_up_narrow() {
    let tree = healthy();
    tree.rate(CARD, ("16.0 GT/s PCIe", 8), FULL).rate(ROOT_PORT, ("16.0 GT/s PCIe", 8), FULL);
    let report = tree.json();
    let (status, words) = of_gpu(&report, "gpu.link");
    assert_eq!(status, "warn");
    assert!(words.contains("came up with 8 lanes, although both ends could have 16"), "{words}");
    assert_eq!(report["verdict"], "module-not-needed");
    // An idle link is slow on purpose.
    let idle = healthy();
    idle.rate(CARD, ("2.5 GT/s PCIe", 16), FULL).rate(ROOT_PORT, ("2.5 GT/s PCIe", 16), FULL);
    assert_eq!(of_gpu(&idle.json(), "gpu.link").0, "pass");
}

#[test]
fn payload_sizes_that_differ() {
    for (word, wanted, verdict) in [(0, "fail", "blocked"), (2 << 5, "warn", "module-not-needed")] {
        let tree = healthy();
        tree.word(ROOT_PORT, DEVICE_CONTROL, word);
        let report = tree.json();
        let (status, words) = of_gpu(&report, "gpu.link");
        assert_eq!((status, &report["verdict"]), (wanted, &verdict.into()), "{words}");
        assert!(words.contains("256 bytes at 0000:05:00.0"), "{words}");
    }
}

#[test]
fn link_attributes_that_make_no_sense() {
    for (name, value) in [
        ("current_link_speed", "Unknown"),
        ("current_link_speed", "16"),
        ("current_link_speed", "99999999999 GT/s"),
        ("current_link_width", "0"),
        ("current_link_width", "255"),
        ("current_link_width", ""),
    ] {
        let tree = healthy();
        tree.attribute(CARD, name, value).attribute(ROOT_PORT, name, value);
        let report = tree.json();
        let (status, words) = of_gpu(&report, "gpu.slot");
        assert_eq!(status, "unknown", "{name} {value:?}");
        assert!(words.contains(name), "{words}");
        assert_eq!(report["verdict"], "module-not-needed", "no link attribute decides");
    }
}

#[test]
fn atomics_of_the_root_port() {
    // Routing at a root port does not matter, completing does: both sizes.
    for (word, wanted) in
        [(0x180, "pass"), (0x1c0, "pass"), (0x80, "fail"), (0x100, "fail"), (0x40, "fail"), (0, "fail")]
    {
        let tree = healthy();
        tree.word(ROOT_PORT, DEVICE_CAPABILITIES_2, word);
        let report = tree.json();
        let (status, words) = of_gpu(&report, "gpu.atomics");
        assert_eq!(status, wanted, "{word:#x}: {words}");
        assert!(!words.contains("Routing-"), "{words}");
    }
}

#[test]
fn atomics_of_switch_ports() {
    for (bdf, offset, word, words) in [
        (CARD, DEVICE_CAPABILITIES_2, 0x180, "0000:03:00.0 does not route them (Routing-)"),
        ("0000:04:00.0", DEVICE_CAPABILITIES_2, 0, "0000:04:00.0 does not route them (Routing-)"),
        (CARD, DEVICE_CONTROL_2, 0x80, "0000:03:00.0 blocks them (EgressBlck+)"),
    ] {
        let tree = healthy();
        tree.word(bdf, offset, word);
        let report = tree.json();
        let (status, summary) = of_gpu(&report, "gpu.atomics");
        assert_eq!(status, "fail");
        assert!(summary.contains(words), "{summary}");
        assert_eq!(finding(&report, "gpu.atomics", "gpu:0000:08:00.0")["status"], "pass");
    }
    // Blocking counts at upstream ports only.
    let tree = healthy();
    tree.word("0000:04:00.0", DEVICE_CONTROL_2, 0x80);
    assert_eq!(of_gpu(&tree.json(), "gpu.atomics").0, "pass");
}

#[test]
fn atomics_without_root_go_by_the_driver() {
    let tree = two_cards("1022:14d8");
    tree.file("proc/cpuinfo", ZEN).p2p_link(1, 2).p2p_link(2, 1);
    assert_eq!(of_gpu(&tree.json(), "gpu.atomics"), ("pass", "amdgpu got PCIe atomics for this GPU"));
    let node = "sys/devices/virtual/kfd/kfd/topology/nodes/1/io_links/0/properties";
    tree.file(node, "type 2\nnode_from 1\nnode_to 0\nweight 20\nflags 13");
    let report = tree.json();
    let (status, words) = of_gpu(&report, "gpu.atomics");
    assert_eq!(status, "fail");
    assert!(words.contains("RCCL"), "{words}");
    tree.remove("sys/devices/virtual/kfd/kfd/topology/nodes/1/io_links");
    let report = tree.json();
    assert_eq!(of_gpu(&report, "gpu.atomics").0, "unknown");
    assert_eq!(report["verdict"], "module-not-needed");
}

#[test]
fn device_that_failed_to_wake_up() {
    let tree = healthy();
    tree.attribute(GPU, "power/runtime_status", "error");
    let report = expect(
        &tree,
        "blocked",
        &["gpu.power"],
        &["failed to wake up", "amdgpu.runpm=0"],
        &["link dead", "the kernel refuses"],
    );
    assert_eq!(of_gpu(&report, "gpu.power").0, "fail");
    let above = healthy();
    above.attribute(CARD, "power/runtime_status", "error");
    assert!(of_gpu(&above.json(), "gpu.power").1.contains(CARD));
}

#[test]
fn device_that_sleeps() {
    let tree = healthy();
    tree.attribute(GPU, "power/runtime_status", "suspended").attribute(GPU, "power_state", "D3hot");
    let report = expect(&tree, "module-not-needed", &[], &["sleeps to save power", "rocminfo"], &[]);
    assert_eq!(of_gpu(&report, "gpu.power").0, "warn");
    let lost = healthy();
    lost.remove("sys/bus/pci/devices/0000:05:00.0/power");
    assert_eq!(of_gpu(&lost.json(), "gpu.power").0, "unknown");
}

#[test]
fn errors_since_boot() {
    let corrected = healthy();
    corrected.attribute(CARD, "aer_dev_correctable", "RxErr 0\nTimeout 384\nTOTAL_ERR_COR 384");
    let report = corrected.json();
    let (status, words) = of_gpu(&report, "gpu.aer");
    assert_eq!((status, &report["verdict"]), ("warn", &"module-not-needed".into()));
    assert!(words.contains("0000:03:00.0 has corrected errors since boot: 384 Timeout"), "{words}");
    assert_eq!(finding(&report, "gpu.aer", "gpu:0000:08:00.0")["status"], "pass");

    let fatal = healthy();
    fatal.attribute(ROOT_PORT, "aer_dev_fatal", "Undefined 0\nMalfTLP 1\nTOTAL_ERR_FATAL 1");
    fatal.attribute(CARD, "aer_dev_correctable", "Timeout 1\nTOTAL_ERR_COR 1");
    let words = ["0000:00:02.0 has reported fatal errors since boot: 1 MalfTLP", "see gpu.atomics"];
    expect(&fatal, "blocked", &["gpu.aer"], &words, &["riser", "cable"]);

    let nonfatal = healthy();
    nonfatal.attribute(GPU, "aer_dev_nonfatal", "UnsupReq 2\nTOTAL_ERR_NONFATAL 2");
    assert_eq!(of_gpu(&nonfatal.json(), "gpu.aer").0, "warn");
}

#[test]
fn errors_that_nobody_counts() {
    let tree = healthy();
    for bdf in [GPU, "0000:04:00.0", CARD, ROOT_PORT] {
        for name in ["correctable", "nonfatal", "fatal"] {
            tree.remove(&format!("sys/bus/pci/devices/{bdf}/aer_dev_{name}"));
        }
    }
    assert_eq!(of_gpu(&tree.json(), "gpu.aer").0, "na");
    let broken = healthy();
    broken.attribute(GPU, "aer_dev_fatal", "rubbish");
    assert_eq!(of_gpu(&broken.json(), "gpu.aer").0, "unknown");
}
