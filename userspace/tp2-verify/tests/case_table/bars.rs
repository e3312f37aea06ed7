// SPDX-License-Identifier: GPL-2.0-only

//! Sizes and addresses of BARs.

use super::{
    CASE, Case, INSTALL,
    chipsets::zen,
    support::{Acs, CONFIG, RELEASE, Tree, ZEN, two_cards},
};

const GIB: u64 = 1 << 30;
const FIRST: &str = "0000:05:00.0";
const SECOND: &str = "0000:08:00.0";

pub(super) fn cases() -> Vec<Case> {
    let mut cases = x99();
    cases.push(outside_driver());
    cases.extend(others());
    cases
}

/// Gives a machine a kernel, with its amdgpu as a line of `modules.dep`.
pub(super) fn kernel<'a>(tree: &'a Tree, release: &str, amdgpu: &str) -> &'a Tree {
    tree.file("proc/sys/kernel/osrelease", release)
        .file(&format!("boot/config-{release}"), CONFIG)
        .file(&format!("lib/modules/{release}/modules.dep"), amdgpu)
        .file(&format!("lib/modules/{release}/modules.builtin"), "kernel/fs/ext4/ext4.ko")
}

fn x99() -> Vec<Case> {
    vec![
        Case {
            id: "A06",
            inferred: "the buses, and BAR 0 of the second card",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "8086:6f00").kfd();
                for (node, port, bus) in [(1, "02.0", 0x03), (2, "03.0", 0x20)] {
                    let root = format!("pci0000:00/0000:00:{port}");
                    let up = format!("{root}/0000:{bus:02x}:00.0");
                    let down = format!("{up}/0000:{:02x}:08.0", bus + 1);
                    tree.pci(&root, "8086:6f04", "060400", 4, Acs::None)
                        .pci(&up, "10b5:8747", "060400", 5, Acs::None)
                        .pci(&down, "10b5:8747", "060400", 6, Acs::None)
                        .card(&down, bus + 2, Acs::None)
                        .kfd_gpu(node, bus + 4);
                    let gpu = format!("0000:{:02x}:00.0", bus + 4);
                    tree.iommu(&gpu, node, "identity");
                }
                tree.bar("0000:07:00.0", 0x3800_0000_0000, 32 * GIB).vram("0000:24:00.0", 32 * GIB, GIB / 4).bar(
                    "0000:24:00.0",
                    0x3810_0000_0000,
                    GIB / 4,
                );
                tree
            },
            verdict: "blocked",
            fails: &["module.dkms", "module.loaded", "gpu.bar-size", "gpu.bar-address", "pair.route", "pair.kfd-link"],
            others: &[("gpu.bar-size", "gpu:0000:07", "pass"), ("gpu.bar-address", "gpu:0000:07", "fail")],
            says: &[
                "8086:6f00 is not in its list",
                "only 256 MiB of its 32768 MiB",
                "on this machine the IOMMU has to translate",
            ],
            never_says: &["2f00", "boot with iommu=pt"],
            ..CASE
        },
        Case {
            id: "A13",
            inferred: "no IOMMU, 44 address bits, the buses; the year's kernel is older than any list known here",
            machine: || {
                let tree = two_cards("8086:6f00");
                kernel(&tree, "4.15.0-48-generic", "updates/dkms/amdgpu.ko:");
                tree.remove("sys/module/amdgpu/parameters/pcie_p2p").file("sys/module/amdgpu/parameters/dc", "-1");
                for (gpu, start) in [(FIRST, 0x3804_0000_0000), (SECOND, 0x3808_0000_0000)] {
                    tree.vram(gpu, 8 * GIB, 8 * GIB).bar(gpu, start, 8 * GIB);
                }
                tree.no_iommu();
                tree
            },
            verdict: "blocked",
            fails: &["gpu.bar-address", "pair.kfd-link"],
            others: &[("gpu.bar-size", "gpu", "pass")],
            says: &["needs 46 address bits", "MMIO High Base", "use an amdgpu with HSA_AMD_P2P"],
            never_says: &["Resizable BAR", "same PCIe switch", "switch on the IOMMU", INSTALL],
            ..CASE
        },
        Case {
            id: "A44",
            inferred: "the host bridge's id, no IOMMU, 44 address bits, the second card's BAR",
            machine: || {
                let tree = two_cards("8086:2020");
                for (gpu, start) in [(FIRST, 0x3810_0000_0000), (SECOND, 0x3820_0000_0000)] {
                    tree.vram(gpu, 8 * GIB, 8 * GIB).bar(gpu, start, 8 * GIB);
                }
                tree.no_iommu();
                tree
            },
            verdict: "blocked",
            fails: &["gpu.bar-address", "pair.kfd-link"],
            others: &[("gpu.bar-size", "gpu", "pass")],
            says: &["needs 46 address bits"],
            never_says: &["BAR too small", "Resizable BAR"],
            ..CASE
        },
    ]
}

