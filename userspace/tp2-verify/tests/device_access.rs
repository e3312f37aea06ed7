// SPDX-License-Identifier: GPL-2.0-only

//! Opening device files, and what is said of it. Trees are simulated; the files that are opened are real.

#![allow(clippy::unwrap_used, reason = "what cannot be set up ends the test")]

mod support;

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::Value;
use support::{
    Tree, failing,
    runtime::{facts, judge, last},
    status, two_cards_overridden,
};
use tempfile::TempDir;
use tp2_verify::{
    collect::devices::{open_all, open_elsewhere},
    facts::{
        ReadError,
        devices::{DeviceAccess, DeviceFile, Opened, Owner},
        runtime::{Outcome, Runtime},
    },
};

const GATE: &str = "env.access";
const TOOL: &str = env!("CARGO_BIN_EXE_tp2-verify");

fn open(base: &Path) -> DeviceAccess {
    let nodes = [("renderD128".to_owned(), "0000:05:00.0".parse().unwrap())];
    open_all(base, &nodes, &|files| open_elsewhere(Path::new(TOOL), files, Duration::from_secs(60)))
}

#[test]
fn what_is_there_is_told_apart() {
    let base = TempDir::new().unwrap();
    fs::create_dir_all(base.path().join("dev/dri")).unwrap();
    let kfd = base.path().join("dev/kfd");
    assert_eq!(open(base.path()).kfd.opened, Opened::Absent);
    assert_eq!(open(base.path()).kfd.owner, None);
    symlink("/dev/null", &kfd).unwrap();
    let access = open(base.path());
    assert_eq!((access.kfd.opened, access.render[0].opened.clone()), (Opened::Yes, Opened::Absent));
    assert_eq!(access.kfd.owner.unwrap().mode, 0o666);
    assert!(access.uid.is_some() && !access.gids.is_empty());
    for make in [fs::write(base.path().join("file"), ""), fs::create_dir(base.path().join("folder"))] {
        make.unwrap();
    }
    assert!(Command::new("mkfifo").arg(base.path().join("fifo")).status().unwrap().success());
    // A FIFO would be waited for.
    for name in ["file", "folder", "fifo"] {
        fs::remove_file(&kfd).unwrap();
        symlink(format!("../{name}"), &kfd).unwrap();
        assert_eq!(open(base.path()).kfd.opened, Opened::NotDevice, "{name}");
    }
}

#[test]
fn what_got_no_answer_is_not_open() {
    let base = TempDir::new().unwrap();
    fs::create_dir_all(base.path().join("dev")).unwrap();
    symlink("/dev/null", base.path().join("dev/kfd")).unwrap();
    let access = open_all(base.path(), &[], &|_| Vec::new());
    assert!(matches!(access.kfd.opened, Opened::Failed(_)), "{access:?}");
}

