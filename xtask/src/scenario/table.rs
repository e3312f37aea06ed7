// SPDX-License-Identifier: GPL-2.0-only
//! The table of scenarios. A new one is a new row here, and a step in [`super::steps`] if it does more than ask.

use super::{Expect, Scenario, steps};
use crate::vm::machine::{self, GPU, Machine, NETWORK_CARD, OTHER_VENDOR_GPU};

const OVERRIDE: &str = "override";
const ALLOWED: &str = "1:kernel-allows";
const REFUSED: i32 = -1;

/// Hops of two cards with a switch of their own: four functions from each card to the root bus.
const X99_HOPS: i32 = 8;

impl Scenario {
    fn new(name: &'static str, about: &'static str, machine: Machine) -> Self {
        Self {
            name,
            about,
            machine,
            before: None,
            params: "",
            expect: Vec::new(),
            prepare: None,
            then: None,
            verify: Vec::new(),
        }
    }

    fn params(mut self, params: &'static str) -> Self {
        self.params = params;
        self
    }

    fn one_way(
        mut self,
        provider: &'static str,
        client: &'static str,
        kernel: i32,
        answer: i32,
        rule: &'static str,
    ) -> Self {
        self.expect.push(Expect { provider, client, kernel, answer, rule });
        self
    }

