// SPDX-License-Identifier: GPL-2.0-only

//! The only code that reads the machine. It takes a root directory and makes [`Facts`].

pub mod access;
mod cpio;
pub mod devices;
pub mod environment;
pub mod host;
pub mod initramfs;
pub mod kernel;
pub mod kernel_log;
pub mod kfd;
pub mod module_file;
pub mod modules;
pub mod order;
mod pci;
pub mod pci_config;
pub mod pci_device;
mod process;
pub mod record;
mod root;
pub mod runtime;
mod signature;
pub mod signing;
mod source;
mod unpack;
pub mod xz;

pub(crate) use root::NOT_TEXT;
pub use root::{Root, RootError, read_named};
pub(crate) use source::words;

use crate::facts::Facts;

/// Reads everything that the gates need, and asks the GPU runtime as `options` say.
#[must_use]
pub fn collect(root: &Root, options: &runtime::Options) -> Facts {
    let kernel = kernel::read(root);
    let (pci, pci_skipped) = pci::read(root);
    let module = modules::tp2(root, &kernel.release);
    Facts {
        host: host::read(root),
        environment: environment::read(root),
        signing: signing::read(root),
        order: order::read(root),
        iommu_groups_listed: root.is_dir("sys/kernel/iommu_groups") == Ok(true),
        amdgpu: modules::amdgpu(root, &kernel.release),
        initramfs: initramfs::read(root, &kernel.release, &module),
        module,
        kernel,
        pci,
        pci_skipped,
        kfd: kfd::read(root),
        kernel_log: kernel_log::read(root),
        // Last: opening a GPU's files wakes it, and what was read before should be what was there before.
        access: access::read(root),
        device_access: devices::read(root, &options.program),
        runtime: runtime::read(root, options),
    }
}
