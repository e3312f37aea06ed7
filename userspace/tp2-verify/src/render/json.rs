// SPDX-License-Identifier: GPL-2.0-only

//! JSON, one document with a newline at the end.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a value.
pub fn write(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}
