// SPDX-License-Identifier: GPL-2.0-only

//! The way from a GPU up to the CPU: its bridges, the links between them, and the place where the card ends.

use crate::{
    collect::pci_config::{PORT_DOWNSTREAM, PORT_UPSTREAM},
    facts::{Facts, Link, PciDevice, ReadError, Reading},
    text,
    text::Text,
};

const INTEL: u16 = 0x8086;
const AMD_CPU: u16 = 0x1022;

/// Ports of the switch that AMD cards carry (Navi and later; Vega 10 and 20), which is no slot and no shared switch.
const CARD_SWITCHES: [(u16, u16); 4] = [(0x1002, 0x1478), (0x1002, 0x1479), (0x1022, 0x1470), (0x1022, 0x1471)];

/// Whether a bridge is part of a card.
#[must_use]
pub fn is_in_card(device: &PciDevice) -> bool {
    match (&device.vendor, &device.device) {
        (Ok(vendor), Ok(id)) => CARD_SWITCHES.contains(&(*vendor, *id)),
        _ => false,
    }
}

/// The GPU and the bridges above it, nearest first, as far as they were read.
#[must_use]
pub fn chain<'a>(facts: &'a Facts, gpu: &'a PciDevice) -> Vec<&'a PciDevice> {
    std::iter::once(gpu).chain(gpu.upstream.iter().filter_map(|bdf| facts.device(*bdf))).collect()
}

/// The first bridge above the GPU that is not among the devices, as in a captured tree with holes.
///
/// Without it the link inside a card could be taken for the slot's.
#[must_use]
pub fn lost_bridge(facts: &Facts, gpu: &PciDevice) -> Option<ReadError> {
    let lost = gpu.upstream.iter().find(|bdf| facts.device(**bdf).is_none())?;
    Some(ReadError::absent(&format!("sys/bus/pci/devices/{lost}")))
}

/// A link between two devices outside cards.
#[derive(Clone, Copy, Debug)]
pub struct WayLink<'a> {
    /// The end that is nearer to the GPU.
    pub below: &'a PciDevice,
    /// The port at the other end.
    pub above: &'a PciDevice,
}

/// Speed in tenths of GT/s, and lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Tenths of GT/s.
    pub speed: u32,
    /// Lanes.
    pub width: u32,
}

impl Rate {
    /// Bytes per second one way after line encoding and before packet overhead, in units of 10 MB/s,
    /// rounded.
    ///
    /// 8b/10b up to 5 GT/s, 128b/130b up to 32, flits of 242 in 256 bytes from 64 on (PCI Express Base 6.0).
    #[must_use]
    pub fn ten_megabytes(self) -> u64 {
        let (good, all) = match self.speed {
            0..=50 => (8, 10),
            51..=320 => (128, 130),
            _ => (242, 256),
        };
        // Tenths of GT/s are 100 Mbit/s a lane, and 80 Mbit are 10 MB.
        let bits = u64::from(self.speed).saturating_mul(100).saturating_mul(u64::from(self.width));
        let divisor = all * 80;
        bits.saturating_mul(good).saturating_add(divisor / 2) / divisor
    }

    /// As `lspci` writes it, for instance `8.0 GT/s x8`.
    #[must_use]
    pub fn words(self) -> String {
        format!("{}.{} GT/s x{}", self.speed / 10, self.speed % 10, self.width)
    }

    /// As GB/s (10^9 bytes) with two decimals.
    #[must_use]
    pub fn gigabytes(self) -> String {
        let ten = self.ten_megabytes();
        format!("{}.{:02} GB/s", ten / 100, ten % 100)
    }
}

impl<'a> WayLink<'a> {
    fn ends(&self) -> impl Iterator<Item = &'a Link> {
        [self.below, self.above].into_iter().filter_map(|device| device.on_path.as_ref()).map(|more| &more.link)
    }

    /// What it runs at now; both ends tell the same.
    pub fn now(&self) -> Reading<Rate> {
        self.of(|link| (&link.current_speed, &link.current_width))
    }

    /// What both ends could do.
    pub fn at_most(&self) -> Reading<Rate> {
        self.of(|link| (&link.max_speed, &link.max_width))
    }

    /// The lesser of both ends, of those that can be read.
    fn of(&self, get: impl Fn(&'a Link) -> (&'a Reading<u32>, &'a Reading<u32>)) -> Reading<Rate> {
        let mut least: Option<Rate> = None;
        let mut failed = None;
        for end in self.ends() {
            match get(end) {
                (Ok(speed), Ok(width)) => {
                    let old = least.unwrap_or(Rate { speed: *speed, width: *width });
                    least = Some(Rate { speed: old.speed.min(*speed), width: old.width.min(*width) });
                }
                (Err(error), _) | (_, Err(error)) => failed = failed.or(Some(error)),
            }
        }
        match (least, failed) {
            (Some(rate), _) => Ok(rate),
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Err(ReadError::absent(&format!("{}/current_link_speed", self.below.path))),
        }
    }
}

/// The links of the way outside the card, the slot's first.
///
/// Below a root port or a switch's downstream port is a link; between the two sides of a switch is none.
#[must_use]
pub fn links<'a>(chain: &[&'a PciDevice]) -> Vec<WayLink<'a>> {
    let top_of_card = chain.iter().rposition(|device| is_in_card(device)).unwrap_or(0);
    let outside = chain.get(top_of_card..).unwrap_or_default();
    let ends = outside.chunks_exact(2);
    ends.filter_map(|pair| match pair {
        [below, above] => Some(WayLink { below, above }),
        _ => None,
    })
    .collect()
}

/// Whether the way leads through a chipset, which shares its link to the CPU with disks and networks, and how that shows.
///
/// Intel's are root ports 1b to 1d of bus 0 (client and Xeon E5 platforms); AMD's are switches.
#[must_use]
pub fn chipset(chain: &[&PciDevice]) -> Option<Text> {
    let root_port = chain.last()?;
    let address = root_port.bdf.0;
    if root_port.vendor == Ok(INTEL) && address.bus == 0 && (0x1b..=0x1d).contains(&address.device()) {
        return Some(text!("gpu-chipset-intel", port = root_port.bdf));
    }
    let is_switch = |device: &&&PciDevice| {
        let port = matches!(device.port_type, Ok(Some(PORT_UPSTREAM | PORT_DOWNSTREAM)));
        device.vendor == Ok(AMD_CPU) && port && !is_in_card(device)
    };
    let port = chain.iter().skip(1).find(is_switch)?;
    Some(text!("gpu-chipset-amd", port = port.bdf))
}
