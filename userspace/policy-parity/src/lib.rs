// SPDX-License-Identifier: GPL-2.0-only

//! The module's C policy, callable from Rust, to be compared with [`tp2_policy::policy`].
//!
//! The C side has no word for two things, because `rust-kmod/c/probe.c` deals with them before it asks: `mode=off`, and
//! another number of clients than one.

pub mod c_policy;

use c_policy::{Facts, HostBridge, Id, Pair, Settings, decide};
use tp2_policy::policy::{self, Address, BridgeId, Call, Decision, Mode, Rule};

/// The C policy's rules by name, in the order of `tp2_rules` in `layout.c`.
pub const RULES: [Rule; c_policy::RULES] = [
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

/// What the C policy decides. Of `call` the number of clients is not looked at.
///
/// # Panics
///
/// If the C policy names a rule that is not in its own enumeration.
#[must_use]
pub fn decide_in_c(facts: &Facts, mode: Mode, settings: &Settings) -> Decision {
    let decision = decide(settings, c_mode(mode), facts);
    let known = c_policy::rules().iter().zip(RULES).find(|(number, _)| **number == decision.rule);
    let Some((_, rule)) = known else { panic!("tp2_decide() names the rule {}, which has no name", decision.rule) };
    Decision { answer: decision.answer, rule }
}

/// A mode as the C policy numbers it.
fn c_mode(mode: Mode) -> u32 {
    let [off, observe, force] = *c_policy::modes();
    match mode {
        Mode::Off => off,
        Mode::Observe => observe,
        Mode::Force => force,
    }
}

/// The facts of a call as the C policy wants them; `unknown` is what stands in the place of a bridge without identity.
#[must_use]
pub fn facts(call: &Call, unknown: BridgeId) -> Facts {
    let bridge = |id: Option<BridgeId>| HostBridge { known: id.is_some(), id: c_id(id.unwrap_or(unknown)) };
    let function = |function: &policy::Function| c_policy::Function {
        address: c_address(function.address),
        vendor: function.vendor,
        class: function.class,
    };
    Facts {
        kernel_answer: call.kernel_answer,
        provider: function(&call.provider),
        client: function(&call.client),
        shared_upstream: call.shares_upstream,
        same_host_bridge: call.same_host_bridge,
        provider_bridge: bridge(call.provider_host_bridge),
        client_bridge: bridge(call.client_host_bridge),
        hops: call.hop_count,
    }
}

/// An address in C.
#[must_use]
pub fn c_address(address: Address) -> c_policy::Address {
    c_policy::Address { domain: address.domain, bus: address.bus, devfn: address.devfn }
}

/// A pair in C.
#[must_use]
pub fn c_pair((a, b): (Address, Address)) -> Pair {
    Pair { a: c_address(a), b: c_address(b) }
}

/// A host bridge's IDs in C.
#[must_use]
pub const fn c_id((vendor, device): BridgeId) -> Id {
    Id { vendor, device }
}
