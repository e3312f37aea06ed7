// SPDX-License-Identifier: GPL-2.0-only

//! `kernel.hsa-amd-p2p`: whether amdgpu was built with `CONFIG_HSA_AMD_P2P`. Without it
//! `amdgpu_device_is_peer_accessible()` is `return false` (Linux 6.1 to 7.3) and never asks for the distance.
//! The kernel's configuration speaks for the kernel's own amdgpu only.

use crate::{
    facts::Facts,
    finding::{Finding, Scope, Status},
    view::{self, DriverP2p},
};

pub(super) const ID: &str = "kernel.hsa-amd-p2p";
const SYMBOL: &str = "pci_p2pdma_distance_many";
const OWN_DRIVER: &str = "use the amdgpu of a kernel with CONFIG_HSA_AMD_P2P=y, or build the driver with it (DKMS builds can lose it where \
                          they test for CONFIG_DMABUF_MOVENOTIFY, a name that does not exist: it is CONFIG_DMABUF_MOVE_NOTIFY)";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    if view::gpus(facts).is_empty() {
        return vec![finding(Status::Na, "no AMD GPU was found")];
    }
    let one = match view::driver_p2p(facts) {
        DriverP2p::On(source, value) => {
            let asks = facts.amdgpu.info.as_ref().map(|info| info.needed.iter().any(|s| s == SYMBOL));
            if asks == Ok(false) && facts.amdgpu.builtin != Ok(true) {
                let summary = "amdgpu has HSA_AMD_P2P, but its file does not call pci_p2pdma_distance_many: this driver \
                               seems to decide without the chipset test, and then tp2_p2pdma has no part in it";
                finding(Status::Unknown, summary)
                    .evidence(source, value)
                    .evidence(
                        format!("/{}", facts.amdgpu.file.as_deref().unwrap_or_default()),
                        format!("does not need {SYMBOL}"),
                    )
                    .remedy(OWN_DRIVER)
            } else {
                finding(Status::Pass, "amdgpu was built with HSA_AMD_P2P").evidence(source, value)
            }
        }
        DriverP2p::Off(source, value) => {
            let summary = "the override acts on the kernel's answer, but this amdgpu was compiled without \
                           HSA_AMD_P2P, so KFD cannot use it; loading the module does not help HIP or RCCL on \
                           this kernel";
            finding(Status::Fail, summary).evidence(source, value).remedy(
                "boot a kernel with CONFIG_HSA_AMD_P2P=y (it needs CONFIG_PCI_P2PDMA=y and, before Linux 7.2, \
                     CONFIG_DMABUF_MOVE_NOTIFY=y; Debian's own kernels have it off)",
            )
        }
        DriverP2p::OffOutside(source, value) => {
            let summary = "amdgpu was built outside the kernel, without HSA_AMD_P2P: such a driver goes by DMA masks alone or \
                           makes no links, and asks for no chipset test that tp2_p2pdma could override";
            finding(Status::Unknown, summary).evidence(source, value).remedy(OWN_DRIVER)
        }
        DriverP2p::Unknown(why) => {
            let summary = format!("whether amdgpu was built with HSA_AMD_P2P is not known: {why}");
            finding(Status::Unknown, &summary)
                .evidence("modinfo -p amdgpu", "could not be read")
                .remedy("look whether `modinfo -p amdgpu` lists pcie_p2p: only an amdgpu with HSA_AMD_P2P has it")
        }
    };
    vec![one]
}
