// SPDX-License-Identifier: GPL-2.0-only

//! The parameters that do not change after load, as the rule book wants them.
//!
//! What `common/params.c` has parsed, with those lists converted once whose items have other types there: handlers must not
//! allocate.

#![forbid(unsafe_code)]

use crate::{
    bindings,
    policy::{
        Address,
        BridgeId,
        Mode,
        Settings, //
    },
};

const MAX_PAIRS: usize = bindings::TP2_MAX_PAIRS as usize;
const MAX_DENY: usize = bindings::TP2_MAX_DENY as usize;

/// A list with room for `N` items.
struct List<T, const N: usize> {
    nr: usize,
    items: [T; N],
}

impl<T: Copy, const N: usize> List<T, N> {
    /// Converts the first `nr` items of `from`; `unused` fills the rest.
    fn new<C>(nr: u32, from: &[C; N], unused: T, convert: impl Fn(&C) -> T) -> Self {
        let nr = nr as usize;
        let mut items = [unused; N];
        for (to, from) in items.iter_mut().zip(from).take(nr) {
            *to = convert(from);
        }
        Self { nr, items }
    }

    fn as_slice(&self) -> &[T] {
        // `nr` is never larger than `N`. Were it so, the whole list would be the strict reading.
        self.items.get(..self.nr).unwrap_or(&self.items)
    }
}

/// See the module's documentation.
pub(crate) struct Parameters {
    vendors: &'static [u16],
    pairs: List<(Address, Address), MAX_PAIRS>,
    deny: List<BridgeId, MAX_DENY>,
    cross_host_bridge: bool,
    allow_denied: bool,
}

impl Parameters {
    /// Takes what was parsed.
    pub(crate) fn new(parsed: &'static bindings::tp2_settings) -> Self {
        let nowhere = Address::new(0, 0, 0, 0);
        // The number is never larger than the array. Were it so, none is the strict reading.
        let vendors = parsed.vendors.get(..parsed.nr_vendors as usize);
        Self {
            vendors: vendors.unwrap_or_default(),
            pairs: List::new(parsed.nr_pairs, &parsed.pairs, (nowhere, nowhere), |pair| {
                (address(&pair.a), address(&pair.b))
            }),
            deny: List::new(parsed.nr_deny, &parsed.deny, (0, 0), |id| {
                (id.vendor, id.device)
            }),
            cross_host_bridge: parsed.cross_host_bridge,
            allow_denied: parsed.allow_denied,
        }
    }

    /// The rule book's view, completed by the mode of one call.
    pub(crate) fn settings(&self, mode: Mode) -> Settings<'_> {
        Settings {
            mode,
            vendors: self.vendors,
            pairs: self.pairs.as_slice(),
            cross_host_bridge: self.cross_host_bridge,
            allow_denied: self.allow_denied,
            deny: self.deny.as_slice(),
        }
    }

    /// Whether GPUs of this vendor may be paired.
    pub(crate) fn vendor_allowed(&self, vendor: u16) -> bool {
        self.vendors.contains(&vendor)
    }
}

fn address(from: &bindings::tp2_address) -> Address {
    Address {
        domain: from.domain,
        bus: from.bus,
        devfn: from.devfn,
    }
}
