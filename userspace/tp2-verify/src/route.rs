// SPDX-License-Identifier: GPL-2.0-only

//! The way between two GPUs: chains for `tp2-policy`, its prediction, what was measured, and words for both.

use tp2_policy::{
    KernelVersion,
    policy::{BUILT_IN_DENY, Rule},
    route::{
        AcsControl, Chain, Cpu, HostBridgeDevice, Machine, ModuleDecision, Node, Path, Prediction, Reason, RootBus,
        module_decision, predict,
    },
};

use crate::{
    collect::pci_config::PORT_ROOT,
    facts::{Bdf, Facts, Indexed, PairRow, PciDevice, Reading, RefusedRoute},
    settings::ModuleSettings,
    text,
    text::Text,
    view,
};

/// `pci_p2pdma_distance_many()` says so of a route that it refuses.
const REFUSED: i32 = -1;

/// One direction of a pair: `client` reaches memory of `provider`.
#[derive(Clone, Debug)]
pub struct Direction<'a> {
    /// Whose memory is reached.
    pub provider: Bdf,
    /// Who reaches it.
    pub client: Bdf,
    /// What the kernel is predicted to answer.
    pub prediction: Prediction,
    /// What the module is predicted to make of it: as it is loaded, or by default.
    pub decision: ModuleDecision,
    /// The same in mode `force` with the deny list in force, for a kernel that refuses.
    pub strict: ModuleDecision,
    /// Whether a host bridge involved is in the deny list, built in or given.
    pub denied: bool,
    /// The module's own row.
    pub measured: Option<&'a PairRow>,
    /// The kernel's refusal on this boot, as its log has it.
    pub logged: Option<&'a RefusedRoute>,
    /// The way from the provider to the client in words.
    pub path: Text,
    /// The host bridges involved.
    pub bridges: Vec<HostBridgeDevice>,
}

impl Direction<'_> {
    /// The kernel's answer: measured, or else predicted; where it cannot be predicted, a refusal that the log has.
    #[must_use]
    pub fn kernel_answer(&self) -> Option<i32> {
        kernel_answer(self.measured, &self.prediction, self.logged)
    }

    /// The rule that decides in the module, measured or else predicted.
    #[must_use]
    pub fn rule(&self) -> &str {
        self.measured.map_or_else(|| decision_token(self.decision), |row| &row.rule)
    }

    /// Whether peer traffic would go through a host bridge that is denied: without a common bridge, or redirected by ACS.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        let through_host_bridge = matches!(self.prediction.reason, Reason::HostBridge(_) | Reason::AcsRedirect { .. });
        self.denied && through_host_bridge
    }

    /// The host bridges in words.
    #[must_use]
    pub fn bridge_words(&self) -> Text {
        Text::List(self.bridges.iter().map(|bridge| bridge_word(*bridge)).collect(), "and")
    }
}

/// The word for a decision, as in debugfs; `off` and `unknown` where there is none.
#[must_use]
pub const fn decision_token(decision: ModuleDecision) -> &'static str {
    match decision {
        ModuleDecision::Inert => "off",
        ModuleDecision::Unknown => "unknown",
        ModuleDecision::Decided(decision) => decision.rule.token(),
    }
}

/// Both directions of a pair: memory of `a` reached by `b`, then the other way. The error is that of a module parameter.
pub fn directions<'a>(facts: &'a Facts, a: &PciDevice, b: &PciDevice) -> Reading<[Direction<'a>; 2]> {
    let judge = Judge::new(facts, ModuleSettings::of(&facts.module)?);
    let (a, b) = (chain(facts, a), chain(facts, b));
    Ok([judge.direction(&a, &b), judge.direction(&b, &a)])
}

/// What the answers to all directions rest on.
struct Judge<'a> {
    machine: Machine,
    rows: Option<&'a Indexed<PairRow>>,
    log: Option<&'a Indexed<RefusedRoute>>,
    settings: ModuleSettings,
    strict: ModuleSettings,
}

/// Prediction, measurement and decision for one direction: what needs no words.
struct Outcome<'a> {
    prediction: Prediction,
    measured: Option<&'a PairRow>,
    logged: Option<&'a RefusedRoute>,
    decision: ModuleDecision,
}

impl Outcome<'_> {
    fn kernel_answer(&self) -> Option<i32> {
        kernel_answer(self.measured, &self.prediction, self.logged)
    }
}

