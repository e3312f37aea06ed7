// SPDX-License-Identifier: GPL-2.0-only

//! Many GPUs: what is looked up by key, and that each pair gets its own findings. All trees are simulated.

#![allow(clippy::unwrap_used, reason = "JSON of another form ends the test")]

mod support;

use proptest::prelude::*;
use support::{
    Acs, Tree,
    many::{many_cards, many_cards_overridden},
    two_cards,
};
use tp2_policy::Address;
use tp2_verify::{
    facts::{Bdf, Indexed, PairRow},
    finding::{Scope, Status},
    gates,
    language::Language,
    view,
};

/// Eight below each host bridge.
const CARDS: u8 = 16;

fn pairs_with(report: &serde_json::Value, verdict: &str) -> usize {
    report["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == verdict).count()
}

#[test]
fn every_pair_gets_its_own_verdict() {
    let report = many_cards(CARDS).json();
    assert_eq!(report["gpus"].as_array().unwrap().len(), 16);
    assert_eq!(report["pairs"].as_array().unwrap().len(), 120);
    // Across host bridges the module leaves routes alone by default.
    assert_eq!((pairs_with(&report, "module-will-help"), pairs_with(&report, "blocked")), (56, 64));
    let tree = many_cards_overridden(CARDS);
    assert_eq!(pairs_with(&tree.json(), "ready"), 120);
    // One link less: one pair less.
    tree.remove(&support::kfd(3, "p2p_links/9"));
    let report = tree.json();
    assert_eq!((pairs_with(&report, "ready"), pairs_with(&report, "blocked")), (119, 1));
    let broken = report["pairs"].as_array().unwrap().iter().find(|pair| pair["verdict"] == "blocked").unwrap();
    assert_eq!((&broken["a"], &broken["b"]), (&"0000:09:00.0".into(), &"0000:23:00.0".into()));
}

/// Below one host bridge, each with a root port of its own.
fn crowd(gpus: u32) -> Tree {
    let tree = Tree::new();
    tree.host_bridge("pci0000:00", "8086:6f00").kfd();
    for index in 0..gpus {
        let domain = format!("{:04x}", index + 1);
        let chain = format!("pci{domain}:00/{domain}:00:01.0/{domain}:01:00.0");
        tree.pci(&format!("pci{domain}:00/{domain}:00:01.0"), "8086:6f08", "060400", 4, Acs::None);
        tree.gpu(&chain, "1002:744c", Acs::None);
    }
    tree
}

#[test]
fn more_gpus_than_are_judged_are_said_and_no_verdict_is_good() {
    // Not as a whole: 32,640 pairs take long in a test.
    let facts = crowd(257).facts();
    assert_eq!(view::gpus(&facts).len(), 256);
    let gate = gates::named("gpu.kfd").unwrap();
    let findings = (gate.judge)(&facts);
    let finding = findings.iter().find(|finding| finding.scope == Scope::Host).unwrap();
    assert!(finding.status == Status::Unknown && gate.decides);
    let summary = finding.summary.words(Language::English);
    assert!(summary.contains("lists 257 AMD GPUs, of which no more than 256 are judged"), "{summary}");
}

#[test]
fn what_is_looked_through_for_every_pair_is_not_long() {
    let tree = many_cards_overridden(2);
    for number in 0..520 {
        tree.file(&support::kfd(1, &format!("io_links/{number}/properties")), "type 2\nnode_from 1\nnode_to 0");
    }
    let report = tree.json();
    assert!(report.to_string().contains("nodes/1/io_links: has more than 512 entries"), "{report:#}");
    for number in 10..520 {
        tree.file(&support::kfd(number, "properties"), "simd_count 0");
    }
    let report = tree.json();
    assert!(report.to_string().contains("topology/nodes: has more than 512 entries"), "{report:#}");
    let deep = two_cards("8086:6f00");
    let bridges: Vec<String> = (0x40..0x61).map(|bus| format!("0000:{bus:02x}:00.0")).collect();
    deep.gpu(&format!("pci0000:00/{}/0000:70:00.0", bridges.join("/")), "1002:744c", Acs::None);
    let report = deep.json();
    assert!(report.to_string().contains("lies below more than 32 bridges"), "{report:#}");
    assert_eq!(report["verdict"], "inconclusive");
}

fn some_address() -> impl Strategy<Value = Bdf> {
    // Few, so that many rows have the same key.
    (0..2_u8, 0..4_u8).prop_map(|(bus, function)| Bdf(Address::new(0, bus, 0, function)))
}

fn some_row() -> impl Strategy<Value = PairRow> {
    (some_address(), some_address(), any::<u64>()).prop_map(|(provider, client, calls)| PairRow {
        provider,
        client,
        calls,
        kernel_answer: -1,
        answer: 8,
        rule: "override".to_owned(),
    })
}

proptest! {
    #[test]
    fn an_index_finds_what_a_search_finds(
        list in proptest::collection::vec(some_row(), 0..40),
        wanted in (some_address(), some_address()),
        to in (some_address(), some_address()),
    ) {
        let indexed = Indexed::from(list.clone());
        prop_assert_eq!(&indexed[..], &list[..]);
        let key = |row: &PairRow| (row.provider, row.client);
        let search: Vec<&PairRow> = list.iter().filter(|row| key(row) == wanted).collect();
        prop_assert_eq!(indexed.first(wanted), search.first().copied());
        prop_assert_eq!(indexed.all(wanted).collect::<Vec<_>>(), search);
        prop_assume!(wanted <= to);
        let mut range: Vec<&PairRow> = list.iter().filter(|row| (wanted..=to).contains(&key(row))).collect();
        range.sort_by_key(|row| key(row));
        prop_assert_eq!(indexed.within(wanted..=to).collect::<Vec<_>>(), range);
        let shared: Vec<&PairRow> =
            list.iter().filter(|row| list.iter().filter(|other| key(other) == key(row)).count() > 1).collect();
        prop_assert_eq!(indexed.sharing().collect::<Vec<_>>(), shared);
        let text = serde_json::to_string(&indexed).unwrap();
        prop_assert_eq!(&text, &serde_json::to_string(&list).unwrap());
        prop_assert_eq!(serde_json::from_str::<Indexed<PairRow>>(&text).unwrap(), indexed);
    }
}
