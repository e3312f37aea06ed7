// SPDX-License-Identifier: GPL-2.0-only

//! `pair.kind`: whether a pair is one to judge: two cards, not joined by XGMI (`CRAT_IOLINK_TYPE_XGMI`, `kfd_crat.h`).

use crate::{
    facts::Facts,
    finding::{Bearing, Finding, Scope, Status},
    text,
    text::Text,
    view::{self, Gpu, GpuKind},
};

pub(super) const ID: &str = "pair.kind";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    view::pairs(facts).iter().map(|(a, b)| judge_pair(facts, a, b)).collect()
}

fn judge_pair(facts: &Facts, a: &Gpu<'_>, b: &Gpu<'_>) -> Finding {
    let scope = Scope::Pair(a.device.bdf, b.device.bdf);
    let finding = |status, summary: Text| Finding::new(ID, scope, status, summary);
    for gpu in [a, b] {
        if let GpuKind::Integrated(why) = &gpu.kind {
            let bdf = gpu.device.bdf;
            return finding(Status::Na, text!("pair-kind-integrated", gpu = bdf, why = why.clone()))
                .evidence(format!("/{}", gpu.device.path), why.clone())
                .remedy(text!("pair-kind-remedy-integrated"))
                .bearing(Bearing::NotJudged);
        }
    }
    if view::are_joined_by_xgmi(facts, a.device.bdf, b.device.bdf) {
        return finding(Status::Na, text!("pair-kind-xgmi"))
            .evidence("/sys/class/kfd/kfd/topology/nodes".to_owned(), text!("pair-kind-xgmi-seen"))
            .bearing(Bearing::NotJudged);
    }
    if let Some(error) = view::xgmi_unreadable(facts, a.device.bdf, b.device.bdf) {
        return Finding::unreadable(ID, scope, text!("pair-kind-xgmi-question"), error);
    }
    for gpu in [a, b] {
        if let GpuKind::Unknown(why) = &gpu.kind {
            let bdf = gpu.device.bdf;
            return finding(Status::Unknown, text!("pair-kind-unknown", gpu = bdf, why = why.clone()))
                .evidence(format!("/{}", gpu.device.path), why.clone())
                .remedy(text!("pair-kind-remedy-unknown"));
        }
    }
    let ids = |gpu: &Gpu<'_>| {
        let hex =
            |value: &crate::facts::Reading<u16>| value.as_ref().map_or("????".to_owned(), |id| format!("{id:04x}"));
        format!("{}:{}", hex(&gpu.device.vendor), hex(&gpu.device.device))
    };
    let chips = [a, b].map(|gpu| architecture(facts, gpu));
    let one = match &chips {
        [Some(one), Some(other)] if one != other => {
            finding(Status::Warn, text!("pair-kind-mixed", one = one, other = other))
                .remedy(text!("pair-kind-remedy-mixed"))
        }
        _ => finding(Status::Pass, text!("pair-kind-pass")),
    };
    one.evidence(format!("/{}", a.device.path), ids(a)).evidence(format!("/{}", b.device.path), ids(b))
}

/// `gfx1201` of KFD's `gfx_target_version` 120001: two digits each of stepping and minor, both hexadecimal in the name.
fn architecture(facts: &Facts, gpu: &Gpu<'_>) -> Option<String> {
    let node = view::kfd_node(facts, gpu.device.bdf).ok()?;
    let version = node.properties.as_ref().ok()?.get("gfx_target_version").copied().filter(|version| *version > 0)?;
    Some(format!("gfx{}{:x}{:x}", version / 10_000, version / 100 % 100, version % 100))
}
