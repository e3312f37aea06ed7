// SPDX-License-Identifier: GPL-2.0-only

//! `amdgpu.origin`: which amdgpu is loaded, and which one modprobe would load. An amdgpu built into the kernel is there
//! before any module, so a softdep means nothing for it.

use crate::{
    facts::{Facts, ReadError},
    finding::{Bearing, Finding, Scope, Status},
    route::{OverrideUse, override_use},
    view,
};

pub(super) const ID: &str = "amdgpu.origin";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let amdgpu = &facts.amdgpu;
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    if view::gpus(facts).is_empty() {
        return vec![finding(Status::Na, "no AMD GPU was found")];
    }
    if amdgpu.builtin == Ok(true) {
        return vec![built_in(facts)];
    }
    if !facts.module.modules_listed {
        let error = ReadError::absent("sys/module");
        return vec![Finding::unreadable(ID, Scope::Host, "whether amdgpu is loaded", &error)];
    }
    let path = match &amdgpu.file {
        Ok(path) => path,
        Err(error) if error.is_absent() && !amdgpu.loaded => {
            let warning = finding(Status::Warn, "there is no amdgpu for the running kernel");
            return vec![warning.failed_reading(error).remedy("install the kernel's full set of modules")];
        }
        Err(error) => {
            return vec![Finding::unreadable(ID, Scope::Host, "which amdgpu modprobe would load", error)];
        }
    };
    let origin = if view::is_in_tree(path) { "the kernel's own" } else { "built outside the kernel" };
    if !amdgpu.loaded {
        let summary = format!("amdgpu is not loaded; modprobe would load {origin}");
        return vec![finding(Status::Warn, &summary).evidence(format!("/{path}"), "in modules.dep")];
    }
    let on_disk = amdgpu.info.as_ref().ok().and_then(|info| info.srcversion.as_ref());
    if let (Ok(loaded), Some(on_disk)) = (&amdgpu.srcversion, on_disk)
        && loaded != on_disk
    {
        let summary = "the loaded amdgpu is not the file that modprobe would load now";
        let warning = finding(Status::Warn, summary)
            .evidence("/sys/module/amdgpu/srcversion", loaded.clone())
            .evidence(format!("/{path}"), format!("srcversion {on_disk}"));
        return vec![warning.remedy("rebuild the initramfs and reboot")];
    }
    let pass = finding(Status::Pass, &format!("amdgpu is loaded, {origin}"));
    vec![pass.evidence(format!("/{path}"), "in modules.dep")]
}

/// It starts before any module, so a softdep means nothing for it.
fn built_in(facts: &Facts) -> Finding {
    let in_the_way = override_use(facts) == OverrideUse::Wanted && !view::all_pairs_linked(facts);
    let status = if in_the_way { Status::Fail } else { Status::Warn };
    let summary = "amdgpu is built into the kernel: it starts before any module, so an override comes too late";
    Finding::new(ID, Scope::Host, status, summary)
        .evidence("modules.builtin", "lists amdgpu")
        .remedy("boot a kernel that has amdgpu as a module")
        .bearing(Bearing::NoOverride)
}
