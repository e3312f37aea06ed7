// SPDX-License-Identifier: GPL-2.0-only

//! Every file of a captured tree, spoilt in every way: no panic, no hang, and never a better verdict.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made ends the test")]

mod support;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use support::{RELEASE, Tree, module_file, two_cards, two_cards_overridden};
use tp2_verify::{finding::Status, report, verdict::Verdict};

/// Ways to spoil a file.
const DAMAGES: [&str; 7] = ["missing", "empty", "huge", "binary", "directory", "fifo", "loop"];

/// A machine that needs the module, has it, and cannot use it: the IOMMU passes addresses through that do not fit.
fn machine() -> Tree {
    let tree = two_cards("8086:6f00");
    tree.installed(&module_file::signed_for(RELEASE))
        .built()
        .module()
        .file("sys/kernel/security/lockdown", "[none] integrity confidentiality")
        .file("sys/module/module/parameters/sig_enforce", "N")
        .file("etc/dkms/framework.conf", "mok_certificate=/var/lib/dkms/mok.pub")
        .bytes("proc/self/environ", b"NCCL_DEBUG=INFO\0")
        .file("proc/self/status", "Uid:\t0 0 0 0\nGid:\t0 0 0 0\nGroups:\t0")
        .file("tp2/device-nodes", "dev/kfd c 660 0 109\ndev/dri/renderD128 c 660 0 109")
        .bytes(
            "sys/firmware/efi/efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23",
            &module_file::mok_list(&[1], "x"),
        );
    for (gpu, start) in [("0000:05:00.0", 0x3820_0000_0000_u64), ("0000:08:00.0", 0x3830_0000_0000)] {
        tree.bar(gpu, start, 32 << 30).iommu(gpu, u32::try_from(start >> 40).unwrap(), "identity");
    }
    tree
}

/// All files and links below a directory, not followed.
fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

fn spoil(path: &Path, damage: &str) {
    fs::remove_file(path).unwrap();
    match damage {
        "empty" => fs::write(path, "").unwrap(),
        "huge" => fs::write(path, vec![b'7'; 300 * 1024]).unwrap(),
        "binary" => fs::write(path, [0xff, 0x00, 0xfe, 0x80, 0x0a, 0x00]).unwrap(),
        "directory" => fs::create_dir(path).unwrap(),
        "fifo" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        "loop" => symlink(path.file_name().unwrap(), path).unwrap(),
        _ => {}
    }
}

/// Puts a file or link back as it was.
fn restore(path: &Path, old: &Old) {
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
    match old {
        Old::Link(target) => symlink(target, path).unwrap(),
        Old::File(bytes) => fs::write(path, bytes).unwrap(),
    }
}

enum Old {
    Link(PathBuf),
    File(Vec<u8>),
}

/// Spoils every file in every way: no report is good, and what could not be read is told whole. The number of findings
/// that something could not be read.
fn spoil_all(tree: &Tree) -> usize {
    let mut all = Vec::new();
    files(tree.path(), &mut all);
    assert!(all.len() > 100, "the walk found too little");
    let mut noticed = 0;
    for path in &all {
        let old = match fs::read_link(path) {
            Ok(target) => Old::Link(target),
            Err(_) => Old::File(fs::read(path).unwrap()),
        };
        for damage in DAMAGES {
            spoil(path, damage);
            let report = report::make(&tree.facts());
            assert_ne!(report.exit, 0, "{damage} {}", path.display());
            for finding in report.findings.iter().filter(|finding| finding.status == Status::Unknown) {
                noticed += 1;
                let complete = finding.remedy.is_some() && !finding.evidence.is_empty();
                assert!(complete, "{damage} {}: {finding:?}", path.display());
            }
            restore(path, &old);
        }
    }
    noticed
}

#[test]
fn every_file_spoilt_in_every_way() {
    let tree = machine();
    let sound = report::make(&tree.facts());
    assert_eq!(sound.verdict, Verdict::Blocked);
    assert!(sound.findings.iter().all(|finding| finding.status != Status::Unknown), "{:#?}", sound.findings);
    let noticed = spoil_all(&tree);
    assert!(noticed > 300, "damage is not noticed: {noticed}");
    assert_eq!(report::make(&tree.facts()).findings, sound.findings, "the tree was not restored");
}

/// An override that acts on a bridge that corrupts must not look good when the bridge cannot be told.
#[test]
fn nothing_that_is_missing_makes_a_forced_bridge_good() {
    let tree = two_cards_overridden("8086:4c43");
    tree.module_says("parameters/allow_denied", "1");
    assert_eq!(report::make(&tree.facts()).verdict, Verdict::Unsafe);
    spoil_all(&tree);
}
