// SPDX-License-Identifier: GPL-2.0-only

//! `--format`, and the manual page.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made ends the test")]

mod support;

use std::collections::BTreeSet;

use support::{run, two_cards, two_cards_overridden};

#[test]
fn metrics_say_what_the_report_says() {
    let tree = two_cards("8086:6f00");
    let run = tree.run(&["--format", "prometheus"]);
    assert_eq!((run.exit, run.stderr.as_str()), (1, ""));
    for line in [
        "tp2_verify_info{version=\"0.1.0\",kernel=\"7.0.0-38-generic\"} 1",
        "tp2_verify_verdict{verdict=\"module-will-help\"} 1",
        "tp2_verify_verdict{verdict=\"ready\"} 0",
        "tp2_verify_exit_status 1",
        "tp2_verify_gpus 2",
        "tp2_verify_pair_verdict{a=\"0000:05:00.0\",b=\"0000:08:00.0\",verdict=\"module-will-help\"} 1",
        "tp2_verify_findings{gate=\"gpu.kfd\",status=\"pass\"} 2",
        "tp2_verify_findings{gate=\"pair.route\",status=\"fail\"} 1",
    ] {
        assert!(run.stdout.lines().any(|other| other == line), "{line:?} is missing in {}", run.stdout);
    }
    let ready = two_cards_overridden("8086:6f00").run(&["--format", "prometheus"]).stdout;
    let series = |text: &str| text.matches("tp2_verify_verdict{").count();
    assert_eq!((series(&run.stdout), series(&ready)), (10, 10));
    assert!(ready.contains("tp2_verify_verdict{verdict=\"ready\"} 1"), "{ready}");
}

#[test]
fn metrics_have_the_form_of_the_format() {
    let tree = two_cards("8086:6f00");
    let text = tree.run(&["--format", "prometheus"]).stdout;
    assert!(text.ends_with('\n'));
    let mut declared = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(kind, "gauge");
            assert!(declared.insert(name.to_owned()), "{name} is declared twice");
        } else if !line.starts_with("# HELP ") {
            let (series, value) = line.rsplit_once(' ').unwrap();
            value.parse::<u64>().unwrap();
            assert!(seen.insert(series.to_owned()), "{series} is there twice");
            assert!(declared.contains(series.split('{').next().unwrap()), "{series} has no type");
        }
    }
}

#[test]
fn formats_and_what_they_are_not_for() {
    let tree = two_cards("8086:6f00");
    assert_eq!(tree.run(&["--format", "json"]).stdout, tree.run(&["--json"]).stdout);
    assert_eq!(tree.run(&["--format", "table"]).stdout, tree.run(&[]).stdout);
    assert_eq!(tree.run(&["--format", "json", "--json"]).exit, 2);
    assert_eq!(tree.run(&["--format", "xml"]).exit, 2);
}

/// An option that is passed over in silence gives what nobody asked for.
#[test]
fn options_that_mean_nothing_are_refused() {
    let tree = two_cards("8086:6f00");
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("r.tar.gz");
    let file = file.to_str().unwrap();
    let root = tree.path().to_str().unwrap();
    assert_eq!(run(&["report", "-o", file, "--root", root, "--format", "table"]).exit, 0);
    assert_eq!(run(&["replay", file, "--json", "--root", "/"]).exit, 1);
    let text = "prints text for people, nothing else";
    let cases: [(&[&str], &str); 10] = [
        (&["explain", "--json"], text),
        (&["explain", "pair.route", "--format", "prometheus"], text),
        (&["report", "-o", "x", "--json", "--root", root], text),
        (&["report", "--dry-run", "--format", "json", "--root", root], text),
        (&["completions", "bash", "--json"], text),
        (&["man", "--json"], text),
        (&["module", "x.ko", "--format", "prometheus"], "x.ko: no such file"),
        (&["replay", file, "--root", root], "leave out --root"),
        (&["report", "-o", "-", "--root", root], "name a file with -o"),
        (&["report", "-o", "/dev/full/x", "--root", root], "(not a directory)"),
    ];
    for (arguments, words) in cases {
        let run = run(arguments);
        assert_eq!((run.exit, run.stdout.as_str(), run.stderr.lines().count()), (2, "", 1), "{arguments:?}");
        assert!(run.stderr.contains(words), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn a_full_disk_is_said_without_numbers() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_tp2-verify"))
        .args(["explain", "--color", "never"])
        .stdout(std::fs::File::create("/dev/full").unwrap())
        .output()
        .unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("(no space left on device)") && !words.contains("os error"), "{words}");
}

#[test]
fn the_manual_page_has_every_command() {
    let page = run(&["man"]);
    assert_eq!((page.exit, page.stderr.as_str()), (0, ""));
    let title =
        concat!(".TH tp2-verify 8 \" \" \"tp2-verify ", env!("CARGO_PKG_VERSION"), "\" \"System Administration\"");
    assert!(page.stdout.contains(title), "{}", page.stdout);
    for words in ["CHECK", "REPORT", "REPLAY", "MODULE", "COMPLETIONS", "EXIT STATUS", "dry\\-run", "\\-\\-format"] {
        assert!(page.stdout.contains(words), "{words} is missing in {}", page.stdout);
    }
    let help = run(&["--help"]).stdout;
    assert!(!help.contains("manual page"), "{help}");
}
