// SPDX-License-Identifier: GPL-2.0-only

//! What is broken is named in one sentence; nothing hangs or panics.

#![allow(clippy::unwrap_used, reason = "JSON of another form ends the test")]

mod support;

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;
use support::{CONFIG, RELEASE, run, status, two_cards, two_cards_overridden};

/// A tool error: status 2, nothing on stdout, one line that has the words.
fn refuses(arguments: &[&str], words: &[&str]) {
    let run = run(arguments);
    assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{arguments:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "{word:?} is missing in {}", run.stderr);
    }
}

fn findings(report: &Value, status: &str) -> Vec<String> {
    let all = report["findings"].as_array().unwrap().iter();
    let those = all.filter(|finding| finding["status"] == status);
    those.map(|finding| format!("{}: {}", finding["gate"], finding["summary"])).collect()
}

/// Behind a cut, options would count as off.
#[test]
fn a_configuration_that_is_too_long_proves_nothing() {
    let tree = two_cards("8086:6f00");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all("# CONFIG_NOTHING is not set\n".repeat(400_000).as_bytes()).unwrap();
    encoder.write_all(CONFIG.as_bytes()).unwrap();
    tree.bytes("proc/config.gz", &encoder.finish().unwrap());
    let gate = "kernel.p2pdma";
    assert_eq!(status(&tree.json(), gate), "pass", "the next place has a good one");
    tree.remove("boot");
    let report = tree.json();
    let proven = ["pass", "unknown"].contains(&status(&report, gate));
    assert!(proven, "{:?}", findings(&report, "fail"));
}

