// SPDX-License-Identifier: GPL-2.0-only

//! What is said of host bridges that the kernel does not list: some route peer writes between root ports, but no reads.
//!
//! A hint for the reader and no rule: neither the kernel nor the module asks for it.

use crate::policy::BridgeId;

const INTEL: u16 = 0x8086;
const AMD: [u16; 2] = [0x1022, 0x1002];

/// Host bridges of Intel server and workstation chips (Sandy Bridge-EP to Sapphire Rapids); others are taken to be
/// client ones.
const INTEL_SERVER: [u16; 12] =
    [0x3c00, 0x3c01, 0x0e00, 0x2f00, 0x2f01, 0x6f00, 0x2020, 0x2030, 0x2031, 0x2032, 0x2033, 0x09a2];

/// A kind of chip that is said to route peer writes only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WritesOnly {
    /// An Intel client chip.
    IntelClient,
    /// An AMD chip before Zen: of Zen the kernel never asks for the host bridge.
    AmdBeforeZen,
}

/// Whether a host bridge that the kernel refuses looks like one of those chips.
#[must_use]
pub fn writes_only(bridge: BridgeId) -> Option<WritesOnly> {
    match bridge {
        (INTEL, device) if !INTEL_SERVER.contains(&device) => Some(WritesOnly::IntelClient),
        (vendor, _) if AMD.contains(&vendor) => Some(WritesOnly::AmdBeforeZen),
        _ => None,
    }
}
