// SPDX-License-Identifier: GPL-2.0-only

//! The command line.

mod man;
mod report;

use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use anstream::{AutoStream, ColorChoice};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum, builder::PossibleValue};
use clap_complete::Shell;
use serde::Serialize;
use thiserror::Error;

use crate::{
    archive::ArchiveError,
    collect::{self, Root, RootError, module_file, runtime},
    facts::{ModuleFile, ReadError, ReadErrorKind},
    gates,
    language::Language,
    render,
    report::{SCHEMA, make},
};
use report::ReportArguments;

/// Exit status of a tool error, as clap's for bad usage.
pub const EXIT_ERROR: u8 = 2;

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "tp2-verify", bin_name = "tp2-verify", version, max_term_width = 100)]
#[command(
    about = "Tells whether two AMD GPUs can reach each other over PCIe, and what is in the way",
    long_about = None,
    after_help = "Exit status: 0 ready or module not needed; 1 module will help, blocked or ineffective; 2 tool error; \
                        3 unsafe; 4 inconclusive; 5 no pair to judge."
)]
pub struct Cli {
    /// Read this directory in place of the running machine
    #[arg(long, global = true, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// Print JSON, as --format json
    #[arg(long, global = true)]
    json: bool,
    /// How to print the result
    #[arg(long, global = true, value_name = "FORMAT", default_value = "table", conflicts_with = "json")]
    format: Format,
    /// When to use colour
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help = "When to use colour; auto honours NO_COLOR"
    )]
    color: When,
    /// In which language to print tables and explanations; that of the locale by default
    #[arg(long, global = true, value_name = "LANG")]
    lang: Option<Language>,
    /// Print all evidence
    #[arg(short, long, global = true)]
    verbose: bool,
    #[command(flatten)]
    runtime: runtime::Options,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines for people
    Table,
    /// JSON, as the schema says
    Json,
    /// Metrics for the textfile collector of `node_exporter`
    Prometheus,
}

impl ValueEnum for Language {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.code()).help(format!("{self:?}")))
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Judge the machine (the default)
    Check,
    /// Write an archive of all that was read, without private values, and a summary for an issue
    Report(ReportArguments),
    /// Judge what a report recorded, on any machine
    Replay {
        /// The archive that report wrote
        file: PathBuf,
    },
    /// Tell what a gate is about, or all of them
    Explain {
        /// Its name, as the first column of a result has it
        gate: Option<String>,
    },
    /// Describe a kernel module file: .ko, .ko.gz, .ko.xz or .ko.zst
    Module {
        /// The file
        file: PathBuf,
    },
    /// Print a completion script
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    #[command(hide = true)]
    Man,
}

/// Why there is no result.
#[derive(Debug, Error)]
pub enum ToolError {
    /// The root is none.
    #[error(transparent)]
    Root(#[from] RootError),
    /// The file is no readable module.
    #[error("{file}: {reason}; {remedy}", file = .0.path, reason = .0.reason, remedy = module_remedy(.0.kind))]
    Module(ReadError),
    /// A report could not be written or opened.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A replay would say something else.
    #[error(
        "no report was written: without private values {0} would end otherwise; please file an issue with the output of \
         tp2-verify --json, after removing what is private"
    )]
    Redaction(String),
    /// Likewise, and it is known why.
    #[error(
        "no report was written: {name} is the name of the host or of a user, and without it {gate} would end otherwise, \
         since something that is read has that name, too; please file an issue that names the word"
    )]
    Name {
        /// What would end otherwise.
        gate: String,
        /// In quotes.
        name: String,
    },
    /// There is no such gate.
    #[error("there is no gate {0:?}; tp2-verify explain without a name tells of all")]
    Gate(String),
    /// A module file is not measured.
    #[error("a module file has no metrics; use --format table or json")]
    Format,
    /// The command has no such form.
    #[error("{0} prints text for people, nothing else; leave out --json and --format")]
    OnlyText(&'static str),
    /// A replay reads nothing but the archive.
    #[error("replay judges the machine that the report is of; leave out --root")]
    RootOfReplay,
    /// A report is no stream.
    #[error("report writes its summary to standard output, so the archive cannot go there; name a file with -o")]
    NoFile,
    /// Standard output is gone.
    #[error(
        "the result could not be written to standard output ({reason}); make room, or write it elsewhere",
        reason = collect::words(.0)
    )]
    Output(#[from] io::Error),
}

