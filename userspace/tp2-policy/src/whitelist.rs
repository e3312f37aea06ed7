// SPDX-License-Identifier: GPL-2.0-only

//! `pci_p2pdma_whitelist[]` of `drivers/pci/p2pdma.c`, by kernel version.
//!
//! Read from the sources of the releases in [`SOURCES`]; device names are resolved with `include/linux/pci_ids.h` of the
//! same sources. `cargo xtask drift` compares the table with that of a kernel and can write it anew.
//!
//! What lies between two sources is not guessed: an entry that the older lacks and the newer has is
//! [`UnknownListing::Between`] for the releases in between. No entry was ever removed.

use crate::{KernelVersion, policy::BridgeId};

mod table;

pub use table::{SOURCES, TABLE};

/// The oldest of [`SOURCES`].
const OLDEST: KernelVersion = SOURCES[0];
/// The newest of [`SOURCES`].
const NEWEST: KernelVersion = SOURCES[SOURCES.len() - 1];

/// One row of the kernel's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What the kernel calls the device: the macro of its ID, or the comment above the row.
    pub name: &'static str,
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

/// A row, as `table.rs` writes it.
const fn row(
    name: &'static str,
    vendor: u16,
    device: Option<u16>,
    require_same_host_bridge: bool,
    first_seen: KernelVersion,
    last_absent: Option<KernelVersion>,
) -> Entry {
    Entry { name, vendor, device, require_same_host_bridge, first_seen, last_absent }
}

impl Entry {
    /// Whether the row is for this device, as `__host_bridge_whitelist()` compares.
    fn matches(&self, (vendor, device): BridgeId) -> bool {
        self.vendor == vendor && self.device.is_none_or(|d| d == device)
    }
}

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
    if series < OLDEST.series() {
        return Listing::Unknown(UnknownListing::TooOld { oldest: OLDEST });
    }
    let extrapolated = series > NEWEST.series();
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
