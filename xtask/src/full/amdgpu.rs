// SPDX-License-Identifier: GPL-2.0-only
//! A real amdgpu built with `HSA_AMD_P2P`: modprobe loads the module before it, and the gates about the driver open.
//!
//! There is no AMD hardware in the guest, so that amdgpu binds to nothing; what KFD makes of GPUs is not shown here.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::guest::{self, Implementation, ScenarioGuest, System};
use crate::vm::{Accel, Vm, kernel_log, machine};

const BOOT_LIMIT: Duration = Duration::from_secs(120);
const LOAD_LIMIT: Duration = Duration::from_secs(400);
const PARAMETER: &str = "/sys/module/amdgpu/parameters/pcie_p2p";

/// Loads the driver with its parameter on, then off.
pub(super) fn run(system: &System) -> Result<()> {
    let small = ScenarioGuest::from(system)?;
    let mut vm = Vm::boot(&machine::x99(), Accel::detect(&small), &small.boot(BOOT_LIMIT))?;
    vm.get(&guest::select(Implementation::Rust))?;
    let mut problems = Vec::new();

    // By kmod, named by its path: busybox's modprobe knows no softdep.
    load(&mut vm, "/usr/bin/modprobe amdgpu")?;
    // /proc/modules lists the youngest first.
    let modules = vm.get("cut -d' ' -f1 /proc/modules")?;
    let position = |name: &str| modules.lines().position(|line| line == name);
    if position("tp2_p2pdma") <= position("amdgpu") {
        problems.push("modprobe amdgpu did not load tp2_p2pdma first".to_owned());
    }
    expect(&mut vm, "Y", "pass", &mut problems)?;

    load(&mut vm, "/usr/bin/modprobe -r amdgpu && /usr/bin/modprobe amdgpu pcie_p2p=0")?;
    expect(&mut vm, "N", "fail", &mut problems)?;

    problems.extend(kernel_log::splats(&vm.console()).into_iter().map(|line| format!("kernel log: {line}")));
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{}", problems.join("; "))
}

fn load(vm: &mut Vm, script: &str) -> Result<()> {
    let answer = vm.run(script, LOAD_LIMIT)?;
    if answer.status != 0 {
        bail!("`{script}` failed in the guest: {}", answer.text.trim());
    }
    Ok(())
}

/// The parameter has this value, and the gate about it this status; the driver itself is always good.
fn expect(vm: &mut Vm, parameter: &str, status: &str, problems: &mut Vec<String>) -> Result<()> {
    let found = vm.get(&format!("cat {PARAMETER}"))?;
    if found != parameter {
        problems.push(format!("{PARAMETER} is {found}, expected {parameter}"));
    }
    let answer = vm.run("tp2-verify --json", LOAD_LIMIT)?;
    let report: Value = serde_json::from_str(answer.text.trim())
        .with_context(|| format!("tp2-verify --json printed `{}`", answer.text))?;
    for (gate, expected) in [("kernel.hsa-amd-p2p", "pass"), ("amdgpu.pcie-p2p", status), ("module.effective", "pass")]
    {
        let found = report["findings"].as_array().into_iter().flatten().find(|finding| finding["gate"] == gate);
        let found = found.map_or("absent", |finding| finding["status"].as_str().unwrap_or_default());
        if found != expected {
            problems.push(format!("tp2-verify gate {gate} is {found}, expected {expected}"));
        }
    }
    Ok(())
}
