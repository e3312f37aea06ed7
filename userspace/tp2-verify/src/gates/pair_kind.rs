// SPDX-License-Identifier: GPL-2.0-only

//! `pair.kind`: whether a pair is one to judge: two cards, not joined by XGMI (`CRAT_IOLINK_TYPE_XGMI`, `kfd_crat.h`).

use crate::{
    facts::Facts,
    finding::{Bearing, Finding, Scope, Status},
    view::{self, Gpu, GpuKind},
};

pub(super) const ID: &str = "pair.kind";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    view::pairs(facts).iter().map(|(a, b)| judge_pair(facts, a, b)).collect()
}

fn judge_pair(facts: &Facts, a: &Gpu<'_>, b: &Gpu<'_>) -> Finding {
    let scope = Scope::Pair(a.device.bdf, b.device.bdf);
    let finding = |status, summary: String| Finding::new(ID, scope, status, summary);
    for gpu in [a, b] {
        if let GpuKind::Integrated(why) = &gpu.kind {
            let bdf = gpu.device.bdf;
            return finding(Status::Na, format!("{bdf} is the GPU of a CPU, not a card: {why}"))
                .evidence(format!("/{}", gpu.device.path), why.clone())
                .remedy(
                    "if a program takes it for a second card, name the cards in ROCR_VISIBLE_DEVICES (by UUID, from rocminfo); \
                     indices of the others then shift",
                )
                .bearing(Bearing::NotJudged);
        }
    }
    if view::are_joined_by_xgmi(facts, a.device.bdf, b.device.bdf) {
        return finding(Status::Na, "the two are joined by XGMI and do not need PCIe".to_owned())
            .evidence("/sys/class/kfd/kfd/topology/nodes", "io_link of type 11 between the two, or the same hive_id")
            .bearing(Bearing::NotJudged);
    }
    if let Some(error) = view::xgmi_unreadable(facts, a.device.bdf, b.device.bdf) {
        return Finding::unreadable(ID, scope, "whether XGMI joins the two", error);
    }
    for gpu in [a, b] {
        if let GpuKind::Unknown(why) = &gpu.kind {
            let bdf = gpu.device.bdf;
            return finding(
                Status::Unknown,
                format!("whether {bdf} is a card cannot be told: {why}"),
            )
            .evidence(format!("/{}", gpu.device.path), why.clone())
            .remedy("run it on the machine below, which has the real bridges, or give the guest a root port for each card");
        }
    }
    let ids = |gpu: &Gpu<'_>| {
        let hex =
            |value: &crate::facts::Reading<u16>| value.as_ref().map_or("????".to_owned(), |id| format!("{id:04x}"));
        format!("{}:{}", hex(&gpu.device.vendor), hex(&gpu.device.device))
    };
    let chips = [a, b].map(|gpu| architecture(facts, gpu));
    let one = match &chips {
        [Some(one), Some(other)] if one != other => finding(
            Status::Warn,
            format!("two cards, joined by PCIe only, of two architectures ({one}, {other}), for one of which RCCL may have no code"),
        )
        .remedy(
            "if RCCL says `invalid device function`, that is why, and not peer access: use an RCCL that was built for both",
        ),
        _ => finding(Status::Pass, "two cards, joined by PCIe only".to_owned()),
    };
    one.evidence(format!("/{}", a.device.path), ids(a)).evidence(format!("/{}", b.device.path), ids(b))
}

/// `gfx1201` of KFD's `gfx_target_version` 120001: two digits each of stepping and minor, both hexadecimal in the name.
fn architecture(facts: &Facts, gpu: &Gpu<'_>) -> Option<String> {
    let node = view::kfd_node(facts, gpu.device.bdf).ok()?;
    let version = node.properties.as_ref().ok()?.get("gfx_target_version").copied().filter(|version| *version > 0)?;
    Some(format!("gfx{}{:x}{:x}", version / 10_000, version / 100 % 100, version % 100))
}
