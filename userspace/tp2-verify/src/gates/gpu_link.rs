// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.link`: whether the links between the card and the CPU have the width that both ends could have, and whether all
//! ports on the way agree on the payload size. An idle link runs slowly on purpose, so speed is not judged. A port that
//! gets a packet larger than its Max Payload Size takes it as malformed, which is a fatal error (PCI Express Base 6.0,
//! section 2.2.2).

use crate::{
    facts::{Facts, PciDevice},
    finding::{Finding, Scope, Status},
    text,
    view::{self, Gpu},
    way_up::{self, WayLink},
};

pub(super) const ID: &str = "gpu.link";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    view::cards(facts).iter().map(|gpu| judge_gpu(facts, gpu)).collect()
}

fn judge_gpu(facts: &Facts, gpu: &Gpu<'_>) -> Finding {
    let scope = Scope::Gpu(gpu.device.bdf);
    if let Some(error) = way_up::lost_bridge(facts, gpu.device) {
        return Finding::unreadable(ID, scope, text!("gpu-link-what-bridge"), &error);
    }
    let chain = way_up::chain(facts, gpu.device);
    let links = way_up::links(&chain);
    if links.is_empty() {
        return Finding::new(ID, scope, Status::Na, text!("gpu-link-none"));
    }
    if let Some(mismatch) = payload(scope, &chain) {
        return mismatch;
    }
    for link in &links {
        match (link.now(), link.at_most()) {
            (Ok(now), Ok(most)) if now.width < most.width => return narrow(scope, link, now.width, most.width),
            (Err(error), _) | (_, Err(error)) => {
                return Finding::unreadable(ID, scope, text!("gpu-link-what-link"), &error);
            }
            _ => {}
        }
    }
    let mut pass = Finding::new(ID, scope, Status::Pass, text!("gpu-link-pass"));
    for link in &links {
        if let (Ok(now), Ok(most)) = (link.now(), link.at_most()) {
            let ends = text!("gpu-link-ends", above = link.above.bdf, below = link.below.bdf);
            pass = pass.evidence(ends, text!("gpu-link-rates", now = now.words(), most = most.words()));
        }
    }
    pass
}

fn narrow(scope: Scope, link: &WayLink<'_>, now: u32, most: u32) -> Finding {
    let (above, below) = (link.above.bdf, link.below.bdf);
    let summary = text!("gpu-link-narrow", above = above, below = below, now = now, most = most);
    Finding::new(ID, scope, Status::Warn, summary)
        .evidence(format!("/{}/current_link_width", link.below.path), now.to_string())
        .evidence(format!("/{}/max_link_width", link.above.path), most.to_string())
        .remedy(text!("gpu-link-narrow-remedy"))
}

/// Compares payload sizes along the way, where they can be read (as root).
fn payload(scope: Scope, chain: &[&PciDevice]) -> Option<Finding> {
    let sizes: Vec<(&PciDevice, u32)> = chain
        .iter()
        .filter_map(|device| {
            let express = device.on_path.as_ref()?.express.as_ref().ok()?.as_ref()?;
            Some((*device, express.max_payload()))
        })
        .collect();
    let (gpu, own) = sizes.first().copied()?;
    let (other, size) = sizes.iter().find(|(_, size)| *size != own).copied()?;
    let (at, there) = (gpu.bdf, other.bdf);
    let (status, summary) = if size < own {
        (Status::Fail, text!("gpu-link-payload-smaller", own = own, gpu = at, size = size, other = there))
    } else {
        (Status::Warn, text!("gpu-link-payload-larger", own = own, gpu = at, size = size, other = there))
    };
    Some(
        Finding::new(ID, scope, status, summary)
            .evidence(format!("/{}/config", gpu.path), text!("gpu-link-payload-size", size = own))
            .evidence(format!("/{}/config", other.path), text!("gpu-link-payload-size", size = size))
            .remedy(text!("gpu-link-payload-remedy")),
    )
}
