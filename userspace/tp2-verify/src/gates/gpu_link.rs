// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.link`: whether the links between the card and the CPU have the width that both ends could have, and whether all
//! ports on the way agree on the payload size. An idle link runs slowly on purpose, so speed is not judged. A port that
//! gets a packet larger than its Max Payload Size takes it as malformed, which is a fatal error (PCI Express Base 6.0,
//! section 2.2.2).

use crate::{
    facts::{Facts, PciDevice},
    finding::{Finding, Scope, Status},
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
        return Finding::unreadable(ID, scope, "a bridge above this GPU", &error);
    }
    let chain = way_up::chain(facts, gpu.device);
    let links = way_up::links(&chain);
    if links.is_empty() {
        return Finding::new(
            ID,
            scope,
            Status::Na,
            "there is no bridge above this GPU, so there is no link to look at",
        );
    }
    if let Some(mismatch) = payload(scope, &chain) {
        return mismatch;
    }
    for link in &links {
        match (link.now(), link.at_most()) {
            (Ok(now), Ok(most)) if now.width < most.width => return narrow(scope, link, now.width, most.width),
            (Err(error), _) | (_, Err(error)) => {
                return Finding::unreadable(ID, scope, "a link between this GPU and the CPU", &error);
            }
            _ => {}
        }
    }
    let summary = "every link to the CPU has the width that both ends can have";
    let mut pass = Finding::new(ID, scope, Status::Pass, summary);
    for link in &links {
        if let (Ok(now), Ok(most)) = (link.now(), link.at_most()) {
            let value = format!("{} now (idle links slow down), {} at most", now.words(), most.words());
            pass = pass.evidence(format!("{} to {}", link.above.bdf, link.below.bdf), value);
        }
    }
    pass
}

fn narrow(scope: Scope, link: &WayLink<'_>, now: u32, most: u32) -> Finding {
    let summary = format!(
        "the link {} to {} came up with {now} lanes, although both ends could have {most}",
        link.above.bdf, link.below.bdf
    );
    Finding::new(ID, scope, Status::Warn, summary)
        .evidence(format!("/{}/current_link_width", link.below.path), now.to_string())
        .evidence(format!("/{}/max_link_width", link.above.path), most.to_string())
        .remedy(
            "look up how many lanes this slot has when the others are used; if it should have more, reseat the card or \
             replace the riser",
        )
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
    let (status, what) = if size < own {
        (Status::Fail, "takes the GPU's larger packets as malformed, which is a fatal error")
    } else {
        (Status::Warn, "may send packets that the GPU takes as malformed, unless its driver limits them")
    };
    let summary = format!("Max Payload Size is {own} bytes at {} and {size} at {}, which {what}", gpu.bdf, other.bdf);
    Some(
        Finding::new(ID, scope, status, summary)
            .evidence(format!("/{}/config", gpu.path), format!("Device Control: {own} bytes"))
            .evidence(format!("/{}/config", other.path), format!("Device Control: {size} bytes"))
            .remedy(
                "boot with the kernel parameter pci=pcie_bus_safe, which sets the size that all of the way can take",
            ),
    )
}
