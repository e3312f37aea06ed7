// SPDX-License-Identifier: GPL-2.0-only

//! Reads capabilities out of PCI configuration space, as far as the bytes go.

use crate::facts::Express;

/// What a walk over capabilities finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup<T> {
    /// There.
    Found(T),
    /// Not there.
    Missing,
    /// The bytes end before it can be told. Without root the kernel gives 64 of them.
    CutShort,
    /// The device does not answer (all ones).
    Silent,
}

const STATUS: usize = 0x06;
const STATUS_CAPABILITIES: u16 = 0x10;
const CAPABILITY_POINTER: usize = 0x34;
const STANDARD_HEADER: usize = 0x40;
const CAPABILITY_PCIE: u8 = 0x10;
const EXTENDED_START: usize = 0x100;
const EXTENDED_ACS: u16 = 0x0d;
/// Type 4 in bits 7:4 of the PCI Express capabilities register.
pub const PORT_ROOT: u8 = 4;
/// `PCI_EXP_TYPE_UPSTREAM`: the side of a switch that faces the CPU.
pub const PORT_UPSTREAM: u8 = 5;
/// `PCI_EXP_TYPE_DOWNSTREAM`.
pub const PORT_DOWNSTREAM: u8 = 6;

/// Device/Port type of the PCI Express capability (`PCI_EXP_FLAGS_TYPE`).
#[must_use]
pub fn port_type(config: &[u8]) -> Lookup<u8> {
    match find_standard(config, CAPABILITY_PCIE) {
        Lookup::Found(at) => match u16_at(config, at.saturating_add(2)) {
            Some(flags) => Lookup::Found(u8::try_from((flags >> 4) & 0xf).unwrap_or(0)),
            None => Lookup::CutShort,
        },
        Lookup::Missing => Lookup::Missing,
        Lookup::CutShort => Lookup::CutShort,
        Lookup::Silent => Lookup::Silent,
    }
}

/// Words of the PCI Express capability. Version 1 of it ends before the second set of words.
#[must_use]
pub fn express(config: &[u8]) -> Lookup<Express> {
    let at = match find_standard(config, CAPABILITY_PCIE) {
        Lookup::Found(at) => at,
        Lookup::Missing => return Lookup::Missing,
        Lookup::CutShort => return Lookup::CutShort,
        Lookup::Silent => return Lookup::Silent,
    };
    let word = |offset: usize| u16_at(config, at.saturating_add(offset));
    let (Some(flags), Some(device_control)) = (word(2), word(8)) else {
        return Lookup::CutShort;
    };
    let mut express = Express { device_control, ..Express::default() };
    if flags & 0xf >= 2 {
        let (Some(low), Some(high), Some(control)) = (word(0x24), word(0x26), word(0x28)) else {
            return Lookup::CutShort;
        };
        express.device_capabilities_2 = (u32::from(high) << 16) | u32::from(low);
        express.device_control_2 = control;
    }
    Lookup::Found(express)
}

/// Control word of the ACS extended capability.
#[must_use]
pub fn acs_control(config: &[u8]) -> Lookup<u16> {
    match port_type(config) {
        Lookup::Found(_) => {}
        // Extended capabilities need the PCI Express one.
        Lookup::Missing => return Lookup::Missing,
        Lookup::CutShort => return Lookup::CutShort,
        Lookup::Silent => return Lookup::Silent,
    }
    if config.len() <= 0x100 {
        // 256 bytes: a machine without extended access, where the kernel sees no ACS either.
        return if config.len() == 0x100 { Lookup::Missing } else { Lookup::CutShort };
    }
    let mut at = EXTENDED_START;
    // A capability takes at least 8 bytes, so more steps than this are a loop.
    for _ in 0..480 {
        let Some(header) = u32_at(config, at) else {
            return Lookup::CutShort;
        };
        if header == 0 || header == u32::MAX {
            return Lookup::Missing;
        }
        if header & 0xffff == u32::from(EXTENDED_ACS) {
            return match u16_at(config, at.saturating_add(6)) {
                Some(word) => Lookup::Found(word),
                None => Lookup::CutShort,
            };
        }
        at = usize::try_from((header >> 20) & 0xffc).unwrap_or(0);
        if at < EXTENDED_START {
            return Lookup::Missing;
        }
    }
    Lookup::Missing
}

/// Offset of a standard capability.
fn find_standard(config: &[u8], wanted: u8) -> Lookup<usize> {
    let Some(status) = u16_at(config, STATUS) else {
        return Lookup::CutShort;
    };
    if u32_at(config, 0) == Some(u32::MAX) {
        return Lookup::Silent;
    }
    if status & STATUS_CAPABILITIES == 0 {
        return Lookup::Missing;
    }
    let Some(first) = config.get(CAPABILITY_POINTER) else {
        return Lookup::CutShort;
    };
    let mut at = usize::from(first & 0xfc);
    // As PCI_FIND_CAP_TTL in the kernel.
    for _ in 0..48 {
        if at < STANDARD_HEADER {
            return Lookup::Missing;
        }
        let (Some(id), Some(next)) = (config.get(at), config.get(at.saturating_add(1))) else {
            return Lookup::CutShort;
        };
        if *id == 0xff {
            return Lookup::Missing;
        }
        if *id == wanted {
            return Lookup::Found(at);
        }
        at = usize::from(next & 0xfc);
    }
    Lookup::Missing
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(two.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}
