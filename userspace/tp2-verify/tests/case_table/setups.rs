// SPDX-License-Identifier: GPL-2.0-only

//! Kernel options, IPC, containers, WSL, and what a runtime says.

use tp2_verify::facts::{
    Facts,
    runtime::PeerAnswer::{No, Yes},
};

use super::{
    CASE, Case, INSTALL,
    chipsets::zen,
    support::{RELEASE, Tree, ZEN, two_cards, two_cards_overridden},
};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = kernels();
    cases.extend(environments());
    cases.extend(hooks());
    cases
}

/// The runtime says yes to every pair.
fn yes(facts: &mut Facts) {
    facts.runtime = Ok(super::support::runtime::saying(Some(Yes), Some(Yes)));
}

/// The runtime says no to every pair.
fn no(facts: &mut Facts) {
    facts.runtime = Ok(super::support::runtime::saying(Some(No), Some(No)));
}

/// Takes the driver its peer access.
fn without_p2p(tree: &Tree) {
    tree.remove("sys/module/amdgpu/parameters/pcie_p2p").file("sys/module/amdgpu/parameters/dc", "-1");
}

fn kernels() -> Vec<Case> {
    vec![
        Case {
            id: "A09",
            inferred: "two cards of eight GPUs, joined by PCIe",
            machine: || {
                let tree = two_cards("1022:1480");
                without_p2p(&tree);
                tree.file("proc/cpuinfo", ZEN)
                    .file(&format!("boot/config-{RELEASE}"), "CONFIG_HSA_AMD=y\n# CONFIG_PCI_P2PDMA is not set");
                tree
            },
            verdict: "blocked",
            fails: &["kernel.p2pdma", "kernel.hsa-amd-p2p"],
            others: &[("pair.route", "pair", "skip"), ("pair.kfd-link", "pair", "skip")],
            says: &["CONFIG_PCI_P2PDMA=y", "CONFIG_HSA_AMD_P2P=y", "CONFIG_DMABUF_MOVE_NOTIFY=y"],
            never_says: &["hardware", INSTALL],
            ..CASE
        },
        Case {
            id: "A10",
            inferred: "two of the three cards, links",
            machine: zen,
            verdict: "module-not-needed",
            others: &[("pair.ipc", "pair", "warn")],
            says: &["HSA_ENABLE_IPC_MODE_LEGACY=0", "test with two processes"],
            never_says: &["iommu", "HSA_AMD_P2P off", INSTALL],
            ..CASE
        },
        Case {
            id: "A11",
            inferred: "the buses, two cards of one kind",
            machine: || {
                let tree = two_cards("1022:1480");
                without_p2p(&tree);
                tree.file("proc/cpuinfo", ZEN);
                tree
            },
            add: yes,
            verdict: "unsafe",
            fails: &["kernel.hsa-amd-p2p", "pair.runtime"],
            says: &["CONTRADICTION", "do not let programs copy between these GPUs"],
            never_says: &["so fine", INSTALL],
            ..CASE
        },
        Case {
            id: "A12",
            inferred: "all but two AMD cards, the kernel's own amdgpu and a ROCm that says yes",
            machine: || {
                let tree = two_cards("8086:6f00");
                without_p2p(&tree);
                tree
            },
            add: yes,
            verdict: "unsafe",
            fails: &["kernel.hsa-amd-p2p", "pair.route", "pair.runtime"],
            says: &["CONTRADICTION", "build it with -DGGML_CUDA_NO_PEER_COPY=ON"],
            never_says: &["amdgpu-dkms", "quantis", INSTALL],
            ..CASE
        },
        Case {
            id: "A40",
            inferred: "AMD cards in place of Arc ones, the host bridge, a runtime and a kernel log that say no",
            machine: || {
                let tree = two_cards("8086:a740");
                let line = "PCIe P2P access from peer device";
                tree.file(
                    "tp2/kernel-log",
                    &format!("[ 5.1] amdgpu 0000:05:00.0: {line} 0000:08:00.0 is not supported by the chipset"),
                );
                tree
            },
            add: no,
            verdict: "module-will-help",
            fails: &["module.dkms", "module.loaded", "pair.route", "pair.kfd-link"],
            others: &[("pair.runtime", "pair", "skip")],
            says: &["peer device 0000:08:00.0 is not supported by the chipset", "the runtime says no"],
            never_says: &["memory is short", "out of memory", "cannot do"],
        },
    ]
}

