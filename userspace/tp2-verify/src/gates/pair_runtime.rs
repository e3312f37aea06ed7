// SPDX-License-Identifier: GPL-2.0-only

//! `pair.runtime`: what `hipDeviceCanAccessPeer` answers for the pair, against what the kernel says. If the runtime says yes
//! where the host bridge is refused and nothing overrides that, programs will copy over a route that nobody vouches for:
//! such copies have ended in corrupted memory and GPU resets (case A11).

use tp2_policy::policy::Rule;

use crate::{
    facts::{Bdf, Facts, ReadError, RuntimeFacts},
    finding::{Bearing, Finding, Scope, Status},
    route::{self, Direction},
    view::{self, DriverP2p, Gpu},
};

pub(super) const ID: &str = "pair.runtime";
const CALL: &str = "hipDeviceCanAccessPeer";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let Some(runtime) = &facts.runtime else {
        return Vec::new();
    };
    let pairs = view::pairs(facts);
    let judged = pairs.iter().filter(|(a, b)| view::is_judged(facts, a, b));
    judged.map(|(a, b)| judge_pair(facts, runtime, a, b)).collect()
}

fn judge_pair(facts: &Facts, runtime: &RuntimeFacts, a: &Gpu<'_>, b: &Gpu<'_>) -> Finding {
    let (a, b) = (a.device, b.device);
    let scope = Scope::Pair(a.bdf, b.bdf);
    let answers = [answer(runtime, a.bdf, b.bdf), answer(runtime, b.bdf, a.bdf)];
    let [there, back] = match answers {
        [Ok(there), Ok(back)] => [there, back],
        [Err(error), _] | [_, Err(error)] => {
            return Finding::unreadable(ID, scope, "the GPU runtime's answer", &error)
                .remedy("see whether rocminfo lists both GPUs for this user");
        }
    };
    let evidence = |finding: Finding| {
        let line = |client: Bdf, provider: Bdf, yes: bool| format!("{client} to {provider}: {}", u8::from(yes));
        finding.evidence(
            format!("{CALL} of {}", runtime.library),
            format!("{}; {}", line(b.bdf, a.bdf, there), line(a.bdf, b.bdf, back)),
        )
    };
    let refused = route::directions(facts, a, b).is_ok_and(|ways| {
        let yes = [there, back];
        ways.iter().zip(yes).any(|(way, yes)| yes && is_refused(facts, way))
    });
    let never_asks = (there || back) && matches!(view::driver_p2p(facts), DriverP2p::Off(..));
    let linked = view::are_linked(facts, a.bdf, b.bdf);
    let finding = |status, summary: &str| evidence(Finding::new(ID, scope, status, summary));
    if refused || never_asks {
        return evidence(contradiction(scope, refused));
    }
    match (there && back, there || back, linked) {
        (true, _, true) => finding(Status::Pass, "the GPU runtime says that each can reach the other, as KFD does"),
        (true, _, false) => finding(
            Status::Unknown,
            "the GPU runtime says that each can reach the other, but KFD has no links for that",
        )
        .remedy("compare bytes before trusting it; an old runtime may announce what its kernel does not have"),
        (false, true, _) => finding(
            Status::Fail,
            "the GPU runtime says that one can reach the other, but not the way back, which breaks RCCL",
        )
        .remedy("compare BAR sizes and addresses of the two (gpu.bar-size, gpu.bar-address)"),
        (false, false, true) => finding(
            Status::Fail,
            "KFD has links both ways, but the GPU runtime says that neither can reach the other",
        )
        .remedy(
            "see whether variables hide GPUs or switch peers off (HIP_VISIBLE_DEVICES, HSA_*), and try another ROCm",
        ),
        (false, false, false) => {
            finding(Status::Skip, "the GPU runtime sees no peer access, as KFD; see pair.kfd-link")
        }
    }
}

/// The loudest alarm: by whom the route is refused.
fn contradiction(scope: Scope, by_route: bool) -> Finding {
    let who = if by_route {
        "the kernel refuses the route, and tp2_p2pdma does not override it"
    } else {
        "this kernel's amdgpu was built without HSA_AMD_P2P"
    };
    let summary = format!(
        "CONTRADICTION: the GPU runtime says that peers can reach each other, but {who}: programs will copy over a route that \
         nobody vouches for"
    );
    Finding::new(ID, scope, Status::Fail, summary).bearing(Bearing::Contradiction).remedy(
        "do not let programs use peer access (for RCCL: NCCL_P2P_DISABLE=1) before bytes were compared; look for a patched kernel \
         or driver, or another override, and report this with the output of tp2-verify --json",
    )
}

/// The runtime's answer for one direction.
fn answer(runtime: &RuntimeFacts, provider: Bdf, client: Bdf) -> Result<bool, ReadError> {
    let answers = runtime.answers.as_ref().map_err(Clone::clone)?;
    let found = answers.iter().find(|answer| answer.provider == provider && answer.client == client);
    if let Some(answer) = found {
        return answer.can_access.clone();
    }
    let reason = format!("the runtime lists no pair of {provider} and {client}");
    Err(ReadError { reason, ..ReadError::absent(&runtime.library) })
}

/// Whether the kernel refuses and nothing that is known overrides it.
fn is_refused(facts: &Facts, way: &Direction<'_>) -> bool {
    let overridden = match way.measured {
        Some(row) => row.answer >= 0,
        None => view::module_acts(facts) && way.rule() == Rule::Override.token(),
    };
    way.kernel_answer() == Some(-1) && !overridden
}
