// SPDX-License-Identifier: GPL-2.0-only

//! `module.match`: whether the module file for the running kernel is for it (`vermagic`), and is the one that is loaded
//! (`version`, `srcversion`). A stale file is refused at load, or replaces the good one at the next boot.

use crate::{
    facts::{Facts, ModuleFile, Reading},
    finding::{Bearing, Finding, Scope, Status},
    view,
};

pub(super) const ID: &str = "module.match";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let module = &facts.module;
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    let info = match (&module.file, &module.info) {
        (Err(error), _) if error.is_absent() && !facts.host.container_marks.is_empty() => {
            let summary = "module files are the host's, and this container does not see them";
            return vec![finding(Status::Na, summary)];
        }
        (Err(error), _) if error.is_absent() && module.loaded => {
            let warning =
                finding(Status::Warn, "tp2_p2pdma is loaded, but modprobe would find no file of it at the next boot");
            return vec![warning.failed_reading(error).remedy("install the package tp2-p2pdma-dkms, or run depmod -a")];
        }
        (Err(error), _) if error.is_absent() => {
            return vec![finding(Status::Na, "there is no tp2_p2pdma for the running kernel to compare")];
        }
        (Err(error), _) | (_, Err(error)) => {
            return vec![Finding::unreadable(ID, Scope::Host, "the file of tp2_p2pdma", error)];
        }
        (_, Ok(info)) => info,
    };
    let mismatches: Vec<Finding> =
        [wrong_kernel(facts, info), wrong_build(facts, info)].into_iter().flatten().collect();
    if !mismatches.is_empty() {
        return mismatches;
    }
    let summary = if module.loaded {
        "the file of tp2_p2pdma is for the running kernel, and is the one that is loaded"
    } else {
        "the file of tp2_p2pdma is for the running kernel"
    };
    let vermagic = info.vermagic.clone().unwrap_or_default();
    vec![finding(Status::Pass, summary).evidence(format!("/{}", info.path), format!("vermagic {vermagic}"))]
}

fn wrong_kernel(facts: &Facts, info: &ModuleFile) -> Option<Finding> {
    let release = facts.kernel.release.as_ref().ok()?;
    let vermagic = info.vermagic.as_deref().unwrap_or_default();
    if vermagic.split(' ').next() == Some(release.as_str()) {
        return None;
    }
    let summary = format!("the file of tp2_p2pdma was built for another kernel than the running {release}");
    let finding = stale(facts, summary)
        .evidence(format!("/{}", info.path), format!("vermagic {vermagic}"))
        .remedy(format!("dkms autoinstall -k {release} as root, then reboot"));
    Some(finding)
}

/// What is on disk matters at the next boot; it is in the way only where nothing that acts is loaded.
fn stale(facts: &Facts, summary: String) -> Finding {
    if view::module_acts(facts) {
        let summary = format!("{summary}; what is loaded acts, until the next boot");
        return Finding::new(ID, Scope::Host, Status::Warn, summary);
    }
    Finding::new(ID, Scope::Host, Status::Fail, summary).bearing(Bearing::ModuleInert)
}

/// Compares what is loaded with what is on disk.
fn wrong_build(facts: &Facts, info: &ModuleFile) -> Option<Finding> {
    if !facts.module.loaded {
        return None;
    }
    let compared =
        [("version", &facts.module.version, &info.version), ("srcversion", &facts.module.srcversion, &info.srcversion)];
    let differs = |(_, loaded, on_disk): &(&str, &Reading<String>, &Option<String>)| matches!((loaded, on_disk), (Ok(loaded), Some(on_disk)) if loaded != on_disk);
    let (name, loaded, on_disk) = compared.into_iter().find(differs)?;
    let summary = format!("the loaded tp2_p2pdma is not the file on disk: its {name} is another");
    let finding = stale(facts, summary)
        .reading(&format!("sys/module/tp2_p2pdma/{name}"), loaded)
        .evidence(format!("/{}", info.path), format!("{name} {}", on_disk.as_deref().unwrap_or_default()))
        .remedy("rebuild the initramfs, then reboot");
    Some(finding)
}