/// What to do about a module file that could not be read.
const fn module_remedy(kind: ReadErrorKind) -> &'static str {
    match kind {
        ReadErrorKind::Denied => "run it as root, or as a user who may read the file",
        ReadErrorKind::Absent | ReadErrorKind::Malformed | ReadErrorKind::Io => {
            "give a whole kernel module file (.ko, .ko.gz, .ko.xz or .ko.zst)"
        }
    }
}

impl Cli {
    /// Does what was asked; returns the exit status.
    pub fn run(&self) -> Result<u8, ToolError> {
        let choice = match self.color {
            When::Auto => AutoStream::choice(&io::stdout()),
            When::Always => ColorChoice::Always,
            When::Never => ColorChoice::Never,
        };
        self.refuse_what_does_not_fit()?;
        // Rendered whole, then written at once: a reader that goes away is noticed in one place.
        let mut text = Vec::new();
        let exit = match &self.command {
            None | Some(Command::Check) => self.check(&mut text)?,
            Some(Command::Report(arguments)) => self.report(&mut text, arguments)?,
            Some(Command::Replay { file }) => self.replay(&mut text, file)?,
            Some(Command::Explain { gate }) => {
                let gate = gate.as_deref().map(|id| gates::named(id).ok_or_else(|| ToolError::Gate(id.to_owned())));
                render::explain::write(&mut text, gate.transpose()?, self.language(), columns())?;
                0
            }
            Some(Command::Module { file }) => self.module(&mut text, file)?,
            Some(Command::Completions { shell }) => {
                clap_complete::generate(*shell, &mut Self::command(), "tp2-verify", &mut text);
                0
            }
            Some(Command::Man) => {
                man::write(&mut text, Self::command())?;
                0
            }
        };
        // Taking escapes out of megabytes of JSON, which has none, would be a seventh of the work.
        let has_escapes = text.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace());
        let choice = if has_escapes { choice } else { ColorChoice::AlwaysAnsi };
        let mut out = AutoStream::new(io::stdout(), choice);
        match out.write_all(&text).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(exit),
        }
    }

    /// Options that the command would pass over in silence: whoever gave them expects something else.
    fn refuse_what_does_not_fit(&self) -> Result<(), ToolError> {
        let only_text = match &self.command {
            Some(Command::Explain { .. }) => Some("explain"),
            Some(Command::Report(_)) => Some("report"),
            Some(Command::Completions { .. }) => Some("completions"),
            Some(Command::Man) => Some("man"),
            None | Some(Command::Check | Command::Replay { .. } | Command::Module { .. }) => None,
        };
        if let Some(name) = only_text.filter(|_| self.format() != Format::Table) {
            return Err(ToolError::OnlyText(name));
        }
        match &self.command {
            Some(Command::Replay { .. }) if self.root != Path::new("/") => Err(ToolError::RootOfReplay),
            Some(Command::Report(arguments)) if arguments.output == Path::new("-") => Err(ToolError::NoFile),
            _ => Ok(()),
        }
    }

    fn check(&self, out: &mut Vec<u8>) -> Result<u8, ToolError> {
        self.judge(out, &Root::open(&self.root)?)
    }

    fn judge(&self, out: &mut Vec<u8>, root: &Root) -> Result<u8, ToolError> {
        let report = make(&collect::collect(root, &self.runtime));
        match self.format() {
            Format::Json => render::json::write(out, &report)?,
            Format::Prometheus => render::prometheus::write(out, &report)?,
            Format::Table => render::table::write(out, &report, self.table())?,
        }
        Ok(report.exit)
    }

    fn module(&self, out: &mut Vec<u8>, path: &Path) -> Result<u8, ToolError> {
        let bytes = collect::read_named(path, module_file::FILE_LIMIT).map_err(ToolError::Module)?;
        let described = module_file::describe(&path.to_string_lossy(), &bytes);
        let module = described.map_err(ToolError::Module)?;
        match self.format() {
            Format::Json => render::json::write(out, &ModuleDocument { schema: SCHEMA, module })?,
            Format::Prometheus => return Err(ToolError::Format),
            Format::Table => render::module::write(out, &module, self.verbose)?,
        }
        Ok(0)
    }

    fn language(&self) -> Language {
        self.lang.unwrap_or_else(|| Language::of_user(|name| std::env::var(name).ok()))
    }

    fn table(&self) -> render::table::Options {
        render::table::Options { language: self.language(), verbose: self.verbose, width: columns() }
    }

    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// Width to write for: what `COLUMNS` says; on a terminal that does not say, what fits any.
fn columns() -> Option<usize> {
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    asked.or_else(|| io::stdout().is_terminal().then_some(80))
}

/// What `module --json` prints.
#[derive(Serialize)]
struct ModuleDocument {
    schema: &'static str,
    module: ModuleFile,
}
