// SPDX-License-Identifier: GPL-2.0-only

//! `kernel.p2pdma`: `CONFIG_PCI_P2PDMA`. Without it `pci_p2pdma_distance()` is a stub that says -1
//! (`include/linux/pci-p2pdma.h`, Linux 6.1 to 7.3), and there is nothing to override.

use crate::{
    facts::Facts,
    finding::{Finding, Scope, Status},
    view,
};

pub(super) const ID: &str = "kernel.p2pdma";
/// What to do where no configuration can be read.
pub(super) const NO_CONFIG: &str = "make /boot/config-$(uname -r) readable, or enable /proc/config.gz";
const OPTION: &str = "CONFIG_PCI_P2PDMA";
const SYMBOL: &str = "pci_p2pdma_distance_many";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    let one = match &facts.kernel.config {
        Ok(config) if config.is_on(OPTION) => {
            finding(Status::Pass, "the kernel has peer-to-peer DMA (CONFIG_PCI_P2PDMA)")
                .evidence(format!("/{}", config.path), format!("{OPTION}=y"))
        }
        Ok(config) => finding(
            Status::Fail,
            "the kernel was built without CONFIG_PCI_P2PDMA: it refuses every pair, and there is nothing to override",
        )
        .evidence(format!("/{}", config.path), format!("{OPTION} is not set"))
        .remedy("boot a kernel with CONFIG_PCI_P2PDMA=y and CONFIG_HSA_AMD_P2P=y"),
        Err(error) => match proof(facts) {
            Some((source, value)) => finding(Status::Pass, "the kernel has peer-to-peer DMA: a loaded module uses it")
                .evidence(source, value),
            None => Finding::unreadable(ID, Scope::Host, "the kernel's configuration", error).remedy(NO_CONFIG),
        },
    };
    vec![one]
}

/// A loaded module that needs the symbol proves that the kernel has it.
fn proof(facts: &Facts) -> Option<(String, String)> {
    if view::hook_is_proven(facts) {
        let path = "/sys/module/tp2_p2pdma/override/self_test".to_owned();
        return Some((path, "pass".to_owned()));
    }
    let info = facts.amdgpu.info.as_ref().ok()?;
    let needs = facts.amdgpu.loaded && info.needed.iter().any(|symbol| symbol == SYMBOL);
    needs.then(|| (format!("/{}", info.path), format!("is loaded and needs {SYMBOL}")))
}
