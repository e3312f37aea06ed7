// SPDX-License-Identifier: GPL-2.0-only

//! `module.loaded`: whether the module is in the kernel and initialised (`/sys/module/NAME/initstate`).

use crate::{
    facts::Facts,
    finding::{Bearing, Finding, Scope, Status},
    route::{OverrideUse, override_use},
    view,
};

pub(super) const ID: &str = "module.loaded";
const INITSTATE: &str = "sys/module/tp2_p2pdma/initstate";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let module = &facts.module;
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    if !module.loaded {
        return vec![not_loaded(facts)];
    }
    let one = match &module.initstate {
        Ok(state) if state == "live" => finding(Status::Pass, "tp2_p2pdma is loaded"),
        Ok(state) => finding(
            Status::Fail,
            &format!("tp2_p2pdma is loaded, but its state is {state:?}"),
        )
        .bearing(Bearing::ModuleInert)
        .remedy("reboot; if it stays so, read the kernel log for tp2_p2pdma"),
        Err(error) => {
            return vec![Finding::unreadable(
                ID,
                Scope::Host,
                "the state of tp2_p2pdma",
                error,
            )];
        }
    };
    vec![one.reading(INITSTATE, &module.initstate)]
}

fn not_loaded(facts: &Facts) -> Finding {
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    if view::override_is_useless(facts) {
        return finding(
            Status::Skip,
            "tp2_p2pdma is not loaded, and would not help on this kernel",
        );
    }
    match override_use(facts) {
        OverrideUse::NotNeeded => finding(Status::Na, "tp2_p2pdma is not loaded, and not needed"),
        OverrideUse::NoHelp => finding(
            Status::Na,
            "tp2_p2pdma is not loaded, and would not touch any pair here",
        ),
        OverrideUse::Unknown => finding(
            Status::Skip,
            "tp2_p2pdma is not loaded; whether it is needed is not known",
        ),
        OverrideUse::Wanted => {
            let remedy = if facts.module.file.is_ok() {
                "reboot, so that tp2_p2pdma is there before amdgpu; if it stays so, read the kernel log for tp2_p2pdma"
            } else {
                "install the package tp2-p2pdma-dkms and reboot, so that tp2_p2pdma is there before amdgpu"
            };
            finding(Status::Fail, "tp2_p2pdma is not loaded")
                .evidence("/sys/module/tp2_p2pdma", "no such directory")
                .remedy(remedy)
                .bearing(Bearing::ModuleAbsent)
        }
    }
}
