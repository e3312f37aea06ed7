// SPDX-License-Identifier: GPL-2.0-only

//! `pair.kfd-link`: the `p2p_links` that KFD made between the two GPUs when the second was added (`kfd_add_peer_prop()`,
//! Linux 6.1 to 7.3). They are what `ROCm` sees; links to CPU nodes are not meant. Flags are those of `kfd_crat.h`.

use tp2_policy::{policy::Rule, route::Path};

use crate::{
    facts::{Facts, KfdLink, KfdNode, ReadError},
    finding::{Bearing, Finding, Scope, Status},
    route, text,
    view::{self, DriverP2p},
};

pub(super) const ID: &str = "pair.kfd-link";

const FLAG_ENABLED: u64 = 1;
const FLAG_NO_ATOMICS_32: u64 = 1 << 2;
const FLAG_NO_ATOMICS_64: u64 = 1 << 3;
const FLAG_NO_P2P: u64 = 1 << 4;

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let pairs = view::pairs(facts);
    let judged = pairs.iter().filter(|(a, b)| view::is_judged(facts, a, b));
    judged
        .map(|(a, b)| {
            let scope = Scope::Pair(a.device.bdf, b.device.bdf);
            match (view::kfd_node(facts, a.device.bdf), view::kfd_node(facts, b.device.bdf)) {
                (Ok(node_a), Ok(node_b)) => judge_nodes(facts, scope, (a.device, node_a), (b.device, node_b)),
                _ => Finding::new(ID, scope, Status::Skip, text!("pair-kfd-link-not-known")),
            }
        })
        .collect()
}

type Side<'a> = (&'a crate::facts::PciDevice, &'a KfdNode);

fn judge_nodes(facts: &Facts, scope: Scope, a: Side<'_>, b: Side<'_>) -> Finding {
    let links = [link(a.1, b.1), link(b.1, a.1)];
    match links {
        [Err(error), _] | [_, Err(error)] => Finding::unreadable(ID, scope, text!("pair-kfd-link-question"), error),
        [Ok(Some(there)), Ok(Some(back))] => both_ways(facts, scope, (a, b), [there, back]),
        [Ok(None), Ok(None)] => none(facts, scope, a, b),
        [Ok(there), Ok(back)] => {
            let (from, to) = if there.is_some() { (a, b) } else { (b, a) };
            let summary = text!("pair-kfd-link-one-way", from = from.0.bdf, to = to.0.bdf);
            let failure = Finding::new(ID, scope, Status::Fail, summary).bearing(Bearing::LinkMissing);
            let found = there.or(back).map_or_else(String::new, |link| link.path.clone());
            failure
                .evidence(format!("/{found}"), text!("pair-kfd-link-present"))
                .evidence(format!("/{}/p2p_links", to.1.path), text!("pair-kfd-link-absent", node = from.1.id))
                .remedy(text!("pair-kfd-link-remedy-one-way"))
        }
    }
}

/// The link from one GPU's node to the other's.
fn link<'a>(from: &'a KfdNode, to: &KfdNode) -> Result<Option<&'a KfdLink>, &'a ReadError> {
    let links = from.p2p_links.as_ref()?;
    Ok(links.iter().find(|link| link.to == u64::from(to.id)))
}

fn none(facts: &Facts, scope: Scope, a: Side<'_>, b: Side<'_>) -> Finding {
    let no_links = matches!(view::driver_p2p(facts), DriverP2p::Off(..));
    if no_links || view::p2pdma_is_off(facts) {
        return Finding::new(ID, scope, Status::Skip, text!("pair-kfd-link-not-made"));
    }
    let mut failure = Finding::new(ID, scope, Status::Fail, text!("pair-kfd-link-none"));
    for (from, to) in [(a, b), (b, a)] {
        failure =
            failure.evidence(format!("/{}/p2p_links", from.1.path), text!("pair-kfd-link-absent", node = to.1.id));
    }
    let acts = view::module_acts(facts);
    let ways = route::directions(facts, a.0, b.0).ok();
    let expected = ways.as_ref().is_some_and(|ways| {
        ways.iter().all(|way| {
            let allowed = way.kernel_answer().is_some_and(|answer| answer >= 0);
            allowed || (acts && way.rule() == Rule::Override.token())
        })
    });
    let across = ways.iter().flatten().any(|way| way.prediction.path == Path::AcrossHostBridges);
    if across {
        failure = failure.remedy(text!("pair-kfd-link-remedy-across"));
    } else if expected {
        failure = failure.remedy(text!("pair-kfd-link-remedy-expected"));
    }
    failure.bearing(Bearing::LinkMissing)
}

fn both_ways(facts: &Facts, scope: Scope, (a, b): (Side<'_>, Side<'_>), links: [&KfdLink; 2]) -> Finding {
    let disabled = links.iter().any(|link| link.flags & FLAG_ENABLED == 0 || link.flags & FLAG_NO_P2P != 0);
    let no_atomics = links.iter().any(|link| link.flags & (FLAG_NO_ATOMICS_32 | FLAG_NO_ATOMICS_64) != 0);
    let explained = route::directions(facts, a.0, b.0)
        .map(|ways| ways.iter().all(|way| way.kernel_answer() != Some(-1)) || facts.module.is_loaded());
    let (status, summary) = if disabled {
        (Status::Fail, text!("pair-kfd-link-disabled"))
    } else if explained == Ok(false) {
        (Status::Unknown, text!("pair-kfd-link-unexplained"))
    } else if no_atomics {
        (Status::Warn, text!("pair-kfd-link-no-atomics"))
    } else {
        (Status::Pass, text!("pair-kfd-link-pass"))
    };
    let mut finding = Finding::new(ID, scope, status, summary);
    for link in links {
        let value = text!(
            "pair-kfd-link-properties",
            from = link.from.to_string(),
            to = link.to.to_string(),
            kind = link.kind.to_string(),
            weight = link.weight.to_string(),
            bandwidth = link.max_bandwidth.to_string(),
            flags = link.flags.to_string()
        );
        finding = finding.evidence(format!("/{}", link.path), value);
    }
    match status {
        Status::Fail => finding.remedy(text!("pair-kfd-link-remedy-disabled")),
        Status::Unknown => finding.remedy(text!("pair-kfd-link-remedy-unexplained")),
        _ => finding,
    }
}
