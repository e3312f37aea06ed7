// SPDX-License-Identifier: GPL-2.0-only

//! `module.match`: whether the module file for the running kernel is for it (`vermagic`), and is the one that is loaded
//! (`version`, `srcversion`). A stale file is refused at load, or replaces the good one at the next boot.

use super::commands::{build_for, rebuild_for, rebuild_initramfs};
use crate::{
    facts::{Facts, ModuleFile, Reading},
    finding::{Bearing, Finding, Remedy, Scope, Status},
    route::{OverrideUse, override_use},
    text,
    text::Text,
    view,
};

pub(super) const ID: &str = "module.match";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let module = &facts.module;
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    let info = match (&module.file, &module.info) {
        (Err(error), _) if error.is_absent() && !facts.host.container_marks.is_empty() => {
            return vec![finding(Status::Na, text!("module-match-container"))];
        }
        (Err(error), _) if error.is_absent() && module.is_loaded() => {
            let warning = finding(Status::Warn, text!("module-match-no-file"));
            let warning = warning.failed_reading(error);
            // Whoever forces a bridge that corrupts is not helped to keep it.
            if override_use(facts) != OverrideUse::Wanted {
                return vec![warning];
            }
            return vec![warning.remedy(no_file(facts))];
        }
        (Err(error), _) if error.is_absent() => {
            return vec![match &module.unlisted {
                Some(path) => finding(Status::Na, text!("module-match-unlisted"))
                    .evidence(format!("/{path}"), text!("module-dkms-present")),
                None => finding(Status::Na, text!("module-match-nothing")),
            }];
        }
        (Err(error), _) | (_, Err(error)) => {
            return vec![Finding::unreadable(ID, Scope::Host, text!("module-match-what"), error)];
        }
        (_, Ok(info)) => info,
    };
    let mismatches: Vec<Finding> =
        [wrong_kernel(facts, info), wrong_build(facts, info)].into_iter().flatten().collect();
    if !mismatches.is_empty() {
        return mismatches;
    }
    let summary = if module.is_loaded() { text!("module-match-pass-loaded") } else { text!("module-match-pass") };
    let vermagic = info.vermagic.clone().unwrap_or_default();
    vec![finding(Status::Pass, summary).evidence(format!("/{}", info.path), format!("vermagic {vermagic}"))]
}

fn wrong_kernel(facts: &Facts, info: &ModuleFile) -> Option<Finding> {
    let release = facts.kernel.release.as_ref().ok()?;
    let vermagic = info.vermagic.as_deref().unwrap_or_default();
    if vermagic.split(' ').next() == Some(release.as_str()) {
        return None;
    }
    let summary = text!("module-match-other-kernel", release = release);
    let remedy = match facts.module.build(release) {
        Some(build) => rebuild_for(release, build, text!("module-match-other-kernel-remedy-anew")),
        None => build_for(facts, release, text!("module-match-other-kernel-remedy")),
    };
    let finding =
        stale(facts, summary).evidence(format!("/{}", info.path), format!("vermagic {vermagic}")).remedy(remedy);
    Some(finding)
}

/// What makes modprobe find the module.
fn no_file(facts: &Facts) -> Remedy {
    match &facts.module.unlisted {
        Some(_) => Remedy::from(text!("module-match-unlisted-remedy")).command("sudo depmod -a", &[]),
        None => text!("module-match-no-file-remedy").into(),
    }
}

/// What is on disk matters at the next boot; it is in the way only where nothing that acts is loaded.
fn stale(facts: &Facts, summary: Text) -> Finding {
    if view::module_acts(facts) {
        let summary = text!("module-match-acts", finding = summary);
        return Finding::new(ID, Scope::Host, Status::Warn, summary);
    }
    Finding::new(ID, Scope::Host, Status::Fail, summary).bearing(Bearing::ModuleInert)
}

/// Compares what is loaded with what is on disk.
fn wrong_build(facts: &Facts, info: &ModuleFile) -> Option<Finding> {
    if !facts.module.is_loaded() {
        return None;
    }
    let compared =
        [("version", &facts.module.version, &info.version), ("srcversion", &facts.module.srcversion, &info.srcversion)];
    let differs = |(_, loaded, on_disk): &(&str, &Reading<String>, &Option<String>)| matches!((loaded, on_disk), (Ok(loaded), Some(on_disk)) if loaded != on_disk);
    let (name, loaded, on_disk) = compared.into_iter().find(differs)?;
    let summary = text!("module-match-other-build", name = name.to_owned());
    let finding = stale(facts, summary)
        .reading(&format!("sys/module/tp2_p2pdma/{name}"), loaded)
        .evidence(format!("/{}", info.path), format!("{name} {}", on_disk.as_deref().unwrap_or_default()))
        .remedy(rebuild_initramfs(facts, text!("module-match-other-build-remedy")));
    Some(finding)
}
