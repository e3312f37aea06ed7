// SPDX-License-Identifier: GPL-2.0-only

//! PCI functions, their bridges and their ACS words, from sysfs.

use std::{
    collections::{BTreeMap, BTreeSet},
    str::FromStr,
};

use super::{
    Root,
    pci_config::{Lookup, acs_control, express, port_type},
    pci_device,
};
use crate::facts::{AMD, Bdf, Express, Indexed, PciDevice, ReadError, ReadErrorKind, Reading};

const DEVICES: &str = "sys/bus/pci/devices";
/// Extended configuration space.
const CONFIG_LIMIT: u64 = 4096;
/// AMD GPUs that are judged, more than any machine has: what is said of pairs grows with their square.
pub(super) const GPU_LIMIT: usize = 256;
/// Bridges above a function; each is named in what is said of a pair. Real ones have up to ten.
const BRIDGES_LIMIT: usize = 32;

/// Reads all functions; the second list holds those that make no sense.
pub(super) fn read(root: &Root) -> (Reading<Indexed<PciDevice>>, Vec<ReadError>) {
    let names = match root.names(DEVICES) {
        Ok(names) => names,
        Err(error) => return (Err(error), Vec::new()),
    };
    let mut devices = Vec::new();
    let mut skipped = Vec::new();
    for name in names {
        match device(root, &name) {
            Ok(device) => devices.push(device),
            Err(error) => skipped.push(error),
        }
    }
    devices.sort_by_key(|device| device.bdf);
    skipped.extend(leave_out_gpus(&mut devices));
    find_first_on_root(&mut devices);
    read_configs(root, &mut devices);
    (Ok(devices.into()), skipped)
}

/// Leaves out the AMD GPUs beyond [`GPU_LIMIT`], and says so: no verdict is good where some were not looked at.
fn leave_out_gpus(devices: &mut Vec<PciDevice>) -> Option<ReadError> {
    let mut gpus = 0usize;
    devices.retain(|device| {
        let is_one = device.vendor == Ok(AMD) && device.is_gpu() == Some(true);
        gpus = gpus.saturating_add(is_one.into());
        !is_one || gpus <= GPU_LIMIT
    });
    let reason = || format!("lists {gpus} AMD GPUs, of which no more than {GPU_LIMIT} are judged");
    (gpus > GPU_LIMIT).then(|| ReadError::malformed(DEVICES, reason()))
}

/// Fills in the first function on the root bus, for devices in the order of addresses.
fn find_first_on_root(devices: &mut [PciDevice]) {
    let mut first = BTreeMap::new();
    for device in devices.iter().filter(|device| device.upstream.is_empty()) {
        first.entry(device.root.clone()).or_insert(device.bdf);
    }
    for device in devices {
        device.first_on_root = first.get(&device.root).copied();
    }
}

