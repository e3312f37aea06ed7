// SPDX-License-Identifier: GPL-2.0-only

//! `kernel.p2pdma`: `CONFIG_PCI_P2PDMA`. Without it `pci_p2pdma_distance()` is a stub that says -1
//! (`include/linux/pci-p2pdma.h`, Linux 6.1 to 7.3), and there is nothing to override.

use crate::{
    facts::Facts,
    finding::{Finding, Scope, Status},
    text,
    text::Text,
    view,
};

pub(super) const ID: &str = "kernel.p2pdma";
const OPTION: &str = "CONFIG_PCI_P2PDMA";
const SYMBOL: &str = "pci_p2pdma_distance_many";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    let one = match &facts.kernel.config {
        Ok(config) if config.is_on(OPTION) => finding(Status::Pass, text!("kernel-p2pdma-pass"))
            .evidence(format!("/{}", config.path), format!("{OPTION}=y")),
        Ok(config) => finding(Status::Fail, text!("kernel-p2pdma-off"))
            .evidence(format!("/{}", config.path), text!("kernel-p2pdma-not-set", option = OPTION.to_owned()))
            .remedy(text!("kernel-p2pdma-off-remedy")),
        Err(error) => match proof(facts) {
            Some((source, value)) => finding(Status::Pass, text!("kernel-p2pdma-proven")).evidence(source, value),
            None => Finding::unreadable(ID, Scope::Host, text!("kernel-p2pdma-config"), error).remedy(no_config()),
        },
    };
    vec![one]
}

/// What to do where no configuration can be read.
pub(super) fn no_config() -> Text {
    text!("kernel-p2pdma-no-config-remedy")
}

/// A loaded module that needs the symbol proves that the kernel has it.
fn proof(facts: &Facts) -> Option<(String, Text)> {
    if view::hook_is_proven(facts) {
        let path = "/sys/module/tp2_p2pdma/override/self_test".to_owned();
        return Some((path, Text::AsRead("pass".to_owned())));
    }
    let info = facts.amdgpu.info.as_ref().ok()?;
    let needs = facts.amdgpu.is_loaded() && info.needed.iter().any(|symbol| symbol == SYMBOL);
    needs.then(|| (format!("/{}", info.path), text!("kernel-p2pdma-needs", symbol = SYMBOL.to_owned())))
}
