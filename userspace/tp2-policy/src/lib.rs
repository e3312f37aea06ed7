// SPDX-License-Identifier: GPL-2.0-only

//! Pure rules: what the kernel answers for a pair of PCI functions, and what `tp2_p2pdma` makes of that answer.
//!
//! - [`policy`]: the rule book of the kernel module, the very same file.
//! - [`whitelist`]: the kernel's host-bridge table by version.
//! - [`chipset`]: what is said of host bridges outside that table.
//! - [`route`]: prediction of `pci_p2pdma_distance()`, and of the module's decision, from two chains of bridges.
//!
//! Nothing here reads the machine.

mod address;
pub mod chipset;
mod kernel_version;
#[path = "../../../rust-kmod/rust/policy.rs"]
pub mod policy;
pub mod route;
pub mod whitelist;

pub use address::ParseAddressError;
pub use kernel_version::{KernelVersion, ParseKernelVersionError};
pub use policy::Address;
