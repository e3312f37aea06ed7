// SPDX-License-Identifier: GPL-2.0-only

//! The result as a whole: what `--json` prints (`schema/tp2-verify-1.schema.json`) and the table is made of.

use serde::Serialize;
use tp2_policy::route::Reason;

use crate::{
    facts::{Bdf, Facts, Reading},
    finding::{ByScope, Finding},
    gates, route,
    route::decision_token,
    text,
    text::Text,
    verdict::{self, Verdict},
    view,
};

/// Name and version of the format.
pub const SCHEMA: &str = "tp2-verify/1";

/// Everything that a renderer needs.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Of the machine.
    pub verdict: Verdict,
    /// Exit status.
    pub exit: u8,
    /// The machine.
    pub host: Host,
    /// AMD GPUs.
    pub gpus: Vec<Gpu>,
    /// All unordered pairs of them.
    pub pairs: Vec<Pair>,
    /// All findings, in the order of the gates.
    pub findings: Vec<Finding>,
    /// What reading as root would add; empty if nothing.
    pub root_would_add: Vec<Text>,
}

/// The machine.
#[derive(Clone, Debug, Serialize)]
pub struct Host {
    /// Kernel release.
    pub kernel: Option<String>,
    /// CPU name.
    pub cpu: Option<String>,
    /// File of amdgpu.
    pub amdgpu: Option<String>,
    /// Whether the override module is loaded, if that could be seen.
    pub module_loaded: Option<bool>,
    /// Its version.
    pub module_version: Option<String>,
    /// Its implementation.
    pub module_implementation: Option<String>,
}

/// An AMD GPU.
#[derive(Clone, Debug, Serialize)]
pub struct Gpu {
    /// PCI address.
    pub bdf: Bdf,
    /// `vvvv:dddd`.
    pub id: Option<String>,
    /// `discrete`, `integrated` or `unknown`.
    pub kind: &'static str,
    /// Driver.
    pub driver: Option<String>,
    /// KFD node.
    pub kfd_node: Option<u32>,
}

/// Two of them.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// The one with the lower address.
    pub a: Bdf,
    /// The other.
    pub b: Bdf,
    /// `discrete`, `integrated`, `xgmi` or `unknown`.
    pub kind: &'static str,
    /// Of this pair.
    pub verdict: Verdict,
    /// Both directions; `null` where they could not be worked out.
    pub distance: Distances,
}

/// Both directions.
#[derive(Clone, Debug, Serialize)]
pub struct Distances {
    /// Provider `a`, client `b`: memory of `a` reached by `b`.
    pub a_to_b: Option<Distance>,
    /// Provider `b`, client `a`.
    pub b_to_a: Option<Distance>,
}

/// One direction.
#[derive(Clone, Debug, Serialize)]
pub struct Distance {
    /// The kernel's own last answer, measured by the module; `null`: not measured.
    pub kernel: Option<i32>,
    /// The kernel's answer as predicted; `null`: cannot be predicted.
    pub expected: Option<i32>,
    /// The way in words.
    pub path: Text,
    /// The module's part.
    pub module: ModulePart,
}

/// What the module makes of the kernel's answer.
#[derive(Clone, Debug, Serialize)]
pub struct ModulePart {
    /// What it last answered, measured.
    pub answer: Option<i32>,
    /// The rule that decided, measured.
    pub rule: Option<String>,
    /// The rule that is predicted to decide, with the loaded module's parameters or the defaults.
    pub predicted_rule: &'static str,
}

/// Judges facts.
#[must_use]
pub fn make(facts: &Facts) -> Report {
    let findings = gates::judge(facts);
    let grouped = ByScope::new(&findings);
    let mut pairs = Vec::new();
    let mut acs_hidden = false;
    for (a, b) in view::pairs(facts) {
        let ways = route::directions(facts, a.device, b.device).ok();
        acs_hidden |= ways.iter().flatten().any(|way| waits_for_acs(&way.prediction.reason));
        pairs.push(pair(facts, &grouped, [&a, &b], ways.as_ref()));
    }
    let verdicts: Vec<Verdict> = pairs.iter().map(|pair| pair.verdict).collect();
    let verdict = verdict::of_machine(&findings, &verdicts);
    Report {
        schema: SCHEMA,
        verdict,
        exit: verdict.exit(),
        host: host(facts),
        gpus: view::gpus(facts).iter().map(|one| gpu(facts, one)).collect(),
        pairs,
        root_would_add: root_would_add(facts, acs_hidden),
        findings,
    }
}

