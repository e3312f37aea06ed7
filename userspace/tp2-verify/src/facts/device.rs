// SPDX-License-Identifier: GPL-2.0-only

//! What is read of a GPU, and of the bridges above it, beyond what every PCI function has.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Reading;

/// What is read of a GPU and of each bridge above it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnPath {
    /// Words of the PCI Express capability; `None`: there is no such capability.
    pub express: Reading<Option<Express>>,
    /// Link attributes.
    pub link: Link,
    /// Error counters.
    pub aer: Aer,
    /// Power attributes.
    pub power: Power,
}

/// Words of the PCI Express capability (`include/uapi/linux/pci_regs.h`, Linux 7.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Express {
    /// Device Control, offset 0x08.
    pub device_control: u16,
    /// Device Capabilities 2, offset 0x24; 0 for a capability of version 1, which has none.
    pub device_capabilities_2: u32,
    /// Device Control 2, offset 0x28; likewise.
    pub device_control_2: u16,
}

impl Express {
    /// `PCI_EXP_DEVCAP2_ATOMIC_ROUTE`.
    #[must_use]
    pub const fn routes_atomics(self) -> bool {
        self.device_capabilities_2 & 0x40 != 0
    }

    /// `PCI_EXP_DEVCAP2_ATOMIC_COMP32`.
    #[must_use]
    pub const fn completes_32(self) -> bool {
        self.device_capabilities_2 & 0x80 != 0
    }

    /// `PCI_EXP_DEVCAP2_ATOMIC_COMP64`.
    #[must_use]
    pub const fn completes_64(self) -> bool {
        self.device_capabilities_2 & 0x100 != 0
    }

    /// `PCI_EXP_DEVCTL2_ATOMIC_REQ`: may send atomics.
    #[must_use]
    pub const fn requests_atomics(self) -> bool {
        self.device_control_2 & 0x40 != 0
    }

    /// `PCI_EXP_DEVCTL2_ATOMIC_EGRESS_BLOCK`.
    #[must_use]
    pub const fn blocks_atomics(self) -> bool {
        self.device_control_2 & 0x80 != 0
    }

    /// Maximum payload size in bytes (`PCI_EXP_DEVCTL_PAYLOAD`); values above 4096 are reserved.
    #[must_use]
    pub fn max_payload(self) -> u32 {
        128 << ((self.device_control >> 5) & 7)
    }

    /// The bits as lspci shows them.
    #[must_use]
    pub fn atomics_words(self) -> String {
        let sign = |bit: bool| if bit { '+' } else { '-' };
        format!(
            "Routing{} 32bit{} 64bit{} ReqEn{} EgressBlck{}",
            sign(self.routes_atomics()),
            sign(self.completes_32()),
            sign(self.completes_64()),
            sign(self.requests_atomics()),
            sign(self.blocks_atomics())
        )
    }
}

/// Link attributes of sysfs, of the link above an endpoint or a switch's upstream port, or below any other port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// `current_link_speed` in tenths of GT/s.
    pub current_speed: Reading<u32>,
    /// `current_link_width` in lanes.
    pub current_width: Reading<u32>,
    /// `max_link_speed` in tenths of GT/s.
    pub max_speed: Reading<u32>,
    /// `max_link_width` in lanes.
    pub max_width: Reading<u32>,
}

/// `aer_dev_*` of sysfs: errors since boot, by name (`drivers/pci/pcie/aer.c`, Linux 7.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aer {
    /// `aer_dev_correctable`.
    pub correctable: Reading<BTreeMap<String, u64>>,
    /// `aer_dev_nonfatal`.
    pub nonfatal: Reading<BTreeMap<String, u64>>,
    /// `aer_dev_fatal`.
    pub fatal: Reading<BTreeMap<String, u64>>,
}

/// Power attributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Power {
    /// `power/runtime_status`.
    pub runtime_status: Reading<String>,
    /// `power_state`.
    pub state: Reading<String>,
}

/// Memory of a GPU, and what it can reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuMemory {
    /// BAR 0, through which all AMD GPUs since GCN show their memory; `None`: it is not there or has no address.
    pub bar: Reading<Option<Bar>>,
    /// `mem_info_vram_total` in bytes.
    pub vram: Reading<u64>,
    /// `mem_info_vis_vram_total` in bytes: how much of it the CPU and peers can see.
    pub visible_vram: Reading<u64>,
    /// `dma_mask_bits`: how many address bits its own DMA has, as its driver set it (32 without a driver).
    pub dma_mask_bits: Reading<u32>,
}

/// A memory range on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bar {
    /// First address.
    pub start: u64,
    /// Last address.
    pub end: u64,
}

impl Bar {
    /// Size in bytes.
    #[must_use]
    pub const fn size(self) -> u64 {
        self.end.saturating_sub(self.start).saturating_add(1)
    }

    /// Address bits that its last byte needs.
    #[must_use]
    pub const fn bits(self) -> u32 {
        u64::BITS.saturating_sub(self.end.leading_zeros())
    }
}
