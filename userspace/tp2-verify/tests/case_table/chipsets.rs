// SPDX-License-Identifier: GPL-2.0-only

//! Host bridges: listed, not listed, known to corrupt; forced; behind switches.

use super::{
    CASE, Case, INSTALL,
    support::{Acs, INTEL, Tree, ZEN, shared_switch, two_cards, two_cards_overridden},
};

const GIB: u64 = 1 << 30;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = refused();
    cases.extend(allowed());
    cases.extend(forced());
    cases
}

/// A machine with a Zen processor and two cards, linked by KFD.
pub(super) fn zen() -> Tree {
    let tree = two_cards("1022:14d8");
    tree.file("proc/cpuinfo", ZEN).p2p_link(1, 2).p2p_link(2, 1);
    tree
}

fn refused() -> Vec<Case> {
    vec![
        Case {
            id: "A01",
            inferred: "AMD cards in place of Arc ones, and the buses",
            machine: || two_cards("8086:4c43"),
            verdict: "blocked",
            fails: &["pair.route", "pair.kfd-link"],
            says: &["host bridge 8086:4c43 is known to corrupt", "do not override this bridge"],
            never_says: &["out of memory", "pcie_acs_override", "it works", INSTALL],
            ..CASE
        },
        Case {
            id: "A03",
            inferred: "AMD cards in place of Arc ones, and the buses; their card switches redirect, too",
            machine: || shared_switch(Acs::Word(0x000c)),
            verdict: "blocked",
            fails: &["pair.route", "pair.kfd-link"],
            says: &[
                "ACS redirect is set at 0000:03:00.0 0000:04:08.0 0000:04:10.0",
                "0000:10:00.0",
                "pci=disable_acs_redir=",
                "setpci -s 0000:04:08.0 ECAP_ACS+0x6.w=0000",
                "cannot go to different guests any more",
                "8086:4c43 is not in its list",
            ],
            never_says: &["so fine", "P2P works", INSTALL],
            ..CASE
        },
        Case {
            id: "A04",
            inferred: "AMD cards in place of a GPU and a network card; the host bridge's id",
            machine: || two_cards("8086:7d1c"),
            verdict: "module-will-help",
            fails: &["module.dkms", "module.loaded", "pair.route", "pair.kfd-link"],
            says: &["push (writes) and pull (reads)", "until then the route is unverified", "peer writes only"],
            never_says: &["data is fine", "verified -"],
            ..CASE
        },
        Case {
            id: "A07",
            inferred: "the host bridge's id, amdgpu from outside the kernel with HSA_AMD_P2P, no links",
            machine: || {
                let tree = two_cards("8086:a740");
                tree.file(
                    &format!("lib/modules/{}/modules.dep", super::support::RELEASE),
                    "updates/dkms/amdgpu.ko.zst: updates/dkms/amdkcl.ko.zst",
                )
                .bytes("proc/self/environ", b"NCCL_SHM_Disable=1\0NCCL_P2P_Disable=1\0");
                tree
            },
            verdict: "module-will-help",
            fails: &["module.dkms", "module.loaded", "pair.route", "pair.kfd-link"],
            says: &["NCCL_SHM_Disable has no effect", "NCCL_P2P_Disable has no effect", "8086:a740 is not in its list"],
            never_says: &["P2P equals SHM", "KFD has links both ways"],
            ..CASE
        },
        Case {
            id: "A42",
            inferred: "the i7-14700KF machine: the host bridge's id, an IOMMU that translates, BARs within 44 bits",
            machine: || {
                let tree = two_cards("8086:a740");
                tree.iommu("0000:05:00.0", 15, "DMA-FQ").iommu("0000:08:00.0", 16, "DMA-FQ");
                tree
            },
            verdict: "module-will-help",
            fails: &["module.dkms", "module.loaded", "pair.route", "pair.kfd-link"],
            others: &[("gpu.bar-address", "gpu", "pass")],
            says: &["8086:a740 is not in its list"],
            never_says: &["iommu=pt"],
            ..CASE
        },
    ]
}

