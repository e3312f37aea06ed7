// SPDX-License-Identifier: GPL-2.0-only

//! Whether peers can reach all of a GPU's memory: size and address of its BAR. All trees are simulated.

#![allow(clippy::unwrap_used, reason = "JSON of another form ends the test")]

mod support;

use support::{RELEASE, Tree, ZEN, expect, finding, status, two_cards, two_cards_overridden};

const FIRST: &str = "0000:05:00.0";
const SECOND: &str = "0000:08:00.0";
const GIB: u64 = 1 << 30;

/// A machine on which the kernel allows the pair, but KFD made no links.
fn zen() -> Tree {
    let tree = two_cards("1022:14d8");
    tree.file("proc/cpuinfo", ZEN);
    tree
}

/// The reference machine's BARs: far above what 44 bits reach.
fn high_bars(tree: &Tree) -> &Tree {
    tree.bar(FIRST, 0x3820_0000_0000, 32 * GIB).bar(SECOND, 0x3830_0000_0000, 32 * GIB)
}

#[test]
fn small_bar_of_one_card() {
    let tree = zen();
    tree.vram(SECOND, 24 * GIB, GIB / 4).bar(SECOND, 0x20_0000_0000, GIB / 4);
    let report = expect(
        &tree,
        "blocked",
        &["gpu.bar-size", "pair.kfd-link"],
        &["only 256 MiB of its 24576 MiB can be seen", "Resizable BAR in the firmware"],
        &["install the package", "below 4 GiB"],
    );
    assert_eq!(finding(&report, "gpu.bar-size", &format!("gpu:{FIRST}"))["status"], "pass");
}

#[test]
fn small_bar_below_four_gib_is_the_firmwares() {
    let tree = zen();
    tree.vram(SECOND, 8 * GIB, GIB / 4).bar(SECOND, 0xd000_0000, GIB / 4);
    let words = ["placed the BAR below 4 GiB", "Above 4G Decoding", "pci=nocrs", "at the risk of"];
    expect(&tree, "blocked", &["gpu.bar-size", "pair.kfd-link"], &words, &["DMA mask is", "is not in its list"]);
}

#[test]
fn full_size_is_enough_without_resizable_bar() {
    let tree = zen();
    tree.p2p_link(1, 2).p2p_link(2, 1);
    expect(&tree, "module-not-needed", &[], &["all of its memory, 24576 MiB"], &["Resizable"]);
}

#[test]
fn sizes_that_cannot_be_read() {
    for (attribute, value) in [("mem_info_vram_total", ""), ("mem_info_vis_vram_total", "lots")] {
        let tree = zen();
        tree.attribute(FIRST, attribute, value);
        let report = tree.json();
        assert_eq!(status(&report, "gpu.bar-size"), "unknown");
        let one = finding(&report, "gpu.bar-size", &format!("gpu:{FIRST}"));
        assert!(one["summary"].as_str().unwrap().contains(attribute), "{one}");
        assert_eq!(report["verdict"], "inconclusive");
        // KFD's links prove it.
        tree.p2p_link(1, 2).p2p_link(2, 1);
        assert_eq!(tree.json()["verdict"], "module-not-needed");
    }
}

#[test]
fn card_without_amdgpu_has_no_known_size() {
    let tree = zen();
    tree.driver("pci0000:00/0000:00:02.0/0000:03:00.0/0000:04:00.0/0000:05:00.0", "vfio-pci");
    assert_eq!(status(&tree.json(), "gpu.bar-size"), "skip");
}

#[test]
fn one_card_alone_is_only_warned() {
    let tree = Tree::new();
    tree.host_bridge("pci0000:00", "8086:6f00")
        .card("pci0000:00/0000:00:02.0", 3, support::Acs::None)
        .kfd()
        .kfd_gpu(1, 5)
        .vram(FIRST, 24 * GIB, GIB / 4);
    let report = expect(&tree, "not-applicable", &[], &["only 256 MiB"], &[]);
    assert_eq!(status(&report, "gpu.bar-size"), "warn");
    assert_eq!(status(&report, "gpu.bar-address"), "na");
}

#[test]
fn high_address_needs_a_translating_iommu() {
    let tree = two_cards_overridden("8086:6f00");
    high_bars(&tree).iommu(FIRST, 40, "DMA-FQ").iommu(SECOND, 41, "DMA");
    let words = ["needs 46 address bits", "iommu=pt would cut this pair"];
    expect(&tree, "ready", &[], &words, &["remove iommu=pt", "switch on the IOMMU", "boot with iommu=pt"]);
}

#[test]
fn high_address_and_pass_through() {
    let tree = zen();
    high_bars(&tree).iommu(FIRST, 40, "identity").iommu(SECOND, 41, "identity");
    expect(
        &tree,
        "blocked",
        &["gpu.bar-address", "pair.kfd-link"],
        &["more than the 44 of 0000:08:00.0", "remove iommu=pt", "MMIO High Base", "at most 16 TiB"],
        &["Resizable BAR in the firmware", "boot with iommu=pt", "install the package"],
    );
}

