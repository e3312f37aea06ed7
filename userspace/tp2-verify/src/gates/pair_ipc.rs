// SPDX-License-Identifier: GPL-2.0-only

//! `pair.ipc`: whether programs with one process for each GPU can share GPU memory. `ROCr` does that by calls of KFD
//! that only AMD's driver from outside the kernel has, unless `HSA_ENABLE_IPC_MODE_LEGACY=0` makes it use dma-buf (case A10;
//! the variable's default is 1). A copy inside one process proves nothing about this.

use crate::{
    facts::Facts,
    finding::{Finding, Scope, Status},
    text,
    text::Text,
    view::{self, Gpu},
};

pub(super) const ID: &str = "pair.ipc";
const VARIABLE: &str = "HSA_ENABLE_IPC_MODE_LEGACY";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let pairs = view::pairs(facts);
    let judged = pairs.iter().filter(|(a, b)| view::is_judged(facts, a, b));
    judged.map(|(a, b)| judge_pair(facts, a, b)).collect()
}

fn judge_pair(facts: &Facts, a: &Gpu<'_>, b: &Gpu<'_>) -> Finding {
    let scope = Scope::Pair(a.device.bdf, b.device.bdf);
    let finding = |status, summary: Text| Finding::new(ID, scope, status, summary);
    if !view::are_linked(facts, a.device.bdf, b.device.bdf) {
        return finding(Status::Skip, text!("pair-ipc-not-linked"));
    }
    let builtin = facts.amdgpu.builtin == Ok(true);
    let driver: Text = match &facts.amdgpu.file {
        Ok(path) if !builtin && !view::is_in_tree(path) => {
            return finding(Status::Pass, text!("pair-ipc-outside"))
                .evidence(format!("/{path}"), text!("pair-ipc-listed"));
        }
        Ok(path) => format!("/{path}").into(),
        Err(_) if builtin => text!("pair-ipc-builtin"),
        Err(error) => return Finding::unreadable(ID, scope, text!("pair-ipc-question"), error),
    };
    let variable = text!("pair-ipc-environment", variable = VARIABLE.to_owned());
    let set = facts.environment.as_ref().ok().and_then(|variables| variables.get(VARIABLE));
    if set.is_some_and(|value| value == "0") {
        return finding(Status::Pass, text!("pair-ipc-dma-buf")).evidence(variable, "0".to_owned());
    }
    let mut warning = finding(Status::Warn, text!("pair-ipc-warn"))
        .evidence(driver, text!("pair-ipc-in-tree"))
        .evidence(variable, set.map_or_else(|| text!("pair-ipc-unset"), Text::from));
    if let Some(mark) = facts.host.container_marks.first() {
        warning = warning.evidence(format!("/{mark}"), text!("pair-ipc-container"));
    }
    warning.remedy(text!("pair-ipc-remedy", variable = VARIABLE.to_owned()))
}
