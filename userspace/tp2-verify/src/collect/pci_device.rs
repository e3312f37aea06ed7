// SPDX-License-Identifier: GPL-2.0-only

//! Attributes of a GPU and of the bridges above it.

use std::collections::BTreeMap;

use super::Root;
use crate::facts::{Aer, Bar, Express, GpuMemory, Link, OnPath, Power, ReadError, Reading};

/// What a GPU or a bridge above one has; `express` and `power` were read before.
pub(super) fn on_path(root: &Root, path: &str, express: Reading<Option<Express>>, power: Power) -> OnPath {
    let speed = |name: &str| parsed(root, &format!("{path}/{name}"), "a link speed", parse_speed);
    // 255 is what the kernel has for a width that it does not know.
    let width = |name: &str| {
        let lanes = |text: &str| text.parse().ok().filter(|lanes| (1..=32).contains(lanes));
        parsed(root, &format!("{path}/{name}"), "a link width", lanes)
    };
    let counters = |name: &str| {
        let file = format!("{path}/{name}");
        let counters = parse_counters(&root.text(&file)?);
        if counters.is_empty() { Err(ReadError::malformed(&file, "has no counters")) } else { Ok(counters) }
    };
    OnPath {
        express,
        link: Link {
            current_speed: speed("current_link_speed"),
            current_width: width("current_link_width"),
            max_speed: speed("max_link_speed"),
            max_width: width("max_link_width"),
        },
        aer: Aer {
            correctable: counters("aer_dev_correctable"),
            nonfatal: counters("aer_dev_nonfatal"),
            fatal: counters("aer_dev_fatal"),
        },
        power,
    }
}

/// How awake a device is.
pub(super) fn power(root: &Root, path: &str) -> Power {
    Power {
        runtime_status: root.text(&format!("{path}/power/runtime_status")),
        state: root.text(&format!("{path}/power_state")),
    }
}

/// Memory of a GPU.
pub(super) fn memory(root: &Root, path: &str) -> GpuMemory {
    let bytes = |name: &str| parsed(root, &format!("{path}/{name}"), "a number", |text| text.parse().ok());
    let file = format!("{path}/resource");
    let bar = root.text(&file).and_then(|text| {
        let first = text.lines().next().unwrap_or_default();
        parse_bar(first).ok_or_else(|| ReadError::malformed(&file, "does not begin with an address range"))
    });
    GpuMemory {
        bar,
        vram: bytes("mem_info_vram_total"),
        visible_vram: bytes("mem_info_vis_vram_total"),
        dma_mask_bits: parsed(root, &format!("{path}/dma_mask_bits"), "a number of bits", |text| {
            text.parse().ok().filter(|bits| (1..=64).contains(bits))
        }),
    }
}

fn parsed<T>(root: &Root, path: &str, what: &str, parse: impl Fn(&str) -> Option<T>) -> Reading<T> {
    let text = root.text(path)?;
    parse(&text).ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        ReadError::malformed(path, format!("{shown:?} is not {what}"))
    })
}

/// Tenths of GT/s, from `8.0 GT/s PCIe` and, before Linux 5.11, `8 GT/s`.
#[must_use]
pub fn parse_speed(text: &str) -> Option<u32> {
    let number = text.split(' ').next()?;
    let (whole, tenth) = number.split_once('.').unwrap_or((number, "0"));
    let tenths: u32 = whole.parse::<u32>().ok()?.checked_mul(10)?;
    let tenth: u32 = (tenth.len() == 1).then(|| tenth.parse().ok()).flatten()?;
    let speed = tenths.checked_add(tenth)?;
    (text.contains("GT/s") && speed > 0).then_some(speed)
}

/// Lines `NAME COUNT`.
#[must_use]
pub fn parse_counters(text: &str) -> BTreeMap<String, u64> {
    let pairs = text.lines().filter_map(|line| {
        let (name, count) = line.trim().rsplit_once(' ')?;
        Some((name.to_owned(), count.parse().ok()?))
    });
    pairs.collect()
}

/// `IORESOURCE_MEM` (`include/linux/ioport.h`).
const RESOURCE_MEMORY: u64 = 0x200;
/// `IORESOURCE_UNSET`: has a size, but no address.
const RESOURCE_UNSET: u64 = 0x2000_0000;

/// A line of `resource`: first address, last address, flags; `Some(None)` for one that has no address.
#[must_use]
pub fn parse_bar(line: &str) -> Option<Option<Bar>> {
    let hex = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let mut words = line.split_whitespace().map(hex);
    let (Some(Some(start)), Some(Some(end)), Some(Some(flags)), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return None;
    };
    let assigned = flags & RESOURCE_MEMORY != 0 && flags & RESOURCE_UNSET == 0 && end > start;
    Some(assigned.then_some(Bar { start, end }))
}
