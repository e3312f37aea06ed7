// SPDX-License-Identifier: GPL-2.0-only

//! The rule book of the override: facts of one call in, decision and rule out.
//!
//! Pure and complete in itself: `core` only, no allocation, no `unsafe`, no indexing, no arithmetic that can overflow.
//! The same file is part of the userspace crate `tp2-policy`, where it is tested, and is written to be compiled as a
//! kernel Rust file. The rules and their numbers are those of `docs/architecture.md`, "The module's contract".

#![forbid(unsafe_code)]

/// Address of a PCI function: what `pci_name()` prints as `dddd:bb:dd.f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// PCI domain. 16 bits on most machines; VMD and Hyper-V use more.
    pub domain: u32,
    /// Bus number.
    pub bus: u8,
    /// Device in bits 7:3, function in bits 2:0, as in `struct pci_dev`.
    pub devfn: u8,
}

impl Address {
    /// Makes an address; of `device` the low 5 bits count, of `function` the low 3 (as in `PCI_DEVFN()`).
    #[must_use]
    pub const fn new(domain: u32, bus: u8, device: u8, function: u8) -> Self {
        let devfn = ((device & 0x1f) << 3) | (function & 0x07);
        Self { domain, bus, devfn }
    }

    /// Device number on the bus, 0 to 31.
    #[must_use]
    pub const fn device(self) -> u8 {
        self.devfn >> 3
    }

    /// Function number of the device, 0 to 7.
    #[must_use]
    pub const fn function(self) -> u8 {
        self.devfn & 0x07
    }
}

/// What the rules need to know of the provider or the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Where the function is.
    pub address: Address,
    /// PCI vendor ID.
    pub vendor: u16,
    /// 24-bit class code, base class in bits 23:16, as in `struct pci_dev`.
    pub class: u32,
}

impl Function {
    /// Whether this is a GPU.
    #[must_use]
    pub const fn is_gpu(&self) -> bool {
        class_is_gpu(self.class)
    }
}

/// Whether a 24-bit class code is that of a GPU: display controller (base class 0x03) or processing accelerator (0x1200).
#[must_use]
pub const fn class_is_gpu(class: u32) -> bool {
    (class >> 16) == 0x03 || (class >> 8) == 0x1200
}

/// Vendor and device ID of a host bridge, in this order.
///
/// The bridge's device is the one that `pci_host_bridge_dev()` in `drivers/pci/p2pdma.c` (Linux 6.1 to 7.3) picks.
pub type BridgeId = (u16, u16);

/// Host bridges measured to corrupt peer reads: Rocket Lake-S (compute-runtime issue 935).
pub const BUILT_IN_DENY: [BridgeId; 1] = [(0x8086, 0x4c43)];

/// The facts of one return from `pci_p2pdma_distance_many()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// What the kernel answered: a distance in hops, or a negative number for "no".
    pub kernel_answer: i32,
    /// How many clients the caller passed; `client` is the first of them.
    pub num_clients: i32,
    /// The function whose memory is to be reached.
    pub provider: Function,
    /// The function that is to reach it.
    pub client: Function,
    /// Whether some PCI bridge is upstream of both.
    pub shares_upstream: bool,
    /// Whether both hang under the same host bridge, that is the same root bus.
    pub same_host_bridge: bool,
    /// The provider's host bridge, `None` where it cannot be identified the way the kernel does it.
    pub provider_host_bridge: Option<BridgeId>,
    /// The client's host bridge, likewise.
    pub client_host_bridge: Option<BridgeId>,
    /// The kernel's own hop count for the path, never negative: the answer had the bridge been listed.
    pub hop_count: i32,
}

/// Parameter `mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Decide, and change the answer.
    #[default]
    Force,
    /// Decide, but change nothing.
    Observe,
    /// Do not even decide.
    Off,
}

/// The module's parameters as the rules see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings<'a> {
    /// Rule 7.
    pub mode: Mode,
    /// Rule 2: allowed PCI vendor IDs.
    pub vendors: &'a [u16],
    /// Rule 3: unordered pairs that are allowed; empty allows all.
    pub pairs: &'a [(Address, Address)],
    /// Lifts rule 5.
    pub cross_host_bridge: bool,
    /// Lifts rule 6.
    pub allow_denied: bool,
    /// Rule 6: denied host bridges in addition to [`BUILT_IN_DENY`].
    pub deny: &'a [BridgeId],
}

/// Parameter `vendors` where none is given: AMD.
pub const DEFAULT_VENDORS: [u16; 1] = [0x1002];

impl Default for Settings<'static> {
    fn default() -> Self {
        Self {
            mode: Mode::Force,
            vendors: &DEFAULT_VENDORS,
            pairs: &[],
            cross_host_bridge: false,
            allow_denied: false,
            deny: &[],
        }
    }
}

