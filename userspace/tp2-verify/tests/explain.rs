// SPDX-License-Identifier: GPL-2.0-only

//! `tp2-verify explain`, and docs/gates.md, which says the same.

#![allow(clippy::unwrap_used, reason = "a file that cannot be read ends the test")]

mod support;

use std::{env, fs, path::Path};

use support::run;
use tp2_verify::{gates::GATES, language::Language, render::explain};

/// Set to write the page in place of comparing it.
const WRITE: &str = "TP2_WRITE";

#[test]
fn every_gate_is_explained_without_its_own_name() {
    for gate in &GATES {
        let text = gate.explanation(Language::English);
        assert!(text.chars().count() > 60 && text.ends_with(['.', ')']), "{}: {text}", gate.id);
        assert!(!text.contains("//!") && !text.starts_with(&format!("`{}`", gate.id)), "{}: {text}", gate.id);
        let said = run(&["explain", gate.id]);
        assert_eq!((said.exit, said.stderr.as_str()), (0, ""));
        assert!(said.stdout.starts_with(&format!("{}\n", gate.id)) && !said.stdout.contains('`'), "{}", said.stdout);
        assert!(said.stdout.lines().all(|line| line.chars().count() <= 100), "{}", said.stdout);
    }
    let all = run(&["explain"]).stdout;
    assert_eq!(all.lines().filter(|line| !line.starts_with(' ')).count(), GATES.len());
}

#[test]
fn another_name_is_one_sentence() {
    let said = run(&["explain", "pair.rout"]);
    assert_eq!((said.exit, said.stdout.as_str(), said.stderr.lines().count()), (2, "", 1));
    assert!(said.stderr.contains("\"pair.rout\""), "{}", said.stderr);
}

#[test]
fn the_pages_are_up_to_date() {
    for (name, language) in [("gates.md", Language::English), ("gates.zh-CN.md", Language::Chinese)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        let mut page = Vec::new();
        explain::write_page(&mut page, language).unwrap();
        if env::var_os(WRITE).is_some() {
            fs::write(&path, &page).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), String::from_utf8(page).unwrap(), "set {WRITE}=1 to write it");
    }
}
