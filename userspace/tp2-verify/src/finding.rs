// SPDX-License-Identifier: GPL-2.0-only

//! What a gate says.

use std::{collections::HashMap, fmt};

use serde::{Serialize, Serializer};

use crate::{
    facts::{Bdf, ReadError, ReadErrorKind, Reading},
    text,
    text::Text,
};

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The machine.
    Host,
    /// One GPU.
    Gpu(Bdf),
    /// Two GPUs.
    Pair(Bdf, Bdf),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::Gpu(bdf) => write!(f, "gpu:{bdf}"),
            Self::Pair(a, b) => write!(f, "pair:{a}+{b}"),
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// How a gate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It is as it should be.
    Pass,
    /// It does not stop anything, and deserves a look.
    Warn,
    /// It is in the way.
    Fail,
    /// It could not be read.
    Unknown,
    /// Another gate makes it meaningless.
    Skip,
    /// It does not apply here.
    Na,
}

impl Status {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Unknown => "unknown",
            Self::Skip => "skip",
            Self::Na => "na",
        }
    }
}

/// What a finding means for the verdict, where the status alone does not say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bearing {
    /// The status says it all: a failure blocks.
    #[default]
    Plain,
    /// The kernel allows the pair by itself.
    KernelAllows,
    /// The host-bridge test is what refuses, and the module overrides it, or would.
    Overridable,
    /// No override can act on this machine, which is in the way of a pair that needs one.
    NoOverride,
    /// The module is not there.
    ModuleAbsent,
    /// The module is there and does not act.
    ModuleInert,
    /// KFD has no link for the pair, or one way only.
    LinkMissing,
    /// A bridge that is known to corrupt is forced.
    Unsafe,
    /// The runtime announces peer access that the kernel refuses and nothing known overrides.
    Contradiction,
    /// There is nothing to judge.
    NotJudged,
}

/// Where a value was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Path or command.
    pub source: Text,
    /// What was read there, or why it could not be read.
    pub value: Text,
}

/// What to do about a finding, and the commands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    words: Text,
    commands: Vec<String>,
}

impl From<Text> for Remedy {
    fn from(words: Text) -> Self {
        Self { words, commands: Vec::new() }
    }
}

impl Remedy {
    /// Puts the words into other words.
    #[must_use]
    pub fn map(mut self, words: impl FnOnce(Text) -> Text) -> Self {
        self.words = words(self.words);
        self
    }

    /// Adds a line for a POSIX shell, with words behind it. A file may hold anything, and people paste what they are told
    /// to: so words that were read are quoted, and with one that no shell takes there is no command.
    #[must_use]
    pub fn command(mut self, line: impl Into<String>, words: &[&str]) -> Self {
        let line = line.into();
        self.commands.extend(match words {
            [] => Some(line),
            words => shlex::try_join(words.iter().copied()).ok().map(|words| format!("{line} {words}")),
        });
        self
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Id of the gate.
    pub gate: &'static str,
    /// What it is about.
    pub scope: Scope,
    /// How it ended.
    pub status: Status,
    /// One sentence.
    pub summary: Text,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// What to do, if something is to be done.
    pub remedy: Option<Text>,
    /// Lines for a POSIX shell that do what the remedy says, or the part of it that a shell can do.
    pub commands: Vec<String>,
    /// What it means for the verdict.
    #[serde(skip)]
    pub bearing: Bearing,
}

impl Finding {
    /// Makes a finding without evidence or remedy.
    #[must_use]
    pub fn new(gate: &'static str, scope: Scope, status: Status, summary: Text) -> Self {
        let (evidence, commands) = (Vec::new(), Vec::new());
        Self { gate, scope, status, summary, evidence, remedy: None, commands, bearing: Bearing::Plain }
    }

    /// Makes the finding that something could not be read.
    #[must_use]
    pub fn unreadable(gate: &'static str, scope: Scope, what: Text, error: &ReadError) -> Self {
        let path = format!("/{}", error.path);
        Self::new(gate, scope, Status::Unknown, text!("unreadable", what = what, error = error))
            .failed_reading(error)
            .remedy(match error.kind {
                ReadErrorKind::Denied => text!("unreadable-denied-remedy", path = path),
                ReadErrorKind::Absent => text!("unreadable-absent-remedy", path = path),
                ReadErrorKind::Malformed | ReadErrorKind::Io => text!("unreadable-other-remedy", path = path),
            })
    }

    /// Adds what was read.
    #[must_use]
    pub fn evidence(mut self, source: impl Into<Text>, value: impl Into<Text>) -> Self {
        self.evidence.push(Evidence { source: source.into(), value: value.into() });
        self
    }

    /// Adds a value as read, or the reason why it was not.
    #[must_use]
    pub fn reading(self, path: &str, reading: &Reading<String>) -> Self {
        match reading {
            Ok(value) => self.evidence(format!("/{path}"), value.clone()),
            Err(error) => self.failed_reading(error),
        }
    }

    /// Adds a reading that failed.
    #[must_use]
    pub fn failed_reading(self, error: &ReadError) -> Self {
        self.evidence(format!("/{}", error.path), Text::reason(error))
    }

    /// Adds a remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<Remedy>) -> Self {
        let Remedy { words, commands } = remedy.into();
        (self.remedy, self.commands) = (Some(words), commands);
        self
    }

    /// Sets what it means for the verdict.
    #[must_use]
    pub fn bearing(mut self, bearing: Bearing) -> Self {
        self.bearing = bearing;
        self
    }
}

/// Findings by what they are about.
#[derive(Clone, Debug, Default)]
pub struct ByScope<'a> {
    scopes: Vec<Scope>,
    findings: HashMap<Scope, Vec<&'a Finding>>,
}

impl<'a> ByScope<'a> {
    /// Groups findings; those about the same keep their order.
    #[must_use]
    pub fn new(findings: &'a [Finding]) -> Self {
        let mut grouped = Self::default();
        for finding in findings {
            let group = grouped.findings.entry(finding.scope).or_insert_with(|| {
                grouped.scopes.push(finding.scope);
                Vec::new()
            });
            group.push(finding);
        }
        grouped
    }

    /// What they are about, in the order in which each comes up first.
    #[must_use]
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Those about exactly this.
    #[must_use]
    pub fn about(&self, scope: Scope) -> &[&'a Finding] {
        self.findings.get(&scope).map(Vec::as_slice).unwrap_or_default()
    }
}
