// SPDX-License-Identifier: GPL-2.0-only

//! Characters that terminals obey, in everything that a machine or a user can name: none is printed. Trees are simulated.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made ends the test")]

mod support;

use std::fs;

use serde_json::Value;
use support::{RELEASE, Run, module_file, run, two_cards_overridden};

/// DEL, CSI of C1, an override of the direction, an end of a line, a tag.
const HIDDEN: &str = "\u{7f}\u{9b}31m\u{202e}\u{2066}\u{200f}\u{2028}\u{e0041}";

/// Nothing but what is shown, and ends of lines.
fn shows(run: &Run, what: &str) {
    let obeyed = |character: char| character.is_control() || (!character.is_ascii() && HIDDEN.contains(character));
    for text in [&run.stdout, &run.stderr] {
        let hidden = text.lines().find(|line| line.contains(obeyed));
        assert_eq!(hidden, None, "{what}");
    }
}

#[test]
fn what_files_hold() {
    let tree = two_cards_overridden("8086:6f00");
    tree.file("proc/cpuinfo", &support::INTEL.replace("Xeon", &format!("Xeon{HIDDEN}")))
        .module_says("version", HIDDEN)
        .module_says("override/self_test", HIDDEN)
        .file("usr/lib/modprobe.d/x.conf", &format!("blacklist tp2_p2pdma # {HIDDEN}"))
        .file(&format!("lib/modules/{RELEASE}/modules.dep"), &format!("updates/{HIDDEN}/amdgpu.ko:"))
        .file("usr/src/x", "");
    let directory = tempfile::TempDir::new().unwrap();
    let archive = directory.path().join("r.tar.gz");
    let archive = archive.to_str().unwrap();
    let commands: [&[&str]; 8] = [
        &[],
        &["-v"],
        &["-v", "--lang", "zh"],
        &["--json"],
        &["--format", "prometheus"],
        &["report", "--dry-run"],
        &["report", "-o", archive],
        &["report", "-o", archive],
    ];
    for command in commands {
        let run = tree.run(command);
        assert!(!run.stdout.is_empty() || run.exit == 2, "{command:?}: {}", run.stderr);
        shows(&run, &format!("{command:?}"));
    }
    let report = tree.json();
    let cpu = report["host"]["cpu"].as_str().unwrap();
    assert!(cpu.contains(HIDDEN), "what is escaped is there all the same: {cpu:?}");
}

#[test]
fn what_module_files_hold() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("x.ko");
    fs::write(&path, module_file::module_with(&format!("version={HIDDEN}\0parm={HIDDEN}:x"), &[HIDDEN])).unwrap();
    let path = path.to_str().unwrap();
    shows(&run(&["module", path, "-v"]), "text");
    let json = run(&["module", path, "--json"]);
    shows(&json, "JSON");
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["module"]["version"], HIDDEN);
}

#[test]
fn what_users_name() {
    let name = format!("/nonexistent/{HIDDEN}");
    let commands: [&[&str]; 7] = [
        &["--root", &name],
        &["module", &name],
        &["replay", &name],
        &["explain", HIDDEN],
        &["report", "-o", &name],
        &[HIDDEN],
        &["--format", HIDDEN],
    ];
    let tree = two_cards_overridden("8086:6f00");
    for command in commands {
        let run = if command.contains(&"report") { tree.run(command) } else { run(command) };
        assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{command:?}");
        assert!(!run.stderr.is_empty(), "{command:?}");
        shows(&run, &format!("{command:?}"));
    }
}
