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
    route,
    view::{self, Gpu},
};

pub(super) const ID: &str = "pair.runtime";

/// `CRAT_IOLINK_FLAGS_ENABLED`, which `ROCr` calls Override, and `CRAT_IOLINK_FLAGS_NO_PEER_TO_PEER_DMA`.
const NOT_FOR_PEERS: u64 = 1 | 1 << 4;

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let runtime = match &facts.runtime {
        Ok(runtime) => runtime,
        Err(error) if error.is_absent() => {
            let summary = "the HIP runtime can only be asked on the running machine";
            return vec![Finding::new(ID, Scope::Host, Status::Skip, summary)];
        }
        Err(error) => return vec![Finding::unreadable(ID, Scope::Host, "the HIP runtime's answer", error)],
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
    let finding = |status, summary: String| Finding::new(ID, Scope::Host, status, summary);
    let failure = |summary: String| finding(Status::Fail, summary);
    let library = words::library(runtime);
    match &runtime.outcome {
        Outcome::NotAsked { reason } => finding(Status::Skip, format!("the HIP runtime was not asked: {reason}")),
        Outcome::NotFound => finding(Status::Na, "there is no HIP runtime (libamdhip64) here to ask".to_owned())
            .remedy("where programs bring their own, name it: --runtime-library FILE"),
        // It may be there for programs of another kind.
        Outcome::NoneFits => finding(Status::Warn, format!("the HIP runtime was not asked: {}", words::unfit(runtime)))
            .remedy("name the one that programs use: --runtime-library FILE"),
        Outcome::NotStarted { reason } => {
            finding(Status::Unknown, format!("the process that asks the HIP runtime could not be started: {reason}"))
                .remedy("mount /proc, and run it where processes may be started; --no-runtime leaves this out")
        }
        Outcome::NotLoaded { reason } => failure(format!("{library} cannot be loaded: {reason}"))
            .remedy("install what it needs (ldd shows what is missing), or name another: --runtime-library FILE"),
        Outcome::Refused { code: code @ (NO_DEVICE | INVALID_DEVICE), .. } => {
            no_device(facts, runtime, &words::code(*code))
        }
        Outcome::Refused { call, code } => failure(format!("{library}: {call} returned {}", words::code(*code)))
            .remedy("run it again with AMD_LOG_LEVEL=4 and -v, and read the kernel log for kfd"),
        Outcome::Died { how, during } => {
            failure(format!("{library} ended the process that asked it: {how}, during {during}")).remedy(
                "programs that use it will end likewise: install another release of ROCm, or name the library that \
                     they do use: --runtime-library FILE",
            )
        }
        Outcome::TimedOut { seconds, during, unkillable } => {
            let more = if *unkillable { ", and could not be killed: it waits in the kernel" } else { "" };
            failure(format!("{library} did not answer within {seconds} s, during {during}{more}"))
                .remedy("read the kernel log for amdgpu and kfd; if the machine is just slow, give it longer: --runtime-timeout")
        }
        Outcome::Garbled { reason, during } => {
            finding(Status::Unknown, format!("what {library} said makes no sense: {reason}, during {during}"))
                .remedy("name the library that programs use: --runtime-library FILE; report it if that is this one")
        }
        Outcome::Answered if runtime.devices.is_empty() => no_device(facts, runtime, "0 devices"),
        Outcome::Answered => answered(runtime, &library),
    }
}

fn answered(runtime: &Runtime, library: &str) -> Finding {
    let count = runtime.devices.len();
    match &runtime.afterwards {
        None => Finding::new(ID, Scope::Host, Status::Pass, format!("{library} answered for {count} devices")),
        Some(end) => {
            let how = match end {
                Outcome::Died { how, .. } => how.as_str(),
                _ => "the time limit",
            };
            let summary =
                format!("{library} answered for {count} devices, but its process did not end by itself: {how}");
            Finding::new(ID, Scope::Host, Status::Warn, summary)
        }
    }
}

/// HIP cannot tell "no GPU" from "no permission": other gates can.
fn no_device(facts: &Facts, runtime: &Runtime, what: &str) -> Finding {
    let finding = |status, summary: String| Finding::new(ID, Scope::Host, status, summary);
    let library = words::library(runtime);
    let gpus = view::gpus(facts);
    let known = gpus.iter().filter(|gpu| view::kfd_node(facts, gpu.device.bdf).is_ok()).count();
    if known == 0 {
        return finding(Status::Na, format!("{library} sees no device ({what}), as KFD knows none"));
    }
    let closed = |file: &crate::facts::devices::DeviceFile| file.opened != Opened::Yes;
    if facts.device_access.as_ref().is_ok_and(|access| closed(&access.kfd) || access.render.iter().all(closed)) {
        return finding(Status::Skip, format!("{library} sees no device ({what}); see env.access"));
    }
    let remedy = words::hiding(runtime).map_or_else(
        || "a release of ROCm that knows this GPU is needed; AMD_LOG_LEVEL=4 and -v show how far it comes".to_owned(),
        |set| format!("{set} may hide them: unset it and run this again"),
    );
    finding(Status::Fail, format!("{library} sees no device ({what}), though KFD knows {known}")).remedy(remedy)
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
                let summary = format!(
                    "the runtime lists several devices at {}, so their answers are not those of a card",
                    gpu.device.bdf
                );
                return Finding::new(ID, scope, Status::Unknown, summary)
                    .remedy("run the GPU without partitions (amd-smi set --compute-partition SPX)");
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
        return Finding::new(
            ID,
            scope,
            Status::Skip,
            format!("the runtime does not list {bdf}, nor does KFD; see gpu.kfd"),
        );
    }
    if runtime.devices.iter().any(|device| device.bdf.is_err()) {
        let summary = format!("the runtime lists no device at {bdf}, but one or more at no PCI address at all");
        return Finding::new(ID, scope, Status::Unknown, summary)
            .remedy("use another release of ROCm, or name another library: --runtime-library FILE");
    }
    let remedy = words::hiding(runtime).map_or_else(
        || "see env.access for its render node; else a release of ROCm that knows this GPU is needed".to_owned(),
        |set| format!("{set} may hide it: unset it and run this again"),
    );
    Finding::new(ID, scope, Status::Fail, format!("the runtime does not list {bdf}, though KFD knows it"))
        .remedy(remedy)
}

