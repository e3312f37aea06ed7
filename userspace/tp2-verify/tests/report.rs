// SPDX-License-Identifier: GPL-2.0-only

//! `tp2-verify report` and `replay`: the same findings elsewhere, no private values, nothing half-written.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made ends the test")]

mod support;

use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::Command,
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde_json::Value;
use support::{Acs, CONFIG, RELEASE, Run, Tree, run, shared_switch, two_cards, two_cards_overridden};
use tempfile::TempDir;

/// Members of an archive.
fn members(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(GzDecoder::new(fs::File::open(path).unwrap()));
    let one = |entry: Result<tar::Entry<'_, _>, _>| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.path().unwrap().to_str().unwrap().to_owned(), bytes)
    };
    archive.entries().unwrap().map(one).collect()
}

fn report(tree: &Tree, file: &Path, more: &[&str]) -> Run {
    let mut arguments = vec!["report", "-o", file.to_str().unwrap()];
    arguments.extend(more);
    tree.run(&arguments)
}

fn place() -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("report.tar.gz");
    (directory, file)
}

/// Reports a tree without private values, removes it, replays, and compares.
fn comes_back(tree: Tree) {
    let (_directory, file) = place();
    let commands: [&[&str]; 3] = [&["--json"], &[], &["-v"]];
    let before = commands.map(|command| tree.run(command));
    let written = report(&tree, &file, &[]);
    assert_eq!(written.exit, 0, "{}", written.stderr);
    drop(tree);
    for (command, before) in commands.iter().zip(before) {
        let mut arguments = vec!["replay", file.to_str().unwrap()];
        arguments.extend(*command);
        let after = run(&arguments);
        assert_eq!(after.stderr, "");
        assert_eq!((after.exit, after.stdout), (before.exit, before.stdout));
    }
    let replayed = run(&["replay", file.to_str().unwrap(), "--json"]).stdout;
    support::validate(&serde_json::from_str(&replayed).unwrap());
    assert_eq!(members(&file)["tp2-report/result.json"], replayed.into_bytes());
}

#[test]
fn machines_come_back() {
    comes_back(two_cards("8086:6f00"));
    comes_back(two_cards_overridden("8086:6f00"));
    comes_back(shared_switch(Acs::Word(0x000c)));
    let compressed = two_cards("8086:6f00");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(CONFIG.as_bytes()).unwrap();
    compressed.bytes("proc/config.gz", &encoder.finish().unwrap());
    comes_back(compressed);
}

#[test]
fn broken_machines_come_back() {
    let tree = two_cards_overridden("8086:6f00");
    tree.bytes(&format!("boot/config-{RELEASE}"), &[0xff, 0xfe, 0x00, 0x80])
        .fifo("sys/module/tp2_p2pdma/override/missed")
        .remove("sys/module/tp2_p2pdma/override/self_test")
        .file("sys/module/tp2_p2pdma/override/self_test/inner", "a directory")
        .remove("proc/cpuinfo")
        .link("proc/cpuinfo", "circle")
        .link("proc/circle", "cpuinfo")
        .link("sys/bus/pci/devices/0000:99:00.0", "../../../devices/nowhere")
        .file("sys/bus/pci/devices/rubbish", "")
        .file(&format!("lib/modules/{RELEASE}/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst"), "no module");
    comes_back(tree);
    let empty = two_cards("8086:6f00");
    empty.remove("proc").remove("boot").remove("lib").bytes("proc/config.gz", b"\x1f\x8brubbish");
    comes_back(empty);
}

#[test]
fn a_module_file_comes_back_as_what_it_says() {
    let tree = two_cards("8086:6f00");
    let module = format!("lib/modules/{RELEASE}/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst");
    tree.bytes(&module, &[0x7f; 4096]);
    let (_directory, file) = place();
    report(&tree, &file, &[]);
    let names: Vec<String> = members(&file).into_keys().collect();
    assert!(!names.iter().any(|name| name.contains("amdgpu.ko")), "{names:?}");
    comes_back(tree);
}

