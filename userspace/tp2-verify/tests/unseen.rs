// SPDX-License-Identifier: GPL-2.0-only

//! What cannot be looked at is not said to be absent: a link in circles, a FIFO, a directory that denies it. Trees are
//! simulated; what is denied is so in their records, since root is denied nothing.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made ends the test")]

mod support;

use serde_json::Value;
use support::{Tree, finding, two_cards, validate};
use tp2_verify::{
    collect::{
        self, Root,
        record::{Entry, Failure},
        runtime::Options,
    },
    facts::ReadErrorKind,
    report,
};

const PCI: &str = "sys/bus/pci/devices";
const MODULE: &str = "sys/module/tp2_p2pdma";

/// What is said of a tree in which a path, and all below it, is denied.
fn denied(tree: &Tree, path: &str) -> Value {
    let recording = Root::open(tree.path()).unwrap().recording();
    let _ = collect::collect(&recording, &Options::off());
    let mut record = recording.record();
    let failure = Failure { kind: ReadErrorKind::Denied, reason: "permission denied".to_owned() };
    let below = format!("{path}/");
    record.entries.retain(|other, _| !other.starts_with(&below));
    let names = ["tp2_p2pdma", "amdgpu"].map(|name| format!("{below}{name}"));
    for path in names.into_iter().chain((!below.starts_with("sys/module/")).then(|| path.to_owned())) {
        record.entries.insert(path, Entry::new(Err(failure.clone())));
    }
    let value = serde_json::to_value(report::make(&collect::collect(&Root::replay(record), &Options::off()))).unwrap();
    validate(&value);
    value
}

/// The tree with something odd in place of a path, in each way.
fn odd(path: &str) -> [(&'static str, Value); 3] {
    let circle = two_cards("8086:6f00");
    let fifo = two_cards("8086:6f00");
    for tree in [&circle, &fifo] {
        if tree.path().join(path).exists() {
            tree.remove(path);
        }
    }
    circle.link(path, path.rsplit('/').next().unwrap());
    fifo.fifo(path);
    let root = if path == MODULE { "sys/module" } else { path };
    let there = two_cards("8086:6f00");
    if !there.path().join(root).exists() {
        there.file(&format!("{root}/x"), "");
    }
    [("goes in circles", circle.json()), ("not a directory", fifo.json()), ("permission denied", denied(&there, root))]
}

/// Each gate is unknown, names the path and the reason, and says what to do.
fn unknown(report: &Value, gates: &[&str], path: &str, reason: &str) {
    for gate in gates {
        let finding = finding(report, gate, "host");
        let summary = finding["summary"].as_str().unwrap();
        assert_eq!(finding["status"], "unknown", "{gate}, {reason}: {summary}");
        assert!(summary.contains(&format!("/{path}: ")) && summary.contains(reason), "{gate}, {reason}: {summary}");
        let remedy = finding["remedy"].as_str().unwrap();
        let words = if reason == "permission denied" { "as root" } else { "look at" };
        assert!(remedy.contains(words), "{gate}, {reason}: {remedy}");
    }
    assert_eq!(report["verdict"], "inconclusive", "{reason}");
}

#[test]
fn the_override() {
    for (reason, report) in odd(MODULE) {
        unknown(&report, &["module.loaded", "module.dkms", "module.order"], MODULE, reason);
        assert_eq!(report["host"]["module_loaded"], Value::Null);
        let text = report["findings"].to_string();
        assert!(!text.contains("tp2_p2pdma is not loaded") && !text.contains("is not installed"), "{reason}: {text}");
    }
}

#[test]
fn the_driver() {
    for (reason, report) in odd("sys/module/amdgpu") {
        let path = "sys/module/amdgpu";
        if reason != "permission denied" {
            unknown(&report, &["amdgpu.origin", "amdgpu.pcie-p2p"], path, reason);
        }
    }
    let report = denied(&two_cards("8086:6f00"), "sys/module");
    unknown(&report, &["amdgpu.origin", "amdgpu.pcie-p2p"], "sys/module/amdgpu", "permission denied");
}

#[test]
fn the_devices() {
    for (reason, report) in odd(PCI) {
        unknown(&report, &["amdgpu.origin", "kernel.hsa-amd-p2p", "env.access", "gpu.kfd"], PCI, reason);
        let text = report["findings"].to_string();
        assert!(!text.contains("no AMD GPU was found"), "{reason}: {text}");
    }
}

#[test]
fn files_of_the_kernel() {
    for path in ["lib/modules/7.0.0-38-generic", "var/lib/dkms/tp2_p2pdma"] {
        for (reason, report) in odd(path) {
            let text = report["findings"].to_string();
            assert!(text.contains(&format!("/{path}")) && text.contains(reason), "{path}, {reason}: {text}");
            assert!(!text.contains("is not installed"), "{path}, {reason}: {text}");
        }
    }
}
