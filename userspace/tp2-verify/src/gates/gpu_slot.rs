// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.slot`: the narrowest link between the card and the CPU, which bounds every copy. AMD cards since Navi carry a
//! switch (1002:1478, 1002:1479), so the GPU's own link attributes tell of a link inside the card and claim full width in
//! every slot (case A30): they are not used here. A slot of the chipset shares its way to the CPU with disks and networks.

use crate::{
    facts::Facts,
    finding::{Finding, Scope, Status},
    text,
    view::{self, Gpu},
    way_up::{self, Rate, WayLink},
};

pub(super) const ID: &str = "gpu.slot";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    view::cards(facts).iter().map(|gpu| judge_gpu(facts, gpu)).collect()
}

fn judge_gpu(facts: &Facts, gpu: &Gpu<'_>) -> Finding {
    let scope = Scope::Gpu(gpu.device.bdf);
    if let Some(error) = way_up::lost_bridge(facts, gpu.device) {
        return Finding::unreadable(ID, scope, text!("gpu-slot-what-bridge"), &error);
    }
    let chain = way_up::chain(facts, gpu.device);
    let links = way_up::links(&chain);
    let mut narrowest: Option<(WayLink<'_>, Rate)> = None;
    for link in &links {
        match link.now() {
            Ok(rate) if narrowest.is_none_or(|(_, least)| rate.ten_megabytes() < least.ten_megabytes()) => {
                narrowest = Some((*link, rate));
            }
            Ok(_) => {}
            Err(error) => return Finding::unreadable(ID, scope, text!("gpu-slot-what-link"), &error),
        }
    }
    let Some((link, rate)) = narrowest else {
        return Finding::new(ID, scope, Status::Na, text!("gpu-slot-none"));
    };
    let (above, below, speed, most) = (link.above.bdf, link.below.bdf, rate.words(), rate.gigabytes());
    let summary = if std::ptr::eq(link.below, links.first().map_or(link.below, |first| first.below)) {
        text!("gpu-slot-link", above = above, below = below, rate = speed, most = most)
    } else {
        text!("gpu-slot-narrowest", above = above, below = below, rate = speed, most = most)
    };
    let summary = match link.at_most() {
        Ok(most) if most.speed > rate.speed => {
            let full = Rate { speed: most.speed, ..rate };
            text!("gpu-slot-slow", link = summary, rate = full.words(), most = full.gigabytes())
        }
        _ => summary,
    };
    let evidence = |finding: Finding| {
        let own = gpu.device.on_path.as_ref().map(|more| (&more.link.current_speed, &more.link.current_width));
        let finding = finding.evidence(format!("/{}/current_link_speed", link.below.path), rate.words());
        match own {
            Some((Ok(speed), Ok(width))) if !std::ptr::eq(link.below, gpu.device) => {
                let claim = Rate { speed: *speed, width: *width }.words();
                finding.evidence(
                    format!("/{}/current_link_speed", gpu.device.path),
                    text!("gpu-slot-in-card", rate = claim),
                )
            }
            _ => finding,
        }
    };
    match way_up::chipset(&chain) {
        Some(why) => evidence(Finding::new(ID, scope, Status::Warn, text!("gpu-slot-chipset", link = summary)))
            .evidence(text!("gpu-slot-chipset-route"), why)
            .remedy(text!("gpu-slot-chipset-remedy")),
        None => evidence(Finding::new(ID, scope, Status::Pass, summary)),
    }
}
