// SPDX-License-Identifier: GPL-2.0-only

//! The rows, written by `cargo xtask drift --source KERNEL --write`: change that, or the kernel's sources, not this.

use super::{Entry, row};
use crate::KernelVersion;

const V6_1: KernelVersion = KernelVersion::new(6, 1, 176);
const V6_12: KernelVersion = KernelVersion::new(6, 12, 117);
const V7_2: KernelVersion = KernelVersion::new(7, 2, 12);
const V7_3: KernelVersion = KernelVersion::new(7, 3, 4);

/// The sources that were read, oldest first.
pub const SOURCES: [KernelVersion; 4] = [V6_1, V6_12, V7_2, V7_3];

/// The kernel's rows in the kernel's order: the first that matches decides.
#[rustfmt::skip]
pub const TABLE: [Entry; 25] = [
    row("Intel Xeon E5/Core i7", 0x8086, Some(0x3c00), true, V6_1, None),
    row("Intel Xeon E5/Core i7", 0x8086, Some(0x3c01), true, V6_1, None),
    row("Intel Xeon E7 v3/Xeon E5 v3/Core i7", 0x8086, Some(0x2f00), true, V6_1, None),
    row("Intel Xeon E7 v3/Xeon E5 v3/Core i7", 0x8086, Some(0x2f01), true, V6_1, None),
    row("Intel Skylake-E", 0x8086, Some(0x2030), false, V6_1, None),
    row("Intel Skylake-E", 0x8086, Some(0x2031), false, V6_1, None),
    row("Intel Skylake-E", 0x8086, Some(0x2032), false, V6_1, None),
    row("Intel Skylake-E", 0x8086, Some(0x2033), false, V6_1, None),
    row("Intel Skylake-E", 0x8086, Some(0x2020), false, V6_1, None),
    row("Intel Skylake-E", 0x8086, Some(0x09a2), false, V6_1, None),
    row("PCI_DEVICE_ID_INTEL_DSA_SPR0", 0x8086, Some(0x0b25), false, V7_2, Some(V6_12)),
    row("PCI_DEVICE_ID_INTEL_IAX_SPR0", 0x8086, Some(0x0cfe), false, V7_2, Some(V6_12)),
    row("PCI_DEVICE_ID_INTEL_DSA_GNRD", 0x8086, Some(0x11fb), false, V7_2, Some(V6_12)),
    row("PCI_DEVICE_ID_INTEL_DSA_DMR", 0x8086, Some(0x1212), false, V7_2, Some(V6_12)),
    row("PCI_DEVICE_ID_INTEL_IAA_DMR", 0x8086, Some(0x1216), false, V7_2, Some(V6_12)),
    row("PCI_DEVICE_ID_INTEL_QAT_4XXX", 0x8086, Some(0x4940), false, V7_2, Some(V6_12)),
    row("PCI_DEVICE_ID_INTEL_QAT_401XX", 0x8086, Some(0x4942), false, V7_2, Some(V6_12)),
    row("PCI_DEVICE_ID_INTEL_QAT_402XX", 0x8086, Some(0x4944), false, V7_2, Some(V6_12)),
    row("PCI_DEVICE_ID_INTEL_QAT_420XX", 0x8086, Some(0x4946), false, V7_2, Some(V6_12)),
    row("PCI_DEVICE_ID_INTEL_QAT_6XXX", 0x8086, Some(0x4948), false, V7_2, Some(V6_12)),
    row("Google SoCs", 0x1ae0, None, false, V7_2, Some(V6_12)),
    row("Nvidia CPUs", 0x10de, Some(0x2f95), false, V7_3, Some(V7_2)),
    row("Nvidia CPUs", 0x10de, Some(0x2f96), false, V7_3, Some(V7_2)),
    row("Nvidia CPUs", 0x10de, Some(0x2f97), false, V7_3, Some(V7_2)),
    row("Nvidia CPUs", 0x10de, Some(0x2f98), false, V7_3, Some(V7_2)),
];
