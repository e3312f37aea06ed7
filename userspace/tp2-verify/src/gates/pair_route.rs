// SPDX-License-Identifier: GPL-2.0-only

//! `pair.route`: what the kernel answers for the pair, both ways, and what the module makes of it. Predicted by
//! `tp2-policy` from the bridges between the two (`drivers/pci/p2pdma.c`, Linux 6.1 to 7.3); measured where the module
//! has seen the pair and its table can be read. Prediction and measurement must agree, and what amdgpu wrote into the
//! kernel log when the kernel refused it on this boot must not speak against them.

use super::commands::for_a_report;
use tp2_policy::{
    Address,
    policy::Rule,
    route::{AcsControl, ModuleDecision, Reason},
};

use super::route_words::{
    address_list, allowed_by, refusal_words, refused_by, unknown_remedy, unknown_words, writes_only_hint,
};
use crate::{
    facts::Facts,
    finding::{Bearing, Finding, Remedy, Scope, Status},
    route::{self, Direction, decision_token},
    text,
    text::Text,
    view::{self, DriverP2p, Gpu},
};

pub(super) const ID: &str = "pair.route";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let pairs = view::pairs(facts);
    let judged = pairs.iter().filter(|(a, b)| view::is_judged(facts, a, b));
    judged.flat_map(|(a, b)| judge_pair(facts, a, b)).collect()
}

/// One finding if both directions end alike, else one for each.
fn judge_pair(facts: &Facts, a: &Gpu<'_>, b: &Gpu<'_>) -> Vec<Finding> {
    let scope = Scope::Pair(a.device.bdf, b.device.bdf);
    if view::p2pdma_is_off(facts) {
        return vec![Finding::new(ID, scope, Status::Skip, text!("pair-route-no-p2pdma"))];
    }
    for gpu in [a, b] {
        if view::is_missing_from_kfd(facts, gpu.device) {
            let summary = text!("pair-route-not-in-kfd", gpu = gpu.device.bdf);
            return vec![Finding::new(ID, scope, Status::Skip, summary)];
        }
    }
    let [there, back] = match route::directions(facts, a.device, b.device) {
        Ok(directions) => directions,
        Err(error) => return vec![Finding::unreadable(ID, scope, text!("pair-route-parameter"), &error)],
    };
    let one = judge_direction(facts, scope, &there);
    let other = judge_direction(facts, scope, &back);
    if (one.status, one.bearing, &one.summary) == (other.status, other.bearing, &other.summary) {
        let mut both = one;
        both.summary = text!("pair-route-both-ways", finding = both.summary);
        // The way back is the same way.
        let more = other.evidence.into_iter().filter(|evidence| evidence.source != text!("pair-route-way"));
        both.evidence.extend(more);
        return vec![both];
    }
    let name = |mut finding: Finding, way: &Direction<'_>| {
        finding.summary =
            text!("pair-route-one-way", client = way.client, provider = way.provider, finding = finding.summary);
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
        unsafe_route(facts, scope, way)
    } else if let Some(contradiction) = contradiction(scope, way) {
        contradiction
    } else {
        match way.kernel_answer() {
            Some(hops) if hops >= 0 && way.measured.is_none() && way.logged.is_some() => {
                refused_before(scope, way, hops)
            }
            Some(hops) if hops >= 0 => allowed(facts, scope, way, hops),
            Some(_) => refusal(facts, scope, way),
            None => unknown(scope, way),
        }
    };
    let rule = decision_token(way.decision).to_owned();
    let predicted = match way.prediction.kernel_answer() {
        Some(answer) => text!("pair-route-prediction", answer = answer.to_string(), rule = rule),
        None => text!("pair-route-prediction-unknown", rule = rule),
    };
    let finding = finding
        .evidence(text!("pair-route-way"), way.path.clone())
        .evidence(text!("pair-route-predicted", provider = way.provider, client = way.client), predicted);
    let finding = match way.logged {
        Some(route) => finding.evidence(text!("pair-route-log"), route.line.clone()),
        None => finding,
    };
    match way.measured {
        Some(row) => finding.evidence(
            "/sys/kernel/debug/tp2_p2pdma/pairs".to_owned(),
            text!(
                "pair-route-measured",
                provider = way.provider,
                client = way.client,
                kernel = row.kernel_answer.to_string(),
                answer = row.answer.to_string(),
                rule = &row.rule
            ),
        ),
        None => finding,
    }
}

