// SPDX-License-Identifier: GPL-2.0-only

//! `pair.runtime`: what the HIP runtime tells programs (`hipDeviceCanAccessPeer`, both ways, devices matched by PCI
//! address), against what KFD and the kernel say. The runtime derives its answer from KFD's links, and leaves out a link
//! whose flags hold both `Override` and `NoPeerToPeerDMA` (`ROCr`, read in source). So a "yes" without a link, or over a route
//! that the kernel was seen to refuse, is the loudest alarm: a copy would go over a route that nobody allowed, and report
//! success whatever arrives. A crash, an abort or a hang of the runtime is a finding like any other.

use super::runtime_words::{self as words, INVALID_DEVICE, NO_DEVICE};
use crate::{
    facts::{
        Bdf, Facts, KfdNode,
        devices::Opened,
        runtime::{Outcome, PeerAnswer, Runtime},
    },
    finding::{Bearing, Finding, Scope, Status},
    route, text,
    text::Text,
    view::{self, Gpu},
};

pub(super) const ID: &str = "pair.runtime";

/// `CRAT_IOLINK_FLAGS_ENABLED`, which `ROCr` calls Override, and `CRAT_IOLINK_FLAGS_NO_PEER_TO_PEER_DMA`.
const NOT_FOR_PEERS: u64 = 1 | 1 << 4;

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let runtime = match &facts.runtime {
        Ok(runtime) => runtime,
        Err(error) if error.is_absent() => {
            return vec![Finding::new(ID, Scope::Host, Status::Skip, text!("pair-runtime-only-live"))];
        }
        Err(error) => return vec![Finding::unreadable(ID, Scope::Host, text!("pair-runtime-question"), error)],
    };
    let mut findings = vec![words::evidence(judge_host(facts, runtime), runtime)];
    if runtime.outcome == Outcome::Answered && !runtime.devices.is_empty() {
        let pairs = view::pairs(facts);
        let judged = pairs.iter().filter(|(a, b)| view::is_judged(facts, a, b));
        findings.extend(judged.map(|(a, b)| judge_pair(facts, runtime, a, b)));
    }
    findings
}

/// How the asking went.
fn judge_host(facts: &Facts, runtime: &Runtime) -> Finding {
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    let failure = |summary: Text| finding(Status::Fail, summary);
    let library = words::library(runtime);
    match &runtime.outcome {
        Outcome::SwitchedOff => finding(Status::Skip, text!("pair-runtime-switched-off")),
        Outcome::StaticBuild => finding(Status::Skip, text!("pair-runtime-static-build")),
        Outcome::NotFound => {
            finding(Status::Na, text!("pair-runtime-not-found")).remedy(text!("pair-runtime-remedy-not-found"))
        }
        // It may be there for programs of another kind.
        Outcome::NoneFits => {
            finding(Status::Warn, words::unfit(runtime)).remedy(text!("pair-runtime-remedy-none-fits"))
        }
        Outcome::NotStarted { reason } => finding(Status::Unknown, text!("pair-runtime-not-started", reason = reason))
            .remedy(text!("pair-runtime-remedy-not-started")),
        Outcome::NotLoaded { reason } => failure(text!("pair-runtime-not-loaded", library = library, reason = reason))
            .remedy(text!("pair-runtime-remedy-not-loaded")),
        Outcome::Refused { code: code @ (NO_DEVICE | INVALID_DEVICE), .. } => {
            no_device(facts, runtime, words::code(*code))
        }
        Outcome::Refused { call, code } => {
            failure(text!("pair-runtime-refused", library = library, call = call, code = words::code(*code)))
                .remedy(text!("pair-runtime-remedy-refused"))
        }
        Outcome::Died { how, during } => {
            failure(text!("pair-runtime-died", library = library, how = how, during = during))
                .remedy(text!("pair-runtime-remedy-died"))
        }
        Outcome::TimedOut { seconds, during, unkillable } => {
            let seconds = seconds.to_string();
            failure(if *unkillable {
                text!("pair-runtime-stuck", library = library, seconds = seconds, during = during)
            } else {
                text!("pair-runtime-timed-out", library = library, seconds = seconds, during = during)
            })
            .remedy(text!("pair-runtime-remedy-timed-out"))
        }
        Outcome::Garbled { reason, during } => {
            let summary = text!("pair-runtime-garbled", library = library, reason = reason, during = during);
            finding(Status::Unknown, summary).remedy(text!("pair-runtime-remedy-garbled"))
        }
        Outcome::Answered if runtime.devices.is_empty() => no_device(facts, runtime, text!("pair-runtime-no-devices")),
        Outcome::Answered => answered(runtime, library),
    }
}

