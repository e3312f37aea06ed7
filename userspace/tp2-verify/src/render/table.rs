// SPDX-License-Identifier: GPL-2.0-only

//! The table: a line for each finding, grouped by what it is about; the verdict last.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::wrap::wrap;
use crate::{
    finding::{Bearing, ByScope, Finding, Scope, Status},
    language::Language,
    printable::printable,
    report::Report,
    text,
    text::Text,
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

/// How to write a table.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// For whom. Names of gates, statuses and verdicts are the same in every language.
    pub language: Language,
    /// Whether every line has its evidence, not only those that need it.
    pub verbose: bool,
    /// Columns to write for; `None` where nobody said.
    pub width: Option<usize>,
}

/// Writes a report.
pub fn write(out: &mut dyn Write, report: &Report, options: Options) -> io::Result<()> {
    let findings = ByScope::new(&report.findings);
    let mut scopes = findings.scopes().to_vec();
    // Stable, so the order of addresses stays.
    scopes.sort_by_key(|scope| match scope {
        Scope::Host => 0,
        Scope::Gpu(_) => 1,
        Scope::Pair(..) => 2,
    });
    let width = options.width.unwrap_or(WIDEST).clamp(NARROWEST, WIDEST);
    let mut page = Page { out, language: options.language, verbose: options.verbose, width };
    for scope in scopes {
        page.line(&heading(report, scope))?;
        for finding in findings.about(scope) {
            page.finding(finding)?;
        }
    }
    page.verdict(report)
}

/// Where the lines go.
struct Page<'a> {
    out: &'a mut dyn Write,
    language: Language,
    verbose: bool,
    width: usize,
}

impl Page<'_> {
    fn words(&self, text: &Text) -> String {
        printable(&text.words(self.language))
    }

    fn line(&mut self, text: &Text) -> io::Result<()> {
        let words = self.words(text);
        writeln!(self.out, "{words}")
    }

    /// A sentence in lines, of which the first begins with `first` and the others stand below it after `indent` columns.
    fn lines(&mut self, first: &str, indent: usize, text: &Text) -> io::Result<()> {
        let words = self.words(text);
        for (number, line) in wrap(&words, self.width.saturating_sub(indent)).iter().enumerate() {
            if number == 0 {
                writeln!(self.out, "{first}{line}")?;
            } else {
                writeln!(self.out, "{:indent$}{line}", "")?;
            }
        }
        Ok(())
    }

    /// Commands, each in a line that is never broken, so that it can be copied.
    fn commands(&mut self, indent: usize, commands: &[String]) -> io::Result<()> {
        let color = AnsiColor::Cyan.on_default();
        for command in commands {
            let words = printable(command);
            writeln!(self.out, "{:indent$}{color}{words}{color:#}", "")?;
        }
        Ok(())
    }

    fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        let (word, gate, color) = (finding.status.word(), finding.gate, style(finding.status));
        let first = format!("  {color}{word:STATUS_WIDTH$}{color:#}  {gate:GATE_WIDTH$}  ");
        self.lines(&first, INDENT, &finding.summary)?;
        let is_bad = matches!(finding.status, Status::Fail | Status::Unknown);
        let beginning = " ".repeat(INDENT + 2);
        if self.verbose || is_bad {
            for evidence in &finding.evidence {
                let text = text!("evidence", source = evidence.source.clone(), value = evidence.value.clone());
                self.lines(&beginning, INDENT + 2, &text)?;
            }
        }
        let has_advice = is_bad || finding.status == Status::Warn || finding.bearing == Bearing::NotJudged;
        if let Some(remedy) = finding.remedy.as_ref().filter(|_| self.verbose || has_advice) {
            let label = text!("label-remedy").words(self.language);
            let indent = INDENT + 2 + super::wrap::columns(&label);
            self.lines(&format!("{beginning}{label}"), indent, remedy)?;
            self.commands(indent, &finding.commands)?;
        }
        Ok(())
    }

    fn verdict(&mut self, report: &Report) -> io::Result<()> {
        let verdict = report.verdict;
        let color = match verdict.exit() {
            0 => AnsiColor::Green.on_default().bold(),
            1 | 3 => AnsiColor::Red.on_default().bold(),
            _ => AnsiColor::Yellow.on_default().bold(),
        };
        writeln!(self.out)?;
        // Broken as plain text: colour takes no room.
        let text = text!("verdict", verdict = verdict.word().to_owned(), meaning = verdict.meaning());
        for (number, line) in wrap(&self.words(&text), self.width.saturating_sub(2)).iter().enumerate() {
            if number == 0 {
                let coloured = format!("{color}{}{color:#}", verdict.word());
                writeln!(self.out, "{}", line.replacen(verdict.word(), &coloured, 1))?;
            } else {
                writeln!(self.out, "  {line}")?;
            }
        }
        for (number, (remedy, commands)) in steps(report).into_iter().enumerate() {
            let first = format!("  {}. ", number + 1);
            self.lines(&first, first.len(), remedy)?;
            self.commands(first.len(), commands)?;
        }
        for addition in &report.root_would_add {
            self.lines("", 2, &text!("root-would-add", what = addition.clone()))?;
        }
        Ok(())
    }
}

fn heading(report: &Report, scope: Scope) -> Text {
    match scope {
        Scope::Host => match &report.host.kernel {
            Some(kernel) => text!("heading-host", kernel = kernel),
            None => text!("heading-host-unknown"),
        },
        Scope::Gpu(bdf) => {
            let gpu = report.gpus.iter().find(|gpu| gpu.bdf == bdf);
            match gpu.and_then(|gpu| gpu.id.as_ref()) {
                Some(id) => text!("heading-gpu", gpu = bdf, id = id),
                None => text!("heading-gpu-unknown", gpu = bdf),
            }
        }
        Scope::Pair(a, b) => {
            let pair = report.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b));
            let verdict = pair.map_or("", |pair| pair.verdict.word()).to_owned();
            text!("heading-pair", a = a, b = b, verdict = verdict)
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

/// What to do: the remedies of what is in the way, in the order in which the gates bite.
fn steps(report: &Report) -> Vec<(&Text, &[String])> {
    if report.verdict == Verdict::NotApplicable {
        return Vec::new();
    }
    let mut steps = Vec::new();
    let is_alarm = |finding: &&Finding| matches!(finding.bearing, Bearing::Unsafe | Bearing::Contradiction);
    // What makes peer access work is no advice where it has to stop.
    let leads_on = |finding: &Finding| {
        matches!(
            finding.bearing,
            Bearing::ModuleAbsent | Bearing::ModuleInert | Bearing::Overridable | Bearing::LinkMissing
        )
    };
    let wanted = |finding: &&Finding| match report.verdict {
        Verdict::Inconclusive => finding.status == Status::Unknown,
        Verdict::Unsafe => finding.status == Status::Fail && !leads_on(finding),
        _ => finding.status == Status::Fail,
    };
    let mut findings: Vec<&Finding> = report.findings.iter().filter(wanted).collect();
    findings.sort_by_key(|finding| !is_alarm(finding));
    for finding in findings {
        let step = finding.remedy.as_ref().map(|remedy| (remedy, finding.commands.as_slice()));
        steps.extend(step.filter(|step| !steps.contains(step)));
    }
    steps
}
