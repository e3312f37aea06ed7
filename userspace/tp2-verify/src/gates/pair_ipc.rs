// SPDX-License-Identifier: GPL-2.0-only

//! `pair.ipc`: whether programs with one process for each GPU can hand memory over. `ROCr` does that by calls of KFD that
//! only AMD's driver from outside the kernel has, unless `HSA_ENABLE_IPC_MODE_LEGACY=0` makes it use dma-buf (case A10;
//! the variable's default is 1). A copy inside one process proves nothing about this.

use crate::{
    facts::Facts,
    finding::{Finding, Scope, Status},
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
    let finding = |status, summary: &str| Finding::new(ID, scope, status, summary);
    if !view::are_linked(facts, a.device.bdf, b.device.bdf) {
        return finding(Status::Skip, "without KFD's links there is no peer memory to hand over; see pair.kfd-link");
    }
    let builtin = facts.amdgpu.builtin == Ok(true);
    let path = match &facts.amdgpu.file {
        Ok(path) => path.as_str(),
        Err(_) if builtin => "built into the kernel",
        Err(error) => return Finding::unreadable(ID, scope, "which amdgpu runs", error),
    };
    if !builtin && !view::is_in_tree(path) {
        let summary = "this amdgpu is from outside the kernel, where both ways to hand memory over exist";
        return finding(Status::Pass, summary).evidence(format!("/{path}"), "in modules.dep");
    }
    let set = facts.environment.as_ref().ok().and_then(|variables| variables.get(VARIABLE));
    if set.is_some_and(|value| value == "0") {
        let summary = "memory is handed over by dma-buf, which the kernel's own amdgpu can do";
        return finding(Status::Pass, summary).evidence(format!("environment, {VARIABLE}"), "0");
    }
    let mut warning = finding(
        Status::Warn,
        "programs with one process for each GPU (RCCL, vLLM, SGLang) may fail to hand memory over: ROCr's default way needs \
         AMD's driver from outside the kernel",
    )
    .evidence(format!("/{path}"), "the kernel's own amdgpu")
    .evidence(
        format!("environment, {VARIABLE}"),
        set.map_or_else(|| "not set, which means 1".to_owned(), Clone::clone),
    );
    if let Some(mark) = facts.host.container_marks.first() {
        warning = warning.evidence(format!("/{mark}"), "containers need one /dev/shm for both processes, too");
    }
    warning.remedy(format!(
        "if RCCL reports a failed hipIpcOpenMemHandle or hangs, set {VARIABLE}=0 in the environment of the programs; test \
         with two processes"
    ))
}
