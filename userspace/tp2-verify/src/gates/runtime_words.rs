// SPDX-License-Identifier: GPL-2.0-only

//! Words of `pair.runtime`: versions, codes and likely causes.

use crate::{facts::runtime::Runtime, finding::Finding};

/// `hipErrorNoDevice`.
pub(super) const NO_DEVICE: i32 = 100;
/// `hipErrorInvalidDevice`: what `hipInit` of 5.2 returns where there is no device (measured; 5.7 and 6.4 return 100).
pub(super) const INVALID_DEVICE: i32 = 101;

/// Longest beginning of standard error that becomes evidence; the facts keep more.
const STDERR_SHOWN: usize = 400;
/// Variables that hide devices, in the order in which the layers apply them.
const HIDING: [&str; 3] = ["ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"];

/// A code in words (`hipError_t` of `hip_runtime_api.h`, the same from 5.2 to 7.2).
pub(super) fn code(code: i32) -> String {
    let name = match code {
        1 => "hipErrorInvalidValue",
        2 => "hipErrorOutOfMemory",
        3 => "hipErrorNotInitialized",
        35 => "hipErrorInsufficientDriver",
        NO_DEVICE => "hipErrorNoDevice",
        INVALID_DEVICE => "hipErrorInvalidDevice",
        217 => "hipErrorPeerAccessUnsupported",
        304 => "hipErrorOperatingSystem",
        801 => "hipErrorNotSupported",
        999 => "hipErrorUnknown",
        _ => return format!("error {code}"),
    };
    format!("{name} ({code})")
}

/// The library and its version in words.
pub(super) fn library(runtime: &Runtime) -> String {
    let name = runtime.library.as_deref().unwrap_or("the HIP runtime");
    match runtime.version {
        // It is told without a device, too (measured, 5.2, 5.7 and 6.4).
        Some(version @ 1..) => {
            let (major, minor, patch) = (version / 10_000_000, version / 100_000 % 100, version % 100_000);
            format!("{name} (HIP {major}.{minor}.{patch})")
        }
        _ => name.to_owned(),
    }
}

/// Why the first of the libraries was not asked.
pub(super) fn unfit(runtime: &Runtime) -> String {
    let words = runtime.passed_over.first().map(|first| format!("{} {}", first.path, first.reason));
    words.unwrap_or_else(|| "no libamdhip64 found here fits".to_owned())
}

/// The variables in force that hide devices, for a remedy.
pub(super) fn hiding(runtime: &Runtime) -> Option<String> {
    let set = HIDING.iter().filter_map(|name| Some(format!("{name}={:?}", runtime.environment.get(*name)?)));
    let set: Vec<String> = set.collect();
    (!set.is_empty()).then(|| set.join(" "))
}

/// Adds what was read while asking.
pub(super) fn evidence(mut finding: Finding, runtime: &Runtime) -> Finding {
    if let Some(path) = &runtime.library {
        finding = finding.evidence(path.clone(), format!("{} devices listed", runtime.devices.len()));
    }
    for device in &runtime.devices {
        let place = match &device.bdf {
            Ok(bdf) => bdf.to_string(),
            Err(words) => format!("not a PCI address: {words}"),
        };
        finding = finding.evidence(format!("hipDeviceGetPCIBusId {}", device.index), place);
    }
    for (name, value) in &runtime.environment {
        finding = finding.evidence(format!("environment {name}"), value.clone());
    }
    for other in &runtime.passed_over {
        finding = finding.evidence(other.path.clone(), format!("not asked: {}", other.reason));
    }
    if !runtime.stderr.is_empty() {
        let shown: String = runtime.stderr.chars().take(STDERR_SHOWN).collect();
        finding = finding.evidence("standard error of the runtime", shown);
    }
    finding
}
