// SPDX-License-Identifier: GPL-2.0-only
//! What the module is written in.

use std::fmt;

/// The two implementations, which nobody must be able to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Implementation {
    /// `rust-kmod/rust`.
    Rust,
    /// `rust-kmod/c`.
    C,
}

impl Implementation {
    /// As the module calls itself in sysfs and `.modinfo`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::C => "c",
        }
    }
}

impl fmt::Display for Implementation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
