// SPDX-License-Identifier: GPL-2.0-only

//! From chains to the module's decision.

use tp2_policy::{
    policy::{Decision, Mode, Rule, Settings},
    route::{AcsControl, Chain, HostBridgeDevice, ModuleDecision, module_call, module_decision, predict},
};

use crate::support::{ROCKET_LAKE, intel, machine, refused_call, switch_pair, under, with_acs, x99_pair};

fn decided(provider: &Chain, client: &Chain, settings: &Settings<'_>) -> ModuleDecision {
    let answer = predict(provider, client, &machine(intel(), "7.3.4")).kernel_answer();
    module_decision(provider, client, answer.expect("known"), settings)
}

fn with_host(mut pair: (Chain, Chain), host_bridge: HostBridgeDevice) -> (Chain, Chain) {
    pair.0.host_bridge = host_bridge;
    pair.1.host_bridge = host_bridge;
    pair
}

fn kept(rule: Rule) -> ModuleDecision {
    ModuleDecision::Decided(Decision { answer: -1, rule })
}

#[test]
fn x99_is_overridden_with_the_kernels_hop_count() {
    let (a, b) = x99_pair();
    assert_eq!(module_call(&a, &b, -1), refused_call());
    let overridden = ModuleDecision::Decided(Decision { answer: 8, rule: Rule::Override });
    assert_eq!(decided(&a, &b, &Settings::default()), overridden);
    let off = Settings { mode: Mode::Off, ..Settings::default() };
    assert_eq!(decided(&a, &b, &off), ModuleDecision::Inert);
}

#[test]
fn other_routes_are_left_alone() {
    let settings = Settings::default();
    let (a, b) = switch_pair();
    let allowed = ModuleDecision::Decided(Decision { answer: 4, rule: Rule::KernelAllows });
    assert_eq!(decided(&a, &b, &settings), allowed);
    let a = with_acs(a, "0000:02:08.0", AcsControl::Word(0x0c));
    assert_eq!(decided(&a, &b, &settings), kept(Rule::SharedUpstream));
    let (a, b) = x99_pair();
    assert_eq!(decided(&a, &under(b, 0x80), &settings), kept(Rule::CrossHostBridge));
    assert_eq!(module_decision(&a, &a, -1, &settings), kept(Rule::SameFunction));
    assert!(module_call(&a, &a, -1).shares_upstream);
}

#[test]
fn a_host_bridge_that_could_not_be_read_is_unknown_only_where_rule_6_decides() {
    let settings = Settings::default();
    let hidden = with_host(x99_pair(), HostBridgeDevice::Unreadable);
    let decision = |pair: &(Chain, Chain), settings: &Settings<'_>| module_decision(&pair.0, &pair.1, -1, settings);
    assert_eq!(decision(&hidden, &settings), ModuleDecision::Unknown);
    let lifted = Settings { allow_denied: true, ..settings };
    let overridden = ModuleDecision::Decided(Decision { answer: 8, rule: Rule::Override });
    assert_eq!(decision(&hidden, &lifted), overridden);
    let other_vendor = Settings { vendors: &[0x8086], ..settings };
    assert_eq!(decision(&hidden, &other_vendor), kept(Rule::Vendor));
    let absent = with_host(x99_pair(), HostBridgeDevice::Absent);
    assert_eq!(decision(&absent, &settings), kept(Rule::UnknownBridge));
    // One that is surely not identifiable settles it, whatever the other is.
    let mut half = absent.clone();
    half.1.host_bridge = HostBridgeDevice::Unreadable;
    let across = Settings { cross_host_bridge: true, ..settings };
    assert_eq!(decision(&(half.0, under(half.1, 0x80)), &across), kept(Rule::UnknownBridge));
    let denied = with_host(x99_pair(), HostBridgeDevice::Found(ROCKET_LAKE));
    assert_eq!(decision(&denied, &settings), kept(Rule::DeniedBridge));
}