/// See [`Direction::kernel_answer`].
fn kernel_answer(measured: Option<&PairRow>, prediction: &Prediction, logged: Option<&RefusedRoute>) -> Option<i32> {
    let known = measured.map(|row| row.kernel_answer).or_else(|| prediction.kernel_answer());
    known.or_else(|| logged.map(|_| REFUSED))
}

impl<'a> Judge<'a> {
    fn new(facts: &'a Facts, settings: ModuleSettings) -> Self {
        let rows = facts.module.pairs.as_ref().ok().map(|table| &table.rows);
        let log = facts.kernel_log.as_ref().ok().map(|log| &log.refused);
        Self { machine: machine(facts), rows, log, strict: settings.strict(), settings }
    }

    fn outcome(&self, provider: &Chain, client: &Chain) -> Outcome<'a> {
        let key = (Bdf(provider.function.address), Bdf(client.function.address));
        let mut outcome = Outcome {
            prediction: predict(provider, client, &self.machine),
            measured: self.rows.and_then(|rows| rows.first(key)),
            logged: self.log.and_then(|log| log.first(key)),
            decision: ModuleDecision::Unknown,
        };
        if let Some(answer) = outcome.kernel_answer() {
            outcome.decision = module_decision(provider, client, answer, &self.settings.as_settings());
        }
        outcome
    }

    fn direction(&self, provider: &Chain, client: &Chain) -> Direction<'a> {
        let Outcome { prediction, measured, logged, decision } = self.outcome(provider, client);
        let mut bridges = vec![provider.host_bridge];
        if client.root_bus != provider.root_bus {
            bridges.push(client.host_bridge);
        }
        let denied = |bridge: &HostBridgeDevice| {
            bridge.id().is_some_and(|id| BUILT_IN_DENY.contains(&id) || self.settings.deny.contains(&id))
        };
        Direction {
            provider: Bdf(provider.function.address),
            client: Bdf(client.function.address),
            decision,
            strict: module_decision(provider, client, -1, &self.strict.as_settings()),
            denied: bridges.iter().any(denied),
            measured,
            logged,
            path: path_words(provider, client, prediction.path),
            prediction,
            bridges,
        }
    }
}

/// What the kernel's test looks at.
fn machine(facts: &Facts) -> Machine {
    let cpu = facts.host.cpu.as_ref().ok();
    Machine {
        cpu: cpu.and_then(|cpu| {
            // Without a vendor there is no family either: not x86, and the kernel's test says no.
            let family = if cpu.vendor.is_empty() { Some(0) } else { cpu.family };
            let vendor = cpu.vendor.clone();
            family.map(|family| Cpu { vendor, family })
        }),
        kernel: kernel_version(facts),
    }
}

fn kernel_version(facts: &Facts) -> Option<KernelVersion> {
    facts.kernel.release.as_ref().ok()?.parse().ok()
}

fn chain(facts: &Facts, device: &PciDevice) -> Chain {
    let bridges = device.upstream.iter().map(|bdf| match facts.device(*bdf) {
        Some(bridge) => node(bridge),
        None => Node { address: bdf.0, vendor: 0xffff, device: 0xffff, class: 0, acs_ctrl: AcsControl::Unreadable },
    });
    Chain {
        function: node(device),
        bridges: bridges.collect(),
        root_bus: root_bus(device),
        host_bridge: host_bridge(facts, device),
    }
}

fn node(device: &PciDevice) -> Node {
    Node {
        address: device.bdf.0,
        vendor: device.vendor.as_ref().copied().unwrap_or(0xffff),
        device: device.device.as_ref().copied().unwrap_or(0xffff),
        class: device.class.as_ref().copied().unwrap_or(0),
        acs_ctrl: match device.acs_control {
            Ok(Some(word)) => AcsControl::Word(word),
            Ok(None) => AcsControl::NoCapability,
            Err(_) => AcsControl::Unreadable,
        },
    }
}

/// From the directory's name, `pciDDDD:BB`.
fn root_bus(device: &PciDevice) -> RootBus {
    let name = device.root.strip_prefix("pci").unwrap_or_default();
    let parts =
        name.split_once(':').map(|(domain, bus)| (u32::from_str_radix(domain, 16), u8::from_str_radix(bus, 16)));
    match parts {
        Some((Ok(domain), Ok(bus))) => RootBus { domain, bus },
        _ => RootBus { domain: device.bdf.0.domain, bus: 0 },
    }
}

