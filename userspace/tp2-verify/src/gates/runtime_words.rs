// SPDX-License-Identifier: GPL-2.0-only

//! Words of `pair.runtime`: versions, codes and likely causes.

use crate::{facts::runtime::Runtime, finding::Finding, text, text::Text};

/// `hipErrorNoDevice`.
pub(super) const NO_DEVICE: i32 = 100;
/// `hipErrorInvalidDevice`: what `hipInit` of 5.2 returns where there is no device (measured; 5.7 and 6.4 return 100).
pub(super) const INVALID_DEVICE: i32 = 101;

/// Longest beginning of standard error that becomes evidence; the facts keep more.
const STDERR_SHOWN: usize = 400;
/// Variables that hide devices, in the order in which the layers apply them.
const HIDING: [&str; 3] = ["ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"];

/// A code in words (`hipError_t` of `hip_runtime_api.h`, the same from 5.2 to 7.2).
pub(super) fn code(code: i32) -> Text {
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
        _ => return text!("pair-runtime-code", code = code.to_string()),
    };
    format!("{name} ({code})").into()
}

/// The library and its version in words.
pub(super) fn library(runtime: &Runtime) -> Text {
    let name = runtime.library.as_ref().map_or_else(|| text!("pair-runtime-library"), Text::from);
    match runtime.version {
        // It is told without a device, too (measured, 5.2, 5.7 and 6.4).
        Some(version @ 1..) => {
            let (major, minor, patch) = (version / 10_000_000, version / 100_000 % 100, version % 100_000);
            text!("pair-runtime-library-version", library = name, version = format!("{major}.{minor}.{patch}"))
        }
        _ => name,
    }
}

/// Why the first of the libraries was not asked.
pub(super) fn unfit(runtime: &Runtime) -> Text {
    match runtime.passed_over.first() {
        Some(first) => text!("pair-runtime-unfit", library = &first.path, reason = &first.reason),
        None => text!("pair-runtime-none-fits"),
    }
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
        finding = finding.evidence(path.clone(), text!("pair-runtime-listed", count = runtime.devices.len()));
    }
    for device in &runtime.devices {
        let place = match &device.bdf {
            Ok(bdf) => Text::from(bdf),
            Err(words) => text!("pair-runtime-no-address", words = words),
        };
        finding = finding.evidence(format!("hipDeviceGetPCIBusId {}", device.index), place);
    }
    for (name, value) in &runtime.environment {
        finding = finding.evidence(text!("pair-runtime-environment", variable = name), value.clone());
    }
    for other in &runtime.passed_over {
        finding = finding.evidence(other.path.clone(), text!("pair-runtime-passed-over", reason = &other.reason));
    }
    if !runtime.stderr.is_empty() {
        let shown: String = runtime.stderr.chars().take(STDERR_SHOWN).collect();
        finding = finding.evidence(text!("pair-runtime-stderr"), shown);
    }
    finding
}
