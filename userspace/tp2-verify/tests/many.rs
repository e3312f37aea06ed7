// SPDX-License-Identifier: GPL-2.0-only

//! Many GPUs: what is looked up by key, and that each pair gets its own findings. All trees are simulated.

#![allow(clippy::unwrap_used, reason = "JSON of another form ends the test")]

mod support;

use proptest::prelude::*;
use support::many::{many_cards, many_cards_overridden};
use tp2_policy::Address;
use tp2_verify::facts::{Bdf, Indexed, PairRow};

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
        let text = serde_json::to_string(&indexed).unwrap();
        prop_assert_eq!(&text, &serde_json::to_string(&list).unwrap());
        prop_assert_eq!(serde_json::from_str::<Indexed<PairRow>>(&text).unwrap(), indexed);
    }
}
