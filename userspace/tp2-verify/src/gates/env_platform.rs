// SPDX-License-Identifier: GPL-2.0-only

//! `env.platform`: what the tool runs on. In a guest the bridges are the hypervisor's, so a route says little about
//! the machine below; WSL and Windows have neither sysfs PCI bridges nor KFD.

use super::env_variables;
use crate::{
    facts::Facts,
    finding::{Bearing, Finding, Scope, Status},
};

pub(super) const ID: &str = "env.platform";

/// Words in DMI names that hypervisors use.
const VIRTUAL_VENDORS: [&str; 7] = ["QEMU", "KVM", "VMware", "Xen", "innotek", "Bochs", "Virtual Machine"];

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let host = &facts.host;
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    if let Some((source, value)) = wsl(facts) {
        let summary = "this is WSL, which has no PCI bridges to read and no KFD, and whose GPUs share no memory: nothing else is \
                       judged";
        let wsl = finding(Status::Na, summary).bearing(Bearing::NotJudged);
        return vec![wsl.evidence(source, value).remedy("run it on Linux that was booted on the machine itself")];
    }
    let dmi = [&host.dmi_vendor, &host.dmi_product];
    let name = dmi.iter().filter_map(|text| text.as_deref().ok()).collect::<Vec<_>>().join(" ");
    let by_name = VIRTUAL_VENDORS.iter().any(|word| name.contains(word));
    let by_cpu = host.cpu.as_ref().map(|cpu| cpu.hypervisor);
    let mut findings = Vec::new();
    match by_cpu {
        Err(error) if !by_name => {
            findings.push(Finding::unreadable(ID, Scope::Host, "the CPU", error));
        }
        Ok(false) if !by_name => {
            let metal = finding(Status::Pass, "Linux on the machine itself, no hypervisor seen");
            findings.push(metal.evidence("/proc/cpuinfo", "no hypervisor flag"));
        }
        _ => {
            let summary = "this is a virtual machine: its bridges are the hypervisor's, and what holds here need not \
                           hold on the machine below";
            let cpu = if by_cpu == Ok(true) { "hypervisor flag" } else { "no hypervisor flag" };
            let warning = finding(Status::Warn, summary).evidence("/proc/cpuinfo", cpu);
            findings.push(warning.evidence("/sys/class/dmi/id", name));
        }
    }
    if let Some(mark) = host.container_marks.first() {
        let summary = "this is a container: it sees the host's kernel, but perhaps not its module files";
        let warning = finding(Status::Warn, summary).evidence(format!("/{mark}"), "present");
        findings.push(warning.remedy("run it on the host"));
    }
    if let Ok(variables) = &facts.environment {
        findings.extend(env_variables::judge(ID, variables));
    }
    findings
}

/// The kernel's version tells; so does WSL's own GPU device where KFD is not.
fn wsl(facts: &Facts) -> Option<(&'static str, String)> {
    match &facts.host.version {
        Ok(version) if version.to_lowercase().contains("microsoft") => Some(("/proc/version", version.clone())),
        _ if facts.access.has_dxg && facts.kfd.is_err() => Some(("/dev/dxg", "present, and no KFD".to_owned())),
        _ => None,
    }
}
