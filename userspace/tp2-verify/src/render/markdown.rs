// SPDX-License-Identifier: GPL-2.0-only

//! A summary that can be pasted into an issue. What comes from the machine is only in code blocks, so that nothing in it
//! is taken for markup, a mention or a link.

use std::io::{self, Write};

use anstream::StripStream;

use super::table;
use crate::{language::Language, printable::printable, report::Report};

/// Columns that fit without scrolling.
const WIDTH: usize = 100;

/// Maintainers read it.
const ENGLISH: Language = Language::English;

/// Writes the summary; `archive` is the name of the file to attach.
pub fn write(out: &mut dyn Write, report: &Report, archive: &str) -> io::Result<()> {
    let verdict = report.verdict;
    writeln!(
        out,
        "**tp2-verify {}: {}** - {}\n",
        env!("CARGO_PKG_VERSION"),
        verdict.word(),
        verdict.meaning().words(ENGLISH)
    )?;
    write_block(out, &machine(report))?;
    writeln!(out, "\n<details><summary>All findings</summary>\n")?;
    write_block(out, &plain_table(report, false, WIDTH)?)?;
    writeln!(out, "\n</details>\n\nPlease attach this file:\n")?;
    write_block(out, &format!("{}\n", printable(archive)))
}

/// The table without colours, for maintainers.
pub fn plain_table(report: &Report, verbose: bool, width: usize) -> io::Result<String> {
    let mut stream = StripStream::new(Vec::new());
    table::write(&mut stream, report, table::Options { language: ENGLISH, verbose, width: Some(width) })?;
    Ok(String::from_utf8_lossy(&stream.into_inner()).into_owned())
}

fn machine(report: &Report) -> String {
    let host = &report.host;
    let known = |text: &Option<String>| printable(text.as_deref().unwrap_or("unknown"));
    let module = match host.module_loaded {
        Some(true) => format!("{}, implementation {}", known(&host.module_version), known(&host.module_implementation)),
        Some(false) => "not loaded".to_owned(),
        None => "unknown".to_owned(),
    };
    let mut lines = vec![
        format!("kernel      {}", known(&host.kernel)),
        format!("cpu         {}", known(&host.cpu)),
        format!("amdgpu      {}", known(&host.amdgpu)),
        format!("tp2_p2pdma  {module}"),
    ];
    for gpu in &report.gpus {
        lines.push(format!("gpu         {} {} {}", gpu.bdf, known(&gpu.id), gpu.kind));
    }
    for pair in &report.pairs {
        lines.push(format!("pair        {} {}: {}", pair.a, pair.b, pair.verdict.word()));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// A code block with a fence that is not in the text.
fn write_block(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    write!(out, "{fence}text\n{text}{fence}\n")
}
