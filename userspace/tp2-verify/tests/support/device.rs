// SPDX-License-Identifier: GPL-2.0-only

//! Attributes and registers of simulated GPUs and bridges: healthy ones, and ways to spoil them.

use std::fs;

use super::{Acs, Tree};

/// Device Control of the `PCIe` capability at 0x40 in [`config_space`].
pub(crate) const DEVICE_CONTROL: usize = 0x48;
/// Device Capabilities 2.
pub(crate) const DEVICE_CAPABILITIES_2: usize = 0x64;
/// Device Control 2.
pub(crate) const DEVICE_CONTROL_2: usize = 0x68;

const ATOMIC_ROUTE: u16 = 0x40;
const ATOMIC_COMPLETE: u16 = 0x80 | 0x100;
const PAYLOAD_256: u16 = 1 << 5;

/// 24 GiB.
const VRAM: u64 = 24 << 30;

impl Tree {
    fn device(bdf: &str, attribute: &str) -> String {
        format!("sys/bus/pci/devices/{bdf}/{attribute}")
    }

    /// One attribute of a device.
    pub(crate) fn attribute(&self, bdf: &str, name: &str, value: &str) -> &Self {
        self.file(&Self::device(bdf, name), value)
    }

    /// One 16-bit word of a device's configuration space, if the tree has that much of it.
    pub(crate) fn word(&self, bdf: &str, offset: usize, value: u16) -> &Self {
        let file = self.path().join(Self::device(bdf, "config"));
        let mut bytes = fs::read(&file).unwrap();
        if let Some(word) = bytes.get_mut(offset..offset + 2) {
            word.copy_from_slice(&value.to_le_bytes());
        }
        fs::write(file, bytes).unwrap();
        self
    }

    /// Vendor and device ID of a device.
    pub(crate) fn id(&self, bdf: &str, id: &str) -> &Self {
        let (vendor, device) = id.split_once(':').unwrap();
        self.attribute(bdf, "vendor", &format!("0x{vendor}")).attribute(bdf, "device", &format!("0x{device}"))
    }

    /// What a link runs at and could run at, as one of its ends tells: speed and lanes.
    pub(crate) fn rate(&self, bdf: &str, now: (&str, u32), most: (&str, u32)) -> &Self {
        self.attribute(bdf, "current_link_speed", now.0)
            .attribute(bdf, "current_link_width", &now.1.to_string())
            .attribute(bdf, "max_link_speed", most.0)
            .attribute(bdf, "max_link_width", &most.1.to_string())
    }

    /// BAR 0 of a GPU.
    pub(crate) fn bar(&self, bdf: &str, start: u64, size: u64) -> &Self {
        let text = format!(
            "0x{start:016x} 0x{:016x} 0x000000000014220c\n0x0000000000000000 0x0000000000000000 0x0000000000000000",
            start + size - 1
        );
        self.attribute(bdf, "resource", &text)
    }

    /// Memory of a GPU in bytes: all of it, and what can be seen.
    pub(crate) fn vram(&self, bdf: &str, all: u64, visible: u64) -> &Self {
        self.attribute(bdf, "mem_info_vram_total", &all.to_string()).attribute(
            bdf,
            "mem_info_vis_vram_total",
            &visible.to_string(),
        )
    }

    /// The IOMMU group of a device, with a domain of this type.
    pub(crate) fn iommu(&self, bdf: &str, group: u32, kind: &str) -> &Self {
        let real = fs::canonicalize(self.path().join(Self::device(bdf, ""))).unwrap();
        let below = real.strip_prefix(fs::canonicalize(self.path()).unwrap()).unwrap();
        let up = "../".repeat(below.components().count());
        self.link(&format!("{}/iommu_group", below.to_str().unwrap()), &format!("{up}sys/kernel/iommu_groups/{group}"))
            .file(&format!("sys/kernel/iommu_groups/{group}/type"), kind)
    }

    /// A machine whose IOMMU is off.
    pub(crate) fn no_iommu(&self) -> &Self {
        fs::create_dir_all(self.path().join("sys/kernel/iommu_groups")).unwrap();
        self
    }

    /// What every port and GPU has: a full link, no errors, awake.
    pub(super) fn healthy_port(&self, path: &str) -> &Self {
        for (name, value) in [
            ("current_link_speed", "16.0 GT/s PCIe"),
            ("current_link_width", "16"),
            ("max_link_speed", "16.0 GT/s PCIe"),
            ("max_link_width", "16"),
            ("power/runtime_status", "active"),
            ("power_state", "D0"),
            ("aer_dev_correctable", "RxErr 0\nBadTLP 0\nBadDLLP 0\nRollover 0\nTimeout 0\nTOTAL_ERR_COR 0"),
            ("aer_dev_nonfatal", "Undefined 0\nUnsupReq 0\nTOTAL_ERR_NONFATAL 0"),
            ("aer_dev_fatal", "Undefined 0\nMalfTLP 0\nTOTAL_ERR_FATAL 0"),
        ] {
            self.file(&format!("{path}/{name}"), value);
        }
        self
    }

    /// All memory visible, at an address that 40 bits reach: 64 GiB apart, by bus.
    pub(super) fn healthy_memory(&self, path: &str, bdf: &str) -> &Self {
        let bus = bdf.split(':').nth(1).and_then(|bus| u64::from_str_radix(bus, 16).ok()).unwrap();
        let start = 0x10_0000_0000 + (bus % 8) * 0x10_0000_0000;
        self.file(&format!("{path}/dma_mask_bits"), "44").bar(bdf, start, 32 << 30).vram(bdf, VRAM, VRAM)
    }
}

/// Configuration space with a `PCIe` capability at 0x40, and perhaps ACS at 0x100.
pub(super) fn config_space(kind: u8, acs: Acs) -> Vec<u8> {
    let length = if matches!(acs, Acs::Unreadable) { 64 } else { 4096 };
    let mut bytes = vec![0; 4096];
    bytes[0..4].copy_from_slice(&[0x02, 0x10, 0x4c, 0x74]);
    bytes[0x06] = 0x10;
    bytes[0x34] = 0x40;
    bytes[0x40] = 0x10;
    bytes[0x42] = (kind << 4) | 2;
    let atomics = match kind {
        4 => ATOMIC_COMPLETE,
        5 | 6 => ATOMIC_ROUTE,
        _ => 0,
    };
    let mut put = |at: usize, word: u16| bytes[at..at + 2].copy_from_slice(&word.to_le_bytes());
    put(DEVICE_CONTROL, PAYLOAD_256);
    put(DEVICE_CAPABILITIES_2, atomics);
    if let Acs::Word(word) = acs {
        put(0x100, 0x000d);
        put(0x102, 0x0001);
        put(0x106, word);
    }
    bytes.truncate(length);
    bytes
}
