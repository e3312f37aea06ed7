// SPDX-License-Identifier: GPL-2.0-only

//! `amdgpu.pcie-p2p`: the driver's own switch (`amdgpu_drv.c`, Linux 6.1 to 7.3). It exists only with `CONFIG_HSA_AMD_P2P`, and
//! N makes every peer inaccessible.

use crate::{
    facts::Facts,
    finding::{Finding, Scope, Status},
    text,
    text::Text,
};

pub(super) const ID: &str = "amdgpu.pcie-p2p";
const PATH: &str = "sys/module/amdgpu/parameters/pcie_p2p";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let amdgpu = &facts.amdgpu;
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    if let Some(error) = amdgpu.loaded.as_ref().err().filter(|error| !error.is_absent()) {
        return vec![Finding::unreadable(ID, Scope::Host, text!("amdgpu-origin-loading"), error)];
    }
    if !amdgpu.is_loaded() {
        return vec![finding(Status::Skip, text!("amdgpu-pcie-p2p-not-loaded"))];
    }
    let one = match &amdgpu.pcie_p2p {
        Ok(value) if value == "Y" => finding(Status::Pass, text!("amdgpu-pcie-p2p-on")),
        Ok(value) if value == "N" => {
            finding(Status::Fail, text!("amdgpu-pcie-p2p-off")).remedy(text!("amdgpu-pcie-p2p-off-remedy"))
        }
        Ok(value) => {
            let shown: String = value.chars().take(40).collect();
            finding(Status::Unknown, text!("amdgpu-pcie-p2p-odd", value = format!("{shown:?}")))
                .remedy(text!("unreadable-other-remedy", path = format!("/{PATH}")))
        }
        Err(error) if error.is_absent() && amdgpu.has_parameters == Ok(true) => {
            finding(Status::Skip, text!("amdgpu-pcie-p2p-absent"))
        }
        Err(error) => return vec![Finding::unreadable(ID, Scope::Host, text!("amdgpu-pcie-p2p-parameter"), error)],
    };
    vec![one.reading(PATH, &amdgpu.pcie_p2p)]
}