fn answered(runtime: &Runtime, library: Text) -> Finding {
    let count = runtime.devices.len();
    let (status, summary) = match &runtime.afterwards {
        None => (Status::Pass, text!("pair-runtime-answered", library = library, count = count)),
        Some(Outcome::Died { how, .. }) => {
            (Status::Warn, text!("pair-runtime-answered-died", library = library, count = count, how = how))
        }
        Some(_) => (Status::Warn, text!("pair-runtime-answered-late", library = library, count = count)),
    };
    Finding::new(ID, Scope::Host, status, summary)
}

/// HIP cannot tell "no GPU" from "no permission": other gates can.
fn no_device(facts: &Facts, runtime: &Runtime, what: Text) -> Finding {
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    let library = words::library(runtime);
    let gpus = view::gpus(facts);
    let known = gpus.iter().filter(|gpu| view::kfd_node(facts, gpu.device.bdf).is_ok()).count();
    if known == 0 {
        return finding(Status::Na, text!("pair-runtime-no-device", library = library, what = what));
    }
    let closed = |file: &crate::facts::devices::DeviceFile| file.opened != Opened::Yes;
    if facts.device_access.as_ref().is_ok_and(|access| closed(&access.kfd) || access.render.iter().all(closed)) {
        return finding(Status::Skip, text!("pair-runtime-no-access", library = library, what = what));
    }
    let remedy = match words::hiding(runtime) {
        Some(set) => text!("pair-runtime-remedy-hidden-all", variables = set),
        None => text!("pair-runtime-remedy-blind"),
    };
    finding(Status::Fail, text!("pair-runtime-blind", library = library, what = what, known = known)).remedy(remedy)
}

/// Devices of the runtime at this place.
fn indices(runtime: &Runtime, bdf: Bdf) -> Vec<i32> {
    let here = runtime.devices.iter().filter(|device| device.bdf == Ok(bdf));
    here.map(|device| device.index).collect()
}

fn judge_pair(facts: &Facts, runtime: &Runtime, a: &Gpu<'_>, b: &Gpu<'_>) -> Finding {
    let scope = Scope::Pair(a.device.bdf, b.device.bdf);
    let mut index = [0; 2];
    for (gpu, slot) in [a, b].into_iter().zip(&mut index) {
        match indices(runtime, gpu.device.bdf).as_slice() {
            [one] => *slot = *one,
            [] => return not_listed(facts, runtime, scope, gpu.device.bdf),
            _ => {
                let summary = text!("pair-runtime-several", gpu = gpu.device.bdf);
                return Finding::new(ID, scope, Status::Unknown, summary).remedy(text!("pair-runtime-remedy-several"));
            }
        }
    }
    let [first, second] = index;
    let ways = [way(facts, runtime, (a, first), (b, second)), way(facts, runtime, (b, second), (a, first))];
    let mut finding = judge_ways(scope, &ways);
    for way in &ways {
        let source = format!("hipDeviceCanAccessPeer {} -> {}", way.from, way.to);
        finding = finding.evidence(source, answer_words(way.answer));
    }
    finding
}

/// KFD knows it, the runtime does not show it.
fn not_listed(facts: &Facts, runtime: &Runtime, scope: Scope, bdf: Bdf) -> Finding {
    if view::kfd_node(facts, bdf).is_err() {
        return Finding::new(ID, scope, Status::Skip, text!("pair-runtime-not-in-kfd", gpu = bdf));
    }
    if runtime.devices.iter().any(|device| device.bdf.is_err()) {
        return Finding::new(ID, scope, Status::Unknown, text!("pair-runtime-nowhere", gpu = bdf))
            .remedy(text!("pair-runtime-remedy-nowhere"));
    }
    let remedy = match words::hiding(runtime) {
        Some(set) => text!("pair-runtime-remedy-hidden", variables = set),
        None => text!("pair-runtime-remedy-not-listed"),
    };
    Finding::new(ID, scope, Status::Fail, text!("pair-runtime-not-listed", gpu = bdf)).remedy(remedy)
}

/// One direction: `from` reaches memory of `to`.
struct Way {
    from: Bdf,
    to: Bdf,
    answer: Option<PeerAnswer>,
    /// Whether KFD has a link that is for peers; `None`: could not be read.
    linked: Option<bool>,
    /// How the kernel refuses, if it does and KFD's link does not say otherwise.
    refused: Option<Text>,
    /// Whether the kernel, or the module that is loaded, explains a link.
    explained: bool,
}

impl Way {
    fn says_yes(&self) -> bool {
        self.answer == Some(PeerAnswer::Yes)
    }
}

