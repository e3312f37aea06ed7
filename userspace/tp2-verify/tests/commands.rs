// SPDX-License-Identifier: GPL-2.0-only

//! Commands that people are told to run: a line each, which a shell takes for what is meant. All trees are simulated.

#![allow(clippy::unwrap_used, reason = "JSON of another form ends the test")]

mod support;

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use serde_json::Value;
use support::{Acs, RELEASE, Tree, shared_switch, two_cards};

/// The commands of a gate's first finding.
fn commands(report: &Value, gate: &str) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["gate"] == gate).unwrap();
    finding["commands"].as_array().unwrap().iter().map(|command| command.as_str().unwrap().to_owned()).collect()
}

/// A machine where DKMS has built a version that modprobe does not find.
fn built_but_not_indexed(version: &str) -> Tree {
    let tree = two_cards("8086:6f00");
    tree.file(&format!("var/lib/dkms/tp2_p2pdma/{version}/{RELEASE}/x86_64/module/tp2_p2pdma.ko"), "");
    tree
}

#[test]
fn no_width_breaks_a_command() {
    let tree = shared_switch(Acs::Word(0x001d));
    let wanted = commands(&tree.json(), "pair.route");
    assert_eq!(wanted.first().map(String::as_str), Some("sudo setpci -s 0000:03:00.0 ECAP_ACS+0x6.w=0011"));
    let output = Command::new(env!("CARGO_BIN_EXE_tp2-verify"))
        .args(["--root", tree.path().to_str().unwrap()])
        .env("COLUMNS", "60")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for command in wanted {
        // Below its finding, and among the steps at the end.
        assert_eq!(text.lines().filter(|line| line.trim() == command).count(), 2, "{command}: {text}");
    }
}

#[test]
fn a_shell_takes_what_was_read_for_words() {
    let tools = tempfile::tempdir().unwrap();
    let sudo = tools.path().join("sudo");
    fs::write(&sudo, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").unwrap();
    fs::set_permissions(&sudo, fs::Permissions::from_mode(0o755)).unwrap();
    for version in ["1; echo more", "$(echo more)", "`echo more`", "a'b\"c", "~ * ?", "-k x", "a\nb"] {
        let report = built_but_not_indexed(version).json();
        let commands = commands(&report, "module.loaded");
        let output = Command::new("/bin/sh").args(["-c", &commands[0]]).env("PATH", tools.path()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said, format!("dkms\ninstall\ntp2_p2pdma/{version}\n-k\n{RELEASE}\n"), "{commands:?}");
        assert!(output.stderr.is_empty(), "{commands:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
