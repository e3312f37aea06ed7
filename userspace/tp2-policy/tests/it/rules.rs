// SPDX-License-Identifier: GPL-2.0-only

//! Each rule by itself: one fact or setting away from a call that is overridden.

use tp2_policy::policy::{Call, Decision, Mode, Rule, Settings, decide};

use crate::support::{HASWELL_E, ROCKET_LAKE, X99, address, gpu, refused_call};

fn rule(call: &Call, settings: &Settings<'_>) -> Rule {
    let decision = decide(call, settings).expect("mode is not off");
    let expected = if decision.rule == Rule::Override { call.hop_count } else { call.kernel_answer };
    assert_eq!(decision.answer, expected, "answer of {:?}", decision.rule);
    decision.rule
}

fn default_rule(call: &Call) -> Rule {
    rule(call, &Settings::default())
}

#[test]
fn all_rules_hold() {
    let decision = decide(&refused_call(), &Settings::default());
    assert_eq!(decision, Some(Decision { answer: 8, rule: Rule::Override }));
}

#[test]
fn rule_1_leaves_what_the_kernel_allows() {
    for kernel_answer in [0, 2, 8, i32::MAX] {
        let call = Call { kernel_answer, ..refused_call() };
        assert_eq!(default_rule(&call), Rule::KernelAllows);
    }
    for kernel_answer in [-1, -22, i32::MIN] {
        let call = Call { kernel_answer, ..refused_call() };
        assert_eq!(default_rule(&call), Rule::Override);
    }
}

#[test]
fn rule_1_wants_exactly_one_client() {
    for num_clients in [i32::MIN, -1, 0, 2, 3] {
        let call = Call { num_clients, ..refused_call() };
        assert_eq!(default_rule(&call), Rule::NotOneClient);
    }
}

#[test]
fn rule_2_wants_two_functions() {
    let call = Call { client: refused_call().provider, ..refused_call() };
    assert_eq!(default_rule(&call), Rule::SameFunction);
    // Two functions of one device, and one address in two domains, are different functions.
    for other in ["0000:05:00.1", "0001:05:00.0", "0000:05:01.0", "0000:06:00.0"] {
        let call = Call { client: gpu(other), ..refused_call() };
        assert_eq!(default_rule(&call), Rule::Override, "{other}");
    }
}

#[test]
fn rule_2_wants_allowed_vendors_on_both_sides() {
    let mut by_provider = refused_call();
    by_provider.provider.vendor = 0x8086;
    let mut by_client = refused_call();
    by_client.client.vendor = 0x8086;
    for call in [by_provider, by_client] {
        assert_eq!(default_rule(&call), Rule::Vendor);
        let settings = Settings { vendors: &[0x8086, 0x1002], ..Settings::default() };
        assert_eq!(rule(&call, &settings), Rule::Override);
        assert_eq!(rule(&call, &Settings { vendors: &[], ..Settings::default() }), Rule::Vendor);
    }
}

#[test]
fn rule_2_wants_gpus_on_both_sides() {
    let gpus = [0x03_0000, 0x03_0200, 0x03_8000, 0x12_0000, 0x12_00ff];
    let others = [0x04_0300, 0x02_0000, 0x06_0400, 0x12_0100, 0x01_0300, 0x00_0300, 0xff_0300];
    for class in gpus.into_iter().chain(others) {
        let mut by_provider = refused_call();
        by_provider.provider.class = class;
        let mut by_client = refused_call();
        by_client.client.class = class;
        let expected = if gpus.contains(&class) { Rule::Override } else { Rule::Class };
        assert_eq!(default_rule(&by_provider), expected, "{class:06x}");
        assert_eq!(default_rule(&by_client), expected, "{class:06x}");
    }
}

#[test]
fn rule_3_wants_the_pair_named_in_either_order() {
    let (a, b, c) = (address("0000:05:00.0"), address("0000:08:00.0"), address("0000:09:00.0"));
    let cases = [
        (vec![(a, b)], Rule::Override),
        (vec![(b, a)], Rule::Override),
        (vec![(a, c), (b, a)], Rule::Override),
        (vec![(a, c)], Rule::NotNamed),
        (vec![(c, b)], Rule::NotNamed),
        (vec![(a, a), (b, b)], Rule::NotNamed),
        (vec![(a, c), (c, b)], Rule::NotNamed),
    ];
    for (pairs, expected) in cases {
        let settings = Settings { pairs: &pairs, ..Settings::default() };
        assert_eq!(rule(&refused_call(), &settings), expected, "{pairs:?}");
    }
}