fn outside_driver() -> Case {
    Case {
        id: "A08",
        inferred: "a Zen processor, the switch's ports, an IOMMU that translates",
        machine: || {
            let tree = super::support::shared_switch(Acs::None);
            tree.file("proc/cpuinfo", ZEN)
                .remove("sys/module/amdgpu/parameters/pcie_p2p")
                .file("sys/module/amdgpu/parameters/dc", "-1")
                .file(&format!("lib/modules/{RELEASE}/modules.dep"), "updates/dkms/amdgpu.ko.zst:");
            for (gpu, group, start) in [("0000:12:00.0", 1, 0x3e00_0000_0000), ("0000:22:00.0", 2, 0x3e10_0000_0000)] {
                tree.vram(gpu, 32 * GIB, 32 * GIB).bar(gpu, start, 32 * GIB).iommu(gpu, group, "DMA");
            }
            tree
        },
        verdict: "blocked",
        fails: &["gpu.bar-address", "pair.kfd-link"],
        others: &[("kernel.hsa-amd-p2p", "host", "unknown")],
        says: &[
            "CONFIG_DMABUF_MOVENOTIFY",
            "CONFIG_DMABUF_MOVE_NOTIFY",
            "does not go by the IOMMU",
            "but this amdgpu does not ask it",
        ],
        never_says: &["amdgpu was built with HSA_AMD_P2P", INSTALL],
        ..CASE
    }
}

fn others() -> Vec<Case> {
    vec![
        Case {
            id: "A14",
            inferred: "a Zen processor, the BARs' places, the cards' memory",
            machine: || {
                let tree = two_cards("1022:1450");
                tree.file("proc/cpuinfo", ZEN);
                for (gpu, start) in [(FIRST, 0xc000_0000), (SECOND, 0xd000_0000)] {
                    tree.vram(gpu, 8 * GIB, GIB / 4).bar(gpu, start, GIB / 4);
                }
                tree
            },
            verdict: "blocked",
            fails: &["gpu.bar-size", "pair.kfd-link"],
            others: &[("gpu.bar-address", "gpu", "pass")],
            says: &[
                "the firmware placed the BAR below 4 GiB",
                "switch off CSM",
                "pci=nocrs together with an amdgpu patched to retry the resize has helped, at the risk",
            ],
            never_says: &["is not in its list", "DMA mask"],
            ..CASE
        },
        Case {
            id: "A15",
            inferred: "a Zen processor, amdgpu from outside the kernel with HSA_AMD_P2P, links, the second card's BAR",
            machine: || {
                let tree = zen();
                kernel(&tree, "5.15.0-101-generic", "updates/dkms/amdgpu.ko:");
                for (gpu, group, start) in [(FIRST, 1, 0x118_0000_0000), (SECOND, 2, 0x120_0000_0000)] {
                    tree.vram(gpu, 32 * GIB, 32 * GIB).bar(gpu, start, 32 * GIB).iommu(gpu, group, "DMA");
                }
                tree
            },
            verdict: "blocked",
            fails: &["gpu.bar-address"],
            others: &[("gpu.bar-address", "gpu:0000:05", "pass")],
            says: &["on this kernel boot with iommu=pt"],
            never_says: &["always use iommu=pt", INSTALL],
            ..CASE
        },
        Case {
            id: "A45",
            inferred: "a Zen processor, two of the eight cards, links",
            machine: || {
                let tree = zen();
                tree.vram(FIRST, 32 * GIB, 32 * GIB).vram(SECOND, 32 * GIB, 32 * GIB);
                tree
            },
            verdict: "module-not-needed",
            others: &[("gpu.bar-size", "gpu", "pass")],
            says: &["all of its memory, 32768 MiB, can be seen"],
            never_says: &["Resizable BAR"],
            ..CASE
        },
    ]
}
