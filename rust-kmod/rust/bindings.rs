// SPDX-License-Identifier: GPL-2.0-only

//! What `bindgen` made of `bindings.h` for the kernel at hand; only the checks are written by hand.
//!
//! Only what `kernel::bindings` lacks is generated. The types that these items refer to are looked
//! up by name there, so a type could be found that is not the one `bindgen` meant: the layouts are
//! compared below.

use core::mem::offset_of;
use kernel::prelude::*;

#[allow(
    clippy::all,
    clippy::cast_lossless,
    clippy::ptr_as_ptr,
    clippy::ref_as_ptr,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    improper_ctypes,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    unsafe_op_in_unsafe_fn,
    unused_imports
)]
mod generated {
    use kernel::bindings::*;

    include!(concat!(env!("TP2_OBJ"), "/rust/bindings_generated.rs"));
}

pub(crate) use generated::*;
pub(crate) use kernel::bindings::{
    device,
    device_driver,
    pci_bus,
    pci_dev,
    pci_host_bridge,
    pt_regs, //
};

/// Stops the build where a Rust type and the C type differ.
macro_rules! same_layout {
    ($($number:ident == $rust:expr;)*) => {
        $(static_assert!($rust == $number as usize);)*
    };
}

same_layout! {
    TP2_SIZEOF_KRETPROBE == size_of::<kretprobe>();
    TP2_OFFSETOF_KP_NMISSED == offset_of!(kretprobe, kp.nmissed);
    TP2_OFFSETOF_SYMBOL_NAME == offset_of!(kretprobe, kp.symbol_name);
    TP2_OFFSETOF_HANDLER == offset_of!(kretprobe, handler);
    TP2_OFFSETOF_ENTRY_HANDLER == offset_of!(kretprobe, entry_handler);
    TP2_OFFSETOF_MAXACTIVE == offset_of!(kretprobe, maxactive);
    TP2_OFFSETOF_NMISSED == offset_of!(kretprobe, nmissed);
    TP2_OFFSETOF_DATA_SIZE == offset_of!(kretprobe, data_size);
    TP2_OFFSETOF_INSTANCE_DATA == offset_of!(kretprobe_instance, data);
    TP2_OFFSETOF_PCI_DEV_BUS == offset_of!(pci_dev, bus);
    TP2_OFFSETOF_PCI_DEV_DEVFN == offset_of!(pci_dev, devfn);
    TP2_OFFSETOF_PCI_DEV_VENDOR == offset_of!(pci_dev, vendor);
    TP2_OFFSETOF_PCI_DEV_DEVICE == offset_of!(pci_dev, device);
    TP2_OFFSETOF_PCI_DEV_CLASS == offset_of!(pci_dev, class);
    TP2_OFFSETOF_PCI_DEV_DEV == offset_of!(pci_dev, dev);
    TP2_OFFSETOF_BUS_NUMBER == offset_of!(pci_bus, number);
    TP2_OFFSETOF_DEVICE_PARENT == offset_of!(device, parent);
    TP2_OFFSETOF_DEVICE_DRIVER == offset_of!(device, driver);
    TP2_OFFSETOF_DRIVER_NAME == offset_of!(device_driver, name);
    TP2_SIZEOF_ADDRESS == size_of::<tp2_address>();
    TP2_SIZEOF_SETTINGS == size_of::<tp2_settings>();
}