#[test]
fn the_same_tree_gives_the_same_bytes() {
    let tree = two_cards("8086:6f00");
    let (_directory, file) = place();
    report(&tree, &file, &[]);
    let first = fs::read(&file).unwrap();
    assert_eq!(report(&tree, &file, &["--force"]).exit, 0);
    assert_eq!(fs::read(&file).unwrap(), first);
}

#[test]
fn dry_run_lists_all_that_is_written() {
    let tree = two_cards_overridden("8086:6f00");
    let (directory, file) = place();
    let listed = report(&tree, &file, &["--dry-run"]);
    assert_eq!((listed.exit, listed.stderr.as_str()), (0, ""));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    report(&tree, &file, &[]);
    let written = members(&file);
    let sizes: Vec<String> = written.iter().map(|(name, bytes)| format!("{:>9}  {name}", bytes.len())).collect();
    for line in &sizes {
        assert!(listed.stdout.lines().any(|other| other == line), "{line:?} is not listed");
    }
    let manifest: Value = serde_json::from_slice(&written["tp2-report/manifest.json"]).unwrap();
    for entry in manifest["entries"].as_array().unwrap() {
        let path = entry["path"].as_str().unwrap();
        assert!(listed.stdout.contains(path), "{path} is not listed");
    }
    assert!(listed.stdout.contains("link  /sys/bus/pci/devices/0000:05:00.0 -> ../../../devices/pci0000:00/"));
}

#[test]
fn only_what_was_read_is_in_it() {
    let tree = two_cards("8086:6f00");
    tree.file("etc/shadow", "x").file("sys/module/amdgpu/parameters/other", "1").file("usr/src/secret-1/x", "1");
    tree.file("usr/src/tp2_p2pdma-0.1.0/dkms.conf", "1");
    let (_directory, file) = place();
    report(&tree, &file, &[]);
    let manifest = String::from_utf8(members(&file)["tp2-report/manifest.json"].clone()).unwrap();
    for words in ["shadow", "parameters/other", "secret-1"] {
        assert!(!manifest.contains(words), "{words}");
    }
    assert!(manifest.contains("tp2_p2pdma-0.1.0"));
}

#[test]
fn summary_cannot_be_taken_for_markup() {
    let tree = two_cards("8086:6f00");
    tree.file("proc/cpuinfo", &support::INTEL.replace("Xeon E5-2696 v4", "```` @team <img> #1"));
    let (_directory, file) = place();
    let summary = report(&tree, &file, &[]).stdout;
    assert!(summary.starts_with("**tp2-verify 0.1.0: module-will-help** - "), "{summary}");
    // A block ends at a line of as many backticks as it began with.
    let mut fence = None;
    for line in summary.lines() {
        let ticks = line.chars().take_while(|c| *c == '`').count();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            Some(open) if line.chars().all(|c| c == '`') && ticks >= open => fence = None,
            _ => assert!(fence.is_some() || !line.contains("@team"), "{summary}"),
        }
    }
    assert!(fence.is_none() && summary.contains("cpu         ```` @team"), "{summary}");
    assert!(summary.contains("report.tar.gz") && summary.contains("pair.route"), "{summary}");
}

#[test]
fn another_file_is_not_overwritten() {
    let tree = two_cards("8086:6f00");
    let (directory, file) = place();
    fs::write(&file, "mine").unwrap();
    let refused = report(&tree, &file, &[]);
    assert_eq!((refused.exit, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("exists already") && refused.stderr.lines().count() == 1, "{}", refused.stderr);
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    let dangling = directory.path().join("dangling");
    std::os::unix::fs::symlink(directory.path().join("nowhere"), &dangling).unwrap();
    assert_eq!(report(&tree, &dangling, &[]).exit, 2);
    assert_eq!(report(&tree, &file, &["--force"]).exit, 0);
    assert_eq!(run(&["replay", file.to_str().unwrap()]).exit, 1);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "only the report and the link");
    let nowhere = report(&tree, &directory.path().join("no/such/place"), &[]);
    assert_eq!(nowhere.exit, 2);
    assert!(nowhere.stderr.contains("could not be written") && nowhere.stderr.lines().count() == 1);
}

