// SPDX-License-Identifier: GPL-2.0-only

//! Release and configuration of the kernel.

use std::{collections::BTreeMap, io::Read};

use flate2::read::MultiGzDecoder;

use super::Root;
use crate::facts::{Kernel, KernelConfig, ReadError, Reading};

/// A configuration has some 300 KiB.
const CONFIG_LIMIT: u64 = 8 * 1024 * 1024;

/// Reads the kernel.
#[must_use]
pub fn read(root: &Root) -> Kernel {
    let release = root.text("proc/sys/kernel/osrelease");
    let release = release.and_then(|text| check_release(&text));
    Kernel {
        config: config(root, release.as_deref().ok()),
        release,
        ftrace_enabled: root.text("proc/sys/kernel/ftrace_enabled"),
        kprobes_enabled: root.text("sys/kernel/debug/kprobes/enabled"),
    }
}

/// A release becomes part of paths, so it must be one name.
fn check_release(text: &str) -> Reading<String> {
    let fine = |c: char| c.is_ascii_alphanumeric() || "._+-~".contains(c);
    if text.is_empty() || text.starts_with('.') || !text.chars().all(fine) {
        let path = "proc/sys/kernel/osrelease";
        return Err(ReadError::malformed(path, "is not a kernel release"));
    }
    Ok(text.to_owned())
}

/// Reads the configuration from the first place that has it; the error is that of the last place that is there.
fn config(root: &Root, release: Option<&str>) -> Reading<KernelConfig> {
    let mut error = ReadError::absent("proc/config.gz");
    match root.bytes("proc/config.gz", CONFIG_LIMIT) {
        Ok(bytes) => match gunzip(&bytes) {
            Some(text) => return checked_config("proc/config.gz", &text),
            None => error = ReadError::malformed("proc/config.gz", "is not gzip-compressed text"),
        },
        Err(why) => error = keep(error, why),
    }
    let Some(release) = release else {
        return Err(error);
    };
    let places = [
        format!("boot/config-{release}"),
        format!("lib/modules/{release}/config"),
        format!("usr/lib/modules/{release}/config"),
    ];
    for path in places {
        match root.text_up_to(&path, CONFIG_LIMIT) {
            Ok(text) => return checked_config(&path, &text),
            Err(why) => error = keep(error, why),
        }
    }
    Err(error)
}

/// An empty file, or another file, is no proof that options are off.
fn checked_config(path: &str, text: &str) -> Reading<KernelConfig> {
    if !text.contains("CONFIG_") {
        return Err(ReadError::malformed(path, "is not a kernel configuration"));
    }
    Ok(parse_config(path, text))
}

/// Absence says less than any other failure.
fn keep(old: ReadError, new: ReadError) -> ReadError {
    if new.is_absent() { old } else { new }
}

fn gunzip(bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(CONFIG_LIMIT + 1);
    let length = decoder.read_to_string(&mut text).ok()?;
    // Of a part, what is behind its end would count as off.
    u64::try_from(length).is_ok_and(|length| length <= CONFIG_LIMIT).then_some(text)
}

/// The options of a `.config` that are set.
#[must_use]
pub fn parse_config(path: &str, text: &str) -> KernelConfig {
    let set = text.lines().filter_map(|line| {
        let (name, value) = line.trim().split_once('=')?;
        let wanted = name.starts_with("CONFIG_");
        wanted.then(|| (name.to_owned(), value.trim_matches('"').to_owned()))
    });
    let options: BTreeMap<_, _> = set.filter(|(name, _)| is_wanted(name)).collect();
    KernelConfig { path: path.to_owned(), options }
}

/// Options that some gate reads.
fn is_wanted(name: &str) -> bool {
    const WANTED: [&str; 8] = [
        "CONFIG_PCI_P2PDMA",
        "CONFIG_HSA_AMD_P2P",
        "CONFIG_HSA_AMD",
        "CONFIG_DMABUF_MOVE_NOTIFY",
        "CONFIG_KPROBES",
        "CONFIG_KRETPROBES",
        "CONFIG_KPROBES_ON_FTRACE",
        "CONFIG_DRM_AMDGPU",
    ];
    WANTED.contains(&name)
}
