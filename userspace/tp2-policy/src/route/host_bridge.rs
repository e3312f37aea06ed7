// SPDX-License-Identifier: GPL-2.0-only

//! The test that the kernel applies once traffic goes through a host bridge: CPU, then table.

use super::types::{Chain, HostBridgeDevice, Machine};
use crate::{
    KernelVersion,
    policy::BridgeId,
    whitelist::{self, Listing, UnknownListing},
};

/// Outcome of `cpu_supports_p2pdma() || host_bridge_whitelist()` (Linux 6.1 to 7.3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HostBridgeTest {
    /// Yes, by the CPU.
    CpuSupported,
    /// Yes, by the table.
    Listed {
        /// By a table older than the kernel.
        extrapolated: bool,
    },
    /// No: the CPU is not one of those, and this keeps the table from saying yes.
    Refused(NotAllowed),
    /// It depends on these: each alone could still make or break it.
    Unknown(Vec<UnknownHostBridge>),
}

impl HostBridgeTest {
    /// Yes, no, or `None` for "it depends".
    #[must_use]
    pub const fn verdict(&self) -> Option<bool> {
        match self {
            Self::CpuSupported | Self::Listed { .. } => Some(true),
            Self::Refused(_) => Some(false),
            Self::Unknown(_) => None,
        }
    }
}

/// Why a host bridge does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotAllowed {
    /// Not in the table.
    NotListed {
        /// The host bridge.
        bridge: BridgeId,
        /// By a table older than the kernel.
        extrapolated: bool,
    },
    /// In the table, but only for pairs under the same host bridge (`REQ_SAME_HOST_BRIDGE`), and these are not.
    NeedsSameHostBridge {
        /// The host bridge.
        bridge: BridgeId,
        /// By a table older than the kernel.
        extrapolated: bool,
    },
    /// `pci_host_bridge_dev()` finds no device, so there is nothing to look up.
    NoDevice,
}

/// What is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownHostBridge {
    /// The CPU.
    Cpu,
    /// Which device stands for the host bridge.
    Device,
    /// The kernel's version.
    KernelVersion {
        /// The host bridge that would have been looked up.
        bridge: BridgeId,
    },
    /// The row came between two known tables, and so did the kernel.
    Between {
        /// The host bridge.
        bridge: BridgeId,
        /// The newest known table without it.
        last_absent: KernelVersion,
        /// The oldest known table with it.
        first_seen: KernelVersion,
    },
    /// The kernel is older than any known table.
    TooOld {
        /// The host bridge.
        bridge: BridgeId,
        /// The oldest known table.
        oldest: KernelVersion,
    },
}

/// What the table says of one host bridge.
enum TableAnswer {
    Yes { extrapolated: bool },
    No(NotAllowed),
    Unknown(UnknownHostBridge),
}

/// Applies the test to a pair.
pub(super) fn test(provider: &Chain, client: &Chain, machine: &Machine) -> HostBridgeTest {
    let mut unknown = Vec::new();
    match &machine.cpu {
        Some(cpu) if cpu.supports_p2pdma() => return HostBridgeTest::CpuSupported,
        Some(_) => {}
        None => unknown.push(UnknownHostBridge::Cpu),
    }
    let cpu_known = unknown.is_empty();
    let same = provider.root_bus == client.root_bus;
    let mut any_extrapolated = false;
    let mut refusal = None;
    // Both sides have to pass; under one host bridge there is one side.
    let sides = [provider, client];
    for chain in sides.into_iter().take(if same { 1 } else { 2 }) {
        match table_answer(chain.host_bridge, same, machine.kernel) {
            TableAnswer::Yes { extrapolated } => any_extrapolated |= extrapolated,
            TableAnswer::No(why) => refusal = refusal.or(Some(why)),
            TableAnswer::Unknown(what) => unknown.push(what),
        }
    }
    match refusal {
        Some(why) if cpu_known => HostBridgeTest::Refused(why),
        Some(_) => HostBridgeTest::Unknown(vec![UnknownHostBridge::Cpu]),
        None if unknown.iter().all(|what| *what == UnknownHostBridge::Cpu) => {
            HostBridgeTest::Listed { extrapolated: any_extrapolated }
        }
        None => HostBridgeTest::Unknown(unknown),
    }
}

/// `__host_bridge_whitelist()` for one host bridge.
fn table_answer(device: HostBridgeDevice, same: bool, kernel: Option<KernelVersion>) -> TableAnswer {
    let bridge = match device {
        HostBridgeDevice::Found(id) => id,
        HostBridgeDevice::Absent => return TableAnswer::No(NotAllowed::NoDevice),
        HostBridgeDevice::Unreadable => return TableAnswer::Unknown(UnknownHostBridge::Device),
    };
    let Some(kernel) = kernel else {
        return TableAnswer::Unknown(UnknownHostBridge::KernelVersion { bridge });
    };
    match whitelist::lookup(kernel, bridge.0, bridge.1) {
        Listing::Listed { require_same_host_bridge: true, extrapolated } if !same => {
            TableAnswer::No(NotAllowed::NeedsSameHostBridge { bridge, extrapolated })
        }
        Listing::Listed { extrapolated, .. } => TableAnswer::Yes { extrapolated },
        Listing::NotListed { extrapolated } => TableAnswer::No(NotAllowed::NotListed { bridge, extrapolated }),
        Listing::Unknown(UnknownListing::Between { last_absent, first_seen }) => {
            TableAnswer::Unknown(UnknownHostBridge::Between { bridge, last_absent, first_seen })
        }
        Listing::Unknown(UnknownListing::TooOld { oldest }) => {
            TableAnswer::Unknown(UnknownHostBridge::TooOld { bridge, oldest })
        }
    }
}
