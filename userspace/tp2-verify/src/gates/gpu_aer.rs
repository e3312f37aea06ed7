// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.aer`: errors that the GPU and the bridges above it have reported since boot (Advanced Error Reporting, `aer_dev_*`
//! in sysfs, `drivers/pci/pcie/aer.c`, Linux 7.3). Corrected ones were repaired by sending again; fatal ones lost data.
//! No errors is no proof: routes that drop or corrupt peer traffic often report nothing (cases A02, A04).

use std::collections::BTreeMap;

use crate::{
    facts::{Facts, PciDevice, Reading},
    finding::{Finding, Scope, Status},
    text,
    text::Text,
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
                Err(error) => return Finding::unreadable(ID, scope, text!("gpu-aer-what-counters"), error),
            }
            let counts = named(counters);
            if !counts.is_empty() {
                errors.push(Errors { device, severity, counts });
            }
        }
    }
    if counting == 0 {
        return Finding::new(ID, scope, Status::Na, text!("gpu-aer-none"))
            .evidence(format!("/{}/aer_dev_correctable", gpu.device.path), text!("reason-no-file"));
    }
    match errors.iter().max_by_key(|errors| errors.severity) {
        Some(worst) => with_errors(scope, worst, &errors),
        None => without_errors(scope),
    }
}

fn without_errors(scope: Scope) -> Finding {
    let files = ["aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal"];
    let files = files.map(|file| Text::AsRead(file.to_owned())).to_vec();
    Finding::new(ID, scope, Status::Pass, text!("gpu-aer-pass"))
        .evidence(Text::List(files, "comma"), text!("gpu-aer-pass-counters"))
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
    let names = worst.counts.iter().map(|(name, count)| Text::AsRead(format!("{count} {name}")));
    let names = Text::List(names.collect(), "comma");
    let (status, summary) = match worst.severity {
        Severity::Fatal => (Status::Fail, text!("gpu-aer-fatal", device = place, errors = names)),
        Severity::Nonfatal => (Status::Warn, text!("gpu-aer-nonfatal", device = place, errors = names)),
        Severity::Corrected => (Status::Warn, text!("gpu-aer-corrected", device = place, errors = names)),
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
fn remedy(worst: &Errors<'_>) -> Text {
    let has = |wanted: &[&str]| worst.counts.iter().any(|(name, _)| wanted.contains(name));
    if has(&["MalfTLP"]) {
        text!("gpu-aer-remedy-malformed")
    } else if has(&["RxErr", "BadTLP", "BadDLLP", "Rollover", "Timeout"]) {
        text!("gpu-aer-remedy-signal")
    } else if has(&["UnsupReq", "CmpltAbrt", "CmpltTO", "ACSViol"]) {
        text!("gpu-aer-remedy-refused", device = worst.device.bdf)
    } else {
        text!("gpu-aer-remedy", device = worst.device.bdf)
    }
}