    /// Both ordered pairs of two functions.
    fn pair(self, functions: [&'static str; 2], kernel: i32, answer: i32, rule: &'static str) -> Self {
        let [a, b] = functions;
        self.one_way(a, b, kernel, answer, rule).one_way(b, a, kernel, answer, rule)
    }

    fn before(mut self, major: u32, minor: u32) -> Self {
        self.before = Some((major, minor));
        self
    }

    fn prepare(mut self, step: super::Step) -> Self {
        self.prepare = Some(step);
        self
    }

    fn then(mut self, step: super::Step) -> Self {
        self.then = Some(step);
        self
    }

    fn gate(mut self, gate: &'static str, status: &'static str) -> Self {
        self.verify.push((gate, status));
        self
    }
}

/// The X99 shape with the pair overridden, for scenarios about something else.
fn x99_overridden(name: &'static str, about: &'static str) -> Scenario {
    Scenario::new(name, about, machine::x99()).pair(["a", "b"], REFUSED, X99_HOPS, OVERRIDE)
}

/// All scenarios; the longest come first, so that parallel workers end together.
pub(super) fn scenarios() -> Vec<Scenario> {
    [under_load(), topologies(), settings(), lifecycle()].into_iter().flatten().collect()
}

fn under_load() -> Vec<Scenario> {
    vec![
        x99_overridden(
            "load-unload-cycles",
            "1,000 load/unload cycles while callers run: no splat, no leak, no other answer",
        )
        .prepare(steps::load_unload_cycles),
        x99_overridden("concurrent-callers", "64 callers, 10,000 calls each: 0 missed, 0 wrong answers")
            .then(steps::concurrent_callers),
    ]
}

fn topologies() -> Vec<Scenario> {
    let x99 = machine::x99;
    vec![
        x99_overridden("x99", "two cards with their own switches under two root ports: refused, then the hop count")
            .gate("module.loaded", "pass")
            .gate("module.effective", "pass"),
        Scenario::new(
            "shared-switch",
            "one switch without ACS redirect: the kernel allows, untouched",
            machine::bare().shared_switch(["a", "b"], GPU),
        )
        .pair(["a", "b"], 4, 4, ALLOWED),
        Scenario::new(
            "acs-redirect",
            "a shared port with ACS redirect (IOMMU on): the kernel refuses, so does the module (rule 4)",
            machine::bare().shared_port_with_redirect(["a", "b"], GPU),
        )
        .pair(["a", "b"], REFUSED, REFUSED, "4:shared-upstream")
        .gate("pair.route", "fail"),
        Scenario::new("two-host-bridges", "cards under two host bridges: refused (rule 5)", two_host_bridges()).pair(
            ["a", "b"],
            REFUSED,
            REFUSED,
            "5:cross-host-bridge",
        ),
        Scenario::new(
            "two-host-bridges-lifted",
            "the same with cross_host_bridge=1: the hop count",
            two_host_bridges(),
        )
        .params("cross_host_bridge=1")
        .pair(["a", "b"], REFUSED, 6, OVERRIDE),
        Scenario::new(
            "non-gpu-pair",
            "a GPU and a network card of an allowed vendor: refused (rule 2); the card as provider is not even looked at",
            x99().card("c", "04.0", NETWORK_CARD),
        )
        .params("vendors=1002,8086")
        .one_way("a", "c", REFUSED, REFUSED, "2:class")
        .one_way("c", "a", REFUSED, REFUSED, "")
        .pair(["a", "b"], REFUSED, X99_HOPS, OVERRIDE),
        Scenario::new(
            "other-vendor",
            "a GPU of a vendor not in `vendors`: refused (rule 2)",
            x99().card("c", "04.0", OTHER_VENDOR_GPU),
        )
        .pair(["a", "c"], REFUSED, REFUSED, "2:vendor")
        .pair(["a", "b"], REFUSED, X99_HOPS, OVERRIDE),
        Scenario::new(
            "other-vendor-allowed",
            "the same GPU with its vendor in `vendors`: the hop count",
            x99().card("c", "04.0", OTHER_VENDOR_GPU),
        )
        .params("vendors=1002,1234")
        .pair(["a", "b"], REFUSED, X99_HOPS, OVERRIDE)
        .pair(["a", "c"], REFUSED, 6, OVERRIDE),
        Scenario::new(
            "three-gpus-one-pair",
            "three GPUs, `pairs` names one pair: only that one (rule 3)",
            x99().card("c", "04.0", GPU),
        )
        .params("pairs={c}+{a}")
        .pair(["a", "b"], REFUSED, REFUSED, "3:not-named")
        .pair(["a", "c"], REFUSED, 6, OVERRIDE)
        .pair(["b", "c"], REFUSED, REFUSED, "3:not-named"),
        Scenario::new("amd-cpu", "an AMD Zen CPU: the kernel allows by itself, untouched", x99().with_cpu("EPYC"))
            .pair(["a", "b"], X99_HOPS, X99_HOPS, ALLOWED),
        x99_overridden(
            "client-is-child",
            "the client is a device below the PCI function: resolved like the kernel does",
        )
        .then(steps::client_is_child),
        x99_overridden("many-clients", "two clients in one call: not touched (rule 1)").then(steps::many_clients),
    ]
}

fn two_host_bridges() -> Machine {
    machine::bare().card_with_switch("a", "02.0", GPU).card_on_second_host_bridge("b", GPU)
}

fn settings() -> Vec<Scenario> {
    let x99 = machine::x99;
    vec![
        Scenario::new("denied-bridge", "the host bridge is in the deny list: refused (rule 6)", x99())
            .params("deny=8086:4c43,8086:29c0")
            .pair(["a", "b"], REFUSED, REFUSED, "6:denied-bridge"),
        x99_overridden("denied-bridge-lifted", "the same with allow_denied=1: the hop count")
            .params("deny=8086:29c0 allow_denied=1"),
        Scenario::new("observe", "mode=observe: decides and counts, changes nothing", x99())
            .params("mode=observe")
            .pair(["a", "b"], REFUSED, REFUSED, "7:observe")
            .gate("module.effective", "fail"),
        Scenario::new("off", "mode=off: inert", x99())
            .params("mode=off")
            .pair(["a", "b"], REFUSED, REFUSED, "")
            .gate("module.effective", "fail"),
        x99_overridden("mode-switch", "mode changed at run time, a wrong value refused").then(steps::mode_switch),
        x99_overridden("bad-parameters", "every bad parameter refuses the load and says why")
            .prepare(steps::bad_parameters),
    ]
}

fn lifecycle() -> Vec<Scenario> {
    vec![
        x99_overridden("unload-restores", "unload and load again: -1, hop count, -1, hop count")
            .then(steps::unload_restores),
        x99_overridden(
            "after-gpu-driver",
            "loaded after the (simulated) GPU driver: says so, and the links stay missing",
        )
        .prepare(steps::gpu_driver_first)
        .then(steps::links_are_missing)
        .gate("module.effective", "fail"),
        x99_overridden("before-gpu-driver", "loaded before the (simulated) GPU driver: p2p_links both ways")
            .then(steps::links_appear),
        x99_overridden("ftrace-disabled", "kernel.ftrace_enabled=0 (kernels before 7.3): shown as not acting")
            .before(7, 3)
            .then(steps::ftrace_disabled),
        x99_overridden("kprobes-disarmed", "all kprobes disarmed through debugfs: shown as not acting")
            .then(steps::kprobes_disarmed),
        x99_overridden("captured-tree", "tp2-verify --root on a captured tree says what it said live")
            .then(steps::captured_tree),
        x99_overridden("report-replays", "tp2-verify report, then replay, says what it said live")
            .then(steps::report_replays),
    ]
}