#[test]
fn nothing_half_written_takes_the_name() {
    let tree = two_cards("8086:6f00");
    let (_directory, file) = place();
    // The signal for a file beyond the limit ends the process in the middle of writing.
    let script = format!(
        "ulimit -f 1; exec {} --root {} report -o {}",
        env!("CARGO_BIN_EXE_tp2-verify"),
        tree.path().display(),
        file.display()
    );
    let status = Command::new("sh").args(["-c", &script]).status().unwrap();
    assert!(!status.success());
    assert!(!file.exists());
}

#[test]
fn the_name_of_the_archive_stays_with_its_author() {
    let tree = two_cards("8086:6f00");
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("zork-box.tar.gz");
    let written = report(&tree, &file, &[]);
    assert_eq!(written.exit, 0, "{}", written.stderr);
    assert!(written.stderr.contains("zork-box.tar.gz") && !written.stdout.contains("zork"), "{}", written.stdout);
    for (name, bytes) in members(&file) {
        assert!(!String::from_utf8_lossy(&bytes).contains("zork"), "{name}");
    }
}

#[test]
fn only_files_are_replaced() {
    let tree = two_cards("8086:6f00");
    let (directory, file) = place();
    let fifo = directory.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    fs::write(&file, "mine").unwrap();
    let link = directory.path().join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for path in [&fifo, &link, &directory.path().to_owned()] {
        let before = fs::symlink_metadata(path).unwrap().file_type();
        let refused = report(&tree, path, &["--force"]);
        assert_eq!((refused.exit, refused.stdout.as_str()), (2, ""), "{}", path.display());
        assert!(refused.stderr.contains("is not a regular file"), "{}", refused.stderr);
        assert_eq!(fs::symlink_metadata(path).unwrap().file_type(), before);
    }
    assert_eq!(fs::read(&file).unwrap(), b"mine");
}

#[test]
fn paths_that_no_file_can_have_are_not_looked_up() {
    for path in ["updates/a\0b/amdgpu.ko".to_owned(), format!("updates/{}/amdgpu.ko", "a".repeat(5000))] {
        let tree = two_cards("8086:6f00");
        let path = format!("{path}:\n{}", path.replace("amdgpu", "tp2_p2pdma"));
        tree.file(&format!("lib/modules/{RELEASE}/modules.dep"), &format!("{path}:"));
        let report = tree.json();
        assert_eq!(support::status(&report, "module.match"), "unknown", "{report:#}");
        comes_back(tree);
    }
    let tree = two_cards("8086:6f00");
    let target = std::os::unix::ffi::OsStrExt::as_bytes(std::ffi::OsStr::new("x")).repeat(5);
    let mut name = vec![b'/'; 4000];
    name.iter_mut().skip(1).step_by(2).for_each(|byte| *byte = 0xff);
    name.extend(target);
    let link = tree.path().join("sys/kernel/iommu_groups");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&name), link).unwrap();
    comes_back(tree);
}

#[test]
fn dry_run_lists_what_could_not_be_read() {
    let tree = two_cards("8086:6f00");
    tree.file("proc/sys/kernel/ftrace_enabled", &"1".repeat(300_000));
    tree.bytes(&format!("lib/modules/{RELEASE}/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst"), &[0x7f; 4096]);
    let listed = tree.run(&["report", "--dry-run"]).stdout;
    for words in
        ["failure  /proc/sys/kernel/ftrace_enabled: is larger than", "amdgpu.ko.zst: is not a readable ELF file"]
    {
        assert!(listed.contains(words), "{words:?} is missing in {listed}");
    }
}

#[test]
fn an_archive_that_would_not_open_is_not_made() {
    let mut record = tp2_verify::collect::record::Record::default();
    let entry = tp2_verify::collect::record::Entry::new(Ok(tp2_verify::collect::record::Seen::Directory));
    record.entries.insert("a/../b".to_owned(), entry);
    let package = tp2_verify::archive::Package::new(&record, Vec::new()).unwrap();
    let error = tp2_verify::archive::pack(&package).unwrap_err().to_string();
    assert!(error.contains("would not be opened again") && error.contains("does not stay inside"), "{error}");
}