fn environments() -> Vec<Case> {
    vec![
        Case {
            id: "A27",
            inferred: "two of the four cards, a Zen processor, links, group numbers",
            machine: || {
                let tree = zen();
                let status = "Uid:\t1000 1000 1000 1000\nGid:\t1000 1000 1000 1000\nGroups:\t27 44 1000";
                tree.file(".dockerenv", "").file("proc/self/status", status).file(
                    "tp2/device-nodes",
                    "dev/kfd c 660 0 109 denied\ndev/dri/renderD128 c 660 0 109 denied\ndev/dri/renderD129 c 660 0 109 denied",
                );
                tree
            },
            verdict: "blocked",
            fails: &["env.access"],
            others: &[("gpu.bar-size", "gpu", "pass"), ("pair.route", "pair", "pass")],
            says: &["this user may not open /dev/kfd", "--group-add 109", "groups 27 44 1000"],
            never_says: &["no AMD GPU", "not installed: ROCm", "video", "usermod"],
            ..CASE
        },
        Case {
            id: "A28",
            inferred: "nothing",
            machine: || {
                let tree = Tree::new();
                tree.file("dev/dxg", "").remove("sys/module/amdgpu");
                tree
            },
            verdict: "not-applicable",
            says: &["this is WSL", "GPUs share no memory"],
            never_says: &["modprobe", "CONFIG_", INSTALL],
            ..CASE
        },
        Case {
            id: "A43",
            inferred: "AMD cards, a Zen processor, links",
            machine: || {
                let tree = zen();
                tree.bytes("proc/self/environ", b"GGML_CUDA_P2P=0\0");
                tree
            },
            verdict: "module-not-needed",
            says: &["switches peer copies of llama.cpp on whatever its value, 0 included", "unset GGML_CUDA_P2P"],
            never_says: &["set GGML_CUDA_P2P=0"],
            ..CASE
        },
    ]
}

/// The module's hook.
fn hooks() -> Vec<Case> {
    vec![
        Case {
            id: "A37",
            inferred: "the reference machine; the module refuses to load since its symbol cannot be probed",
            machine: || {
                let tree = two_cards("8086:6f00");
                tree.installed(&super::support::module_file::module_for(RELEASE)).ordered().built().file(
                    "tp2/kernel-log",
                    "[    3.1] tp2_p2pdma: cannot hook pci_p2pdma_distance_many: the kernel does not allow a probe \
                     there, error -22",
                );
                tree
            },
            verdict: "blocked",
            fails: &["kernel.kprobes", "module.loaded", "pair.route", "pair.kfd-link"],
            says: &["the kernel does not allow a probe there, error -22", "boot another kernel"],
            never_says: &["unsupported chipset", "1. reboot", "2. reboot", INSTALL],
            ..CASE
        },
        Case {
            id: "A38",
            inferred: "the reference machine",
            machine: || {
                let tree = two_cards("8086:6f00");
                tree.installed(&super::support::module_file::module_for(RELEASE))
                    .built()
                    .module()
                    .module_says("override/self_test", "fail: the answer set by the hook did not reach the caller");
                tree
            },
            verdict: "ineffective",
            fails: &["module.effective", "pair.route", "pair.kfd-link"],
            says: &["self-test does not pass", "did not reach the caller", "boot another kernel"],
            never_says: &["tp2_p2pdma acts", "tee /sys/kernel/debug/kprobes", INSTALL],
            ..CASE
        },
        Case {
            id: "A54",
            inferred: "the reference machine, a kernel without kretprobes: the cause is not established",
            machine: || {
                let tree = two_cards("8086:6f00");
                tree.installed(&super::support::module_file::module_for(RELEASE))
                    .ordered()
                    .file(
                        &format!("boot/config-{RELEASE}"),
                        "CONFIG_PCI_P2PDMA=y\nCONFIG_HSA_AMD_P2P=y\nCONFIG_KPROBES=y",
                    )
                    .file(
                        "tp2/kernel-log",
                        "tp2_p2pdma: cannot hook pci_p2pdma_distance_many: the kernel has no return probes \
                         (CONFIG_KRETPROBES is off), error -95",
                    );
                tree
            },
            verdict: "blocked",
            fails: &["kernel.kprobes", "module.loaded", "pair.route", "pair.kfd-link"],
            says: &["error -95", "CONFIG_KRETPROBES"],
            never_says: &["vermagic says", "Secure Boot"],
            ..CASE
        },
        Case {
            id: "R1-before",
            inferred: "nothing that matters",
            machine: || two_cards("8086:6f00"),
            verdict: "module-will-help",
            fails: &["module.dkms", "module.loaded", "pair.route", "pair.kfd-link"],
            says: &["install the package tp2-p2pdma-dkms"],
            ..CASE
        },
        Case {
            id: "R1-contradiction",
            inferred: "a runtime that says yes before the override",
            machine: || two_cards("8086:6f00"),
            add: yes,
            verdict: "unsafe",
            fails: &["module.dkms", "module.loaded", "pair.route", "pair.kfd-link", "pair.runtime"],
            says: &["CONTRADICTION", "1. do not let programs copy", "-DGGML_CUDA_NO_PEER_COPY=ON"],
            never_says: &["2. install the package", "3. install the package"],
            ..CASE
        },
        Case {
            id: "R1-runtime",
            inferred: "a runtime that says yes after the override",
            machine: || two_cards_overridden("8086:6f00"),
            add: yes,
            verdict: "ready",
            others: &[("pair.runtime", "pair", "pass")],
            never_says: &["CONTRADICTION"],
            ..CASE
        },
    ]
}
