// SPDX-License-Identifier: GPL-2.0-only

//! `module.dkms`: whether DKMS has built the module for the running kernel (dkms 3:
//! `/var/lib/dkms/NAME/VERSION/KERNEL/ARCH/module/`). A module that was installed by hand is gone after the next kernel
//! upgrade.

use super::commands::build_for;
use crate::{
    facts::{DkmsBuild, Facts, ReadError},
    finding::{Bearing, Finding, Scope, Status},
    route::{OverrideUse, override_use},
    text,
    text::Text,
    view,
};

pub(super) const ID: &str = "module.dkms";
const TREE: &str = "/var/lib/dkms/tp2_p2pdma";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let builds = match &facts.module.dkms {
        Ok(builds) => builds.as_slice(),
        Err(error) if error.is_absent() => &[],
        Err(error) => return vec![Finding::unreadable(ID, Scope::Host, text!("module-dkms-what"), error)],
    };
    let release = match &facts.kernel.release {
        Ok(release) => release,
        Err(error) => {
            return vec![Finding::unreadable(ID, Scope::Host, text!("module-dkms-what-release"), error)];
        }
    };
    let running = builds.iter().find(|build| build.is_for(release));
    vec![match running {
        Some(build) => {
            let summary = text!("module-dkms-pass", version = &build.version);
            let path = build.file.as_deref().unwrap_or_default();
            Finding::new(ID, Scope::Host, Status::Pass, summary)
                .evidence(format!("/{path}"), text!("module-dkms-present"))
        }
        None => not_built(facts, builds, release),
    }]
}

/// There is no build for the running kernel: why, and whether it matters.
fn not_built(facts: &Facts, builds: &[DkmsBuild], release: &str) -> Finding {
    let module = &facts.module;
    let known = !builds.is_empty() || !module.sources.is_empty();
    let in_place = module.is_loaded() || module.file.is_ok();
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    if in_place {
        let summary = if known {
            text!("module-dkms-in-place", release = release.to_owned())
        } else {
            text!("module-dkms-by-hand")
        };
        let warning = finding(Status::Warn, summary).evidence(TREE.to_owned(), text!("module-dkms-no-build"));
        // Whoever forces a bridge that corrupts is not helped to keep it.
        return match (override_use(facts), known) {
            (OverrideUse::Wanted, true) => {
                warning.remedy(build_for(facts, release, text!("module-dkms-other-kernel-remedy")))
            }
            (OverrideUse::Wanted, false) => warning.remedy(text!("module-dkms-by-hand-remedy")),
            _ => warning,
        };
    }
    if let Some(error) = module.unseen() {
        return Finding::unreadable(ID, Scope::Host, text!("module-loaded-what"), error);
    }
    if known {
        let summary = text!("module-dkms-other-kernel", release = release.to_owned());
        let remedy = build_for(facts, release, text!("module-dkms-other-kernel-remedy"));
        return finding(Status::Fail, summary)
            .evidence(TREE.to_owned(), kernels(builds))
            .remedy(remedy)
            .bearing(Bearing::ModuleInert);
    }
    if let Some(mark) = facts.host.container_marks.first() {
        return finding(Status::Skip, text!("module-dkms-container"))
            .evidence(format!("/{mark}"), text!("module-dkms-present"));
    }
    if view::override_is_useless(facts) {
        return finding(Status::Skip, text!("module-dkms-no-help"));
    }
    match override_use(facts) {
        OverrideUse::Wanted => finding(Status::Fail, text!("module-dkms-absent"))
            .evidence(TREE.to_owned(), absent(module.dkms.as_ref().err()))
            .bearing(Bearing::ModuleAbsent),
        OverrideUse::Unknown => finding(Status::Skip, text!("module-dkms-need-unknown")),
        OverrideUse::NotNeeded | OverrideUse::NoHelp => finding(Status::Na, text!("module-dkms-not-needed")),
    }
}

/// The kernels that DKMS has built it for.
fn kernels(builds: &[DkmsBuild]) -> Text {
    if builds.is_empty() {
        return text!("module-dkms-source-only");
    }
    Text::List(builds.iter().map(|build| Text::from(&build.kernel)).collect(), "comma")
}

fn absent(error: Option<&ReadError>) -> Text {
    error.map_or_else(|| text!("module-dkms-empty"), Text::reason)
}
