// SPDX-License-Identifier: GPL-2.0-only

//! Public reports, one row each: a machine as described there, the verdict it deserves, gates that must fail, words that
//! must be said, and words that must not. All trees are simulated: what a report does not tell is inferred, and each
//! machine says what that is. The ids are those of the collection of reports, A01 to A54, and R1 to R3 for the machines
//! that the project started from.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made ends the test")]

#[path = "../support/mod.rs"]
mod support;

mod bars;
mod chipsets;
mod dkms;
mod ports;
mod setups;
mod topologies;

use std::collections::BTreeSet;

use serde_json::Value;
use support::Tree;
use tp2_verify::{facts::Facts, language::Language, render, report};

/// A report.
pub(crate) struct Case {
    id: &'static str,
    /// What the report does not tell and the machine has all the same.
    inferred: &'static str,
    machine: fn() -> Tree,
    /// What no tree can hold.
    add: fn(&mut Facts),
    verdict: &'static str,
    /// Exactly the gates that fail, in order, each once.
    fails: &'static [&'static str],
    /// Gates with another status: id, scope (`host`, or how it begins), status.
    others: &'static [(&'static str, &'static str, &'static str)],
    says: &'static [&'static str],
    never_says: &'static [&'static str],
}

/// A row to fill in.
pub(crate) const CASE: Case = Case {
    id: "",
    inferred: "",
    machine: Tree::new,
    add: |_| {},
    verdict: "",
    fails: &[],
    others: &[],
    says: &[],
    never_says: &[],
};

/// Words that send a reader to the module.
pub(crate) const INSTALL: &str = "install the package";

/// Reports that no captured tree decides, and why.
const OUT_OF_REACH: [(&str, &str); 3] = [
    ("A48", "the cards are gone from the bus with their bridge: nothing is left to read"),
    ("A50", "Windows: the tool is for Linux"),
    ("A52", "an error text of DKMS, which is not read in this version"),
];

fn all() -> Vec<Case> {
    let parts = [chipsets::cases(), bars::cases(), ports::cases(), topologies::cases(), setups::cases(), dkms::cases()];
    parts.into_iter().flatten().collect()
}

#[test]
fn every_report_is_accounted_for_once() {
    let ids: Vec<String> = all().iter().map(|case| case.id.to_owned()).collect();
    let mut accounted: Vec<String> = ids.iter().filter(|id| id.starts_with('A')).cloned().collect();
    accounted.extend(OUT_OF_REACH.map(|(id, _)| id.to_owned()));
    accounted.sort();
    let wanted: Vec<String> = (1..=54).map(|number| format!("A{number:02}")).collect();
    assert_eq!(accounted, wanted);
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len());
}

#[test]
fn every_report_gets_what_it_deserves() {
    let wrong: Vec<String> = all().iter().filter_map(|case| check(case).err()).collect();
    assert!(wrong.is_empty(), "{} cases fail:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Judges one machine; the error tells everything that is wrong with it.
fn check(case: &Case) -> Result<(), String> {
    let mut facts = (case.machine)().facts();
    (case.add)(&mut facts);
    let report = report::make(&facts);
    let mut table = Vec::new();
    let options = render::table::Options { language: Language::English, verbose: true, width: None };
    render::table::write(&mut table, &report, options).unwrap();
    let table = anstream::adapter::strip_bytes(&table).into_vec();
    let table = String::from_utf8(table).unwrap();
    // Lines are broken at spaces, so words are compared without them.
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    let value = serde_json::to_value(&report).unwrap();
    support::validate(&value);
    let mut wrong = Vec::new();
    if value["verdict"] != case.verdict {
        wrong.push(format!("verdict {} and not {}", value["verdict"], case.verdict));
    }
    let failing = support::failing(&value);
    if failing != case.fails {
        wrong.push(format!("{failing:?} fail, and not {:?}", case.fails));
    }
    wrong.extend(case.others.iter().filter_map(|wanted| other(&value, wanted)));
    wrong.extend(case.says.iter().filter(|say| !words.contains(*say)).map(|say| format!("does not say {say:?}")));
    let said = case.never_says.iter().filter(|never| words.contains(*never));
    wrong.extend(said.map(|never| format!("says {never:?}")));
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{} (inferred: {}): {}\n{table}", case.id, case.inferred, wrong.join("; ")))
}

fn other(report: &Value, (gate, scope, status): &(&str, &str, &str)) -> Option<String> {
    let findings = report["findings"].as_array().unwrap();
    let about = |finding: &&Value| finding["gate"] == *gate && finding["scope"].as_str().unwrap().starts_with(scope);
    let found = findings.iter().find(about);
    match found {
        Some(finding) if finding["status"] == *status => None,
        Some(finding) => Some(format!("{gate} of {scope} is {} and not {status}", finding["status"])),
        None => Some(format!("{gate} says nothing about {scope}")),
    }
}
