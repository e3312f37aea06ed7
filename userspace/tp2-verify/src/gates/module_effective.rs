// SPDX-License-Identifier: GPL-2.0-only

//! `module.effective`: whether the loaded module acts: its self-test passes now, its mode is `force`, it missed no call,
//! and it was there before the GPU driver. KFD asks when a GPU is added (`kfd_dev_create_p2p_links()`, Linux 6.1 to
//! 7.3), so an override that comes later changes no link.

use crate::{
    facts::{Facts, ReadError, Reading},
    finding::{Bearing, Finding, Scope, Status},
    route::{OverrideUse, override_use},
    view,
};

pub(super) const ID: &str = "module.effective";
const MODULE: &str = "sys/module/tp2_p2pdma";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let module = &facts.module;
    if !module.loaded {
        return vec![Finding::new(ID, Scope::Host, Status::Skip, "tp2_p2pdma is not seen to be loaded")];
    }
    let checks = [self_test(facts), mode(facts), missed(facts), too_late(facts)];
    let found: Vec<Finding> = checks.into_iter().flatten().collect();
    let worst = [Status::Fail, Status::Unknown, Status::Warn]
        .into_iter()
        .find(|status| found.iter().any(|finding| finding.status == *status));
    match worst {
        // What is worse makes what is less bad uninteresting.
        Some(status) => found.into_iter().filter(|finding| finding.status == status).collect(),
        None => vec![
            Finding::new(
                ID,
                Scope::Host,
                Status::Pass,
                "tp2_p2pdma acts: its hook is proven, and it was there before the GPU driver",
            )
            .evidence(format!("/{MODULE}/override/self_test"), "pass")
            .evidence(format!("/{MODULE}/override/missed"), "0")
            .evidence(format!("/{MODULE}/override/gpu_driver_was_bound"), "0"),
        ],
    }
}

fn inert(summary: String, path: &str, value: &str) -> Finding {
    Finding::new(ID, Scope::Host, Status::Fail, summary)
        .evidence(format!("/{MODULE}/{path}"), value)
        .bearing(Bearing::ModuleInert)
}

/// A state file's value, or the finding that it could not be read.
fn state<'a>(facts: &'a Facts, name: &str) -> Result<&'a str, Finding> {
    value(facts.module.state.get(name), &format!("override/{name}"))
}

fn value<'a>(reading: Option<&'a Reading<String>>, path: &str) -> Result<&'a str, Finding> {
    let error = match reading {
        Some(Ok(text)) => return Ok(text),
        Some(Err(error)) => error.clone(),
        None => ReadError::absent(&format!("{MODULE}/{path}")),
    };
    Err(Finding::unreadable(ID, Scope::Host, "the state of tp2_p2pdma", &error))
}

fn self_test(facts: &Facts) -> Option<Finding> {
    match state(facts, "self_test") {
        Err(unknown) => Some(unknown),
        Ok("pass") => None,
        Ok(text) => {
            let summary = format!("tp2_p2pdma's self-test does not pass, so its hook does not act ({text})");
            let remedy = "as root, set /sys/kernel/debug/kprobes/enabled to 1 and, before Linux 7.3, the sysctl kernel.ftrace_enabled too, \
                          then run this again, since the test runs at every read; reboot if amdgpu started while it failed";
            Some(inert(summary, "override/self_test", text).remedy(remedy))
        }
    }
}

fn mode(facts: &Facts) -> Option<Finding> {
    match value(facts.module.parameters.get("mode"), "parameters/mode") {
        Err(unknown) => Some(unknown),
        Ok("force") => None,
        Ok(text) => {
            let summary = format!("tp2_p2pdma runs with mode={text}, so it changes no answer");
            if matches!(override_use(facts), OverrideUse::NotNeeded | OverrideUse::NoHelp) {
                let summary = format!("{summary}; no pair here is one that it would override");
                let warning = Finding::new(ID, Scope::Host, Status::Warn, summary);
                return Some(warning.evidence(format!("/{MODULE}/parameters/mode"), text));
            }
            let remedy = "set mode=force in /etc/modprobe.d (or remove the option) and reboot";
            Some(inert(summary, "parameters/mode", text).remedy(remedy))
        }
    }
}

fn missed(facts: &Facts) -> Option<Finding> {
    let text = match state(facts, "missed") {
        Err(unknown) => return Some(unknown),
        Ok("0") => return None,
        Ok(text) => text,
    };
    let remedy = "raise the module parameter maxactive and reboot";
    if view::all_pairs_linked(facts) {
        let summary = format!("tp2_p2pdma missed {text} calls, though every pair has its links");
        let warning = Finding::new(ID, Scope::Host, Status::Warn, summary);
        return Some(warning.evidence(format!("/{MODULE}/override/missed"), text).remedy(remedy));
    }
    let summary = format!("tp2_p2pdma missed {text} calls, which kept the kernel's answer");
    Some(inert(summary, "override/missed", text).remedy(remedy))
}

fn too_late(facts: &Facts) -> Option<Finding> {
    let text = match state(facts, "gpu_driver_was_bound") {
        Err(unknown) => return Some(unknown),
        Ok("0") => return None,
        Ok(text) => text,
    };
    let path = "override/gpu_driver_was_bound";
    if view::all_pairs_linked(facts) {
        let summary = "tp2_p2pdma was loaded after the GPU driver, though every pair has its links: it was loaded before once, and anew since";
        let warning = Finding::new(ID, Scope::Host, Status::Warn, summary);
        return Some(warning.evidence(format!("/{MODULE}/{path}"), text));
    }
    let summary = "tp2_p2pdma was loaded too late: a GPU already had its driver, and KFD had asked".to_owned();
    let remedy = "put tp2_p2pdma into the initramfs beside amdgpu (the package does; rebuild the initramfs) and reboot";
    Some(inert(summary, path, text).remedy(remedy))
}
