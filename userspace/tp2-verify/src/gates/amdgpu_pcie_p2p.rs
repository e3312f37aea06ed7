// SPDX-License-Identifier: GPL-2.0-only

//! `amdgpu.pcie-p2p`: the driver's own switch (`amdgpu_drv.c`, Linux 6.1 to 7.3). It exists only with `CONFIG_HSA_AMD_P2P`, and
//! N makes every peer inaccessible.

use crate::{
    facts::Facts,
    finding::{Finding, Scope, Status},
};

pub(super) const ID: &str = "amdgpu.pcie-p2p";
const PATH: &str = "sys/module/amdgpu/parameters/pcie_p2p";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let amdgpu = &facts.amdgpu;
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    if !amdgpu.loaded {
        return vec![finding(Status::Skip, "amdgpu is not seen to be loaded, so it has no parameters")];
    }
    let one = match &amdgpu.pcie_p2p {
        Ok(value) if value == "Y" => finding(Status::Pass, "amdgpu's peer access is switched on"),
        Ok(value) if value == "N" => finding(Status::Fail, "amdgpu's peer access is switched off by its parameter")
            .remedy("remove amdgpu.pcie_p2p=0 from the kernel command line and from /etc/modprobe.d, then reboot"),
        Ok(value) => {
            let shown: String = value.chars().take(40).collect();
            finding(Status::Unknown, &format!("amdgpu's parameter pcie_p2p has the odd value {shown:?}"))
                .remedy(format!("look at /{PATH}; where it is a copy, capture it anew"))
        }
        Err(error) if error.is_absent() && amdgpu.has_parameters => {
            finding(Status::Skip, "the loaded amdgpu has no parameter pcie_p2p; see kernel.hsa-amd-p2p")
        }
        Err(error) => return vec![Finding::unreadable(ID, Scope::Host, "amdgpu's parameter pcie_p2p", error)],
    };
    vec![one.reading(PATH, &amdgpu.pcie_p2p)]
}
