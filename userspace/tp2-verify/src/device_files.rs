// SPDX-License-Identifier: GPL-2.0-only

//! The side that opens device files, in a process of its own: see [`crate::collect::devices`].

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Write},
    path::PathBuf,
};

use crate::facts::devices::Opened;

/// The hidden subcommand.
pub const SUBCOMMAND: &str = "open-device-files";

/// The files, if these arguments are those with which [`crate::collect::devices`] starts a process.
pub fn asked_for(mut arguments: impl Iterator<Item = OsString>) -> Option<Vec<PathBuf>> {
    (arguments.nth(1)? == SUBCOMMAND).then(|| arguments.map(PathBuf::from).collect())
}

/// Opens each for reading and writing, and tells at once what came of it: a line of JSON on standard output.
pub fn open(files: &[PathBuf]) -> io::Result<()> {
    for file in files {
        let opened = File::options().read(true).write(true).open(file);
        let opened = opened.map_or_else(|error| failed(&error), |_| Opened::Yes);
        let mut out = io::stdout().lock();
        writeln!(out, "{}", serde_json::to_string(&opened)?)?;
        out.flush()?;
    }
    Ok(())
}

/// By number: the standard library has no kinds for some of them, and puts EPERM and EACCES together.
pub(crate) fn failed(error: &io::Error) -> Opened {
    match error.raw_os_error() {
        Some(1) => Opened::Forbidden,
        Some(2) => Opened::Absent,
        Some(6 | 19) => Opened::NoDriver,
        Some(13) => Opened::Denied,
        _ => Opened::Failed(error.to_string()),
    }
}