fn way(facts: &Facts, runtime: &Runtime, (from, index): (&Gpu<'_>, i32), (to, other): (&Gpu<'_>, i32)) -> Way {
    let said = runtime.peers.iter().find(|peer| (peer.from, peer.to) == (index, other));
    let linked = linked(facts, from.device.bdf, to.device.bdf);
    let route = route::directions(facts, to.device, from.device).ok().map(|[route, _]| route);
    let explained = route.as_ref().is_some_and(|route| route.kernel_answer() != Some(-1)) || facts.module.is_loaded();
    let refused = match route.and_then(|route| route.measured) {
        Some(row) => (row.answer < 0).then(|| text!("pair-runtime-route-refused")),
        // Predicted: a link is the better witness.
        None => (!explained && linked.is_none()).then(|| text!("pair-runtime-route-refused-predicted")),
    };
    Way { from: from.device.bdf, to: to.device.bdf, answer: said.map(|peer| peer.answer), linked, refused, explained }
}

/// Whether KFD has a link for peers: its own, or, with drivers from outside the kernel, one among `io_links`.
fn linked(facts: &Facts, from: Bdf, to: Bdf) -> Option<bool> {
    let (from, to): (&KfdNode, &KfdNode) = (view::kfd_node(facts, from).ok()?, view::kfd_node(facts, to).ok()?);
    let (peer, direct) = (from.p2p_links.as_ref().ok()?, from.io_links.as_ref().ok()?);
    let mut links = peer.iter().chain(direct).filter(|link| link.to == u64::from(to.id));
    Some(links.any(|link| link.flags & NOT_FOR_PEERS != NOT_FOR_PEERS))
}

fn judge_ways(scope: Scope, ways: &[Way; 2]) -> Finding {
    let finding = |status, summary: Text| Finding::new(ID, scope, status, summary);
    if is_crossed(ways) {
        return finding(Status::Fail, text!("pair-runtime-crossed")).remedy(text!("pair-runtime-remedy-crossed"));
    }
    let unfounded = |way: &&Way| way.says_yes() && (way.refused.is_some() || way.linked == Some(false));
    if let Some(way) = ways.iter().find(unfounded) {
        return alarm(scope, way);
    }
    let odd = |way: &&Way| !matches!(way.answer, Some(PeerAnswer::Yes | PeerAnswer::No));
    if let Some(way) = ways.iter().find(odd) {
        let answer = answer_words(way.answer);
        let summary = text!("pair-runtime-not-told", client = way.from, provider = way.to, answer = answer);
        return finding(Status::Unknown, summary).remedy(text!("pair-runtime-remedy-not-told"));
    }
    let agrees = |way: &Way| way.linked.map(|linked| linked == way.says_yes());
    match (ways.iter().map(agrees).collect::<Option<Vec<bool>>>(), ways.each_ref().map(|way| way.answer)) {
        (None, _) => finding(Status::Unknown, text!("pair-runtime-not-comparable"))
            .remedy(text!("pair-runtime-remedy-not-comparable")),
        (Some(agree), [Some(PeerAnswer::Yes), Some(PeerAnswer::Yes)]) if !agree.contains(&false) => agreed(scope, ways),
        (Some(agree), _) if !agree.contains(&false) => finding(Status::Skip, text!("pair-runtime-no")),
        // Only "no" is left: "yes" without a link was the alarm.
        (Some(_), _) => {
            finding(Status::Fail, text!("pair-runtime-refuses")).remedy(text!("pair-runtime-remedy-refuses"))
        }
    }
}

/// One yes, one link, in opposite directions: that may be a matter of who counts from where, and no alarm.
fn is_crossed([there, back]: &[Way; 2]) -> bool {
    let one = |yes: &Way, link: &Way| {
        yes.says_yes()
            && yes.linked == Some(false)
            && !link.says_yes()
            && link.linked == Some(true)
            && yes.refused.is_none()
    };
    one(there, back) || one(back, there)
}

/// Yes both ways, with links both ways.
fn agreed(scope: Scope, ways: &[Way; 2]) -> Finding {
    if ways.iter().all(|way| way.explained) {
        return Finding::new(ID, scope, Status::Pass, text!("pair-runtime-agreed"));
    }
    Finding::new(ID, scope, Status::Warn, text!("pair-runtime-agreed-unexplained"))
}

fn alarm(scope: Scope, way: &Way) -> Finding {
    let against = way.refused.clone().unwrap_or_else(|| text!("pair-runtime-no-link"));
    let summary = text!("pair-runtime-alarm", client = way.from, provider = way.to, against = against);
    Finding::new(ID, scope, Status::Fail, summary)
        .bearing(Bearing::Contradiction)
        .remedy(text!("pair-runtime-remedy-alarm"))
}

fn answer_words(answer: Option<PeerAnswer>) -> Text {
    match answer {
        Some(PeerAnswer::Yes) => "1".to_owned().into(),
        Some(PeerAnswer::No) => "0".to_owned().into(),
        Some(PeerAnswer::Odd(-1)) => text!("pair-runtime-no-answer"),
        Some(PeerAnswer::Odd(value)) => text!("pair-runtime-odd-answer", value = value.to_string()),
        Some(PeerAnswer::Code(code)) => words::code(code),
        None => text!("pair-runtime-peer-not-asked"),
    }
}
