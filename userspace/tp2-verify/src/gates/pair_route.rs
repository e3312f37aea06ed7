// SPDX-License-Identifier: GPL-2.0-only

//! `pair.route`: what the kernel answers for the pair, both ways, and what the module makes of it. Predicted by
//! `tp2-policy` from the bridges between the two (`drivers/pci/p2pdma.c`, Linux 6.1 to 7.3); measured where the module
//! has seen the pair and its table can be read. Prediction and measurement must agree.

use tp2_policy::{
    Address,
    policy::Rule,
    route::{AcsControl, ModuleDecision, Reason},
};

use super::route_words::{address_list, allowed_by, refused_by, unknown_remedy, unknown_words, writes_only_hint};
use crate::{
    facts::Facts,
    finding::{Bearing, Finding, Scope, Status},
    route::{self, Direction, decision_token},
    view::{self, Gpu},
};

pub(super) const ID: &str = "pair.route";
/// Source of the evidence that is the way itself.
const ROUTE: &str = "route";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let pairs = view::pairs(facts);
    let judged = pairs.iter().filter(|(a, b)| view::is_judged(facts, a, b));
    judged.flat_map(|(a, b)| judge_pair(facts, a, b)).collect()
}

/// One finding if both directions end alike, else one for each.
fn judge_pair(facts: &Facts, a: &Gpu<'_>, b: &Gpu<'_>) -> Vec<Finding> {
    let scope = Scope::Pair(a.device.bdf, b.device.bdf);
    if view::p2pdma_is_off(facts) {
        return vec![Finding::new(ID, scope, Status::Skip, "without CONFIG_PCI_P2PDMA the kernel refuses every route")];
    }
    for gpu in [a, b] {
        if view::is_missing_from_kfd(facts, gpu.device) {
            let summary =
                format!("KFD does not know {}, so its route does not matter yet; see gpu.kfd", gpu.device.bdf);
            return vec![Finding::new(ID, scope, Status::Skip, summary)];
        }
    }
    let [there, back] = match route::directions(facts, a.device, b.device) {
        Ok(directions) => directions,
        Err(error) => {
            return vec![Finding::unreadable(ID, scope, "a parameter of tp2_p2pdma", &error)];
        }
    };
    let one = judge_direction(facts, scope, &there);
    let other = judge_direction(facts, scope, &back);
    if (one.status, one.bearing, &one.summary) == (other.status, other.bearing, &other.summary) {
        let mut both = one;
        both.summary = format!("both ways: {}", both.summary);
        // The way back is the same way.
        let more = other.evidence.into_iter().filter(|evidence| evidence.source != ROUTE);
        both.evidence.extend(more);
        return vec![both];
    }
    let name = |mut finding: Finding, way: &Direction<'_>| {
        finding.summary = format!("{} reaching {}: {}", way.client, way.provider, finding.summary);
        finding
    };
    vec![name(one, &there), name(other, &back)]
}

fn judge_direction(facts: &Facts, scope: Scope, way: &Direction<'_>) -> Finding {
    let forced = way.measured.is_some_and(|row| row.answer >= 0);
    let linked = view::has_p2p_link(facts, way.provider, way.client);
    let told = matches!(way.decision, ModuleDecision::Decided(d) if d.rule == Rule::Override);
    // Either way of knowing it will do: no other knowledge makes a denied bridge safe.
    let refused = [way.kernel_answer(), way.prediction.kernel_answer()].contains(&Some(-1));
    let finding = if way.is_denied() && refused && (forced || linked || (told && view::module_acts(facts))) {
        unsafe_route(scope, way)
    } else if let Some(contradiction) = contradiction(scope, way) {
        contradiction
    } else {
        match way.kernel_answer() {
            Some(hops) if hops >= 0 => allowed(scope, way, hops),
            Some(_) => refusal(facts, scope, way),
            None => unknown(scope, way),
        }
    };
    let direction = format!("{} -> {}", way.provider, way.client);
    let predicted = match way.prediction.kernel_answer() {
        Some(answer) => format!("kernel answer {answer}"),
        None => "kernel answer unknown".to_owned(),
    };
    let rule = decision_token(way.decision);
    let finding = finding
        .evidence(ROUTE, way.path.clone())
        .evidence(format!("predicted, {direction}"), format!("{predicted}, rule {rule}"));
    match way.measured {
        Some(row) => finding.evidence(
            "/sys/kernel/debug/tp2_p2pdma/pairs",
            format!("{direction}: kernel answer {}, answer {}, rule {}", row.kernel_answer, row.answer, row.rule),
        ),
        None => finding,
    }
}

