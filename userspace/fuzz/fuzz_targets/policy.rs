// SPDX-License-Identifier: GPL-2.0-only
//! Any call under any parameters: the C policy and the Rust rule book decide the same, and neither ever says yes to what the
//! contract forbids.

#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use policy_parity::c_policy::{self, MAX_DENY, MAX_PAIRS, MAX_VENDORS};
use policy_parity::{c_id, c_pair, decide_in_c, facts};
use tp2_policy::policy::{Address, Call, Function, Mode, Rule, Settings, decide};

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Place {
    domain: u32,
    bus: u8,
    devfn: u8,
}

impl From<Place> for Address {
    fn from(place: Place) -> Self {
        Self { domain: place.domain, bus: place.bus, devfn: place.devfn }
    }
}

/// Mostly one that comes as far as the later rules.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Device {
    place: Place,
    vendor: Choice<u16>,
    class: Choice<u32>,
}

/// Something likely, by its number, or anything.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Choice<T> {
    Likely(u8),
    Any(T),
}

impl<T: Copy> Choice<T> {
    fn of(self, likely: &[T], otherwise: T) -> T {
        match self {
            Self::Likely(_) if likely.is_empty() => otherwise,
            Self::Likely(number) => likely[usize::from(number) % likely.len()],
            Self::Any(value) => value,
        }
    }
}

#[derive(Arbitrary, Debug)]
struct Input {
    kernel_answer: i32,
    provider: Device,
    client: Device,
    shares_upstream: bool,
    same_host_bridge: bool,
    bridges: [Option<(u16, u16)>; 2],
    unknown: (u16, u16),
    hop_count: u16,
    observe: bool,
    vendors: Vec<u16>,
    pairs: Vec<(Place, Place)>,
    deny: Vec<(u16, u16)>,
    cross_host_bridge: bool,
    allow_denied: bool,
}

fuzz_target!(|input: Input| {
    let vendors: Vec<u16> = input.vendors.into_iter().take(MAX_VENDORS).collect();
    let function = |device: Device| Function {
        address: device.place.into(),
        vendor: device.vendor.of(&vendors, 0x1002),
        class: device.class.of(&[0x03_0000, 0x03_8000, 0x12_0000, 0x12_0100], 0),
    };
    let call = Call {
        kernel_answer: input.kernel_answer,
        num_clients: 1,
        provider: function(input.provider),
        client: function(input.client),
        shares_upstream: input.shares_upstream,
        same_host_bridge: input.same_host_bridge,
        provider_host_bridge: input.bridges[0],
        client_host_bridge: input.bridges[1],
        hop_count: i32::from(input.hop_count),
    };
    let pairs: Vec<(Address, Address)> =
        input.pairs.into_iter().take(MAX_PAIRS).map(|(a, b)| (a.into(), b.into())).collect();
    let deny: Vec<(u16, u16)> = input.deny.into_iter().take(MAX_DENY).collect();
    let mode = if input.observe { Mode::Observe } else { Mode::Force };
    let settings = Settings {
        mode,
        vendors: &vendors,
        pairs: &pairs,
        deny: &deny,
        cross_host_bridge: input.cross_host_bridge,
        allow_denied: input.allow_denied,
    };
    let decision = decide(&call, &settings).expect("a mode other than off always decides");

    let mut c_settings = c_policy::Settings {
        nr_vendors: vendors.len() as u32,
        vendors: [0; MAX_VENDORS],
        nr_pairs: pairs.len() as u32,
        pairs: [c_policy::Pair::default(); MAX_PAIRS],
        nr_deny: deny.len() as u32,
        deny: [c_policy::Id::default(); MAX_DENY],
        cross_host_bridge: input.cross_host_bridge,
        allow_denied: input.allow_denied,
    };
    c_settings.vendors[..vendors.len()].copy_from_slice(&vendors);
    for (to, from) in c_settings.pairs.iter_mut().zip(&pairs) {
        *to = c_pair(*from);
    }
    for (to, from) in c_settings.deny.iter_mut().zip(&deny) {
        *to = c_id(*from);
    }
    assert_eq!(decide_in_c(&facts(&call, input.unknown), mode, &c_settings), decision, "C and Rust decide differently");

    let overridden = decision.answer != call.kernel_answer;
    assert_eq!(overridden, decision.rule == Rule::Override && call.kernel_answer != call.hop_count);
    if decision.rule == Rule::Override {
        assert!(call.kernel_answer < 0 && decision.answer == call.hop_count && mode == Mode::Force);
        assert!(call.provider.is_gpu() && call.client.is_gpu() && !call.shares_upstream);
        assert!(call.provider.address != call.client.address);
    }
});
