// SPDX-License-Identifier: GPL-2.0-only

//! `env.platform`: what the tool runs on. In a guest the bridges are the hypervisor's, so a route says little about
//! the machine below; WSL and Windows have neither sysfs PCI bridges nor KFD.

use super::env_variables;
use crate::{
    facts::Facts,
    finding::{Bearing, Finding, Scope, Status},
    text,
    text::Text,
};

pub(super) const ID: &str = "env.platform";

/// Words in DMI names that hypervisors use.
const VIRTUAL_VENDORS: [&str; 7] = ["QEMU", "KVM", "VMware", "Xen", "innotek", "Bochs", "Virtual Machine"];

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let host = &facts.host;
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    if let Some((source, value)) = wsl(facts) {
        let wsl = finding(Status::Na, text!("env-platform-wsl")).bearing(Bearing::NotJudged);
        return vec![wsl.evidence(source.to_owned(), value).remedy(text!("env-platform-wsl-remedy"))];
    }
    let dmi = [&host.dmi_vendor, &host.dmi_product];
    let name = dmi.iter().filter_map(|text| text.as_deref().ok()).collect::<Vec<_>>().join(" ");
    let by_name = VIRTUAL_VENDORS.iter().any(|word| name.contains(word));
    let by_cpu = host.cpu.as_ref().map(|cpu| cpu.hypervisor);
    let mut findings = Vec::new();
    match by_cpu {
        Err(error) if !by_name => {
            findings.push(Finding::unreadable(ID, Scope::Host, text!("env-platform-cpu"), error));
        }
        Ok(false) if !by_name => {
            let metal = finding(Status::Pass, text!("env-platform-metal"));
            findings.push(metal.evidence("/proc/cpuinfo".to_owned(), text!("env-platform-no-hypervisor-flag")));
        }
        _ => {
            let cpu = if by_cpu == Ok(true) {
                text!("env-platform-hypervisor-flag")
            } else {
                text!("env-platform-no-hypervisor-flag")
            };
            let warning = finding(Status::Warn, text!("env-platform-guest")).evidence("/proc/cpuinfo".to_owned(), cpu);
            findings.push(warning.evidence("/sys/class/dmi/id".to_owned(), name));
        }
    }
    if let Some(mark) = host.container_marks.first() {
        let warning = finding(Status::Warn, text!("env-platform-container"));
        let warning = warning.evidence(format!("/{mark}"), text!("env-platform-present"));
        findings.push(warning.remedy(text!("env-platform-container-remedy")));
    }
    if let Ok(variables) = &facts.environment {
        findings.extend(env_variables::judge(ID, variables));
    }
    findings
}

/// The kernel's version tells; so does WSL's own GPU device where KFD is not.
fn wsl(facts: &Facts) -> Option<(&'static str, Text)> {
    match &facts.host.version {
        Ok(version) if version.to_lowercase().contains("microsoft") => Some(("/proc/version", version.into())),
        _ if facts.access.has_dxg && facts.kfd.is_err() => Some(("/dev/dxg", text!("env-platform-no-kfd"))),
        _ => None,
    }
}
