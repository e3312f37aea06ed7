// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.aer`: errors that the GPU and the bridges above it have reported since boot (Advanced Error Reporting, `aer_dev_*`
//! in sysfs, `drivers/pci/pcie/aer.c`, Linux 7.3). Corrected ones were repaired by sending again; fatal ones lost data.
//! No errors is no proof: routes that drop or corrupt peer traffic often report nothing (cases A02, A04).

use std::collections::BTreeMap;

use crate::{
    facts::{Facts, PciDevice, Reading},
    finding::{Finding, Scope, Status},
    view::{self, Gpu},
    way_up,
};

pub(super) const ID: &str = "gpu.aer";

/// How bad an error is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Corrected,
    Nonfatal,
    Fatal,
}

/// Errors of one device and severity: names and counts.
struct Errors<'a> {
    device: &'a PciDevice,
    severity: Severity,
    counts: Vec<(&'a str, u64)>,
}

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    view::cards(facts).iter().map(|gpu| judge_gpu(facts, gpu)).collect()
}

fn judge_gpu(facts: &Facts, gpu: &Gpu<'_>) -> Finding {
    let scope = Scope::Gpu(gpu.device.bdf);
    let chain = way_up::chain(facts, gpu.device);
    let mut errors = Vec::new();
    let mut counting = 0_u32;
    for device in &chain {
        let Some(more) = &device.on_path else {
            continue;
        };
        let severities = [
            (Severity::Fatal, &more.aer.fatal),
            (Severity::Nonfatal, &more.aer.nonfatal),
            (Severity::Corrected, &more.aer.correctable),
        ];
        for (severity, counters) in severities {
            match counters {
                Ok(_) => counting = counting.saturating_add(1),
                // Devices that report no errors have no such files.
                Err(error) if error.is_absent() => continue,
                Err(error) => return Finding::unreadable(ID, scope, "error counters", error),
            }
            let counts = named(counters);
            if !counts.is_empty() {
                errors.push(Errors { device, severity, counts });
            }
        }
    }
    if counting == 0 {
        let summary = "nothing on the way to this GPU counts errors (the kernel or the firmware keeps AER to itself)";
        return Finding::new(ID, scope, Status::Na, summary)
            .evidence(format!("/{}/aer_dev_correctable", gpu.device.path), "no such file");
    }
    match errors.iter().max_by_key(|errors| errors.severity) {
        Some(worst) => with_errors(scope, worst, &errors),
        None => Finding::new(ID, scope, Status::Pass, "no error was reported on the way to this GPU since boot")
            .evidence("aer_dev_correctable, aer_dev_nonfatal, aer_dev_fatal", "all 0"),
    }
}

/// Errors that were counted, without totals.
fn named(counters: &Reading<BTreeMap<String, u64>>) -> Vec<(&str, u64)> {
    let all = counters.iter().flatten();
    all.filter(|(name, count)| **count > 0 && !name.starts_with("TOTAL_"))
        .map(|(name, count)| (name.as_str(), *count))
        .collect()
}

fn with_errors(scope: Scope, worst: &Errors<'_>, all: &[Errors<'_>]) -> Finding {
    let place = worst.device.bdf;
    let names: Vec<String> = worst.counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let names = names.join(", ");
    let (status, summary) = match worst.severity {
        Severity::Fatal => (Status::Fail, format!("{place} has reported fatal errors since boot: {names}")),
        Severity::Nonfatal => (Status::Warn, format!("{place} has reported uncorrected errors since boot: {names}")),
        Severity::Corrected => {
            (Status::Warn, format!("{place} has corrected errors since boot: {names}; see whether the number grows"))
        }
    };
    let mut finding = Finding::new(ID, scope, status, summary);
    for errors in all {
        let file = match errors.severity {
            Severity::Fatal => "aer_dev_fatal",
            Severity::Nonfatal => "aer_dev_nonfatal",
            Severity::Corrected => "aer_dev_correctable",
        };
        let counts: Vec<String> = errors.counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        finding = finding.evidence(format!("/{}/{file}", errors.device.path), counts.join(", "));
    }
    finding.remedy(remedy(worst))
}

/// What the errors hint at.
fn remedy(worst: &Errors<'_>) -> &'static str {
    let has = |wanted: &[&str]| worst.counts.iter().any(|(name, _)| wanted.contains(name));
    if has(&["MalfTLP"]) {
        "a malformed packet is one that a port does not know, for instance an atomic operation at a port without \
         atomics: see gpu.atomics, and try a slot of the CPU"
    } else if has(&["RxErr", "BadTLP", "BadDLLP", "Rollover", "Timeout"]) {
        "look at this again after some load: if the number grows, reseat the card, replace the riser or cable, or set the \
         slot to a lower speed in the firmware"
    } else if has(&["UnsupReq", "CmpltAbrt", "CmpltTO", "ACSViol"]) {
        "read the kernel log for AER and this address: a request was refused or not answered, which peer traffic can cause"
    } else {
        "read the kernel log for AER and this address"
    }
}
