// SPDX-License-Identifier: GPL-2.0-only

//! The `tp2-verify` command; see the library.

use std::{io::Write, process::ExitCode};

use clap::Parser;
use tp2_verify::cli::{Cli, EXIT_ERROR};

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(exit) => ExitCode::from(exit),
        Err(error) => {
            // A reader that went away is no reason to panic, as eprintln! would.
            let _ = writeln!(anstream::stderr(), "tp2-verify: {error}");
            ExitCode::from(EXIT_ERROR)
        }
    }
}
