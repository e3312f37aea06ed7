// SPDX-License-Identifier: GPL-2.0-only

//! `pci_p2pdma_whitelist[]` of `drivers/pci/p2pdma.c`, by kernel version.
//!
//! Read from the sources of Linux 6.1.176, 6.12.117, 7.2.12 and 7.3.4; device names are resolved with
//! `include/linux/pci_ids.h` of the same sources. What lies between two of them is not guessed: an entry that the
//! older lacks and the newer has is [`UnknownListing::Between`] for the releases in between. No entry was ever removed.

use crate::{KernelVersion, policy::BridgeId};

/// The sources that were read, oldest first.
pub const SOURCES: [KernelVersion; 4] = [V6_1, V6_12, V7_2, V7_3];

const V6_1: KernelVersion = KernelVersion::new(6, 1, 176);
const V6_12: KernelVersion = KernelVersion::new(6, 12, 117);
const V7_2: KernelVersion = KernelVersion::new(7, 2, 12);
const V7_3: KernelVersion = KernelVersion::new(7, 3, 4);

const INTEL: u16 = 0x8086;
const GOOGLE: u16 = 0x1ae0;
const NVIDIA: u16 = 0x10de;

/// One row of the kernel's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// PCI vendor ID.
    pub vendor: u16,
    /// PCI device ID; `None` is the kernel's `PCI_ANY_ID`.
    pub device: Option<u16>,
    /// The kernel's flag `REQ_SAME_HOST_BRIDGE`.
    pub require_same_host_bridge: bool,
    /// The oldest of [`SOURCES`] that has the row.
    pub first_seen: KernelVersion,
    /// The newest of [`SOURCES`] that lacks it; `None` if all have it.
    pub last_absent: Option<KernelVersion>,
}

impl Entry {
    /// A row that all sources have.
    const fn old(device: u16, require_same_host_bridge: bool) -> Self {
        Self { vendor: INTEL, device: Some(device), require_same_host_bridge, first_seen: V6_1, last_absent: None }
    }

    /// A row without flags that came after 6.12 and before or with 7.2.
    const fn since_7_2(vendor: u16, device: Option<u16>) -> Self {
        Self { vendor, device, require_same_host_bridge: false, first_seen: V7_2, last_absent: Some(V6_12) }
    }

    /// A row without flags that came with 7.3.
    const fn since_7_3(vendor: u16, device: u16) -> Self {
        Self {
            vendor,
            device: Some(device),
            require_same_host_bridge: false,
            first_seen: V7_3,
            last_absent: Some(V7_2),
        }
    }

    /// Whether the row is for this device, as `__host_bridge_whitelist()` compares.
    fn matches(&self, (vendor, device): BridgeId) -> bool {
        self.vendor == vendor && self.device.is_none_or(|d| d == device)
    }
}

/// The kernel's rows in the kernel's order: the first that matches decides.
pub const TABLE: [Entry; 25] = [
    // Xeon E5/Core i7.
    Entry::old(0x3c00, true),
    Entry::old(0x3c01, true),
    // Xeon E7 v3/Xeon E5 v3/Core i7.
    Entry::old(0x2f00, true),
    Entry::old(0x2f01, true),
    // Skylake-E.
    Entry::old(0x2030, false),
    Entry::old(0x2031, false),
    Entry::old(0x2032, false),
    Entry::old(0x2033, false),
    Entry::old(0x2020, false),
    Entry::old(0x09a2, false),
    // DSA_SPR0, IAX_SPR0, DSA_GNRD, DSA_DMR, IAA_DMR.
    Entry::since_7_2(INTEL, Some(0x0b25)),
    Entry::since_7_2(INTEL, Some(0x0cfe)),
    Entry::since_7_2(INTEL, Some(0x11fb)),
    Entry::since_7_2(INTEL, Some(0x1212)),
    Entry::since_7_2(INTEL, Some(0x1216)),
    // QAT_4XXX, QAT_401XX, QAT_402XX, QAT_420XX, QAT_6XXX.
    Entry::since_7_2(INTEL, Some(0x4940)),
    Entry::since_7_2(INTEL, Some(0x4942)),
    Entry::since_7_2(INTEL, Some(0x4944)),
    Entry::since_7_2(INTEL, Some(0x4946)),
    Entry::since_7_2(INTEL, Some(0x4948)),
    // Google SoCs.
    Entry::since_7_2(GOOGLE, None),
    // Nvidia CPUs.
    Entry::since_7_3(NVIDIA, 0x2f95),
    Entry::since_7_3(NVIDIA, 0x2f96),
    Entry::since_7_3(NVIDIA, 0x2f97),
    Entry::since_7_3(NVIDIA, 0x2f98),
];

/// Whether a kernel's table has a host bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// It has.
    Listed {
        /// Only if provider and client hang under the same host bridge.
        require_same_host_bridge: bool,
        /// The kernel is newer than the newest source, whose table was used.
        extrapolated: bool,
    },
    /// It has not.
    NotListed {
        /// The kernel is newer than the newest source, whose table was used.
        extrapolated: bool,
    },
    /// The sources do not tell.
    Unknown(UnknownListing),
}

/// Why the sources do not tell whether a kernel lists a host bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownListing {
    /// The row came somewhere between two sources, and so is the kernel.
    Between {
        /// The newest source without the row.
        last_absent: KernelVersion,
        /// The oldest source with it.
        first_seen: KernelVersion,
    },
    /// The kernel is older than the oldest source.
    TooOld {
        /// The oldest source.
        oldest: KernelVersion,
    },
}

/// Whether the kernel of that version lists the host bridge, whose device is the one that `pci_host_bridge_dev()` finds.
///
/// Releases are compared by series (`7.3` of `7.3.4`): stable releases are taken to share the table of their series,
/// and kernels of distributions to have that of the series they are named after.
#[must_use]
pub fn lookup(version: KernelVersion, vendor: u16, device: u16) -> Listing {
    let series = version.series();
    if series < V6_1.series() {
        return Listing::Unknown(UnknownListing::TooOld { oldest: V6_1 });
    }
    let extrapolated = series > V7_3.series();
    for entry in TABLE.iter().filter(|entry| entry.matches((vendor, device))) {
        let first_seen = entry.first_seen;
        if series >= first_seen.series() {
            let require_same_host_bridge = entry.require_same_host_bridge;
            return Listing::Listed { require_same_host_bridge, extrapolated };
        }
        if let Some(last_absent) = entry.last_absent.filter(|v| series > v.series()) {
            return Listing::Unknown(UnknownListing::Between { last_absent, first_seen });
        }
    }
    Listing::NotListed { extrapolated }
}
