// SPDX-License-Identifier: GPL-2.0-only
//! What the project assumes of the kernel, each with the releases that it was read from. Data only.
//!
//! The text files beside this one hold functions; `cargo xtask drift --write` can rewrite them.

mod callers;
mod gate_words;

pub(super) use callers::CALLERS;
pub(super) use gate_words::GATE_WORDS;

/// The release series in which something was seen.
pub(super) struct Seen {
    since: (u16, u16),
    until: Option<(u16, u16)>,
}

impl Seen {
    /// In this series, and in every later one that was read.
    pub(super) const fn since(major: u16, minor: u16) -> Self {
        Self { since: (major, minor), until: None }
    }

    /// In the first of these series that was read, up to the last.
    pub(super) const fn between(since: (u16, u16), until: (u16, u16)) -> Self {
        Self { since, until: Some(until) }
    }

    /// Whether it is expected in a series.
    pub(super) fn holds(&self, series: (u16, u16)) -> bool {
        self.since <= series && self.until.is_none_or(|until| series <= until)
    }
}

/// A function that asks for the distance.
pub(super) struct Caller {
    pub(super) file: &'static str,
    pub(super) function: &'static str,
    pub(super) asks: &'static str,
    pub(super) seen: Seen,
}

/// A name by which a driver reaches or maps the memory of a peer.
pub(super) struct GateWord {
    pub(super) file: &'static str,
    pub(super) word: &'static str,
    pub(super) seen: Seen,
}
