// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.power`: whether the GPU and the bridges above it are awake, or failed to wake up. After a failed resume the
//! kernel keeps `error` in `power/runtime_status` (`drivers/base/power/sysfs.c`, Linux 7.3), and nothing else that is
//! read of the device then means much (case A29).

use crate::{
    facts::{Facts, PciDevice, Power},
    finding::{Finding, Scope, Status},
    text,
    view::{self, Gpu},
    way_up,
};

pub(super) const ID: &str = "gpu.power";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    view::cards(facts).iter().map(|gpu| judge_gpu(facts, gpu)).collect()
}

fn judge_gpu(facts: &Facts, gpu: &Gpu<'_>) -> Finding {
    let scope = Scope::Gpu(gpu.device.bdf);
    let chain = way_up::chain(facts, gpu.device);
    let states = chain.iter().filter_map(|device| Some((*device, &device.on_path.as_ref()?.power)));
    let mut sleeping: Option<(&PciDevice, &Power)> = None;
    for (device, power) in states {
        match power.runtime_status.as_deref() {
            Ok("error") => return failed(scope, device, power),
            Ok("suspended" | "suspending" | "resuming") => sleeping = sleeping.or(Some((device, power))),
            Ok(_) => {}
            Err(error) => return Finding::unreadable(ID, scope, text!("gpu-power-what-awake"), error),
        }
    }
    if let Some((device, power)) = sleeping {
        let summary = text!("gpu-power-sleeping", device = device.bdf);
        return evidence(Finding::new(ID, scope, Status::Warn, summary), device, power)
            .remedy(text!("gpu-power-sleeping-remedy"));
    }
    let pass = Finding::new(ID, scope, Status::Pass, text!("gpu-power-pass"));
    match &gpu.device.on_path {
        Some(more) => evidence(pass, gpu.device, &more.power),
        None => pass,
    }
}

fn failed(scope: Scope, device: &PciDevice, power: &Power) -> Finding {
    let summary = text!("gpu-power-failed", device = device.bdf);
    evidence(Finding::new(ID, scope, Status::Fail, summary), device, power).remedy(text!("gpu-power-failed-remedy"))
}

fn evidence(finding: Finding, device: &PciDevice, power: &Power) -> Finding {
    finding
        .reading(&format!("{}/power/runtime_status", device.path), &power.runtime_status)
        .reading(&format!("{}/power_state", device.path), &power.state)
}