fn unsafe_route(scope: Scope, way: &Direction<'_>) -> Finding {
    let summary = format!(
        "host bridge {} is known to corrupt peer reads without any error, and peer access is being forced on it",
        way.bridge_words()
    );
    Finding::new(ID, scope, Status::Fail, summary)
        .bearing(Bearing::Unsafe)
        .remedy("stop what uses both GPUs, remove the option allow_denied (or whatever else forces it), and reboot")
}

/// Prediction against measurement. The mode may have changed since the last call.
fn contradiction(scope: Scope, way: &Direction<'_>) -> Option<Finding> {
    let row = way.measured?;
    let answer_differs = way.prediction.kernel_answer().is_some_and(|answer| answer != row.kernel_answer);
    let same_but_mode = |token: &str| token == Rule::Override.token() || token == Rule::Observe.token();
    let rule_differs = match way.decision {
        ModuleDecision::Decided(decision) => {
            let token = decision.rule.token();
            token != row.rule && !(same_but_mode(token) && same_but_mode(&row.rule))
        }
        ModuleDecision::Inert | ModuleDecision::Unknown => false,
    };
    if !answer_differs && !rule_differs {
        return None;
    }
    let summary = "what was measured contradicts the prediction, so one of the two is wrong here";
    let failure = Finding::new(ID, scope, Status::Fail, summary);
    Some(failure.remedy("report it with the output of tp2-verify --json and lspci -nnvvt"))
}

fn allowed(scope: Scope, way: &Direction<'_>, hops: i32) -> Finding {
    let how = if way.measured.is_some() { "allows" } else { "is predicted to allow" };
    let summary = format!("the kernel {how} this route by itself, {hops} hops, {}", allowed_by(way));
    Finding::new(ID, scope, Status::Pass, summary).bearing(Bearing::KernelAllows)
}

/// The kernel refuses: who can change that?
fn refusal(facts: &Facts, scope: Scope, way: &Direction<'_>) -> Finding {
    let refuses = if way.measured.is_some() { "refuses" } else { "is predicted to refuse" };
    let failure = |summary: String| Finding::new(ID, scope, Status::Fail, summary);
    let bridges = way.bridge_words();
    let rule = match (way.decision, way.strict) {
        (_, ModuleDecision::Decided(d)) if d.rule == Rule::SharedUpstream => d.rule,
        _ if way.is_denied() => Rule::DeniedBridge,
        (ModuleDecision::Decided(d), _) if d.rule == Rule::Override => d.rule,
        // What the module would do if its mode let it.
        (_, ModuleDecision::Decided(d)) => d.rule,
        (_, ModuleDecision::Inert | ModuleDecision::Unknown) => return unknown(scope, way),
    };
    match rule {
        Rule::Override | Rule::Observe => overridable(facts, scope, way, refuses),
        Rule::SharedUpstream => shared_upstream(facts, scope, way, refuses),
        Rule::DeniedBridge => failure(format!(
            "the kernel {refuses} this route, and host bridge {bridges} is known to corrupt peer reads without any error"
        ))
        .remedy("move both cards below one PCIe switch, or stay with copies through host memory; do not override this bridge"),
        Rule::CrossHostBridge => failure(format!(
            "the kernel {refuses} this route: it crosses two host bridges ({bridges}), which tp2_p2pdma leaves alone"
        ))
        .remedy("move both cards to slots of one host bridge (one socket)"),
        Rule::UnknownBridge => failure(format!(
            "the kernel {refuses} this route, and its host bridge cannot be identified, so tp2_p2pdma leaves it alone"
        ))
        .remedy("stay with copies through host memory"),
        Rule::NotNamed => failure(format!("the kernel {refuses} this route, and the module's parameter pairs does not name it"))
            .bearing(Bearing::ModuleInert)
            .remedy(format!("add {}+{} to the parameter pairs, or remove it, and reboot", way.provider, way.client)),
        Rule::Vendor => failure(format!("the kernel {refuses} this route, and the module's parameter vendors leaves it out"))
            .bearing(Bearing::ModuleInert)
            .remedy("add 1002 to the parameter vendors, or remove it, and reboot"),
        Rule::KernelAllows | Rule::NotOneClient | Rule::SameFunction | Rule::Class => {
            failure(format!("the kernel {refuses} this route, and tp2_p2pdma leaves it alone ({})", way.rule()))
        }
    }
}

