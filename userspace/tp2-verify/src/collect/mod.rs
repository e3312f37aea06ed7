// SPDX-License-Identifier: GPL-2.0-only

//! The only code that reads the machine. It takes a root directory and makes [`Facts`].

pub mod access;
pub mod environment;
pub mod host;
pub mod kernel;
pub mod kfd;
pub mod module_file;
pub mod modules;
pub mod order;
mod pci;
pub mod pci_config;
pub mod pci_device;
mod root;
mod signature;
pub mod signing;

pub use root::{Root, RootError, read_named};

use crate::facts::Facts;

/// Reads everything that the gates need.
#[must_use]
pub fn collect(root: &Root) -> Facts {
    let kernel = kernel::read(root);
    let (pci, pci_skipped) = pci::read(root);
    Facts {
        host: host::read(root),
        amdgpu: modules::amdgpu(root, &kernel.release),
        module: modules::tp2(root, &kernel.release),
        kernel,
        pci,
        pci_skipped,
        iommu_groups_listed: root.is_dir("sys/kernel/iommu_groups"),
        kfd: kfd::read(root),
        access: access::read(root),
        environment: environment::read(root),
        signing: signing::read(root),
        order: order::read(root),
        // Asked in a process of its own, by who wants it.
        runtime: None,
    }
}
