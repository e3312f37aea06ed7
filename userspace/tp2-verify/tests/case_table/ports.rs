// SPDX-License-Identifier: GPL-2.0-only

//! Atomics, errors, power and links of ports.

use super::{
    CASE, Case, INSTALL,
    support::{Acs, INTEL, Tree, ZEN, device::DEVICE_CAPABILITIES_2},
};

/// `AtomicOpsCap: Routing+ 32bit- 64bit-` at a root port.
const NO_COMPLETER: u16 = 0x40;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = atomics();
    cases.extend(without_node());
    cases.extend(others());
    cases
}

/// A guest's processor.
const GUEST: &str = "vendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel name\t: AMD EPYC\nflags\t: fpu hypervisor\n";

/// A card without a switch of its own below a root port.
fn old_card(tree: &Tree, root_port: &str, id: &str, bus: u8) {
    let (domain, _) = root_port.rsplit('/').next().unwrap().split_once(':').unwrap();
    tree.pci(root_port, "8086:a110", "060400", 4, Acs::None).gpu(
        &format!("{root_port}/{domain}:{bus:02x}:00.0"),
        id,
        Acs::None,
    );
}

fn atomics() -> Vec<Case> {
    vec![
        Case {
            id: "A16",
            inferred: "the buses, Navi cards without their switches, links",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "8086:29c0").file("proc/cpuinfo", GUEST).kfd();
                for (node, port, bus) in [(1, "10.0", 1), (2, "11.0", 2)] {
                    let root = format!("pci0000:00/0000:00:{port}");
                    tree.pci(&root, "1b36:000c", "060400", 4, Acs::None)
                        .gpu(&format!("{root}/0000:{bus:02x}:00.0"), "1002:744c", Acs::None)
                        .word(&format!("0000:00:{port}"), DEVICE_CAPABILITIES_2, 0)
                        .kfd_gpu(node, bus);
                }
                tree.p2p_link(1, 2).p2p_link(2, 1);
                tree
            },
            verdict: "blocked",
            fails: &["gpu.atomics"],
            says: &[
                "root port 0000:00:10.0 does not complete them",
                "Routing- 32bit- 64bit-",
                "pass function .0",
                "RCCL",
                "plain copies may do without",
            ],
            never_says: &["does not route", "CPU cannot do atomics", INSTALL],
            ..CASE
        },
        Case {
            id: "A20",
            inferred: "the root port's bits, the buses",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "8086:4c53")
                    .card("pci0000:00/0000:00:01.0", 1, Acs::None)
                    .word("0000:00:01.0", DEVICE_CAPABILITIES_2, NO_COMPLETER)
                    .kfd()
                    .kfd_gpu(1, 3);
                tree
            },
            verdict: "not-applicable",
            others: &[("gpu.atomics", "gpu", "warn"), ("gpu.kfd", "gpu", "pass")],
            says: &["GPU kernels that call back to the host"],
            never_says: &["is not in its list", "KFD takes no GPU", INSTALL],
            ..CASE
        },
        Case {
            id: "A21",
            inferred: "counters (that kernel had none in sysfs), the root port's bits, a KFD node",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "8086:191f").kfd().kfd_gpu(1, 2);
                old_card(&tree, "pci0000:00/0000:00:1c.4", "1002:7300", 2);
                tree.id("0000:00:1c.4", "8086:a114")
                    .word("0000:00:1c.4", DEVICE_CAPABILITIES_2, NO_COMPLETER)
                    .attribute("0000:00:1c.4", "aer_dev_fatal", "Undefined 0\nMalfTLP 1\nTOTAL_ERR_FATAL 1");
                tree
            },
            verdict: "not-applicable",
            fails: &["gpu.aer"],
            others: &[("gpu.atomics", "gpu", "warn")],
            says: &["0000:00:1c.4 has reported fatal errors since boot: 1 MalfTLP", "see gpu.atomics", "chipset (PCH)"],
            never_says: &["riser or cable", "replace the riser"],
            ..CASE
        },
    ]
}

