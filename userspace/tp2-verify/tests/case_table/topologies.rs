// SPDX-License-Identifier: GPL-2.0-only

//! XGMI, mixed and integrated GPUs.

use super::{
    CASE, Case, INSTALL,
    chipsets::zen,
    support::{Acs, Tree, ZEN, kfd, two_cards},
};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = xgmi();
    cases.extend(integrated());
    cases
}

fn xgmi() -> Vec<Case> {
    vec![
        Case {
            id: "A22",
            inferred: "the buses, a kernel of today with its options",
            machine: || {
                let tree = two_cards("1022:1450");
                tree.file("proc/cpuinfo", ZEN).xgmi(1, 2).iommu("0000:05:00.0", 1, "DMA");
                tree
            },
            verdict: "not-applicable",
            others: &[("pair.kind", "pair", "na"), ("gpu.bar-address", "gpu", "na")],
            says: &["joined by XGMI and do not need PCIe"],
            never_says: &["no link between the two", "iommu=pt", "distance", INSTALL],
            ..CASE
        },
        Case {
            id: "A23",
            inferred: "half of the eight GPUs, the bridges above them",
            machine: || {
                let tree = Tree::new();
                tree.file("proc/cpuinfo", ZEN).kfd();
                tree.file(&kfd(1, "properties"), "cpu_cores_count 64\nsimd_count 0\nlocation_id 0\ndomain 0");
                for (node, root, bus, hive) in [
                    (2, "pci0000:00", 0x03, 12_609_507_387_757_274_807_u64),
                    (3, "pci0000:20", 0x23, 12_609_507_387_757_274_807),
                    (4, "pci0000:80", 0x83, 7),
                    (5, "pci0000:a0", 0xa3, 7),
                ] {
                    let at = root.strip_prefix("pci").unwrap();
                    tree.host_bridge(root, "1022:1480").card(&format!("{root}/{at}:01.1"), bus, Acs::None).kfd_gpu_at(
                        node,
                        0,
                        bus + 2,
                        &format!("hive_id {hive}"),
                    );
                }
                for (from, to) in [(2, 4), (2, 5), (3, 4), (3, 5)] {
                    tree.p2p_link(from, to).p2p_link(to, from);
                }
                // To the CPU of the other socket, which is no peer.
                tree.p2p_link(2, 1).p2p_link(4, 0);
                tree
            },
            verdict: "module-not-needed",
            others: &[
                ("pair.kind", "pair:0000:05:00.0+0000:25:00.0", "na"),
                ("pair.kfd-link", "pair:0000:05:00.0+0000:85:00.0", "pass"),
            ],
            says: &["joined by XGMI", "KFD has links both ways"],
            never_says: &["5 peers", "marks them as not usable", INSTALL],
            ..CASE
        },
        Case {
            id: "A25",
            inferred: "a Zen processor, links",
            machine: || {
                let tree = zen();
                tree.kfd_gpu_at(1, 0, 5, "gfx_target_version 120000").kfd_gpu_at(2, 0, 8, "gfx_target_version 120001");
                tree
            },
            verdict: "module-not-needed",
            others: &[("pair.kind", "pair", "warn"), ("pair.route", "pair", "pass")],
            says: &["gfx1200, gfx1201", "and not peer access"],
            never_says: &["P2P failure", INSTALL],
            ..CASE
        },
    ]
}

/// A GPU that is part of a Zen processor, with other functions of the same device, below a port of its own.
fn inside(tree: &Tree, bus: u8) {
    let port = "pci0000:00/0000:00:08.1";
    tree.pci(port, "1022:14dd", "060400", 4, Acs::None)
        .gpu(&format!("{port}/0000:{bus:02x}:00.0"), "1002:164e", Acs::None)
        .pci(&format!("{port}/0000:{bus:02x}:00.2"), "1022:1649", "108000", 0, Acs::None)
        .file("proc/cpuinfo", ZEN);
}

fn integrated() -> Vec<Case> {
    vec![
        Case {
            id: "A24",
            inferred: "the buses",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "1022:14d8")
                    .card("pci0000:00/0000:00:01.1", 0x01, Acs::None)
                    .kfd()
                    .kfd_gpu(1, 3)
                    .kfd_gpu(2, 0x0f);
                inside(&tree, 0x0f);
                tree
            },
            verdict: "not-applicable",
            others: &[("pair.kind", "pair", "na")],
            says: &["0000:0f:00.0 is the GPU of a CPU", "ROCR_VISIBLE_DEVICES", "indices of the others then shift"],
            never_says: &["is not in its list", "no link between the two", INSTALL],
            ..CASE
        },
        Case {
            id: "A26",
            inferred: "the bridges above",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "1022:14e8").kfd().kfd_gpu(1, 0xc1);
                inside(&tree, 0xc1);
                tree
            },
            verdict: "not-applicable",
            others: &[("kernel.p2pdma", "host", "pass"), ("env.platform", "host", "pass")],
            says: &["there is no pair of AMD cards on PCIe to judge"],
            never_says: &["P2P FAILED", INSTALL],
            ..CASE
        },
        Case {
            id: "A49",
            inferred: "the buses",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "1022:15d0")
                    .card("pci0000:00/0000:00:01.1", 0x01, Acs::None)
                    .kfd()
                    .kfd_gpu(1, 0x0f)
                    .kfd_gpu(2, 3)
                    .kfd_gpu(3, 0x0f);
                inside(&tree, 0x0f);
                tree
            },
            verdict: "not-applicable",
            others: &[("gpu.kfd", "host", "warn"), ("gpu.kfd", "gpu:0000:03", "pass"), ("gpu.atomics", "gpu", "pass")],
            says: &["KFD lists one GPU several times (nodes 1, 3)", "go by PCI addresses"],
            never_says: &["cannot use PCIe atomics", INSTALL],
            ..CASE
        },
    ]
}
