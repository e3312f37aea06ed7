// SPDX-License-Identifier: GPL-2.0-only

//! Generated calls through both policies: the answers and the rules that decide have to be the same.

use policy_parity::{
    RULES, c_id, c_pair,
    c_policy::{self, MAX_DENY, MAX_PAIRS, MAX_VENDORS},
    decide_in_c, facts,
};
use tp2_policy::policy::{Address, BUILT_IN_DENY, BridgeId, Call, Function, Mode, Settings, decide};

/// Repeats a run.
const SEED: &str = "TP2_PARITY_SEED";
/// Calls in a run; [`DEFAULT_CALLS`] when left out.
const CALLS: &str = "TP2_PARITY_CALLS";
const DEFAULT_CALLS: usize = 10_000_000;
/// Calls with the same parameters.
const CALLS_PER_SETTINGS: usize = 250;

const DOMAINS: [u32; 6] = [0, 1, 0xffff, 0x1_0000, 0x8000_0000, u32::MAX];
const BYTES: [u8; 6] = [0, 1, 7, 8, 0x80, 0xff];
const VENDORS: [u16; 7] = [0x1002, 0x8086, 0x10de, 0, 0xffff, 0x0210, 0x1003];
const GPU_CLASSES: [u32; 8] = [0x03_0000, 0x03_0200, 0x03_8000, 0x03_ffff, 0x12_0000, 0x12_0001, 0x12_007f, 0x12_00ff];
const OTHER_CLASSES: [u32; 14] = [
    0,
    0x02_ffff,
    0x04_0000,
    0x04_0300,
    0x11_ffff,
    0x12_0100,
    0x12_01ff,
    0x12_8000,
    0x13_0000,
    0x0003_0000 << 8,
    0x0103_0000,
    0x0112_0000,
    0x8003_0000,
    u32::MAX,
];
const BRIDGES: [BridgeId; 9] = [
    (0x8086, 0x4c43),
    (0x8086, 0x4c42),
    (0x8086, 0x4c53),
    (0x1022, 0x4c43),
    (0x4c43, 0x8086),
    (0x8086, 0x6f00),
    (0, 0),
    (0, 0x4c43),
    (0xffff, 0xffff),
];

/// What a run generates from.
struct Source {
    rng: fastrand::Rng,
    /// Few, so that pairs are often named and functions often the same.
    addresses: [Address; 5],
}

impl Source {
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.usize(..from.len())]
    }

    /// True once in `n` times.
    fn once_in(&mut self, n: u32) -> bool {
        self.rng.u32(..n) == 0
    }

    fn fresh_addresses(&mut self) {
        let (domain, bus, devfn) = (self.pick(&DOMAINS), self.pick(&BYTES), self.pick(&BYTES));
        // The first four differ in one field each, the last in any.
        self.addresses = [
            Address { domain, bus, devfn },
            Address { domain: domain ^ 1, bus, devfn },
            Address { domain, bus: bus ^ 0x80, devfn },
            Address { domain, bus, devfn: devfn ^ 1 },
            Address { domain: self.rng.u32(..), bus: self.rng.u8(..), devfn: self.rng.u8(..) },
        ];
    }

    fn address(&mut self) -> Address {
        let at = self.rng.usize(..self.addresses.len());
        self.addresses[at]
    }

    fn vendor(&mut self) -> u16 {
        if self.once_in(16) { self.rng.u16(..) } else { self.pick(&VENDORS) }
    }

    fn bridge(&mut self) -> BridgeId {
        match self.rng.u32(..16) {
            0 => (self.rng.u16(..), self.rng.u16(..)),
            1 => BUILT_IN_DENY[0],
            2..6 => self.pick(&BRIDGES),
            _ => (0x8086, self.rng.u16(..8)),
        }
    }

    /// A length from 0 to `max`, the ends often.
    fn length(&mut self, max: usize) -> usize {
        match self.rng.u32(..8) {
            0 => 0,
            1 => max,
            2 => 1,
            _ => self.rng.usize(..=max),
        }
    }
}

/// The parameters, all places filled; what is beyond the lengths must not count.
struct Parameters {
    mode: Mode,
    vendors: [u16; MAX_VENDORS],
    nr_vendors: usize,
    pairs: [(Address, Address); MAX_PAIRS],
    nr_pairs: usize,
    deny: [BridgeId; MAX_DENY],
    nr_deny: usize,
    cross_host_bridge: bool,
    allow_denied: bool,
}

impl Parameters {
    fn generate(source: &mut Source) -> Self {
        source.fresh_addresses();
        let none = Address::new(0, 0, 0, 0);
        let mut this = Self {
            mode: if source.once_in(3) { Mode::Observe } else { Mode::Force },
            vendors: [0; MAX_VENDORS].map(|_| source.vendor()),
            nr_vendors: source.length(MAX_VENDORS),
            pairs: [(none, none); MAX_PAIRS].map(|_| (source.address(), source.address())),
            nr_pairs: if source.rng.bool() { 0 } else { source.length(MAX_PAIRS) },
            deny: [(0, 0); MAX_DENY].map(|_| source.bridge()),
            nr_deny: if source.rng.bool() { 0 } else { source.length(MAX_DENY) },
            cross_host_bridge: source.once_in(3),
            allow_denied: source.once_in(4),
        };
        if this.nr_pairs > 1 && source.rng.bool() {
            // All the same but the last: it has to be looked at too.
            let first = this.pairs[0];
            this.pairs[1..this.nr_pairs - 1].fill(first);
        }
        this
    }

