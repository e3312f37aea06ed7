// SPDX-License-Identifier: GPL-2.0-only

//! The rule book against a restatement: every rule a plain condition, the first that fails gives the token.

use proptest::{prelude::*, sample::select};
use tp2_policy::{
    Address,
    policy::{BridgeId, Call, Function, Mode, Settings, decide},
};

use crate::support::{HASWELL_E, ROCKET_LAKE, X99};

/// [`Settings`] with its lists owned.
#[derive(Clone, Debug)]
struct Owned {
    mode: Mode,
    vendors: Vec<u16>,
    pairs: Vec<(Address, Address)>,
    cross_host_bridge: bool,
    allow_denied: bool,
    deny: Vec<BridgeId>,
}

impl Owned {
    fn settings(&self) -> Settings<'_> {
        Settings {
            mode: self.mode,
            vendors: &self.vendors,
            pairs: &self.pairs,
            cross_host_bridge: self.cross_host_bridge,
            allow_denied: self.allow_denied,
            deny: &self.deny,
        }
    }
}

fn some_address() -> impl Strategy<Value = Address> {
    (0_u32..2, 5_u8..7, 0_u8..2).prop_map(|(domain, bus, devfn)| Address { domain, bus, devfn })
}

fn some_function() -> impl Strategy<Value = Function> {
    let vendor = prop_oneof![4 => Just(0x1002_u16), 1 => select(vec![0x8086, 0x10de])];
    let class = prop_oneof![
        4 => select(vec![0x03_0000_u32, 0x03_8000, 0x12_0000]),
        1 => select(vec![0x12_0100, 0x04_0300, 0x06_0400]),
    ];
    (some_address(), vendor, class).prop_map(|(address, vendor, class)| Function { address, vendor, class })
}

fn some_bridge() -> impl Strategy<Value = Option<BridgeId>> {
    prop_oneof![3 => Just(Some(X99)), 1 => select(vec![None, Some(ROCKET_LAKE), Some(HASWELL_E)])]
}

prop_compose! {
    fn some_call()(
        kernel_answer in prop_oneof![4 => Just(-1), 1 => any::<i32>()],
        num_clients in prop_oneof![6 => Just(1), 1 => -1..4],
        provider in some_function(),
        client in some_function(),
        shares_upstream in prop::bool::weighted(0.2),
        same_host_bridge in prop::bool::weighted(0.8),
        provider_host_bridge in some_bridge(),
        client_host_bridge in some_bridge(),
        hop_count in 0..20,
    ) -> Call {
        Call {
            kernel_answer, num_clients, provider, client, shares_upstream, same_host_bridge,
            provider_host_bridge, client_host_bridge, hop_count,
        }
    }
}

prop_compose! {
    fn some_settings()(
        mode in select(vec![Mode::Force, Mode::Force, Mode::Force, Mode::Observe, Mode::Off]),
        vendors in prop::collection::vec(select(vec![0x1002, 0x1002, 0x8086]), 1..3),
        pairs in prop_oneof![
            2 => Just(Vec::new()),
            1 => prop::collection::vec((some_address(), some_address()), 1..12),
        ],
        cross_host_bridge in any::<bool>(),
        allow_denied in any::<bool>(),
        deny in prop::collection::vec(select(vec![HASWELL_E, (0x8086, 1)]), 0..3),
    ) -> Owned {
        Owned { mode, vendors, pairs, cross_host_bridge, allow_denied, deny }
    }
}

/// The contract, clause by clause, each with the token that says it does not hold.
fn clauses(call: &Call, set: &Owned) -> Vec<(bool, &'static str)> {
    let (p, c) = (&call.provider, &call.client);
    let gpu = |f: &Function| matches!(f.class.to_be_bytes(), [0, 0x03, _, _] | [0, 0x12, 0x00, _]);
    let named = set.pairs.iter().any(|(a, b)| {
        let unordered = [[*a, *b], [*b, *a]];
        unordered.contains(&[p.address, c.address])
    });
    let bridges = [call.provider_host_bridge, call.client_host_bridge];
    let denied = |id: BridgeId| id == ROCKET_LAKE || set.deny.contains(&id);
    vec![
        (call.kernel_answer < 0, "1:kernel-allows"),
        (call.num_clients == 1, "1:not-one-client"),
        (p.address != c.address, "2:same-function"),
        ([p, c].iter().all(|f| set.vendors.contains(&f.vendor)), "2:vendor"),
        ([p, c].iter().all(|f| gpu(f)), "2:class"),
        (set.pairs.is_empty() || named, "3:not-named"),
        (!call.shares_upstream, "4:shared-upstream"),
        (call.same_host_bridge || set.cross_host_bridge, "5:cross-host-bridge"),
        (set.allow_denied || !bridges.into_iter().flatten().any(denied), "6:denied-bridge"),
        (set.allow_denied || bridges.iter().all(Option::is_some), "6:unknown-bridge"),
        (set.mode == Mode::Force, "7:observe"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn agrees_with_the_restatement(call in some_call(), set in some_settings()) {
        let decision = decide(&call, &set.settings());
        if set.mode == Mode::Off {
            prop_assert_eq!(decision, None);
            return Ok(());
        }
        let decision = decision.expect("mode is not off");
        let failing = clauses(&call, &set).into_iter().find(|(holds, _)| !holds);
        let (token, answer) = match failing {
            Some((_, token)) => (token, call.kernel_answer),
            None => ("override", call.hop_count),
        };
        prop_assert_eq!(decision.rule.token(), token);
        prop_assert_eq!(decision.answer, answer);
    }

    #[test]
    fn an_allowed_answer_never_changes(call in some_call(), set in some_settings(), answer in 0..i32::MAX) {
        let call = Call { kernel_answer: answer, ..call };
        if let Some(decision) = decide(&call, &set.settings()) {
            prop_assert_eq!(decision.answer, answer);
        }
    }

    #[test]
    fn provider_and_client_are_interchangeable(call in some_call(), set in some_settings()) {
        let swapped = Call {
            provider: call.client,
            client: call.provider,
            provider_host_bridge: call.client_host_bridge,
            client_host_bridge: call.provider_host_bridge,
            ..call
        };
        prop_assert_eq!(decide(&call, &set.settings()), decide(&swapped, &set.settings()));
    }

    #[test]
    fn observing_differs_only_where_it_would_override(call in some_call(), set in some_settings()) {
        let force = decide(&call, &Settings { mode: Mode::Force, ..set.settings() }).expect("decides");
        let observe = decide(&call, &Settings { mode: Mode::Observe, ..set.settings() }).expect("decides");
        prop_assert_eq!(observe.answer, call.kernel_answer);
        if force.rule.token() == "override" {
            prop_assert_eq!(observe.rule.token(), "7:observe");
        } else {
            prop_assert_eq!(observe.rule, force.rule);
        }
    }
}
