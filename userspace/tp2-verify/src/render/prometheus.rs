// SPDX-License-Identifier: GPL-2.0-only

//! Metrics for the textfile collector of `node_exporter` (the Prometheus text format 0.0.4).

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use crate::{report::Report, verdict::Verdict};

/// Writes all metrics. Series do not come and go with the verdict of the machine: each has all verdicts, one of them 1.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let kernel = escape(report.host.kernel.as_deref().unwrap_or("unknown"));
    head(out, "tp2_verify_info", "Version of tp2-verify and release of the kernel.")?;
    writeln!(out, "tp2_verify_info{{version=\"{}\",kernel=\"{kernel}\"}} 1", env!("CARGO_PKG_VERSION"))?;
    head(out, "tp2_verify_verdict", "Verdict of the machine: 1 for the one that holds.")?;
    for verdict in Verdict::ALL {
        let holds = u8::from(verdict == report.verdict);
        writeln!(out, "tp2_verify_verdict{{verdict=\"{}\"}} {holds}", verdict.word())?;
    }
    head(out, "tp2_verify_exit_status", "Exit status of tp2-verify: 0 means that nothing is in the way.")?;
    writeln!(out, "tp2_verify_exit_status {}", report.exit)?;
    head(out, "tp2_verify_gpus", "AMD GPUs that were found.")?;
    writeln!(out, "tp2_verify_gpus {}", report.gpus.len())?;
    if !report.pairs.is_empty() {
        head(out, "tp2_verify_pair_verdict", "Verdict of a pair of GPUs: the label says which.")?;
    }
    for pair in &report.pairs {
        let verdict = pair.verdict.word();
        writeln!(out, "tp2_verify_pair_verdict{{a=\"{}\",b=\"{}\",verdict=\"{verdict}\"}} 1", pair.a, pair.b)?;
    }
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for finding in &report.findings {
        let count = counts.entry((finding.gate, finding.status.word())).or_default();
        *count = count.saturating_add(1);
    }
    head(out, "tp2_verify_findings", "Findings by gate and status.")?;
    for ((gate, status), count) in counts {
        writeln!(out, "tp2_verify_findings{{gate=\"{gate}\",status=\"{status}\"}} {count}")?;
    }
    Ok(())
}

fn head(out: &mut dyn Write, name: &str, help: &str) -> io::Result<()> {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge")
}

/// What may not stand in a label as it is.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
