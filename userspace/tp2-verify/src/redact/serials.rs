// SPDX-License-Identifier: GPL-2.0-only

//! Serial numbers where they are known to be.

use super::pseudonyms::{Kind, Pseudonyms};

/// Where extended capabilities begin, and what a header of one is made of (PCI Express Base, 7.6.3).
const EXTENDED_START: usize = 0x100;
/// Device Serial Number (`PCI_EXT_CAP_ID_DSN`): eight bytes after the header.
const DEVICE_SERIAL: u32 = 3;
/// Extended capabilities that fit.
const CAPABILITIES: usize = (4096 - EXTENDED_START) / 8;
/// Fields of KFD properties that tell one card from all others.
const KFD_FIELDS: [&str; 2] = ["unique_id", "hive_id"];

/// Configuration space with another device serial number.
pub(super) fn config_space(bytes: &[u8], pseudonyms: &mut Pseudonyms) -> Vec<u8> {
    let mut clean = bytes.to_vec();
    let mut at = EXTENDED_START;
    for _ in 0..CAPABILITIES {
        let Some(header) = bytes.get(at..at.saturating_add(4)).and_then(|four| four.try_into().ok()) else {
            break;
        };
        let header = u32::from_le_bytes(header);
        if header & 0xffff == DEVICE_SERIAL {
            replace_serial(&mut clean, at.saturating_add(4), pseudonyms);
        }
        at = usize::try_from((header >> 20) & 0xffc).unwrap_or(0);
        if at < EXTENDED_START {
            break;
        }
    }
    clean
}

/// Of a number that is cut short nothing is kept.
fn replace_serial(bytes: &mut [u8], at: usize, pseudonyms: &mut Pseudonyms) {
    let end = at.saturating_add(8).min(bytes.len());
    let Some(slot) = bytes.get_mut(at..end) else {
        return;
    };
    match <[u8; 8]>::try_from(&*slot) {
        Ok(eight) => slot.copy_from_slice(&pseudonyms.serial(u64::from_le_bytes(eight)).to_le_bytes()),
        Err(_) => slot.fill(0),
    }
}

/// An attribute that is a serial number, or holds one; `None` for all others.
pub(super) fn attribute(path: &str, text: &str, pseudonyms: &mut Pseudonyms) -> Option<String> {
    if path.contains("/kfd/") && path.ends_with("/properties") {
        return Some(kfd(text, pseudonyms));
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if path == "proc/cpuinfo" {
        return text.contains("Serial").then(|| cpuinfo(text));
    }
    let is_serial = ["serial", "uuid", "asset_tag", "unique_id", "wwid"].iter().any(|word| name.contains(word));
    if !path.starts_with("sys/") || !is_serial {
        return None;
    }
    let value = text.trim();
    let clean = match u64::from_str_radix(value.trim_start_matches("0x"), 16) {
        // As amdgpu prints it.
        Ok(number) if name == "unique_id" => format!("{:016x}", pseudonyms.serial(number)),
        _ if value.is_empty() => String::new(),
        _ => pseudonyms.text(Kind::Serial, value),
    };
    Some(text.replacen(value, &clean, usize::from(!value.is_empty())))
}

/// Properties are decimal, and the same number as amdgpu's `unique_id`.
fn kfd(text: &str, pseudonyms: &mut Pseudonyms) -> String {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        if !KFD_FIELDS.contains(&name) {
            lines.push(line.to_owned());
            continue;
        }
        lines.push(match value.trim().parse() {
            Ok(number) => format!("{name} {}", pseudonyms.serial(number)),
            Err(_) => format!("{name} -"),
        });
    }
    lines.join("\n")
}

/// ARM boards have a line `Serial`.
fn cpuinfo(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.split('\n') {
        lines.push(if line.starts_with("Serial") { "Serial\t: 0" } else { line });
    }
    lines.join("\n")
}
