// SPDX-License-Identifier: GPL-2.0-only

//! `module.dkms`: whether DKMS has built the module for the running kernel (dkms 3: `/var/lib/dkms/NAME/VERSION/KERNEL/
//! ARCH/module/`). A module that was installed by hand is gone after the next kernel upgrade.

use crate::{
    facts::{DkmsBuild, Facts, ReadError},
    finding::{Bearing, Finding, Scope, Status},
    route::{OverrideUse, override_use},
    view,
};

pub(super) const ID: &str = "module.dkms";
const TREE: &str = "/var/lib/dkms/tp2_p2pdma";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let builds = match &facts.module.dkms {
        Ok(builds) => builds.as_slice(),
        Err(error) if error.is_absent() => &[],
        Err(error) => return vec![Finding::unreadable(ID, Scope::Host, "what DKMS has", error)],
    };
    let release = match &facts.kernel.release {
        Ok(release) => release,
        Err(error) => {
            return vec![Finding::unreadable(ID, Scope::Host, "the running kernel's release", error)];
        }
    };
    let running = builds.iter().find(|build| build.is_for(release));
    vec![match running {
        Some(build) => {
            let summary = format!("DKMS has built version {} for the running kernel", build.version);
            let path = build.file.as_deref().unwrap_or_default();
            Finding::new(ID, Scope::Host, Status::Pass, summary).evidence(format!("/{path}"), "present")
        }
        None => not_built(facts, builds, release),
    }]
}

/// There is no build for the running kernel: why, and whether it matters.
fn not_built(facts: &Facts, builds: &[DkmsBuild], release: &str) -> Finding {
    let module = &facts.module;
    let known = !builds.is_empty() || !module.sources.is_empty();
    let in_place = module.loaded || module.file.is_ok();
    let finding = |status, summary: String| Finding::new(ID, Scope::Host, status, summary);
    if in_place {
        let summary = if known {
            format!("tp2_p2pdma is in place, but DKMS has no build of it for {release}")
        } else {
            "tp2_p2pdma was installed without DKMS: it will be gone after the next kernel upgrade".to_owned()
        };
        return finding(Status::Warn, summary)
            .evidence(TREE, "no build for the running kernel")
            .remedy("install the package tp2-p2pdma-dkms");
    }
    if known {
        let summary = format!("DKMS has tp2_p2pdma, but not for the running kernel {release}");
        let kernels: Vec<&str> = builds.iter().map(|build| build.kernel.as_str()).collect();
        let found = if kernels.is_empty() { "source only, never built".to_owned() } else { kernels.join(", ") };
        let remedy = format!(
            "dkms autoinstall -k {release} as root (it needs the headers of that kernel; read its log if it fails), then reboot"
        );
        return finding(Status::Fail, summary).evidence(TREE, found).remedy(remedy).bearing(Bearing::ModuleInert);
    }
    if let Some(mark) = facts.host.container_marks.first() {
        let summary = "what DKMS has is not known in a container, which has files of its own";
        return finding(Status::Skip, summary.to_owned()).evidence(format!("/{mark}"), "present");
    }
    if view::override_is_useless(facts) {
        let summary = "tp2_p2pdma is not installed, and would not help on this kernel".to_owned();
        return finding(Status::Skip, summary);
    }
    match override_use(facts) {
        OverrideUse::Wanted => finding(Status::Fail, "tp2_p2pdma is not installed".to_owned())
            .evidence(TREE, absent(module.dkms.as_ref().err()))
            .bearing(Bearing::ModuleAbsent),
        OverrideUse::Unknown => {
            let summary = "tp2_p2pdma is not installed; whether it is needed is not known";
            finding(Status::Skip, summary.to_owned())
        }
        OverrideUse::NotNeeded | OverrideUse::NoHelp => {
            let summary = "tp2_p2pdma is not installed, and no pair here is one that it would override";
            finding(Status::Na, summary.to_owned())
        }
    }
}

fn absent(error: Option<&ReadError>) -> String {
    error.map_or_else(|| "empty".to_owned(), |error| error.reason.clone())
}