fn unsafe_route(facts: &Facts, scope: Scope, way: &Direction<'_>) -> Finding {
    let by_module = facts.module.is_loaded();
    let remedy = if by_module { text!("pair-route-remedy-unsafe") } else { text!("pair-route-remedy-unsafe-by-other") };
    Finding::new(ID, scope, Status::Fail, text!("pair-route-unsafe", bridges = way.bridge_words()))
        .bearing(Bearing::Unsafe)
        .remedy(remedy)
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
    let failure = Finding::new(ID, scope, Status::Fail, text!("pair-route-contradiction"));
    Some(failure.remedy(for_a_report(text!("pair-route-remedy-contradiction"))))
}

fn allowed(facts: &Facts, scope: Scope, way: &Direction<'_>, hops: i32) -> Finding {
    let (hops, by) = (hops.to_string(), allowed_by(way));
    let summary = if way.measured.is_some() {
        text!("pair-route-allowed", hops = hops, by = by)
    } else {
        text!("pair-route-allowed-predicted", hops = hops, by = by)
    };
    let is_asked = !matches!(view::driver_p2p(facts), DriverP2p::OffOutside(..));
    let summary = if is_asked { summary } else { text!("pair-route-not-asked", finding = summary) };
    Finding::new(ID, scope, Status::Pass, summary).bearing(Bearing::KernelAllows)
}

/// The log is of the time when amdgpu asked: a port's ACS word may have changed since, or the prediction is wrong.
fn refused_before(scope: Scope, way: &Direction<'_>, hops: i32) -> Finding {
    let summary = text!("pair-route-refused-before", hops = hops.to_string(), by = allowed_by(way));
    Finding::new(ID, scope, Status::Unknown, summary).remedy(for_a_report(text!("pair-route-remedy-refused-before")))
}

/// The kernel refuses: who can change that?
fn refusal(facts: &Facts, scope: Scope, way: &Direction<'_>) -> Finding {
    let rule = match (way.decision, way.strict) {
        (_, ModuleDecision::Decided(d)) if d.rule == Rule::SharedUpstream => d.rule,
        _ if way.is_denied() => Rule::DeniedBridge,
        (ModuleDecision::Decided(d), _) if d.rule == Rule::Override => d.rule,
        // What the module would do if its mode let it.
        (_, ModuleDecision::Decided(d)) => d.rule,
        (_, ModuleDecision::Inert | ModuleDecision::Unknown) => return unknown(scope, way),
    };
    let failure = |summary: Text| Finding::new(ID, scope, Status::Fail, summary);
    let refusal = refusal_words(way);
    match rule {
        Rule::Override | Rule::Observe => overridable(facts, scope, way),
        Rule::SharedUpstream => shared_upstream(facts, scope, way),
        Rule::DeniedBridge => failure(text!("pair-route-denied", refusal = refusal, bridges = way.bridge_words()))
            .remedy(text!("pair-route-remedy-denied")),
        Rule::CrossHostBridge => failure(text!("pair-route-crosses", refusal = refusal, bridges = way.bridge_words()))
            .remedy(text!("pair-route-remedy-crosses")),
        Rule::UnknownBridge => {
            failure(text!("pair-route-unidentified", refusal = refusal)).remedy(text!("pair-route-remedy-unidentified"))
        }
        Rule::NotNamed => failure(text!("pair-route-not-named", refusal = refusal))
            .bearing(Bearing::ModuleInert)
            .remedy(text!("pair-route-remedy-not-named", provider = way.provider, client = way.client)),
        Rule::Vendor => failure(text!("pair-route-vendor", refusal = refusal))
            .bearing(Bearing::ModuleInert)
            .remedy(text!("pair-route-remedy-vendor")),
        Rule::KernelAllows | Rule::NotOneClient | Rule::SameFunction | Rule::Class => {
            failure(text!("pair-route-left-alone", refusal = refusal, rule = way.rule().to_owned()))
        }
    }
}

