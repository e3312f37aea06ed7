// SPDX-License-Identifier: GPL-2.0-only

//! `amdgpu.origin`: which amdgpu is loaded, and which one modprobe would load. An amdgpu built into the kernel is there
//! before any module, so a softdep means nothing for it.

use super::commands::rebuild_initramfs;
use crate::{
    facts::Facts,
    finding::{Bearing, Finding, Scope, Status},
    route::{OverrideUse, override_use},
    text,
    text::Text,
    view,
};

pub(super) const ID: &str = "amdgpu.origin";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let amdgpu = &facts.amdgpu;
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    if let Err(error) = &facts.pci {
        return vec![Finding::unreadable(ID, Scope::Host, text!("gpu-kfd-what-devices"), error)];
    }
    if view::gpus(facts).is_empty() {
        return vec![finding(Status::Na, text!("amdgpu-origin-no-gpu"))];
    }
    if amdgpu.builtin == Ok(true) {
        return vec![built_in(facts)];
    }
    if let Err(error) = &amdgpu.loaded {
        return vec![Finding::unreadable(ID, Scope::Host, text!("amdgpu-origin-loading"), error)];
    }
    let path = match &amdgpu.file {
        Ok(path) => path,
        Err(error) if error.is_absent() && !amdgpu.is_loaded() => {
            let warning = finding(Status::Warn, text!("amdgpu-origin-none"));
            return vec![warning.failed_reading(error).remedy(text!("amdgpu-origin-none-remedy"))];
        }
        Err(error) => {
            return vec![Finding::unreadable(ID, Scope::Host, text!("amdgpu-origin-file"), error)];
        }
    };
    let in_tree = view::is_in_tree(path);
    if !amdgpu.is_loaded() {
        let summary =
            if in_tree { text!("amdgpu-origin-would-be-own") } else { text!("amdgpu-origin-would-be-outside") };
        return vec![finding(Status::Warn, summary).evidence(format!("/{path}"), text!("amdgpu-origin-listed"))];
    }
    let on_disk = amdgpu.info.as_ref().ok().and_then(|info| info.srcversion.as_ref());
    if let (Ok(loaded), Some(on_disk)) = (&amdgpu.srcversion, on_disk)
        && loaded != on_disk
    {
        let warning = finding(Status::Warn, text!("amdgpu-origin-other"))
            .evidence("/sys/module/amdgpu/srcversion".to_owned(), loaded.clone())
            .evidence(format!("/{path}"), format!("srcversion {on_disk}"));
        return vec![warning.remedy(rebuild_initramfs(facts, text!("amdgpu-origin-other-remedy")))];
    }
    let summary = if in_tree { text!("amdgpu-origin-own") } else { text!("amdgpu-origin-outside") };
    vec![finding(Status::Pass, summary).evidence(format!("/{path}"), text!("amdgpu-origin-listed"))]
}

/// It starts before any module, so a softdep means nothing for it.
fn built_in(facts: &Facts) -> Finding {
    let in_the_way = override_use(facts) == OverrideUse::Wanted && !view::all_pairs_linked(facts);
    let status = if in_the_way { Status::Fail } else { Status::Warn };
    Finding::new(ID, Scope::Host, status, text!("amdgpu-origin-built-in"))
        .evidence("modules.builtin".to_owned(), text!("amdgpu-origin-built-in-listed"))
        .remedy(text!("amdgpu-origin-built-in-remedy"))
        .bearing(Bearing::NoOverride)
}