/// GPUs that KFD leaves out.
fn without_node() -> Vec<Case> {
    vec![
        Case {
            id: "A18",
            inferred: "the host bridge's id, the chipset port's bits",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "8086:591f").file("proc/cpuinfo", INTEL).kfd().kfd_gpu(1, 1);
                old_card(&tree, "pci0000:00/0000:00:01.0", "1002:67df", 1);
                old_card(&tree, "pci0000:00/0000:00:1c.0", "1002:67df", 2);
                tree.word("0000:00:1c.0", DEVICE_CAPABILITIES_2, NO_COMPLETER);
                tree
            },
            verdict: "blocked",
            fails: &["gpu.kfd", "gpu.atomics"],
            others: &[
                ("pair.route", "pair", "skip"),
                ("pair.kfd-link", "pair", "skip"),
                ("gpu.atomics", "gpu:0000:01", "pass"),
            ],
            says: &[
                "root port 0000:00:1c.0 does not complete them",
                "root port 0000:00:1c.0 is one of the chipset (PCH)",
            ],
            never_says: &["only one GPU", "may not open /dev/kfd", "is not in its list", INSTALL],
            ..CASE
        },
        Case {
            id: "A19",
            inferred: "the switch's bits, the buses",
            machine: || {
                let tree = Tree::new();
                let up = "pci0000:00/0000:00:01.2/0000:01:00.0";
                let down = format!("{up}/0000:02:02.0");
                tree.host_bridge("pci0000:00", "1022:1480")
                    .file("proc/cpuinfo", ZEN)
                    .pci("pci0000:00/0000:00:01.2", "1022:1483", "060400", 4, Acs::None)
                    .pci(up, "1022:57ad", "060400", 5, Acs::None)
                    .pci(&down, "1022:57a3", "060400", 6, Acs::None)
                    .gpu(&format!("{down}/0000:03:00.0"), "1002:67ef", Acs::None)
                    .word("0000:02:02.0", DEVICE_CAPABILITIES_2, 0)
                    .kfd();
                tree
            },
            verdict: "not-applicable",
            fails: &["gpu.kfd", "gpu.atomics"],
            says: &[
                "0000:02:02.0 does not route them",
                "is a port of AMD's chipset",
                "move the card to a slot wired to the CPU",
            ],
            never_says: &["0000:00:01.2 does not route", INSTALL],
            ..CASE
        },
        Case {
            id: "A46",
            inferred: "which of the cards works, the ports' bits",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "8086:191f").kfd().kfd_gpu(1, 1);
                old_card(&tree, "pci0000:00/0000:00:01.0", "1002:67df", 1);
                for number in 0..7 {
                    let port = format!("0000:00:1c.{number}");
                    old_card(&tree, &format!("pci0000:00/{port}"), "1002:67df", 2 + number);
                    tree.word(&port, DEVICE_CAPABILITIES_2, NO_COMPLETER);
                }
                tree
            },
            verdict: "blocked",
            fails: &["gpu.kfd", "gpu.atomics"],
            others: &[
                ("gpu.atomics", "gpu:0000:01", "pass"),
                ("gpu.atomics", "gpu:0000:08", "fail"),
                ("pair.route", "pair", "skip"),
            ],
            says: &["KFD takes no GPU that needs them"],
            never_says: &["KFD has no link between the two", INSTALL],
            ..CASE
        },
    ]
}

fn others() -> Vec<Case> {
    vec![
        Case {
            id: "A29",
            inferred: "the host bridge's id, the buses",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "8086:4629")
                    .card("pci0000:00/0000:00:06.0", 1, Acs::None)
                    .kfd()
                    .kfd_gpu(1, 3)
                    .attribute("0000:03:00.0", "power/runtime_status", "error");
                tree
            },
            verdict: "not-applicable",
            fails: &["gpu.power"],
            says: &["failed to wake up", "amdgpu.runpm=0"],
            never_says: &["link dead", "refuse this route", INSTALL],
            ..CASE
        },
        Case {
            id: "A30",
            inferred: "the root port",
            machine: || {
                let tree = Tree::new();
                let full = ("16.0 GT/s PCIe", 16);
                let slot = ("8.0 GT/s PCIe", 16);
                tree.host_bridge("pci0000:00", "8086:3ec2")
                    .card("pci0000:00/0000:00:01.0", 0x0a, Acs::None)
                    .kfd()
                    .kfd_gpu(1, 0x0c)
                    .rate("0000:0c:00.0", full, full)
                    .rate("0000:0a:00.0", slot, full)
                    .rate("0000:00:01.0", slot, slot);
                tree
            },
            verdict: "not-applicable",
            others: &[("gpu.slot", "gpu", "pass")],
            says: &["runs at 8.0 GT/s x16: at most 15.75 GB/s", "which is the link inside the card"],
            never_says: &["runs at 16.0 GT/s", "below one switch"],
            ..CASE
        },
        Case {
            id: "A47",
            inferred: "the host bridge's id, a KFD node",
            machine: || {
                let tree = Tree::new();
                tree.host_bridge("pci0000:00", "8086:29c0")
                    .file("proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nflags\t: fpu hypervisor\n")
                    .gpu("pci0000:00/0000:00:04.0", "1002:67df", Acs::None)
                    .kfd();
                tree
            },
            verdict: "not-applicable",
            fails: &["gpu.kfd", "gpu.atomics"],
            others: &[("env.platform", "host", "warn")],
            says: &[
                "this is a virtual machine",
                "has no root port above it",
                "give the guest a root port for each card",
            ],
            never_says: &["CPU unfit", INSTALL],
            ..CASE
        },
    ]
}
