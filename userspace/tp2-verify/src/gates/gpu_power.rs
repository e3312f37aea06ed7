// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.power`: whether the GPU and the bridges above it are awake, or failed to wake up. After a failed resume the
//! kernel keeps `error` in `power/runtime_status` (`drivers/base/power/sysfs.c`, Linux 7.3), and nothing else that is
//! read of the device then means much (case A29).

use crate::{
    facts::{Facts, PciDevice, Power},
    finding::{Finding, Scope, Status},
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
            Err(error) => return Finding::unreadable(ID, scope, "whether this GPU is awake", error),
        }
    }
    if let Some((device, power)) = sleeping {
        let summary =
            format!("{} sleeps to save power, so what was read of links and registers may be of its sleep", device.bdf);
        return evidence(Finding::new(ID, scope, Status::Warn, summary), device, power)
            .remedy("wake the GPU (rocminfo does, or any program that opens its render node) and run this again");
    }
    let pass = Finding::new(ID, scope, Status::Pass, "the GPU and the bridges above it are awake");
    match &gpu.device.on_path {
        Some(more) => evidence(pass, gpu.device, &more.power),
        None => pass,
    }
}

fn failed(scope: Scope, device: &PciDevice, power: &Power) -> Finding {
    let summary = format!("{} failed to wake up from sleep, and cannot be used before a reboot", device.bdf);
    evidence(Finding::new(ID, scope, Status::Fail, summary), device, power)
        .remedy("reboot; if it comes back, boot with amdgpu.runpm=0 to see whether sleeping is the cause")
}

fn evidence(finding: Finding, device: &PciDevice, power: &Power) -> Finding {
    finding
        .reading(&format!("{}/power/runtime_status", device.path), &power.runtime_status)
        .reading(&format!("{}/power_state", device.path), &power.state)
}
