// SPDX-License-Identifier: GPL-2.0-only

//! `module.loaded`: whether the module is in the kernel and initialised (`/sys/module/NAME/initstate`).

use crate::{
    facts::{Facts, ReadError},
    finding::{Bearing, Finding, Scope, Status},
    route::{OverrideUse, override_use},
    view,
};

pub(super) const ID: &str = "module.loaded";
const INITSTATE: &str = "sys/module/tp2_p2pdma/initstate";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let module = &facts.module;
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    if !module.loaded && !module.modules_listed {
        let error = ReadError::absent("sys/module");
        return vec![Finding::unreadable(ID, Scope::Host, "whether tp2_p2pdma is loaded", &error)];
    }
    if !module.loaded {
        return vec![not_loaded(facts)];
    }
    let one = match &module.initstate {
        Ok(state) if state == "live" => finding(Status::Pass, "tp2_p2pdma is loaded"),
        Ok(state) => finding(Status::Fail, &format!("tp2_p2pdma is loaded, but its state is {state:?}"))
            .bearing(Bearing::ModuleInert)
            .remedy("reboot; if it stays so, read the kernel log for tp2_p2pdma"),
        Err(error) => {
            return vec![Finding::unreadable(ID, Scope::Host, "the state of tp2_p2pdma", error)];
        }
    };
    vec![one.reading(INITSTATE, &module.initstate)]
}

fn not_loaded(facts: &Facts) -> Finding {
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    if view::override_is_useless(facts) {
        return finding(Status::Skip, "tp2_p2pdma is not loaded, and would not help on this kernel");
    }
    match override_use(facts) {
        OverrideUse::NotNeeded => finding(Status::Na, "tp2_p2pdma is not loaded, and not needed"),
        OverrideUse::NoHelp => finding(Status::Na, "tp2_p2pdma is not loaded, and would not touch any pair here"),
        OverrideUse::Unknown => finding(Status::Skip, "tp2_p2pdma is not loaded; whether it is needed is not known"),
        OverrideUse::Wanted => {
            let place = if facts.host.container_marks.is_empty() { "" } else { "on the host, not in this container: " };
            finding(Status::Fail, "tp2_p2pdma is not loaded")
                .evidence("/sys/module/tp2_p2pdma", "no such directory")
                .remedy(format!("{place}{}", how_to_load(facts)))
                .bearing(Bearing::ModuleAbsent)
        }
    }
}

fn how_to_load(facts: &Facts) -> String {
    let module = &facts.module;
    if module.file.is_ok() {
        return "reboot, so that tp2_p2pdma is there before amdgpu; if it stays so, read the kernel log for tp2_p2pdma"
            .to_owned();
    }
    let release = facts.kernel.release.as_deref().unwrap_or_default();
    let builds = module.dkms.as_deref().unwrap_or_default();
    match builds.iter().find(|build| build.is_for(release)) {
        // Built, but modules.dep does not list it.
        Some(build) => format!(
            "dkms install tp2_p2pdma/{} -k {release} and depmod {release} as root, rebuild the initramfs, then reboot",
            build.version
        ),
        None => "install the package tp2-p2pdma-dkms and reboot, so that tp2_p2pdma is there before amdgpu".to_owned(),
    }
}