    fn rust(&self) -> Settings<'_> {
        Settings {
            mode: self.mode,
            vendors: &self.vendors[..self.nr_vendors],
            pairs: &self.pairs[..self.nr_pairs],
            cross_host_bridge: self.cross_host_bridge,
            allow_denied: self.allow_denied,
            deny: &self.deny[..self.nr_deny],
        }
    }

    fn c(&self) -> c_policy::Settings {
        let count = |n| u32::try_from(n).expect("a length of at most 64");
        c_policy::Settings {
            nr_vendors: count(self.nr_vendors),
            vendors: self.vendors,
            nr_pairs: count(self.nr_pairs),
            pairs: self.pairs.map(c_pair),
            nr_deny: count(self.nr_deny),
            deny: self.deny.map(c_id),
            cross_host_bridge: self.cross_host_bridge,
            allow_denied: self.allow_denied,
        }
    }
}

fn function(source: &mut Source, parameters: &Parameters) -> Function {
    let vendor = match source.rng.u32(..32) {
        0 => source.vendor(),
        // Beyond the length, if it is not full.
        1 => parameters.vendors[parameters.nr_vendors.min(MAX_VENDORS - 1)],
        _ => parameters.vendors[source.rng.usize(..parameters.nr_vendors.max(1))],
    };
    let class = match source.rng.u32(..32) {
        0 | 1 => source.pick(&OTHER_CLASSES),
        2 => source.rng.u32(..),
        3 => source.rng.u32(..0x100_0000),
        _ => source.pick(&GPU_CLASSES),
    };
    Function { address: source.address(), vendor, class }
}

fn host_bridge(source: &mut Source, parameters: &Parameters) -> Option<BridgeId> {
    match source.rng.u32(..16) {
        0 => None,
        1 => Some(parameters.deny[source.rng.usize(..MAX_DENY)]),
        _ => Some(source.bridge()),
    }
}

fn call(source: &mut Source, parameters: &Parameters) -> Call {
    let kernel_answer = match source.rng.u32(..16) {
        0 => source.pick(&[0, 1, 4, i32::MAX]),
        1 => source.pick(&[-2, -22, i32::MIN]),
        2 => source.rng.i32(..),
        _ => -1,
    };
    Call {
        kernel_answer,
        num_clients: 1,
        provider: function(source, parameters),
        client: function(source, parameters),
        shares_upstream: source.once_in(6),
        same_host_bridge: source.rng.bool(),
        provider_host_bridge: host_bridge(source, parameters),
        client_host_bridge: host_bridge(source, parameters),
        hop_count: if source.once_in(4) { source.rng.i32(..) } else { source.pick(&[0, 1, 2, 4, i32::MAX]) },
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number")))
}

#[test]
fn both_policies_decide_alike() {
    let seed = number(SEED).unwrap_or_else(|| fastrand::u64(..));
    let calls = number(CALLS).map_or(DEFAULT_CALLS, |n| usize::try_from(n).unwrap());
    let mut source = Source { rng: fastrand::Rng::with_seed(seed), addresses: [Address::new(0, 0, 0, 0); 5] };
    let mut counts = [0_usize; RULES.len()];
    let rounds = calls.div_ceil(CALLS_PER_SETTINGS);
    for _ in 0..rounds {
        let parameters = Parameters::generate(&mut source);
        let (settings, c_settings) = (parameters.rust(), parameters.c());
        for _ in 0..CALLS_PER_SETTINGS {
            let call = call(&mut source, &parameters);
            // An identity that nobody vouches for must not count, so let it often be a denied one.
            let unknown = source.pick(&BRIDGES);
            let rust = decide(&call, &settings).unwrap();
            let c = decide_in_c(&facts(&call, unknown), parameters.mode, &c_settings);
            assert_eq!(
                rust, c,
                "Rust (left) and C (right) differ: repeat with {SEED}={seed} {CALLS}={calls}\n{call:#x?}\n{settings:#x?}"
            );
            counts[RULES.iter().position(|rule| *rule == rust.rule).unwrap()] += 1;
        }
    }
    for (rule, count) in RULES.iter().zip(counts) {
        println!("{:20} {count}", rule.token());
        assert!(count >= rounds * CALLS_PER_SETTINGS / 100, "{rule:?} decided only {count} calls ({SEED}={seed})");
    }
}

#[test]
fn both_take_the_same_classes_for_gpus() {
    let address = Address::new(0, 0, 0, 0);
    for class in (0..0x100_0000).chain(OTHER_CLASSES) {
        let function = Function { address, vendor: 0, class };
        assert_eq!(function.is_gpu(), c_policy::class_is_gpu(class), "class {class:#08x}");
    }
}

#[test]
fn the_debugfs_table_has_the_words_of_the_rule_book() {
    let pairs_c = include_str!("../../../rust-kmod/common/pairs.c");
    for rule in RULES {
        let mut name = String::from("TP2");
        for c in format!("{rule:?}").chars() {
            name.extend(c.is_uppercase().then_some('_').into_iter().chain([c.to_ascii_uppercase()]));
        }
        let line = format!("[{name}] = \"{}\"", rule.token());
        assert!(pairs_c.contains(&line), "pairs.c has no `{line}`");
    }
}