#[test]
fn high_address_of_one_card_concerns_its_peer() {
    let tree = zen();
    tree.bar(SECOND, 0x3830_0000_0000, 32 * GIB).iommu(FIRST, 40, "identity").iommu(SECOND, 41, "DMA");
    let report = tree.json();
    assert_eq!(finding(&report, "gpu.bar-address", &format!("gpu:{FIRST}"))["status"], "pass");
    assert_eq!(finding(&report, "gpu.bar-address", &format!("gpu:{SECOND}"))["status"], "fail");
}

#[test]
fn no_iommu_is_another_matter_than_an_unknown_one() {
    let off = zen();
    high_bars(&off).no_iommu();
    let fails = ["gpu.bar-address", "pair.kfd-link"];
    expect(&off, "blocked", &fails, &["switch on the IOMMU", "intel_iommu=on"], &["remove iommu=pt ("]);
    let uncaptured = zen();
    high_bars(&uncaptured);
    let report = uncaptured.json();
    assert_eq!((status(&report, "gpu.bar-address"), &report["verdict"]), ("unknown", &"inconclusive".into()));
}

#[test]
fn address_at_the_very_edge() {
    // The last byte counts, and 44 bits end at 16 TiB.
    let edge = (1_u64 << 44) - 32 * GIB;
    for (start, wanted) in [(edge, "pass"), (edge + GIB, "fail")] {
        let tree = zen();
        tree.bar(FIRST, start, 32 * GIB).no_iommu();
        assert_eq!(status(&tree.json(), "gpu.bar-address"), wanted, "{start:#x}");
    }
    let old_card = zen();
    old_card.bar(FIRST, 1 << 40, 32 * GIB).attribute(SECOND, "dma_mask_bits", "40").no_iommu();
    assert_eq!(status(&old_card.json(), "gpu.bar-address"), "fail");
}

#[test]
fn old_kernels_and_the_iommu() {
    let on = |release: &str| {
        let tree = zen();
        tree.file("proc/sys/kernel/osrelease", release).file(&format!("boot/config-{release}"), support::CONFIG);
        tree.iommu(FIRST, 40, "DMA").iommu(SECOND, 41, "DMA");
        tree
    };
    // Address in order, translation is not (case A15).
    let report = on("5.15.0-101-generic").json();
    let all: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["gate"] == "gpu.bar-address")
        .map(|finding| finding["status"].as_str().unwrap())
        .collect();
    assert_eq!(all, ["pass", "fail", "pass", "fail"]);
    assert!(on("5.15.0-101-generic").run(&[]).stdout.contains("boot with iommu=pt"));
    assert_eq!(status(&on(RELEASE).json(), "gpu.bar-address"), "pass");
    // Whether its amdgpu goes by translation is not known here.
    let between = on("6.5.0-1-generic");
    high_bars(&between);
    assert_eq!(status(&between.json(), "gpu.bar-address"), "unknown");
}

#[test]
fn links_of_kfd_against_an_address_that_does_not_fit() {
    let tree = zen();
    high_bars(&tree).no_iommu().p2p_link(1, 2).p2p_link(2, 1);
    let report = tree.json();
    assert_eq!((status(&report, "gpu.bar-address"), &report["verdict"]), ("warn", &"module-not-needed".into()));
}

#[test]
fn resources_that_make_no_sense() {
    for (text, wanted) in [
        ("", "unknown"),
        ("0x0 0x1", "unknown"),
        ("rubbish and more", "unknown"),
        ("0x0000000000000000 0x0000000000000000 0x0000000000000000", "fail"),
        ("0x0000000000000000 0x000000000fffffff 0x000000002014220c", "fail"),
        ("0x000000000000e000 0x000000000000e0ff 0x0000000000040101", "fail"),
        ("0xffffffffffffffff 0x0000000000000000 0x000000000014220c", "fail"),
    ] {
        let tree = zen();
        tree.attribute(FIRST, "resource", text);
        assert_eq!(status(&tree.json(), "gpu.bar-address"), wanted, "{text:?}");
    }
    for bits in ["0", "65", "forty-four", "-1"] {
        let tree = zen();
        high_bars(&tree).no_iommu().attribute(SECOND, "dma_mask_bits", bits);
        assert_eq!(status(&tree.json(), "gpu.bar-address"), "unknown", "{bits}");
    }
}

#[test]
fn a_driver_that_goes_by_bits_alone_is_not_helped_by_the_iommu() {
    let tree = zen();
    high_bars(&tree);
    tree.iommu(FIRST, 40, "identity")
        .iommu(SECOND, 41, "identity")
        .remove("sys/module/amdgpu/parameters/pcie_p2p")
        .file("sys/module/amdgpu/parameters/dc", "-1")
        .file(&format!("lib/modules/{RELEASE}/modules.dep"), "updates/dkms/amdgpu.ko.zst:");
    let text = tree.run(&["-v"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("use an amdgpu with HSA_AMD_P2P") && !text.contains("remove iommu=pt"), "{text}");
}
