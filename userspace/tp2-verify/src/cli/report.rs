// SPDX-License-Identifier: GPL-2.0-only

//! `tp2-verify report` and `tp2-verify replay`.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;

use super::{Cli, ToolError};
use crate::{
    archive::{self, Member, Package},
    collect::{self, Root, record::Record},
    plain,
    printable::printable,
    redact, render,
    report::{self, Report},
};

/// Width of the table in a report.
const WIDTH: usize = 110;

/// What the summary calls the archive. How its author named it is private, and the summary is in the archive.
const ATTACHED: &str = "tp2-report.tar.gz, or what -o named";

/// What `report` takes.
#[derive(Debug, Args)]
pub(super) struct ReportArguments {
    /// The archive to write
    #[arg(short, long, value_name = "FILE", default_value = "tp2-report.tar.gz")]
    pub(super) output: PathBuf,
    /// Only list what the archive would hold
    #[arg(long)]
    dry_run: bool,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl Cli {
    /// Writes the archive, and a summary to `out`.
    pub(super) fn report(&self, out: &mut Vec<u8>, arguments: &ReportArguments) -> Result<u8, ToolError> {
        let root = Root::open(&self.root)?;
        let recording = root.recording();
        let found = report::make(&collect::collect(&recording, &self.runtime));
        let record = redact::redact(&recording.record(), &root);
        // Judged anew, so that everything in the archive comes from what has no private values.
        let shown = report::make(&collect::collect(&Root::replay(record.clone()), &self.runtime));
        if let Some(gate) = difference(&found, &shown) {
            let judged =
                |record: &Record| report::make(&collect::collect(&Root::replay(record.clone()), &self.runtime));
            let cause =
                redact::culprit(&recording.record(), &root, |record| difference(&found, &judged(record)).is_none());
            return Err(match cause {
                Some(name) => ToolError::Name { gate, name: plain::quoted(&name) },
                None => ToolError::Redaction(gate),
            });
        }
        let mut summary = Vec::new();
        render::markdown::write(&mut summary, &shown, ATTACHED)?;
        let package = package(&record, &shown, summary.clone())?;
        if arguments.dry_run {
            out.extend(package.listing().as_bytes());
            return Ok(0);
        }
        archive::save(&arguments.output, &archive::pack(&package)?, arguments.force)?;
        let mut notes = anstream::stderr();
        // The archive is there, whether or not anybody reads this.
        let _ = writeln!(
            notes,
            "tp2-verify: {} holds {} files, which report --dry-run lists; look through it, then paste this summary into \
             the issue and attach the file",
            printable(&arguments.output.to_string_lossy()),
            package.members.len()
        );
        out.extend(summary);
        Ok(0)
    }

    /// Judges what a report recorded; `out` gets what `check` printed on that machine.
    pub(super) fn replay(&self, out: &mut Vec<u8>, file: &Path) -> Result<u8, ToolError> {
        let record = archive::open(file)?;
        self.judge(out, &Root::replay(record))
    }
}

fn package(record: &Record, shown: &Report, summary: Vec<u8>) -> Result<Package, ToolError> {
    let mut json = Vec::new();
    render::json::write(&mut json, shown)?;
    let table = render::markdown::plain_table(shown, true, WIDTH)?;
    let rendered = [("result.json", json), ("result.txt", table.into_bytes()), ("summary.md", summary)];
    let members = rendered.map(|(name, bytes)| Member { name: name.to_owned(), bytes });
    Ok(Package::new(record, members.into())?)
}

/// The first gate that ends otherwise, if one does: private values must not matter.
fn difference(found: &Report, shown: &Report) -> Option<String> {
    let ends = |report: &Report| -> Vec<String> {
        let gates = report.findings.iter();
        let mut ends: Vec<String> =
            gates.map(|finding| format!("{} of {} ({})", finding.gate, finding.scope, finding.status.word())).collect();
        ends.push(format!("the verdict ({})", report.verdict.word()));
        ends
    };
    let (found, shown) = (ends(found), ends(shown));
    let differs = found.iter().zip(&shown).find(|(a, b)| a != b).map(|(a, _)| a.clone());
    differs.or_else(|| (found.len() != shown.len()).then(|| "the number of findings".to_owned()))
}