#[test]
fn rule_4_leaves_pairs_below_one_bridge() {
    let call = Call { shares_upstream: true, ..refused_call() };
    assert_eq!(default_rule(&call), Rule::SharedUpstream);
    let all_lifted = Settings { cross_host_bridge: true, allow_denied: true, ..Settings::default() };
    assert_eq!(rule(&call, &all_lifted), Rule::SharedUpstream);
}

#[test]
fn rule_5_wants_one_host_bridge() {
    let call = Call { same_host_bridge: false, ..refused_call() };
    assert_eq!(default_rule(&call), Rule::CrossHostBridge);
    let lifted = Settings { cross_host_bridge: true, ..Settings::default() };
    assert_eq!(rule(&call, &lifted), Rule::Override);
    let other_lifted = Settings { allow_denied: true, ..Settings::default() };
    assert_eq!(rule(&call, &other_lifted), Rule::CrossHostBridge);
}

#[test]
fn rule_6_denies_bridges_on_either_side() {
    let cases = [
        (Some(X99), Some(X99), Rule::Override),
        (Some(ROCKET_LAKE), Some(X99), Rule::DeniedBridge),
        (Some(X99), Some(ROCKET_LAKE), Rule::DeniedBridge),
        (Some(HASWELL_E), Some(X99), Rule::DeniedBridge),
        (Some(X99), Some(HASWELL_E), Rule::DeniedBridge),
        (None, Some(X99), Rule::UnknownBridge),
        (Some(X99), None, Rule::UnknownBridge),
        (None, None, Rule::UnknownBridge),
        (None, Some(ROCKET_LAKE), Rule::DeniedBridge),
        (Some(ROCKET_LAKE), None, Rule::DeniedBridge),
        // Vendor and device have to match together.
        (Some((0x1022, 0x4c43)), Some(X99), Rule::Override),
    ];
    for (provider_host_bridge, client_host_bridge, expected) in cases {
        let call = Call { provider_host_bridge, client_host_bridge, ..refused_call() };
        let settings = Settings { deny: &[(0x8086, 0x0001), HASWELL_E], ..Settings::default() };
        assert_eq!(rule(&call, &settings), expected, "{call:?}");
        let lifted = Settings { allow_denied: true, ..settings };
        assert_eq!(rule(&call, &lifted), Rule::Override, "{call:?}");
        let other_lifted = Settings { cross_host_bridge: true, ..settings };
        assert_eq!(rule(&call, &other_lifted), expected, "{call:?}");
    }
}

#[test]
fn rule_7_observes_or_does_nothing() {
    let observe = Settings { mode: Mode::Observe, ..Settings::default() };
    assert_eq!(rule(&refused_call(), &observe), Rule::Observe);
    let call = Call { shares_upstream: true, ..refused_call() };
    assert_eq!(rule(&call, &observe), Rule::SharedUpstream);
    let off = Settings { mode: Mode::Off, ..Settings::default() };
    assert_eq!(decide(&refused_call(), &off), None);
    assert_eq!(decide(&Call { kernel_answer: 8, ..refused_call() }, &off), None);
}

#[test]
fn tokens_are_those_of_the_contract() {
    let contract = include_str!("../../../../docs/architecture.md");
    let all = [
        Rule::KernelAllows,
        Rule::SameFunction,
        Rule::Vendor,
        Rule::Class,
        Rule::NotNamed,
        Rule::SharedUpstream,
        Rule::CrossHostBridge,
        Rule::DeniedBridge,
        Rule::UnknownBridge,
        Rule::Observe,
        Rule::Override,
    ];
    for rule in all {
        let quoted = format!("`{}`", rule.token());
        assert!(contract.contains(&quoted), "{quoted} is not in the contract");
    }
}
