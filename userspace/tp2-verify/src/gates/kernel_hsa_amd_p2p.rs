// SPDX-License-Identifier: GPL-2.0-only

//! `kernel.hsa-amd-p2p`: whether amdgpu was built with `CONFIG_HSA_AMD_P2P`. Without it
//! `amdgpu_device_is_peer_accessible()` is `return false` (Linux 6.1 to 7.3) and never asks for the distance.
//! The kernel's configuration speaks for the kernel's own amdgpu only.

use crate::{
    facts::Facts,
    finding::{Finding, Remedy, Scope, Status},
    text,
    text::Text,
    view::{self, DriverP2p},
};

pub(super) const ID: &str = "kernel.hsa-amd-p2p";
const SYMBOL: &str = "pci_p2pdma_distance_many";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    if let Err(error) = &facts.pci {
        return vec![Finding::unreadable(ID, Scope::Host, text!("gpu-kfd-what-devices"), error)];
    }
    if view::gpus(facts).is_empty() {
        return vec![finding(Status::Na, text!("kernel-hsa-amd-p2p-no-gpu"))];
    }
    let one = match view::driver_p2p(facts) {
        DriverP2p::On(source, value) => {
            let asks = facts.amdgpu.info.as_ref().map(|info| info.needed.iter().any(|s| s == SYMBOL));
            if asks == Ok(false) && facts.amdgpu.builtin != Ok(true) {
                finding(Status::Unknown, text!("kernel-hsa-amd-p2p-not-asking", symbol = SYMBOL.to_owned()))
                    .evidence(source, value)
                    .evidence(
                        format!("/{}", facts.amdgpu.file.as_deref().unwrap_or_default()),
                        text!("kernel-hsa-amd-p2p-not-needed", symbol = SYMBOL.to_owned()),
                    )
                    .remedy(text!("kernel-hsa-amd-p2p-driver-remedy"))
            } else {
                finding(Status::Pass, text!("kernel-hsa-amd-p2p-pass")).evidence(source, value)
            }
        }
        DriverP2p::Off(source, value) => finding(Status::Fail, text!("kernel-hsa-amd-p2p-off"))
            .evidence(source, value)
            .remedy(text!("kernel-hsa-amd-p2p-off-remedy")),
        DriverP2p::OffOutside(source, value) => finding(Status::Unknown, text!("kernel-hsa-amd-p2p-outside"))
            .evidence(source, value)
            .remedy(text!("kernel-hsa-amd-p2p-driver-remedy")),
        DriverP2p::Unknown(why) => finding(Status::Unknown, text!("kernel-hsa-amd-p2p-unknown", why = why))
            .evidence("modinfo -p amdgpu".to_owned(), text!("kernel-hsa-amd-p2p-not-read"))
            .remedy(
                Remedy::from(text!("kernel-hsa-amd-p2p-unknown-remedy"))
                    .command("modinfo -p amdgpu | grep pcie_p2p", &[]),
            ),
    };
    vec![one]
}