/// One direction: `from` reaches memory of `to`.
struct Way {
    from: Bdf,
    to: Bdf,
    answer: Option<PeerAnswer>,
    /// Whether KFD has a link that is for peers; `None`: could not be read.
    linked: Option<bool>,
    /// How the kernel refuses, if it does and KFD's link does not say otherwise.
    refused: Option<&'static str>,
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
    let explained = route.as_ref().is_some_and(|route| route.kernel_answer() != Some(-1)) || facts.module.loaded;
    let refused = match route.and_then(|route| route.measured) {
        Some(row) => (row.answer < 0).then_some("the kernel refuses that route"),
        // Predicted: a link is the better witness.
        None => (!explained && linked.is_none()).then_some("the kernel is predicted to refuse that route"),
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
    let finding = |status, summary: &str| Finding::new(ID, scope, status, summary);
    if is_crossed(ways) {
        let summary = "the runtime says yes one way, and KFD has its link the other way only; see pair.kfd-link";
        return finding(Status::Fail, summary)
            .remedy("remove what closes the other way (pair.kfd-link), and report it if the two still differ then");
    }
    let unfounded = |way: &&Way| way.says_yes() && (way.refused.is_some() || way.linked == Some(false));
    if let Some(way) = ways.iter().find(unfounded) {
        return alarm(scope, way);
    }
    let odd = |way: &&Way| !matches!(way.answer, Some(PeerAnswer::Yes | PeerAnswer::No));
    if let Some(way) = ways.iter().find(odd) {
        let summary =
            format!("the runtime did not tell whether {} can reach {}: {}", way.from, way.to, answer_words(way.answer));
        return finding(Status::Unknown, &summary).remedy("read the kernel log for kfd, and report it");
    }
    let agrees = |way: &Way| way.linked.map(|linked| linked == way.says_yes());
    match (ways.iter().map(agrees).collect::<Option<Vec<bool>>>(), ways.each_ref().map(|way| way.answer)) {
        (None, _) => finding(Status::Unknown, "the runtime's answers cannot be compared with KFD's links; see pair.kfd-link")
            .remedy("see pair.kfd-link and gpu.kfd"),
        (Some(agree), [Some(PeerAnswer::Yes), Some(PeerAnswer::Yes)]) if !agree.contains(&false) => agreed(scope, ways),
        (Some(agree), _) if !agree.contains(&false) => {
            finding(Status::Skip, "the runtime says no, as KFD has no link that way; see pair.kfd-link")
        }
        // Only "no" is left: "yes" without a link was the alarm.
        (Some(_), _) => finding(Status::Fail, "KFD has links for this pair, but the runtime says no to programs").remedy(
            "use a release of ROCm that reads p2p_links (newer than the kernel's 6.0); look whether the memory of both GPUs \
             is whole behind their BARs (gpu.bar-size), and whether this runtime sees the same /sys as the host",
        ),
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
    let pass = Finding::new(ID, scope, Status::Pass, "the runtime says yes both ways, as KFD does");
    if ways.iter().all(|way| way.explained) {
        return pass;
    }
    let summary =
        "the runtime says yes both ways, as KFD does, although the kernel is predicted to refuse; see pair.kfd-link";
    Finding { status: Status::Warn, summary: summary.to_owned(), ..pass }
}

fn alarm(scope: Scope, way: &Way) -> Finding {
    let against = way.refused.unwrap_or("KFD has no link for it");
    let summary = format!(
        "CONTRADICTION: the runtime says that {} can reach {}, but {against}: copies can report success while their bytes \
         are lost or wrong",
        way.from, way.to
    );
    Finding::new(ID, scope, Status::Fail, summary).bearing(Bearing::Contradiction).remedy(
        "do not let programs copy between these GPUs (with llama.cpp GGML_CUDA_NO_PEER_COPY=ON, with RCCL \
         NCCL_P2P_DISABLE=1) until bytes were compared; then look for an old or patched ROCm, kernel or amdgpu",
    )
}

fn answer_words(answer: Option<PeerAnswer>) -> String {
    match answer {
        Some(PeerAnswer::Yes) => "1".to_owned(),
        Some(PeerAnswer::No) => "0".to_owned(),
        Some(PeerAnswer::Odd(-1)) => "success, and no answer".to_owned(),
        Some(PeerAnswer::Odd(value)) => format!("success with the value {value}"),
        Some(PeerAnswer::Code(code)) => words::code(code),
        None => "not asked".to_owned(),
    }
}
