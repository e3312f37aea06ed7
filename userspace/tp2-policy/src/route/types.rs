// SPDX-License-Identifier: GPL-2.0-only

//! Facts that go into a prediction, and the prediction.

use super::HostBridgeTest;
use crate::{
    KernelVersion,
    policy::{Address, BridgeId},
};

/// Control word of a function's ACS capability (`PCI_ACS_CTRL`), as far as it could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AcsControl {
    /// There is no such capability: the kernel takes it as "no redirect".
    NoCapability,
    /// The word.
    Word(u16),
    /// It takes more rights than the reader had.
    Unreadable,
}

impl AcsControl {
    /// P2P Request Redirect, `PCI_ACS_RR`.
    pub const REQUEST_REDIRECT: u16 = 0x04;
    /// P2P Completion Redirect, `PCI_ACS_CR`.
    pub const COMPLETION_REDIRECT: u16 = 0x08;
    /// P2P Egress Control, `PCI_ACS_EC`.
    pub const EGRESS_CONTROL: u16 = 0x20;
    /// Whether `pci_bridge_has_acs_redir()` (Linux 6.1 to 7.3) says yes; `None` where the word could not be read.
    #[must_use]
    pub const fn redirects(self) -> Option<bool> {
        match self {
            Self::NoCapability => Some(false),
            Self::Word(word) => {
                let mask = Self::REQUEST_REDIRECT | Self::COMPLETION_REDIRECT | Self::EGRESS_CONTROL;
                Some(word & mask != 0)
            }
            Self::Unreadable => None,
        }
    }
}

/// One PCI function of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Where it is.
    pub address: Address,
    /// PCI vendor ID.
    pub vendor: u16,
    /// PCI device ID.
    pub device: u16,
    /// 24-bit class code.
    pub class: u32,
    /// Its ACS control word.
    pub acs_ctrl: AcsControl,
}

/// Identity of a host bridge: its root bus, written `pci0000:00` in sysfs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RootBus {
    /// PCI domain.
    pub domain: u32,
    /// Bus number.
    pub bus: u8,
}

/// The device that stands for a host bridge in the kernel's table: what `pci_host_bridge_dev()` finds.
///
/// That is the first device on the root bus, if it is at 00.0 or a `PCIe` root port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostBridgeDevice {
    /// Vendor and device ID.
    Found(BridgeId),
    /// The kernel finds none: the first device is neither at 00.0 nor a root port, or the bus is empty.
    Absent,
    /// The reader could not tell, for instance for want of the right to read a port's type.
    Unreadable,
}

impl HostBridgeDevice {
    /// The IDs, if there is a device and it is known.
    #[must_use]
    pub const fn id(self) -> Option<BridgeId> {
        match self {
            Self::Found(id) => Some(id),
            Self::Absent | Self::Unreadable => None,
        }
    }
}

/// A function, the bridges above it, and the host bridge it hangs under.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chain {
    /// Provider or client.
    pub function: Node,
    /// `pci_upstream_bridge()` again and again: nearest first, the one on the root bus last. Empty for a function on
    /// the root bus. (For an SR-IOV virtual function the kernel starts at the physical one.)
    pub bridges: Vec<Node>,
    /// Which host bridge.
    pub root_bus: RootBus,
    /// The device that stands for it.
    pub host_bridge: HostBridgeDevice,
}

impl Chain {
    /// The function and its bridges, upwards.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        core::iter::once(&self.function).chain(&self.bridges)
    }
}

/// What `cpu_supports_p2pdma()` looks at, of CPU 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cpu {
    /// `vendor_id` of `/proc/cpuinfo`; empty on machines other than x86, where the kernel's test is always "no".
    pub vendor: String,
    /// `cpu family` of `/proc/cpuinfo`, decimal there.
    pub family: u32,
}

impl Cpu {
    /// Whether `cpu_supports_p2pdma()` says yes: AMD, family 0x17 (Zen) or newer. Hygon is another vendor to the kernel.
    #[must_use]
    pub fn supports_p2pdma(&self) -> bool {
        self.vendor == "AuthenticAMD" && self.family >= 0x17
    }
}

/// Facts of the whole machine; `None` where not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Machine {
    /// The CPU.
    pub cpu: Option<Cpu>,
    /// The running kernel.
    pub kernel: Option<KernelVersion>,
}

/// What the kernel is predicted to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// A distance in hops: peer-to-peer is allowed.
    Distance(i32),
    /// -1.
    Refused,
    /// Depends on something that is not known.
    Unknown,
}

/// Where peer-to-peer traffic goes between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Path {
    /// Provider and client are the same function.
    SameFunction,
    /// Through a common bridge, unless ACS redirects it.
    SharedUpstream {
        /// The lowest bridge that is upstream of both (or one of the two, if upstream of the other).
        bridge: Address,
    },
    /// No common bridge, same host bridge.
    ThroughHostBridge,
    /// Two host bridges.
    AcrossHostBridges,
}

/// What the answer follows from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A common bridge and no ACS redirect: bus addresses are used, the host bridge does not matter.
    BusAddress,
    /// No common bridge, so this test decides.
    HostBridge(HostBridgeTest),
    /// A common bridge, but ACS redirect sends traffic up to the host bridge, so the test decides.
    AcsRedirect {
        /// Functions that redirect: the provider's side first, upwards from each function.
        ports: Vec<Address>,
        /// Functions of the path whose word could not be read.
        unreadable: Vec<Address>,
        /// The test.
        host_bridge: HostBridgeTest,
    },
    /// A common bridge, no redirect among the words that could be read, and some that could not.
    AcsUnreadable {
        /// Functions of the path whose word could not be read.
        ports: Vec<Address>,
        /// The test that decides if one of them redirects.
        host_bridge: HostBridgeTest,
    },
}

/// A prediction of the kernel's answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prediction {
    /// The answer.
    pub answer: Answer,
    /// The kernel's hop count for the path, whether it allows it or not.
    pub hop_count: i32,
    /// The path.
    pub path: Path,
    /// Why.
    pub reason: Reason,
}

impl Prediction {
    /// The number that the kernel returns, if known.
    #[must_use]
    pub const fn kernel_answer(&self) -> Option<i32> {
        match self.answer {
            Answer::Distance(hops) => Some(hops),
            Answer::Refused => Some(-1),
            Answer::Unknown => None,
        }
    }
}