/// A driver that hangs is played by a program that never says what it opened.
#[test]
fn a_file_that_does_not_open_in_time_is_named() {
    let dir = TempDir::new().unwrap();
    let program = dir.path().join("hangs");
    fs::write(&program, "#!/bin/sh\necho '\"yes\"'\nexec sleep 60\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let files = [PathBuf::from("/dev/null"), PathBuf::from("/dev/zero")];
    let opened = open_elsewhere(&program, &files, Duration::from_secs(2));
    assert_eq!(opened[0], Opened::Yes);
    assert!(matches!(&opened[1], Opened::Failed(words) if words.contains("2 seconds")), "{opened:?}");
    let opened = open_elsewhere(Path::new("/nowhere"), &files, Duration::from_secs(2));
    assert!(matches!(&opened[1], Opened::Failed(words) if words.contains("no such file")), "{opened:?}");
}

/// As root a device file can be made; another user can at least be refused one.
#[test]
fn errors_of_real_device_files() {
    let base = TempDir::new().unwrap();
    fs::create_dir_all(base.path().join("dev/dri")).unwrap();
    let kfd = base.path().join("dev/kfd");
    // Nobody has this major number.
    let made = Command::new("mknod").arg(&kfd).args(["c", "4000", "0"]).output().unwrap();
    if made.status.success() {
        let opened = open(base.path()).kfd.opened;
        // EPERM or EACCES where the folder's file system or a container allows no devices.
        assert!(matches!(opened, Opened::NoDriver | Opened::Forbidden | Opened::Denied), "{opened:?}");
    } else {
        symlink("/dev/mem", &kfd).unwrap();
        let opened = open(base.path()).kfd.opened;
        assert!(matches!(opened, Opened::Denied | Opened::Forbidden | Opened::Absent), "{opened:?}");
    }
}

fn file(path: &str, opened: Opened, owner: Option<(u32, Option<&str>, u32)>) -> DeviceFile {
    let owner = owner.map(|(gid, group, mode)| Owner { uid: 0, gid, group: group.map(str::to_owned), mode });
    DeviceFile { path: path.to_owned(), bdf: None, opened, owner }
}

fn judged(kfd: DeviceFile, render: Vec<DeviceFile>, user_namespace: bool) -> Value {
    let runtime = Runtime::ended(Outcome::NotFound);
    let mut facts = facts(&two_cards_overridden("8086:6f00"), runtime);
    facts.device_access = Ok(DeviceAccess { kfd, render, uid: Some(1000), gids: vec![44, 1000], user_namespace });
    judge(&facts)
}

const RENDER: Option<(u32, Option<&str>, u32)> = Some((992, Some("render"), 0o660));

fn open_file(path: &str) -> DeviceFile {
    file(path, Opened::Yes, RENDER)
}

#[test]
fn everything_opens() {
    let report = judged(open_file("dev/kfd"), vec![open_file("dev/dri/renderD128")], false);
    assert_eq!((report["verdict"].as_str(), status(&report, GATE)), (Some("ready"), "pass"));
}

/// A27: a container with `--group-add video` only.
#[test]
fn denied_names_the_group_that_is_missing() {
    let report = judged(file("dev/kfd", Opened::Denied, RENDER), vec![open_file("dev/dri/renderD128")], false);
    assert_eq!((report["verdict"].as_str(), failing(&report)), (Some("blocked"), vec![GATE]));
    let remedy = last(&report, GATE)["remedy"].as_str().unwrap();
    assert!(remedy.contains("group render") && remedy.contains("--group-add 992"), "{remedy}");
    let finding = last(&report, GATE).to_string();
    assert!(finding.contains("EACCES; mode 0660, user 0, group render (992)") && finding.contains("groups 44 1000"));
    for words in ["no GPU", "not installed", "video"] {
        assert!(!finding.contains(words), "{finding}");
    }
}

#[test]
fn remedies_fit_the_error() {
    let second = file("dev/dri/renderD129", Opened::Absent, None);
    let report = judged(open_file("dev/kfd"), vec![open_file("dev/dri/renderD128"), second], false);
    assert!(last(&report, GATE)["summary"].as_str().unwrap().starts_with("/dev/dri/renderD129 is not there"));
    for (kfd, namespace, words) in [
        (file("dev/kfd", Opened::Absent, None), false, "--device=/dev/kfd"),
        (file("dev/kfd", Opened::Denied, Some((65534, Some("nogroup"), 0o660))), true, "keep-groups"),
        // In the group, and the mode is against it.
        (file("dev/kfd", Opened::Denied, Some((44, Some("video"), 0o600))), false, "udev rule"),
        (file("dev/kfd", Opened::Denied, Some((44, Some("video"), 0o660))), false, "udev rule"),
        (file("dev/kfd", Opened::Denied, Some((993, None, 0o660))), false, "with ID 993"),
        (file("dev/kfd", Opened::Forbidden, RENDER), false, "adds the rule"),
        (file("dev/kfd", Opened::NoDriver, RENDER), false, "load amdgpu"),
        (file("dev/kfd", Opened::NotDevice, RENDER), false, "made by hand"),
        (file("dev/kfd", Opened::Failed("too many open files".to_owned()), RENDER), false, "kernel log"),
    ] {
        let report = judged(kfd, Vec::new(), namespace);
        assert_eq!(failing(&report), [GATE], "{words}");
        let remedy = last(&report, GATE)["remedy"].as_str().unwrap();
        assert!(remedy.contains(words), "{words}: {remedy}");
    }
}

#[test]
fn nothing_to_open() {
    let tree = Tree::new();
    std::fs::create_dir_all(tree.path().join("sys/bus/pci/devices")).unwrap();
    let mut facts = facts(&tree, Runtime::ended(Outcome::NotFound));
    let access = open(Path::new("/nowhere"));
    facts.device_access = Ok(access);
    assert_eq!(status(&judge(&facts), GATE), "na");
    let list = std::mem::replace(&mut facts.pci, Err(ReadError::malformed("sys/bus/pci/devices", "is odd")));
    assert_eq!(status(&judge(&facts), GATE), "unknown");
    facts.pci = list;
    facts.device_access = Err(ReadError::malformed("device-access", "is odd"));
    assert_eq!(status(&judge(&facts), GATE), "unknown");
    facts.device_access = Err(ReadError::absent("device-access"));
    assert_eq!(status(&judge(&facts), GATE), "na");
}
