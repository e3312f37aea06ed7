// SPDX-License-Identifier: GPL-2.0-only

//! What amdgpu wrote into the kernel log about routes, against what is predicted. Trees are simulated.

#![allow(clippy::unwrap_used, reason = "a tree that cannot be written ends the test")]

mod support;

use serde_json::Value;
use support::{Tree, ZEN, expect, status, two_cards};

const LOG: &str = "\
[    4.101] amdgpu 0000:05:00.0: amdgpu: SMU is initialized successfully!\n\
[    4.217] amdgpu 0000:05:00.0: PCIe P2P access from peer device 0000:08:00.0 is not supported by the chipset\n\
[    4.218] amdgpu 0000:08:00.0: PCIe P2P access from peer device 0000:05:00.0 is not supported by the chipset\n";

fn with_log(tree: Tree) -> Tree {
    tree.file("tp2/kernel-log", LOG);
    tree
}

fn evidence(report: &Value) -> usize {
    let findings = report["findings"].as_array().unwrap().iter().filter(|finding| finding["gate"] == "pair.route");
    let all = findings.flat_map(|finding| finding["evidence"].as_array().unwrap());
    all.filter(|evidence| evidence["source"] == "kernel log").count()
}

#[test]
fn a_refusal_in_the_log_is_no_prediction() {
    let log = with_log(two_cards("8086:6f00"));
    let must = ["the kernel refuses this route: host bridge 8086:6f00 is not in", "is not supported by the chipset"];
    let report =
        expect(&log, "module-will-help", &["module.dkms", "module.loaded", "pair.route", "pair.kfd-link"], &must, &[]);
    assert_eq!(evidence(&report), 2);
}

#[test]
fn a_refusal_where_none_is_predicted_leaves_the_route_unknown() {
    let tree = with_log(two_cards("1022:14d8"));
    tree.file("proc/cpuinfo", ZEN);
    let report = tree.json();
    assert_eq!(status(&report, "pair.route"), "unknown", "{report:#}");
    assert_eq!(evidence(&report), 2);
    let table = tree.run(&[]).stdout;
    assert!(table.contains("refused when amdgpu"), "{table}");
}

#[test]
fn a_refusal_decides_what_cannot_be_predicted() {
    let tree = two_cards("8086:0b25");
    let release = "6.14.0-29-generic";
    tree.file("proc/sys/kernel/osrelease", release).file(&format!("boot/config-{release}"), support::CONFIG);
    assert_eq!(status(&tree.json(), "pair.route"), "unknown");
    let report = with_log(tree).json();
    assert_eq!(status(&report, "pair.route"), "fail", "{report:#}");
}

#[test]
fn a_log_of_anything_is_survived() {
    for text in ["", "amdgpu", "\0\0", "PCIe P2P access from peer device x is not supported by the chipset"] {
        let tree = two_cards("8086:6f00");
        tree.file("tp2/kernel-log", text);
        assert_eq!(evidence(&tree.json()), 0);
    }
}