/// Only the host-bridge test refuses.
fn overridable(facts: &Facts, scope: Scope, way: &Direction<'_>) -> Finding {
    if view::module_acts(facts) {
        return overridden(scope, way);
    }
    let summary = text!("pair-route-overridable", refusal = refusal_words(way), why = refused_by(way));
    let with_hint = |text: Text| match writes_only_hint(way) {
        Some(hint) => Text::List(vec![text, hint], "semicolon"),
        None => text,
    };
    let failure = Finding::new(ID, scope, Status::Fail, with_hint(summary)).bearing(Bearing::Overridable);
    if view::override_is_useless(facts) {
        return failure;
    }
    failure.remedy(with_hint(text!("pair-route-remedy-overridable")))
}

/// The module acts, so it is predicted to have the last word; its table may say that it had not.
fn overridden(scope: Scope, way: &Direction<'_>) -> Finding {
    // It may be one that corrupts, and the module may have been told to override such a one, too.
    if way.bridges.iter().any(|bridge| bridge.id().is_none()) {
        return Finding::new(ID, scope, Status::Unknown, text!("pair-route-overridden-unidentified"))
            .remedy(text!("pair-route-remedy-unknown-device"));
    }
    let (refusal, why) = (refusal_words(way), refused_by(way));
    let summary = match way.measured {
        Some(row) if row.answer < 0 => {
            let summary = text!("pair-route-left-before", refusal = refusal, why = why, rule = &row.rule);
            return Finding::new(ID, scope, Status::Fail, summary)
                .bearing(Bearing::ModuleInert)
                .remedy(text!("pair-route-remedy-left-before"));
        }
        Some(row) => text!("pair-route-overridden", refusal = refusal, why = why, answer = row.answer.to_string()),
        None => {
            let answer = way.prediction.hop_count.to_string();
            text!("pair-route-overridden-predicted", refusal = refusal, why = why, answer = answer)
        }
    };
    Finding::new(ID, scope, Status::Pass, summary).bearing(Bearing::Overridable)
}

fn shared_upstream(facts: &Facts, scope: Scope, way: &Direction<'_>) -> Finding {
    let ports = match &way.prediction.reason {
        Reason::AcsRedirect { ports, .. } => ports.as_slice(),
        _ => &[],
    };
    let failure = |summary: Text| Finding::new(ID, scope, Status::Fail, summary);
    let refusal = refusal_words(way);
    if ports.is_empty() {
        return failure(text!("pair-route-acs-somewhere", refusal = refusal))
            .remedy(text!("pair-route-remedy-acs-somewhere"));
    }
    let at = address_list(ports, " ");
    failure(text!("pair-route-acs", refusal = refusal, ports = at, why = refused_by(way))).remedy(set_acs(
        facts,
        ports,
        text!("pair-route-remedy-acs", ports = address_list(ports, ";")),
    ))
}

/// Adds commands that clear the three bits that redirect (request, completion, egress control) and leave the others.
fn set_acs(facts: &Facts, ports: &[Address], words: Text) -> Remedy {
    let redirecting = AcsControl::REQUEST_REDIRECT | AcsControl::COMPLETION_REDIRECT | AcsControl::EGRESS_CONTROL;
    let mut sorted = ports.to_vec();
    sorted.sort_unstable();
    let devices = facts.pci.as_deref().unwrap_or_default();
    let commands = sorted.iter().filter_map(|port| {
        let device = devices.iter().find(|device| device.bdf.0 == *port)?;
        let word = device.acs_control.as_ref().ok().copied().flatten()?;
        Some(format!("sudo setpci -s {port} ECAP_ACS+0x6.w={:04x}", word & !redirecting))
    });
    commands.fold(words.into(), |remedy: Remedy, command| remedy.command(command, &[]))
}

fn unknown(scope: Scope, way: &Direction<'_>) -> Finding {
    Finding::new(ID, scope, Status::Unknown, text!("pair-route-unknown", what = unknown_words(way)))
        .remedy(unknown_remedy(way))
}