/// Only the host-bridge test refuses.
fn overridable(facts: &Facts, scope: Scope, way: &Direction<'_>, refuses: &str) -> Finding {
    let why = refused_by(way);
    if view::module_acts(facts) {
        return overridden(scope, way, refuses, &why);
    }
    let summary = format!("the kernel {refuses} this route: {why}");
    let failure = Finding::new(ID, scope, Status::Fail, summary).bearing(Bearing::Overridable);
    if view::override_is_useless(facts) {
        return failure;
    }
    failure.remedy(format!(
        "once tp2_p2pdma overrides this test, compare bytes both ways, push (writes) and pull (reads): until then the route is unverified{}",
        writes_only_hint(way)
    ))
}

/// The module acts, so it is predicted to have the last word; its table may say that it had not.
fn overridden(scope: Scope, way: &Direction<'_>, refuses: &str, why: &str) -> Finding {
    let what = match way.measured {
        Some(row) if row.answer < 0 => {
            let summary = format!(
                "the kernel {refuses} this route ({why}), and tp2_p2pdma left it so when it was last asked (rule {}), \
                 although its mode is force now",
                row.rule
            );
            return Finding::new(ID, scope, Status::Fail, summary)
                .bearing(Bearing::ModuleInert)
                .remedy("reboot with mode=force, so that amdgpu asks again");
        }
        Some(row) => format!("tp2_p2pdma answered {} in its place (measured)", row.answer),
        None => format!("tp2_p2pdma is predicted to answer {} in its place", way.prediction.hop_count),
    };
    let summary = format!("the kernel {refuses} this route ({why}), and {what}");
    Finding::new(ID, scope, Status::Pass, summary).bearing(Bearing::Overridable)
}

fn shared_upstream(facts: &Facts, scope: Scope, way: &Direction<'_>, refuses: &str) -> Finding {
    let ports = match &way.prediction.reason {
        Reason::AcsRedirect { ports, .. } => ports.as_slice(),
        _ => &[],
    };
    let failure = |summary: String| Finding::new(ID, scope, Status::Fail, summary);
    if ports.is_empty() {
        let summary =
            format!("the kernel {refuses} this route below a common bridge, so ACS redirect is set at some port of it");
        return failure(summary).remedy("run it as root, which shows the ports");
    }
    let summary = format!(
        "the kernel {refuses} this route: ACS redirect is set at {}, at or below the common bridge, which sends peer traffic \
         up, and {}",
        address_list(ports, " "),
        refused_by(way)
    );
    let remedy = format!(
        "clear the redirect with the kernel parameter \"pci=disable_acs_redir={}\", or until the next boot as root: {}; what is below \
         these ports can then reach each other past the IOMMU, so it cannot go to different guests any more; tp2_p2pdma \
         leaves such routes alone on purpose",
        address_list(ports, ";"),
        set_acs(facts, ports)
    );
    failure(summary).remedy(remedy)
}

/// Commands that clear the three bits that redirect (request, completion, egress control) and leave the others.
fn set_acs(facts: &Facts, ports: &[Address]) -> String {
    let redirecting = AcsControl::REQUEST_REDIRECT | AcsControl::COMPLETION_REDIRECT | AcsControl::EGRESS_CONTROL;
    let mut sorted = ports.to_vec();
    sorted.sort_unstable();
    let devices = facts.pci.as_deref().unwrap_or_default();
    let commands = sorted.iter().filter_map(|port| {
        let device = devices.iter().find(|device| device.bdf.0 == *port)?;
        let word = device.acs_control.as_ref().ok().copied().flatten()?;
        Some(format!("setpci -s {port} ECAP_ACS+0x6.w={:04x}", word & !redirecting))
    });
    commands.collect::<Vec<_>>().join("; ")
}

fn unknown(scope: Scope, way: &Direction<'_>) -> Finding {
    let summary = format!("what becomes of this route is not known: {}", unknown_words(way));
    Finding::new(ID, scope, Status::Unknown, summary).remedy(unknown_remedy(way))
}