#[test]
fn roots_that_are_none() {
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "x").unwrap();
    let name = |path: &Path| path.to_str().unwrap().to_owned();
    refuses(&["--root", "/nonexistent/tree"], &["/nonexistent/tree", "no such file", "give the directory"]);
    refuses(&["--root", &name(&file)], &["is not a directory", "unpacked"]);
    refuses(&["--root", &name(directory.path())], &["neither sys/ nor proc/"]);
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let tree = two_cards("8086:6f00");
    let root = tree.path().to_str().unwrap();
    for arguments in [vec!["--root", root], vec!["--root", "/nonexistent"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tp2-verify"))
            .args(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        let status = child.wait().unwrap().code();
        assert!(matches!(status, Some(1 | 2)), "{status:?}");
    }
}

#[test]
fn the_table_keeps_to_the_columns() {
    let tree = two_cards("8086:6f00");
    let output = Command::new(env!("CARGO_BIN_EXE_tp2-verify"))
        .args(["--root", tree.path().to_str().unwrap()])
        .env("COLUMNS", "70")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // A path has no place to break it at.
    let too_wide = |line: &&str| line.chars().count() > 70 && line.trim().contains("  ");
    assert_eq!(text.lines().find(too_wide), None, "{text}");
}

#[test]
fn bad_usage() {
    assert_eq!(run(&["--no-such-option"]).exit, 2);
    assert_eq!(run(&["no-such-command"]).exit, 2);
    assert_eq!(run(&["module"]).exit, 2);
}

#[test]
fn an_empty_tree_is_inconclusive() {
    let directory = tempfile::TempDir::new().unwrap();
    fs::create_dir(directory.path().join("sys")).unwrap();
    let run = run(&["--root", directory.path().to_str().unwrap(), "--json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    support::validate(&report);
    assert_eq!((run.exit, &report["verdict"]), (4, &"inconclusive".into()));
}

#[test]
fn broken_files_are_unknown_with_path_and_reason() {
    let tree = two_cards_overridden("8086:6f00");
    let config = format!("boot/config-{RELEASE}");
    tree.bytes(&config, &[0xff, 0xfe, 0x00, 0x80]).remove("sys/module/tp2_p2pdma/override/self_test");
    tree.fifo("sys/module/tp2_p2pdma/override/missed");
    tree.file("sys/module/tp2_p2pdma/override/self_test/inner", "a directory");
    let report = tree.json();
    let unknown = findings(&report, "unknown").join("\n");
    for words in [
        &format!("/{config}: is not UTF-8 text"),
        "/sys/module/tp2_p2pdma/override/missed: is a FIFO, socket or device, not a file",
        "/sys/module/tp2_p2pdma/override/self_test: is a directory, not a file",
    ] {
        assert!(unknown.contains(words), "{words:?} is missing in {unknown}");
    }
}

#[test]
fn links_do_not_leave_the_tree_or_go_in_circles() {
    let tree = two_cards("8086:6f00");
    let outside = tempfile::NamedTempFile::new().unwrap();
    fs::write(outside.path(), "fail: escaped").unwrap();
    let absolute = outside.path().to_str().unwrap();
    // Both would be shown if they were read.
    let (self_test, mode) = ("override/self_test", "parameters/mode");
    tree.module()
        .remove(&format!("sys/module/tp2_p2pdma/{self_test}"))
        .link(&format!("sys/module/tp2_p2pdma/{self_test}"), absolute)
        .remove(&format!("sys/module/tp2_p2pdma/{mode}"))
        .link(&format!("sys/module/tp2_p2pdma/{mode}"), &format!("{}{absolute}", "../".repeat(20)))
        .remove("proc/cpuinfo")
        .link("proc/cpuinfo", "circle")
        .link("proc/circle", "cpuinfo");
    let text = tree.run(&["-v"]).stdout;
    assert!(!text.contains("escaped"), "{text}");
    let report = tree.json();
    assert!(findings(&report, "unknown").iter().any(|words| words.contains("goes in circles")), "{report}");
    assert_eq!(report["verdict"], "inconclusive");
}

#[test]
fn kfd_that_makes_no_sense() {
    let node = "sys/devices/virtual/kfd/kfd/topology/nodes/2";
    let empty = two_cards("8086:6f00");
    empty.file(&format!("{node}/properties"), "");
    let twice = two_cards("8086:6f00");
    twice.kfd_gpu(3, 0x08);
    let link = two_cards_overridden("8086:6f00");
    link.file(&format!("{node}/p2p_links/1/properties"), "type two");
    for tree in [empty, twice, link] {
        let report = tree.json();
        assert_eq!(report["verdict"], "inconclusive", "{report}");
    }
}

#[test]
fn pci_that_makes_no_sense() {
    let tree = two_cards("8086:6f00");
    let gpu = "sys/devices/pci0000:00/0000:00:02.0/0000:03:00.0/0000:04:00.0/0000:05:00.0";
    tree.file(&format!("{gpu}/class"), "0xzz")
        .link("sys/bus/pci/devices/0000:99:00.0", "../../../devices/nowhere")
        .file("sys/bus/pci/devices/rubbish", "");
    let report = tree.json();
    assert_eq!(report["verdict"], "inconclusive");
    assert!(findings(&report, "unknown").join("\n").contains("is not a hexadecimal number"), "{report}");
}

/// A link in another spelling would be a second GPU at the same place.
#[test]
fn each_address_counts_once() {
    let gpu = "pci0000:00/0000:00:02.0/0000:03:00.0/0000:04:00.0/0000:05:00.0";
    for name in ["00000:05:00.0", "0000:0A:00.0", "10000:0A:00.0"] {
        let tree = two_cards("8086:6f00");
        let chain = gpu.replace("0000:05:00.0", &name.to_lowercase());
        if name.contains('A') {
            tree.gpu(&chain, "1002:744c", support::Acs::None);
            tree.remove(&format!("sys/bus/pci/devices/{}", name.to_lowercase()));
        }
        let real = if name.contains('A') { chain.as_str() } else { gpu };
        tree.link(&format!("sys/bus/pci/devices/{name}"), &format!("../../../devices/{real}"));
        let report = tree.json();
        assert_eq!(report["gpus"].as_array().unwrap().len(), 2, "{name}");
        let words = findings(&report, "unknown").join("\n");
        assert!(words.contains("is not how the kernel writes"), "{name}: {words}");
        assert_eq!(report["verdict"], "inconclusive", "{name}");
    }
}

#[test]
fn a_directory_that_is_too_full_is_unknown() {
    let tree = two_cards("8086:6f00");
    let devices = tree.path().join("sys/bus/pci/devices");
    for number in 0..65_536 {
        std::os::unix::fs::symlink("x", devices.join(number.to_string())).unwrap();
    }
    let report = tree.json();
    let words = findings(&report, "unknown").join("\n");
    assert!(words.contains("/sys/bus/pci/devices: has more than 65536 entries"), "{words}");
    assert_eq!(report["verdict"], "inconclusive");
}

#[test]
fn a_release_that_is_a_path_is_refused() {
    for release in ["../../etc", "..", "", "a b"] {
        let tree = two_cards("8086:6f00");
        tree.file("proc/sys/kernel/osrelease", release);
        let report = tree.json();
        let unknown = findings(&report, "unknown").join("\n");
        assert!(unknown.contains("is not a kernel release"), "{release:?}: {unknown}");
        assert_eq!(report["verdict"], "inconclusive", "{release:?}");
    }
}

#[test]
fn a_module_table_with_rubbish_keeps_its_good_rows() {
    let tree = two_cards_overridden("8086:6f00");
    tree.table("rubbish\n0000:05:00.0 0000:08:00.0 3 -1 8 override\n# 7 calls of pairs beyond the table");
    let report = tree.json();
    assert_eq!(report["pairs"][0]["distance"]["a_to_b"]["kernel"], -1);
    assert_eq!(report["pairs"][0]["distance"]["b_to_a"]["kernel"], Value::Null);
}

#[test]
fn colour_only_where_wanted() {
    let tree = two_cards("8086:6f00");
    assert!(!tree.run(&[]).stdout.contains('\u{1b}'));
    assert!(!tree.run(&["--color", "never"]).stdout.contains('\u{1b}'));
    assert!(tree.run(&["--color", "always"]).stdout.contains('\u{1b}'));
}

#[test]
fn completions_are_scripts() {
    for shell in ["bash", "zsh", "fish"] {
        let run = run(&["completions", shell]);
        assert_eq!((run.exit, run.stderr.as_str()), (0, ""));
        assert!(run.stdout.contains("tp2-verify"));
    }
}
