// SPDX-License-Identifier: GPL-2.0-only

//! Kernel release numbers, as far as they decide which host-bridge table a kernel has.

use core::{error::Error, fmt, str::FromStr};

/// Release of a kernel, read from a string such as `7.3.4+deb13-amd64` (`uname -r`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelVersion {
    /// `7` of `7.3.4`.
    pub major: u16,
    /// `3` of `7.3.4`.
    pub minor: u16,
    /// `4` of `7.3.4`; 0 where the string has none.
    pub patch: u16,
}

impl KernelVersion {
    /// Makes a version from its three numbers.
    #[must_use]
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self { major, minor, patch }
    }

    /// The release series, `7.3` of `7.3.4`. Stable releases of a series are taken to have one host-bridge table.
    #[must_use]
    pub const fn series(self) -> (u16, u16) {
        (self.major, self.minor)
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The text does not begin with a kernel release number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseKernelVersionError {
    /// The text as given.
    pub text: String,
}

impl fmt::Display for ParseKernelVersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} does not begin with a kernel release such as 7.3 or 7.3.4", self.text)
    }
}

impl Error for ParseKernelVersionError {}

impl FromStr for KernelVersion {
    type Err = ParseKernelVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text.trim()).ok_or_else(|| ParseKernelVersionError { text: text.to_owned() })
    }
}

/// Reads `major.minor`, and `.patch` where it is there; what follows is the distribution's.
fn parse(text: &str) -> Option<KernelVersion> {
    let (major, rest) = number(text)?;
    let (minor, rest) = number(rest.strip_prefix('.')?)?;
    let patch = match rest.strip_prefix('.') {
        Some(rest) => number(rest)?.0,
        None => 0,
    };
    Some(KernelVersion { major, minor, patch })
}

/// The leading decimal number of `text`, and what follows it.
fn number(text: &str) -> Option<(u16, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}