fn allowed() -> Vec<Case> {
    vec![
        Case {
            id: "A05",
            inferred: "AMD cards in place of Arc ones, and the buses",
            machine: zen,
            verdict: "module-not-needed",
            others: &[("module.loaded", "host", "na")],
            says: &["the kernel is predicted to allow this route by itself"],
            never_says: &["is not in its list", INSTALL, "modprobe tp2_p2pdma"],
            ..CASE
        },
        Case {
            id: "A17",
            inferred: "everything but processor, cards and kernel: the cause is not established",
            machine: zen,
            verdict: "module-not-needed",
            others: &[("gpu.atomics", "gpu:0000:05", "pass"), ("gpu.atomics", "gpu:0000:08", "pass")],
            says: &["bytes were not compared"],
            never_says: &["is not in its list", "P2P broken", INSTALL],
            ..CASE
        },
        Case {
            id: "A39",
            inferred: "AMD cards, two of them; nothing on such a machine shows that peer writes are dropped",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "1022:1480").file("proc/cpuinfo", ZEN).kfd();
                for (node, port, bus) in [(1, "01.1", 3), (2, "03.1", 6)] {
                    tree.card(&format!("pci0000:00/0000:00:{port}"), bus, Acs::Word(0x000d)).kfd_gpu(node, bus + 2);
                }
                tree.iommu("0000:05:00.0", 15, "DMA").iommu("0000:08:00.0", 16, "DMA").p2p_link(1, 2).p2p_link(2, 1);
                tree
            },
            verdict: "module-not-needed",
            says: &["bytes were not compared"],
            never_says: &["verified -", "RCCL works"],
            ..CASE
        },
        Case {
            id: "A41",
            inferred: "the year's kernel is older than any list known here; no links",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "8086:2030")
                    .host_bridge("pci0000:80", "8086:2030")
                    .card("pci0000:00/0000:00:00.1", 0x03, Acs::None)
                    .card("pci0000:80/0000:80:00.1", 0x83, Acs::None)
                    .kfd()
                    .kfd_gpu(1, 0x05)
                    .kfd_gpu(2, 0x85);
                tree
            },
            verdict: "blocked",
            fails: &["pair.kfd-link"],
            says: &["one socket"],
            never_says: &["ACS redirect is set", "DMA mask", INSTALL],
            ..CASE
        },
    ]
}

fn forced() -> Vec<Case> {
    vec![
        Case {
            id: "A02",
            inferred: "AMD cards in place of Arc ones; the module in place of a patched list",
            machine: || {
                let tree = two_cards_overridden("8086:4c43");
                tree.module_says("parameters/allow_denied", "1");
                tree
            },
            verdict: "unsafe",
            fails: &["pair.route"],
            says: &[
                "known to corrupt peer reads without any error",
                "is being forced",
                "has to stay with copies through host memory",
            ],
            never_says: &["verdict: ready", "supported", "it works", INSTALL],
            ..CASE
        },
        Case {
            id: "R1",
            inferred: "the width of the root ports, the IOMMU groups",
            machine: reference,
            verdict: "ready",
            others: &[
                ("gpu.aer", "gpu:0000:08", "warn"),
                ("gpu.aer", "gpu:0000:05", "pass"),
                ("gpu.slot", "gpu", "pass"),
            ],
            says: &[
                "8.0 GT/s x8: at most 7.88 GB/s",
                "iommu=pt would cut this pair",
                "384 Timeout",
                "needs 46 address bits",
                "answered 8 in its place (measured)",
            ],
            never_says: &["remove iommu=pt", "verified -"],
            ..CASE
        },
        Case {
            id: "R2",
            inferred: "BARs at the places of R1, no module; the third card is not AMD's and is left out",
            machine: || {
                let tree = two_cards("8086:6f00");
                super::bars::kernel(&tree, "6.8.0-60-generic", "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst:");
                tree.bar("0000:05:00.0", 0x3820_0000_0000, 32 * GIB)
                    .bar("0000:08:00.0", 0x3830_0000_0000, 32 * GIB)
                    .iommu("0000:05:00.0", 15, "identity")
                    .iommu("0000:08:00.0", 16, "identity");
                tree
            },
            verdict: "blocked",
            fails: &["module.dkms", "module.loaded", "gpu.bar-address", "pair.route", "pair.kfd-link"],
            says: &["place the BARs lower in the firmware", "Linux 6.12.0 or newer"],
            never_says: &["RCCL is broken", "remove iommu=pt"],
            ..CASE
        },
        Case {
            id: "R3",
            inferred: "the host bridge's id; links, which the patched amdgpu makes",
            machine: || {
                let tree = two_cards("8086:7d1c");
                tree.p2p_link(1, 2).p2p_link(2, 1);
                tree
            },
            verdict: "inconclusive",
            fails: &["module.dkms", "module.loaded", "pair.route"],
            says: &["something else overrode the kernel's answer", "peer writes only"],
            never_says: &["verdict: ready"],
            ..CASE
        },
    ]
}

/// The machine that this project was born on, after the override.
fn reference() -> Tree {
    let tree = two_cards_overridden("8086:6f00");
    tree.file("proc/cpuinfo", INTEL);
    for (root, card, gpu, start) in [
        ("0000:00:02.0", "0000:03:00.0", "0000:05:00.0", 0x3820_0000_0000),
        ("0000:00:03.0", "0000:06:00.0", "0000:08:00.0", 0x3830_0000_0000),
    ] {
        let slot = ("8.0 GT/s PCIe", 8);
        tree.rate(root, slot, slot).rate(card, slot, ("16.0 GT/s PCIe", 16)).bar(gpu, start, 32 * GIB);
        tree.vram(gpu, 25_753_026_560, 25_753_026_560);
    }
    tree.iommu("0000:05:00.0", 40, "DMA-FQ").iommu("0000:08:00.0", 41, "DMA-FQ");
    tree.attribute("0000:06:00.0", "aer_dev_correctable", "RxErr 0\nTimeout 384\nTOTAL_ERR_COR 384");
    tree
}
