// SPDX-License-Identifier: GPL-2.0-only

//! The gates: each a pure function of facts in a file of its own, in the order in which they bite.

mod amdgpu_origin;
mod amdgpu_pcie_p2p;
mod env_access;
mod env_access_opened;
mod env_platform;
mod env_variables;
mod gpu_aer;
mod gpu_atomics;
mod gpu_bar_address;
mod gpu_bar_size;
mod gpu_kfd;
mod gpu_link;
mod gpu_power;
mod gpu_slot;
mod kernel_hsa_amd_p2p;
mod kernel_kprobes;
mod kernel_p2pdma;
mod module_dkms;
mod module_effective;
mod module_loaded;
mod module_match;
mod module_order;
mod module_signature;
mod pair_ipc;
mod pair_kfd_link;
mod pair_kind;
mod pair_route;
mod pair_runtime;
mod route_words;
mod runtime_words;

use crate::{
    facts::Facts,
    finding::{Bearing, Finding, Scope},
};

/// A gate.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// Stable id.
    pub id: &'static str,
    /// Whether the verdict waits for it when it could not be read.
    pub decides: bool,
    /// What it judges.
    pub judge: fn(&Facts) -> Vec<Finding>,
}

const fn gate(id: &'static str, decides: bool, judge: fn(&Facts) -> Vec<Finding>) -> Gate {
    Gate { id, decides, judge }
}

/// All gates, in the order in which they bite.
pub const GATES: [Gate; 26] = [
    gate(env_platform::ID, false, env_platform::judge),
    gate(env_access::ID, false, env_access::judge),
    gate(kernel_p2pdma::ID, true, kernel_p2pdma::judge),
    gate(kernel_hsa_amd_p2p::ID, true, kernel_hsa_amd_p2p::judge),
    gate(kernel_kprobes::ID, true, kernel_kprobes::judge),
    gate(amdgpu_origin::ID, false, amdgpu_origin::judge),
    gate(amdgpu_pcie_p2p::ID, true, amdgpu_pcie_p2p::judge),
    gate(module_dkms::ID, false, module_dkms::judge),
    gate(module_match::ID, false, module_match::judge),
    gate(module_signature::ID, false, module_signature::judge),
    gate(module_order::ID, false, module_order::judge),
    gate(module_loaded::ID, true, module_loaded::judge),
    gate(module_effective::ID, true, module_effective::judge),
    gate(gpu_kfd::ID, true, gpu_kfd::judge),
    gate(gpu_bar_size::ID, true, gpu_bar_size::judge),
    gate(gpu_bar_address::ID, true, gpu_bar_address::judge),
    gate(gpu_atomics::ID, false, gpu_atomics::judge),
    gate(gpu_slot::ID, false, gpu_slot::judge),
    gate(gpu_link::ID, false, gpu_link::judge),
    gate(gpu_power::ID, false, gpu_power::judge),
    gate(gpu_aer::ID, false, gpu_aer::judge),
    gate(pair_kind::ID, true, pair_kind::judge),
    gate(pair_route::ID, true, pair_route::judge),
    gate(pair_kfd_link::ID, true, pair_kfd_link::judge),
    gate(pair_runtime::ID, true, pair_runtime::judge),
    gate(pair_ipc::ID, false, pair_ipc::judge),
];

/// Runs all gates, up to one that finds that nothing here can be judged.
#[must_use]
pub fn judge(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for gate in &GATES {
        findings.extend((gate.judge)(facts));
        let of_host = |finding: &Finding| finding.scope == Scope::Host && finding.bearing == Bearing::NotJudged;
        if findings.iter().any(of_host) {
            break;
        }
    }
    findings
}

/// Whether the verdict waits for the gate when it could not be read.
#[must_use]
pub fn decides(id: &str) -> bool {
    GATES.iter().any(|gate| gate.id == id && gate.decides)
}
