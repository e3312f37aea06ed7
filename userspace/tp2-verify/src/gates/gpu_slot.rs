// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.slot`: the narrowest link between the card and the CPU, which bounds every copy. AMD cards since Navi carry a
//! switch (1002:1478, 1002:1479), so the GPU's own link attributes tell of a link inside the card and claim full width in
//! every slot (case A30): they are not used here. A slot of the chipset shares its way to the CPU with disks and networks.

use crate::{
    facts::Facts,
    finding::{Finding, Scope, Status},
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
        return Finding::unreadable(ID, scope, "a bridge above this GPU", &error);
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
            Err(error) => return Finding::unreadable(ID, scope, "a link between this GPU and the CPU", &error),
        }
    }
    let Some((link, rate)) = narrowest else {
        return Finding::new(
            ID,
            scope,
            Status::Na,
            "there is no bridge above this GPU, so there is no slot to measure",
        );
    };
    let place = if std::ptr::eq(link.below, links.first().map_or(link.below, |first| first.below)) {
        "the slot link"
    } else {
        "the narrowest link to the CPU"
    };
    let summary = format!(
        "{place} ({} to {}) runs at {}: at most {} one way",
        link.above.bdf,
        link.below.bdf,
        rate.words(),
        rate.gigabytes()
    );
    let evidence = |finding: Finding| {
        let own = gpu.device.on_path.as_ref().map(|more| (&more.link.current_speed, &more.link.current_width));
        let finding = finding.evidence(format!("/{}/current_link_speed", link.below.path), rate.words());
        match own {
            Some((Ok(speed), Ok(width))) if !std::ptr::eq(link.below, gpu.device) => {
                let claim = Rate { speed: *speed, width: *width }.words();
                finding.evidence(
                    format!("/{}/current_link_speed", gpu.device.path),
                    format!("{claim}, which is the link inside the card"),
                )
            }
            _ => finding,
        }
    };
    match way_up::chipset(&chain) {
        Some(why) => evidence(Finding::new(
            ID,
            scope,
            Status::Warn,
            format!("{summary}; it is a slot of the chipset, whose link to the CPU is shared"),
        ))
        .evidence("route", why)
        .remedy("move the card to a slot of the CPU"),
        None => evidence(Finding::new(ID, scope, Status::Pass, summary)),
    }
}