/// Reads one function, without its configuration space.
fn device(root: &Root, name: &str) -> Reading<PciDevice> {
    let link = format!("{DEVICES}/{name}");
    let bdf = Bdf::from_str(name).map_err(|error| ReadError::malformed(&link, error.to_string()))?;
    // In another spelling it would be there twice, and form a pair with itself.
    if bdf.to_string() != name {
        return Err(ReadError::malformed(&link, format!("is not how the kernel writes {bdf}")));
    }
    let path = root.real(&link)?;
    let (host, upstream) = ancestors(&path, bdf)
        .ok_or_else(|| ReadError::malformed(&link, "does not lead to a directory below a pciDDDD:BB directory"))?;
    if upstream.len() > BRIDGES_LIMIT {
        return Err(ReadError::malformed(&link, format!("lies below more than {BRIDGES_LIMIT} bridges")));
    }
    let hex = |attribute: &str| -> Reading<u32> {
        let file = format!("{path}/{attribute}");
        let text = root.text(&file)?;
        let digits = text.strip_prefix("0x").unwrap_or(&text);
        u32::from_str_radix(digits, 16)
            .map_err(|_| ReadError::malformed(&file, format!("{text:?} is not a hexadecimal number")))
    };
    let id = |attribute: &str| -> Reading<u16> {
        let too_large = |_| ReadError::malformed(&format!("{path}/{attribute}"), "is more than 16 bits");
        u16::try_from(hex(attribute)?).map_err(too_large)
    };
    let driver = match root.link_name(&format!("{path}/driver")) {
        Ok(name) => Ok(Some(name)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
    };
    Ok(PciDevice {
        bdf,
        root: host,
        first_on_root: None,
        upstream,
        vendor: id("vendor"),
        device: id("device"),
        class: hex("class"),
        driver,
        port_type: Err(not_needed(&path)),
        acs_control: Err(not_needed(&path)),
        iommu_type: iommu_type(root, &path),
        on_path: None,
        memory: None,
        path,
    })
}

/// The host bridge's directory name and the bridges above, nearest first, from a real path.
fn ancestors(path: &str, own: Bdf) -> Option<(String, Vec<Bdf>)> {
    let parts: Vec<&str> = path.split('/').collect();
    // The last one: below VMD there are two.
    let at = parts.iter().rposition(|part| part.starts_with("pci") && part.contains(':'))?;
    let host = (*parts.get(at)?).to_owned();
    let mut chain = Vec::new();
    for part in parts.get(at.checked_add(1)?..)? {
        chain.push(Bdf::from_str(part).ok()?);
    }
    let last = chain.pop()?;
    chain.reverse();
    (last == own).then_some((host, chain))
}

/// Reads configuration space and more where it matters: of GPUs, of what is above them, and of the first on each root
/// bus.
///
/// Not of every function, since that wakes those that sleep.
fn read_configs(root: &Root, devices: &mut [PciDevice]) {
    let mut on_path = BTreeSet::new();
    let mut first_on_root = BTreeSet::new();
    for gpu in devices.iter().filter(|device| device.is_gpu() == Some(true)) {
        on_path.insert(gpu.bdf);
        on_path.extend(&gpu.upstream);
        first_on_root.extend(gpu.first_on_root);
    }
    for device in devices.iter_mut() {
        let is_on_path = on_path.contains(&device.bdf);
        if !is_on_path && !first_on_root.contains(&device.bdf) {
            continue;
        }
        // Before configuration space, the reading of which can wake the device.
        let power = pci_device::power(root, &device.path);
        let words = read_config(root, device, power.runtime_status.as_deref() == Ok("error"));
        if is_on_path {
            device.on_path = Some(pci_device::on_path(root, &device.path, words, power));
        }
        if is_on_path && device.is_gpu() == Some(true) {
            device.memory = Some(pci_device::memory(root, &device.path));
        }
    }
}

/// Reads what configuration space tells: a device that failed to wake up tells nothing.
fn read_config(root: &Root, device: &mut PciDevice, failed: bool) -> Reading<Option<Express>> {
    let file = format!("{}/config", device.path);
    let bytes = if failed {
        let reason = "was not read, since the device failed to wake up".to_owned();
        Err(ReadError { path: file.clone(), kind: ReadErrorKind::Io, reason })
    } else {
        root.bytes(&file, CONFIG_LIMIT)
    };
    match bytes {
        Ok(bytes) => {
            device.port_type = reading(&file, bytes.len(), port_type(&bytes));
            device.acs_control = reading(&file, bytes.len(), acs_control(&bytes));
            reading(&file, bytes.len(), express(&bytes))
        }
        Err(error) => {
            device.port_type = Err(error.clone());
            device.acs_control = Err(error.clone());
            Err(error)
        }
    }
}

fn reading<T>(file: &str, length: usize, lookup: Lookup<T>) -> Reading<Option<T>> {
    match lookup {
        Lookup::Found(value) => Ok(Some(value)),
        Lookup::Missing => Ok(None),
        Lookup::CutShort => Err(ReadError {
            path: file.to_owned(),
            kind: ReadErrorKind::Denied,
            reason: format!("only {length} bytes could be read; the rest takes root"),
        }),
        Lookup::Silent => Err(ReadError::malformed(file, "the device does not answer (all ones)")),
    }
}

fn not_needed(path: &str) -> ReadError {
    ReadError {
        path: format!("{path}/config"),
        kind: ReadErrorKind::Io,
        reason: "was not read, since no GPU is below it".to_owned(),
    }
}

fn iommu_type(root: &Root, path: &str) -> Reading<String> {
    let group = root.link_name(&format!("{path}/iommu_group"))?;
    root.text(&format!("sys/kernel/iommu_groups/{group}/type"))
}