/// `pci_host_bridge_dev()`: the first device on the root bus, if it is at 00.0 or a root port.
///
/// The kernel scans by devfn, so the first of its list is the lowest. A captured tree without 00.0 may just lack it.
fn host_bridge(facts: &Facts, device: &PciDevice) -> HostBridgeDevice {
    let Some(first) = device.first_on_root.and_then(|bdf| facts.device(bdf)) else {
        return HostBridgeDevice::Unreadable;
    };
    if first.bdf.0.devfn != 0 && !facts.host.live {
        return HostBridgeDevice::Unreadable;
    }
    let is_one = match &first.port_type {
        _ if first.bdf.0.devfn == 0 => true,
        Ok(kind) => *kind == Some(PORT_ROOT),
        Err(_) => return HostBridgeDevice::Unreadable,
    };
    match (is_one, &first.vendor, &first.device) {
        (false, _, _) => HostBridgeDevice::Absent,
        (true, Ok(vendor), Ok(device)) => HostBridgeDevice::Found((*vendor, *device)),
        (true, _, _) => HostBridgeDevice::Unreadable,
    }
}

/// A host bridge in words.
#[must_use]
pub fn bridge_word(bridge: HostBridgeDevice) -> Text {
    match bridge {
        HostBridgeDevice::Found((vendor, device)) => format!("{vendor:04x}:{device:04x}").into(),
        HostBridgeDevice::Absent => text!("pair-route-bridge-absent"),
        HostBridgeDevice::Unreadable => text!("pair-route-bridge-unidentified"),
    }
}

/// The way from one to the other, node by node, as programs get it, too.
fn path_words(from: &Chain, to: &Chain, path: Path) -> Text {
    let names = |chain: &Chain| -> Vec<String> { chain.nodes().map(|node| node.address.to_string()).collect() };
    let (up, mut down) = (names(from), names(to));
    down.reverse();
    let bridge = |chain: &Chain| text!("pair-route-host-bridge", bridge = bridge_word(chain.host_bridge));
    let joined = |words: &[String]| Text::AsRead(words.join(" -> "));
    match path {
        Path::SameFunction => joined(&up),
        Path::SharedUpstream { bridge: common } => {
            let common = common.to_string();
            let up = up.into_iter().take_while(|name| *name != common);
            let down = down.into_iter().skip_while(|name| *name != common);
            joined(&up.chain(down).collect::<Vec<_>>())
        }
        Path::ThroughHostBridge => Text::List(vec![joined(&up), bridge(from), joined(&down)], "arrow"),
        Path::AcrossHostBridges => Text::List(vec![joined(&up), bridge(from), bridge(to), joined(&down)], "arrow"),
    }
}

/// What the override is good for on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideUse {
    /// Some pair is refused by the host-bridge test alone, and the rules let the module override it.
    Wanted,
    /// The kernel allows every pair, or there is none.
    NotNeeded,
    /// Pairs are refused for reasons that the module does not touch.
    NoHelp,
    /// Cannot be told.
    Unknown,
}

/// What the override is good for, over all pairs that are judged.
#[must_use]
pub fn override_use(facts: &Facts) -> OverrideUse {
    let pairs = view::pairs(facts);
    let judged = pairs.iter().filter(|(a, b)| view::is_judged(facts, a, b));
    let judge = Judge::new(facts, ModuleSettings::default());
    let mut overall = if view::gpus_may_hide(facts) { OverrideUse::Unknown } else { OverrideUse::NotNeeded };
    for (a, b) in judged {
        if [a, b].into_iter().any(|gpu| view::is_missing_from_kfd(facts, gpu.device)) {
            overall = worse(overall, OverrideUse::NoHelp);
            continue;
        }
        let (a, b) = (chain(facts, a.device), chain(facts, b.device));
        for (provider, client) in [(&a, &b), (&b, &a)] {
            let way = judge.outcome(provider, client);
            let this = match (way.kernel_answer(), way.decision) {
                (Some(answer), _) if answer >= 0 => OverrideUse::NotNeeded,
                (_, ModuleDecision::Decided(d)) if d.rule == Rule::Override => OverrideUse::Wanted,
                (_, ModuleDecision::Unknown) => OverrideUse::Unknown,
                _ => OverrideUse::NoHelp,
            };
            // Nothing is worse, and the first pair often shows it.
            if this == OverrideUse::Wanted {
                return this;
            }
            overall = worse(overall, this);
        }
    }
    overall
}

fn worse(a: OverrideUse, b: OverrideUse) -> OverrideUse {
    let order = [OverrideUse::Wanted, OverrideUse::Unknown, OverrideUse::NoHelp, OverrideUse::NotNeeded];
    order.into_iter().find(|candidate| *candidate == a || *candidate == b).unwrap_or(a)
}
