// SPDX-License-Identifier: GPL-2.0-only

//! From findings to a verdict: pure.

use serde::Serialize;

use crate::{
    facts::Bdf,
    finding::{Bearing, ByScope, Finding, Scope, Status},
    gates, text,
    text::Text,
};

/// What is true of a pair, or of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every gate passes and bytes were compared on this boot.
    Verified,
    /// Every gate passes; bytes were not compared.
    Ready,
    /// The kernel allows the pair by itself.
    ModuleNotNeeded,
    /// The host-bridge test is the only thing in the way.
    ModuleWillHelp,
    /// Another gate fails.
    Blocked,
    /// The module is there and does not act.
    Ineffective,
    /// A bridge that is known to corrupt is being forced, or peer access is announced that the kernel refuses.
    Unsafe,
    /// Peer writes arrive, peer reads do not.
    WriteOnly,
    /// What decides cannot be read.
    Inconclusive,
    /// There is no pair to judge.
    NotApplicable,
}

impl Verdict {
    /// All, worst first. What is certain to fail comes before what is not known.
    pub const ALL: [Self; 10] = [
        Self::Unsafe,
        Self::WriteOnly,
        Self::Blocked,
        Self::Ineffective,
        Self::ModuleWillHelp,
        Self::Inconclusive,
        Self::Ready,
        Self::ModuleNotNeeded,
        Self::Verified,
        Self::NotApplicable,
    ];

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Ready => "ready",
            Self::ModuleNotNeeded => "module-not-needed",
            Self::ModuleWillHelp => "module-will-help",
            Self::Blocked => "blocked",
            Self::Ineffective => "ineffective",
            Self::Unsafe => "unsafe",
            Self::WriteOnly => "write-only",
            Self::Inconclusive => "inconclusive",
            Self::NotApplicable => "not-applicable",
        }
    }

    /// Exit status.
    #[must_use]
    pub const fn exit(self) -> u8 {
        match self {
            Self::Verified | Self::Ready | Self::ModuleNotNeeded => 0,
            Self::ModuleWillHelp | Self::Blocked | Self::Ineffective => 1,
            Self::Unsafe | Self::WriteOnly => 3,
            Self::Inconclusive => 4,
            Self::NotApplicable => 5,
        }
    }

    /// What it means, in one sentence.
    #[must_use]
    pub fn meaning(self) -> Text {
        match self {
            Self::Verified => text!("verdict-verified"),
            Self::Ready => text!("verdict-ready"),
            Self::ModuleNotNeeded => text!("verdict-module-not-needed"),
            Self::ModuleWillHelp => text!("verdict-module-will-help"),
            Self::Blocked => text!("verdict-blocked"),
            Self::Ineffective => text!("verdict-ineffective"),
            Self::Unsafe => text!("verdict-unsafe"),
            Self::WriteOnly => text!("verdict-write-only"),
            Self::Inconclusive => text!("verdict-inconclusive"),
            Self::NotApplicable => text!("verdict-not-applicable"),
        }
    }
}

/// Verdict of one pair: of what is about it, one of its GPUs, or the machine.
#[must_use]
pub fn of_pair(findings: &ByScope<'_>, a: Bdf, b: Bdf) -> Verdict {
    let scopes = [Scope::Host, Scope::Gpu(a), Scope::Gpu(b), Scope::Pair(a, b)];
    let ours: Vec<&Finding> = scopes.into_iter().flat_map(|scope| findings.about(scope)).copied().collect();
    let any = |bearing| ours.iter().any(|finding| finding.bearing == bearing);
    let fails = |bearing| ours.iter().any(|finding| finding.status == Status::Fail && finding.bearing == bearing);
    let undecided = ours.iter().any(|finding| finding.status == Status::Unknown && gates::decides(finding.gate));
    let allowed = any(Bearing::KernelAllows);
    let overridable = any(Bearing::Overridable);
    if any(Bearing::NotJudged) {
        Verdict::NotApplicable
    } else if fails(Bearing::Unsafe) || fails(Bearing::Contradiction) {
        Verdict::Unsafe
    } else if fails(Bearing::Plain) || (fails(Bearing::NoOverride) && !allowed) {
        Verdict::Blocked
    } else if fails(Bearing::ModuleInert) && !allowed && (overridable || !undecided) {
        Verdict::Ineffective
    } else if undecided {
        Verdict::Inconclusive
    } else if overridable && fails(Bearing::ModuleAbsent) {
        Verdict::ModuleWillHelp
    } else if fails(Bearing::LinkMissing) {
        Verdict::Blocked
    } else if overridable {
        Verdict::Ready
    } else if allowed {
        Verdict::ModuleNotNeeded
    } else {
        Verdict::Inconclusive
    }
}

/// Verdict of the machine: of its pairs the worst that counts.
#[must_use]
pub fn of_machine(findings: &[Finding], pairs: &[Verdict]) -> Verdict {
    let host = findings.iter().filter(|finding| finding.scope == Scope::Host);
    if host.clone().any(|finding| finding.bearing == Bearing::NotJudged) {
        return Verdict::NotApplicable;
    }
    let worst = Verdict::ALL.into_iter().find(|verdict| pairs.contains(verdict)).unwrap_or(Verdict::NotApplicable);
    // With devices that could not be read there may be pairs that nobody saw.
    let unseen = findings.iter().any(|finding| finding.gate == "gpu.kfd" && finding.status == Status::Unknown);
    if worst == Verdict::NotApplicable && unseen {
        return Verdict::Inconclusive;
    }
    worst
}
