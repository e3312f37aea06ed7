// SPDX-License-Identifier: GPL-2.0-only

//! A host or a user may be called like a word that the tool reads: the report is written all the same.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made ends the test")]

mod support;

use std::{collections::BTreeSet, fs};

use support::{RELEASE, Tree, two_cards_overridden};
use tp2_verify::{
    collect::{
        Root, collect,
        record::{Record, Seen},
        runtime::Options,
    },
    redact::redact,
    report,
};

fn machine() -> Tree {
    let tree = two_cards_overridden("8086:6f00");
    tree.bytes("proc/self/environ", b"HSA_ENABLE_IPC_MODE_LEGACY=0\0NCCL_P2P_DISABLE=1\0GGML_CUDA_P2P=1\0")
        .file("etc/dkms/framework.conf", "mok_certificate=/var/lib/dkms/mok.pub\nmok_signing_key=/var/lib/dkms/mok.key")
        .file("etc/os-release", "NAME=x\nID=manjaro\nID_LIKE=\"arch linux\"")
        .file("tp2/device-nodes", "dev/kfd c 660 0 109 fine\ndev/dri/renderD128 c 660 0 109 denied")
        .file("proc/self/status", "Uid:\t5\t5\t5\t5\nGid:\t5\t5\t5\t5\nGroups:\t109")
        .file("usr/src/tp2_p2pdma-0.1.0/dkms.conf", "")
        .file("etc/modprobe.d/x.conf", "blacklist tp2_p2pdma\ninstall tp2_p2pdma /bin/false")
        .file("sys/kernel/security/lockdown", "none [integrity] confidentiality")
        .bytes(&format!("boot/initrd.img-{RELEASE}"), b"no image")
        .file(&format!("lib/modules/{RELEASE}/pkgbase"), "linux");
    tree.built();
    tree
}

/// How everything ends.
fn ends(record: &Record) -> Vec<String> {
    let report = report::make(&collect(&Root::replay(record.clone()), &Options::off()));
    let ends = report.findings.iter().map(|one| format!("{} {} {}", one.gate, one.scope, one.status.word()));
    ends.chain([report.verdict.word().to_owned()]).collect()
}

/// Words of paths, links, listings and contents, as a name would be found in them.
fn words(record: &Record) -> BTreeSet<String> {
    let mut text = String::new();
    for (path, entry) in &record.entries {
        let names = entry.names.iter().flatten().flatten().cloned().collect::<Vec<_>>().join(" ");
        let content = entry.content.iter().flatten().map(|bytes| String::from_utf8_lossy(bytes)).collect::<String>();
        let target = if let Ok(Seen::Link(target)) = &entry.seen { target.as_str() } else { "" };
        text.extend([path, " ", target, " ", &names, " ", &content, " "]);
    }
    let mut words = BTreeSet::new();
    for whole in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        words.insert(whole.to_lowercase());
        words.extend(whole.split('_').map(str::to_lowercase));
        words.insert(whole.trim_end_matches(|c: char| c.is_ascii_digit()).to_lowercase());
    }
    words.retain(|word| word.len() >= 2 && word.is_ascii());
    words
}

#[test]
fn names_that_are_words_change_nothing() {
    let tree = machine();
    let recording = Root::open(tree.path()).unwrap().recording();
    drop(collect(&recording, &Options::off()));
    let record = recording.record();
    let before = ends(&record);
    let mut more: BTreeSet<String> = words(&record);
    more.extend(
        ["tp2", "power", "live", "force", "pass", "mode", "pairs", "override", "device", "conf"].map(String::from),
    );
    let mut bad = Vec::new();
    for word in more {
        fs::create_dir_all(tree.path().join("etc")).unwrap();
        fs::write(tree.path().join("etc/hostname"), &word).unwrap();
        if ends(&redact(&record, &Root::open(tree.path()).unwrap())) != before {
            bad.push(word);
        }
    }
    assert!(bad.is_empty(), "{} names change what is found: {bad:?}", bad.len());
}