fn host(facts: &Facts) -> Host {
    let ok = |reading: &Reading<String>| reading.as_ref().ok().cloned();
    let module = &facts.module;
    let state = |name: &str| module.state.get(name).and_then(ok);
    Host {
        kernel: ok(&facts.kernel.release),
        cpu: facts.host.cpu.as_ref().ok().map(|cpu| cpu.name.clone()),
        amdgpu: ok(&facts.amdgpu.file).map(|path| format!("/{path}")),
        module_loaded: module.loaded.as_ref().ok().copied(),
        module_version: ok(&module.version),
        module_implementation: state("implementation"),
    }
}

fn gpu(facts: &Facts, gpu: &view::Gpu<'_>) -> Gpu {
    let device = gpu.device;
    let id = match (&device.vendor, &device.device) {
        (Ok(vendor), Ok(device)) => Some(format!("{vendor:04x}:{device:04x}")),
        _ => None,
    };
    Gpu {
        bdf: device.bdf,
        id,
        kind: gpu.kind.word(),
        driver: device.driver.as_ref().ok().cloned().flatten(),
        kfd_node: view::kfd_node(facts, device.bdf).ok().map(|node| node.id),
    }
}

fn pair(
    facts: &Facts,
    findings: &ByScope<'_>,
    [a, b]: [&view::Gpu<'_>; 2],
    ways: Option<&[route::Direction<'_>; 2]>,
) -> Pair {
    let (first, second) = (a.device.bdf, b.device.bdf);
    let [a_to_b, b_to_a] = ways.map_or([None, None], |ways| ways.each_ref().map(|way| Some(distance(way))));
    let kind = if view::are_joined_by_xgmi(facts, first, second) {
        "xgmi"
    } else {
        let words = [a.kind.word(), b.kind.word()];
        ["integrated", "unknown"].into_iter().find(|word| words.contains(word)).unwrap_or("discrete")
    };
    Pair {
        a: first,
        b: second,
        kind,
        verdict: verdict::of_pair(findings, first, second),
        distance: Distances { a_to_b, b_to_a },
    }
}

fn distance(way: &route::Direction<'_>) -> Distance {
    Distance {
        kernel: way.measured.map(|row| row.kernel_answer),
        expected: way.prediction.kernel_answer(),
        path: way.path.clone(),
        module: ModulePart {
            answer: way.measured.map(|row| row.answer),
            rule: way.measured.map(|row| row.rule.clone()),
            predicted_rule: decision_token(way.decision),
        },
    }
}

/// What was denied to the reader: ACS words that some pair waits for, or the module's table.
fn root_would_add(facts: &Facts, acs_hidden: bool) -> Vec<Text> {
    let mut list = Vec::new();
    let denied = |error: &crate::facts::ReadError| error.kind == crate::facts::ReadErrorKind::Denied;
    if acs_hidden {
        list.push(text!("root-would-add-acs"));
    }
    let not_root = facts.host.root == Some(false);
    if facts.module.is_loaded() && (not_root || facts.module.pairs.as_ref().err().is_some_and(denied)) {
        list.push(text!("root-would-add-pairs"));
    }
    list
}

/// Whether some port's ACS word was needed and could not be read.
fn waits_for_acs(reason: &Reason) -> bool {
    match reason {
        Reason::AcsUnreadable { .. } => true,
        Reason::AcsRedirect { unreadable, .. } => !unreadable.is_empty(),
        Reason::BusAddress | Reason::HostBridge(_) => false,
    }
}
