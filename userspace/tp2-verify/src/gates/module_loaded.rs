// SPDX-License-Identifier: GPL-2.0-only

//! `module.loaded`: whether the module is in the kernel and initialised (`/sys/module/NAME/initstate`).

use super::commands::{build_for, rebuild_initramfs};
use crate::{
    facts::Facts,
    finding::{Bearing, Finding, Remedy, Scope, Status},
    route::{OverrideUse, override_use},
    text,
    text::Text,
    view,
};

pub(super) const ID: &str = "module.loaded";
const OVERRIDE: &str = "sys/module/tp2_p2pdma/override";
const INITSTATE: &str = "sys/module/tp2_p2pdma/initstate";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let module = &facts.module;
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    if let Err(error) = &module.loaded {
        return vec![Finding::unreadable(ID, Scope::Host, text!("module-loaded-what"), error)];
    }
    if !module.is_loaded() {
        return vec![not_loaded(facts)];
    }
    let one = match &module.initstate {
        Ok(state) if state == "live" => finding(Status::Pass, text!("module-loaded-pass")),
        Ok(state) => finding(Status::Fail, text!("module-loaded-state", state = format!("{state:?}")))
            .bearing(Bearing::ModuleInert)
            .remedy(text!("module-loaded-state-remedy")),
        Err(error) => {
            return vec![Finding::unreadable(ID, Scope::Host, text!("module-loaded-what-state"), error)];
        }
    };
    vec![implementation(facts, one.reading(INITSTATE, &module.initstate))]
}

/// Which of the two was built, and why not the other: "why C on my machine?".
fn implementation(facts: &Facts, finding: Finding) -> Finding {
    let state = |name: &str| facts.module.state.get(name).and_then(|reading| reading.as_ref().ok());
    match (state("implementation"), state("implementation_reason")) {
        (Some(name), Some(reason)) => {
            finding.evidence(format!("/{OVERRIDE}/implementation"), format!("{name}: {reason}"))
        }
        _ => finding,
    }
}

fn not_loaded(facts: &Facts) -> Finding {
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    if view::override_is_useless(facts) {
        return finding(Status::Skip, text!("module-loaded-no-help"));
    }
    match override_use(facts) {
        OverrideUse::NotNeeded => finding(Status::Na, text!("module-loaded-not-needed")),
        OverrideUse::NoHelp => finding(Status::Na, text!("module-loaded-no-pair")),
        OverrideUse::Unknown => finding(Status::Skip, text!("module-loaded-need-unknown")),
        OverrideUse::Wanted => {
            let absent = finding(Status::Fail, text!("module-loaded-absent"))
                .evidence("/sys/module/tp2_p2pdma".to_owned(), text!("module-loaded-no-directory"))
                .bearing(Bearing::ModuleAbsent);
            // It would fail again.
            if view::hook_failure(facts).is_some() {
                return absent.bearing(Bearing::ModuleInert).remedy(text!("module-loaded-remedy-refused"));
            }
            let load = how_to_load(facts);
            let in_container = !facts.host.container_marks.is_empty();
            absent.remedy(if in_container {
                load.map(|load| text!("module-loaded-remedy-on-host", remedy = load))
            } else {
                load
            })
        }
    }
}

fn how_to_load(facts: &Facts) -> Remedy {
    let module = &facts.module;
    if module.file.is_ok() {
        return text!("module-loaded-remedy-reboot").into();
    }
    let release = facts.kernel.release.as_deref().unwrap_or_default();
    let builds = module.dkms.as_deref().unwrap_or_default();
    if module.unlisted.is_some() {
        let remedy = Remedy::from(text!("module-loaded-remedy-index")).command("sudo depmod", &[release]);
        return rebuild_initramfs(facts, remedy);
    }
    match module.build(release) {
        // Built, but not put in place.
        Some(build) => {
            let module = format!("tp2_p2pdma/{}", build.version);
            let remedy = Remedy::from(text!("module-loaded-remedy-install"))
                .command("sudo dkms install", &[&module, "-k", release]);
            rebuild_initramfs(facts, remedy)
        }
        // As module.dkms says it, so that it is one step.
        None if !(builds.is_empty() && module.sources.is_empty()) => {
            build_for(facts, release, text!("module-dkms-other-kernel-remedy"))
        }
        None => text!("module-loaded-remedy-package").into(),
    }
}
