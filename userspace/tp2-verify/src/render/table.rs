// SPDX-License-Identifier: GPL-2.0-only

//! The table: a line for each finding, grouped by what it is about; the verdict last.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::wrap::wrap;
use crate::{
    finding::{Bearing, Finding, Scope, Status},
    report::Report,
    verdict::Verdict,
};

/// Width of `kernel.hsa-amd-p2p`.
const GATE_WIDTH: usize = 18;
/// Width of `unknown`.
const STATUS_WIDTH: usize = 7;
/// Where sentences begin.
const INDENT: usize = 2 + STATUS_WIDTH + 2 + GATE_WIDTH + 2;
/// Where sentences are broken at the latest.
const WIDEST: usize = 110;
/// Narrower than this there is no room for sentences beside the gates.
const NARROWEST: usize = 60;

/// Writes a report for a terminal of `width` columns. `verbose` adds evidence to every line, not only to those that need
/// it.
pub fn write(out: &mut dyn Write, report: &Report, verbose: bool, width: Option<usize>) -> io::Result<()> {
    let width = width.unwrap_or(WIDEST).clamp(NARROWEST, WIDEST);
    let mut scopes: Vec<Scope> = Vec::new();
    for finding in &report.findings {
        if !scopes.contains(&finding.scope) {
            scopes.push(finding.scope);
        }
    }
    // Stable, so the order of addresses stays.
    scopes.sort_by_key(|scope| match scope {
        Scope::Host => 0,
        Scope::Gpu(_) => 1,
        Scope::Pair(..) => 2,
    });
    for scope in scopes {
        writeln!(out, "{}", heading(report, scope))?;
        for finding in report.findings.iter().filter(|finding| finding.scope == scope) {
            write_finding(out, width, finding, verbose)?;
        }
    }
    write_verdict(out, width, report)
}

fn heading(report: &Report, scope: Scope) -> String {
    match scope {
        Scope::Host => format!("host, kernel {}", report.host.kernel.as_deref().unwrap_or("unknown")),
        Scope::Gpu(bdf) => {
            let gpu = report.gpus.iter().find(|gpu| gpu.bdf == bdf);
            let id = gpu.and_then(|gpu| gpu.id.as_deref()).unwrap_or("");
            format!("gpu {bdf} {id}").trim_end().to_owned()
        }
        Scope::Pair(a, b) => {
            let pair = report.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b));
            let verdict = pair.map_or("", |pair| pair.verdict.word());
            format!("pair {a} {b}: {verdict}")
        }
    }
}

fn style(status: Status) -> Style {
    let color = match status {
        Status::Pass => AnsiColor::Green,
        Status::Warn | Status::Unknown => AnsiColor::Yellow,
        Status::Fail => AnsiColor::Red,
        Status::Skip | Status::Na => return Style::new().dimmed(),
    };
    color.on_default()
}

fn write_finding(out: &mut dyn Write, width: usize, finding: &Finding, verbose: bool) -> io::Result<()> {
    let (word, gate, color) = (finding.status.word(), finding.gate, style(finding.status));
    let mut lines = wrap(&printable(&finding.summary), width.saturating_sub(INDENT)).into_iter();
    let first = lines.next().unwrap_or_default();
    writeln!(out, "  {color}{word:STATUS_WIDTH$}{color:#}  {gate:GATE_WIDTH$}  {first}")?;
    for line in lines {
        writeln!(out, "{:INDENT$}{line}", "")?;
    }
    let is_bad = matches!(finding.status, Status::Fail | Status::Unknown);
    if verbose || is_bad {
        for evidence in &finding.evidence {
            write_note(out, width, "", &format!("{}: {}", evidence.source, evidence.value))?;
        }
    }
    let has_advice = is_bad || finding.status == Status::Warn || finding.bearing == Bearing::NotJudged;
    if let Some(remedy) = finding.remedy.as_ref().filter(|_| verbose || has_advice) {
        write_note(out, width, "do: ", remedy)?;
    }
    Ok(())
}

fn write_note(out: &mut dyn Write, width: usize, label: &str, text: &str) -> io::Result<()> {
    let width = width.saturating_sub(INDENT + 2 + label.len());
    for (number, line) in wrap(&printable(text), width).iter().enumerate() {
        let label = if number == 0 { label.to_owned() } else { " ".repeat(label.len()) };
        writeln!(out, "{:INDENT$}  {label}{line}", "")?;
    }
    Ok(())
}

fn write_verdict(out: &mut dyn Write, width: usize, report: &Report) -> io::Result<()> {
    let verdict = report.verdict;
    let color = match verdict.exit() {
        0 => AnsiColor::Green.on_default().bold(),
        1 | 3 => AnsiColor::Red.on_default().bold(),
        _ => AnsiColor::Yellow.on_default().bold(),
    };
    writeln!(out)?;
    // Broken as plain text: colour takes no room.
    let text = format!("verdict: {} - {}", verdict.word(), verdict.meaning());
    for (number, line) in wrap(&text, width.saturating_sub(2)).iter().enumerate() {
        if number == 0 {
            let coloured = format!("{color}{}{color:#}", verdict.word());
            writeln!(out, "{}", line.replacen(verdict.word(), &coloured, 1))?;
        } else {
            writeln!(out, "  {line}")?;
        }
    }
    for (number, step) in steps(report).iter().enumerate() {
        let lines = wrap(&printable(step), width.saturating_sub(6));
        for (index, line) in lines.iter().enumerate() {
            if index == 0 {
                writeln!(out, "  {}. {line}", number + 1)?;
            } else {
                writeln!(out, "     {line}")?;
            }
        }
    }
    for addition in &report.root_would_add {
        let text = format!("as root it would also read {addition}");
        for (number, line) in wrap(&text, width.saturating_sub(2)).iter().enumerate() {
            writeln!(out, "{}{line}", if number == 0 { "" } else { "  " })?;
        }
    }
    Ok(())
}

/// What to do: the remedies of what is in the way, in the order in which the gates bite.
fn steps(report: &Report) -> Vec<String> {
    if report.verdict == Verdict::NotApplicable {
        return Vec::new();
    }
    let mut steps: Vec<String> = Vec::new();
    let wanted = |finding: &&Finding| match report.verdict {
        Verdict::Inconclusive => finding.status == Status::Unknown,
        _ => finding.status == Status::Fail,
    };
    for remedy in report.findings.iter().filter(wanted).filter_map(|finding| finding.remedy.as_ref()) {
        if !steps.contains(remedy) {
            steps.push(remedy.clone());
        }
    }
    steps
}

/// Files may hold anything; a terminal gets what can be printed.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