/// The rule that decided a call. The first rule that fails decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Rule 1: the kernel's answer was not negative.
    KernelAllows,
    /// Rule 1: refused, but not with exactly one client. There is no pair, so this token never reaches the table.
    NotOneClient,
    /// Rule 2: provider and client are one function.
    SameFunction,
    /// Rule 2: a vendor that is not allowed.
    Vendor,
    /// Rule 2: not a GPU.
    Class,
    /// Rule 3: `pairs` is given and does not name this pair.
    NotNamed,
    /// Rule 4: both are below a common bridge, so the refusal comes from ACS redirect.
    SharedUpstream,
    /// Rule 5: two host bridges.
    CrossHostBridge,
    /// Rule 6: a host bridge is denied.
    DeniedBridge,
    /// Rule 6: a host bridge is not identifiable (and none is denied).
    UnknownBridge,
    /// Rule 7: would have been overridden.
    Observe,
    /// All rules hold.
    Override,
}

impl Rule {
    /// The word for the rule in debugfs `pairs` and in the log (`docs/architecture.md`).
    #[must_use]
    pub const fn token(self) -> &'static str {
        match self {
            Self::KernelAllows => "1:kernel-allows",
            Self::NotOneClient => "1:not-one-client",
            Self::SameFunction => "2:same-function",
            Self::Vendor => "2:vendor",
            Self::Class => "2:class",
            Self::NotNamed => "3:not-named",
            Self::SharedUpstream => "4:shared-upstream",
            Self::CrossHostBridge => "5:cross-host-bridge",
            Self::DeniedBridge => "6:denied-bridge",
            Self::UnknownBridge => "6:unknown-bridge",
            Self::Observe => "7:observe",
            Self::Override => "override",
        }
    }
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decision {
    /// The answer that the caller gets: hops, or negative for "no".
    pub answer: i32,
    /// The rule that decided.
    pub rule: Rule,
}

/// Applies rules 1 to 7 to one call. `None` means `mode=off`: nothing is decided or counted.
#[must_use]
pub fn decide(call: &Call, settings: &Settings<'_>) -> Option<Decision> {
    if settings.mode == Mode::Off {
        return None;
    }
    let rule = deciding_rule(call, settings);
    let answer = match rule {
        Rule::Override => call.hop_count,
        _ => call.kernel_answer,
    };
    Some(Decision { answer, rule })
}

/// The first rule that keeps the kernel's answer, or [`Rule::Override`].
fn deciding_rule(call: &Call, settings: &Settings<'_>) -> Rule {
    if call.kernel_answer >= 0 {
        return Rule::KernelAllows;
    }
    if call.num_clients != 1 {
        return Rule::NotOneClient;
    }
    if let Some(rule) = pair_rule(&call.provider, &call.client, settings) {
        return rule;
    }
    if call.shares_upstream {
        return Rule::SharedUpstream;
    }
    if !call.same_host_bridge && !settings.cross_host_bridge {
        return Rule::CrossHostBridge;
    }
    if let Some(rule) = bridge_rule(call, settings) {
        return rule;
    }
    match settings.mode {
        Mode::Force => Rule::Override,
        Mode::Observe | Mode::Off => Rule::Observe,
    }
}

/// Rules 2 and 3: two different GPUs of an allowed vendor, and a pair that is allowed.
fn pair_rule(provider: &Function, client: &Function, settings: &Settings<'_>) -> Option<Rule> {
    if provider.address == client.address {
        return Some(Rule::SameFunction);
    }
    if !settings.vendors.contains(&provider.vendor) || !settings.vendors.contains(&client.vendor) {
        return Some(Rule::Vendor);
    }
    if !provider.is_gpu() || !client.is_gpu() {
        return Some(Rule::Class);
    }
    let (a, b) = (provider.address, client.address);
    let named = |pair: &(Address, Address)| *pair == (a, b) || *pair == (b, a);
    if !settings.pairs.is_empty() && !settings.pairs.iter().any(named) {
        return Some(Rule::NotNamed);
    }
    None
}

/// Rule 6. A denied bridge is named before one that is not identifiable, whichever side it is on.
fn bridge_rule(call: &Call, settings: &Settings<'_>) -> Option<Rule> {
    if settings.allow_denied {
        return None;
    }
    let bridges = [call.provider_host_bridge, call.client_host_bridge];
    let denied = |id: &BridgeId| BUILT_IN_DENY.contains(id) || settings.deny.contains(id);
    if bridges.iter().flatten().any(denied) {
        return Some(Rule::DeniedBridge);
    }
    if bridges.iter().any(Option::is_none) {
        return Some(Rule::UnknownBridge);
    }
    None
}
