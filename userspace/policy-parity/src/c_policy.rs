// SPDX-License-Identifier: GPL-2.0-only

//! `rust-kmod/c/policy.h` and `rust-kmod/common/rules.h` in Rust. All that is unsafe is here.

#![allow(unsafe_code, reason = "declares the functions and data of policy.c and layout.c")]
#![allow(missing_docs, reason = "the fields are described in policy.h and rules.h")]

/// Entries of `enum tp2_rule`.
pub const RULES: usize = 11;
/// Sizes and offsets that [`layout`] tells.
const LAYOUT: usize = 28;

/// `TP2_MAX_VENDORS`.
pub const MAX_VENDORS: usize = 16;
/// `TP2_MAX_PAIRS`.
pub const MAX_PAIRS: usize = 64;
/// `TP2_MAX_DENY`.
pub const MAX_DENY: usize = 32;

/// `struct tp2_address`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Address {
    pub domain: u32,
    pub bus: u8,
    pub devfn: u8,
}

/// `struct tp2_pair`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair {
    pub a: Address,
    pub b: Address,
}

/// `struct tp2_id`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Id {
    pub vendor: u16,
    pub device: u16,
}

/// `struct tp2_settings`.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Settings {
    pub nr_vendors: u32,
    pub vendors: [u16; MAX_VENDORS],
    pub nr_pairs: u32,
    pub pairs: [Pair; MAX_PAIRS],
    pub nr_deny: u32,
    pub deny: [Id; MAX_DENY],
    pub cross_host_bridge: bool,
    pub allow_denied: bool,
}

/// `struct tp2_function`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub address: Address,
    pub vendor: u16,
    pub class: u32,
}

/// `struct tp2_host_bridge`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HostBridge {
    pub known: bool,
    pub id: Id,
}

/// `struct tp2_facts`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub kernel_answer: i32,
    pub provider: Function,
    pub client: Function,
    pub shared_upstream: bool,
    pub same_host_bridge: bool,
    pub provider_bridge: HostBridge,
    pub client_bridge: HostBridge,
    pub hops: i32,
}

/// `struct tp2_decision`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    pub answer: i32,
    pub rule: u32,
}

// SAFETY: the signatures are those of policy.h, and the structures have its layout, which a test compares with what the
// C compiler says. The functions read what they are given, within its counters, and keep no pointer. `tp2_layout`,
// `tp2_rules` and `tp2_modes` are constants; their lengths, as C counts them, are compared in the same test.
unsafe extern "C" {
    safe fn tp2_decide(settings: &Settings, mode: u32, facts: &Facts) -> Decision;
    safe fn tp2_class_is_gpu(class: u32) -> bool;
    safe static tp2_layout: [usize; LAYOUT];
    safe static tp2_layout_nr: usize;
    safe static tp2_rules: [u32; RULES];
    safe static tp2_rules_nr: usize;
    safe static tp2_modes: [u32; 3];
}

/// `tp2_decide()`.
///
/// # Panics
///
/// If `settings` counts more entries than it has.
#[must_use]
pub fn decide(settings: &Settings, mode: u32, facts: &Facts) -> Decision {
    let fits = |nr: u32, max: usize| nr as usize <= max;
    assert!(
        fits(settings.nr_vendors, MAX_VENDORS)
            && fits(settings.nr_pairs, MAX_PAIRS)
            && fits(settings.nr_deny, MAX_DENY),
        "more entries are counted than there are"
    );
    tp2_decide(settings, mode, facts)
}

/// `tp2_class_is_gpu()`.
#[must_use]
pub fn class_is_gpu(class: u32) -> bool {
    tp2_class_is_gpu(class)
}

/// The numbers of `enum tp2_rule`, in the order of `layout.c`.
///
/// # Panics
///
/// If `layout.c` has another number of them.
#[must_use]
pub fn rules() -> &'static [u32; RULES] {
    assert_eq!(tp2_rules_nr, RULES, "layout.c and c_policy.rs count different rules");
    &tp2_rules
}

/// Sizes and offsets as the C compiler has them, in the order of `layout.c`.
///
/// # Panics
///
/// If `layout.c` has another number of them.
#[must_use]
pub fn layout() -> &'static [usize; LAYOUT] {
    assert_eq!(tp2_layout_nr, LAYOUT, "layout.c and c_policy.rs tell different layouts");
    &tp2_layout
}

/// The numbers of the modes off, observe and force.
#[must_use]
pub fn modes() -> &'static [u32; 3] {
    &tp2_modes
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;

    #[test]
    fn the_structures_have_the_layout_that_the_c_compiler_gives_them() {
        let expected = [
            size_of::<Address>(),
            offset_of!(Address, bus),
            offset_of!(Address, devfn),
            size_of::<Pair>(),
            size_of::<Id>(),
            size_of::<Settings>(),
            offset_of!(Settings, vendors),
            offset_of!(Settings, nr_pairs),
            offset_of!(Settings, pairs),
            offset_of!(Settings, nr_deny),
            offset_of!(Settings, deny),
            offset_of!(Settings, cross_host_bridge),
            offset_of!(Settings, allow_denied),
            size_of::<Function>(),
            offset_of!(Function, vendor),
            offset_of!(Function, class),
            size_of::<HostBridge>(),
            offset_of!(HostBridge, id),
            size_of::<Facts>(),
            offset_of!(Facts, provider),
            offset_of!(Facts, client),
            offset_of!(Facts, shared_upstream),
            offset_of!(Facts, same_host_bridge),
            offset_of!(Facts, provider_bridge),
            offset_of!(Facts, client_bridge),
            offset_of!(Facts, hops),
            size_of::<Decision>(),
            offset_of!(Decision, rule),
        ];
        assert_eq!(layout(), &expected);
    }

    #[test]
    fn the_rules_are_numbered_without_gaps() {
        let mut numbers = *rules();
        numbers.sort_unstable();
        assert!(numbers.iter().zip(0..).all(|(number, expected)| *number == expected), "{:?}", rules());
    }
}
