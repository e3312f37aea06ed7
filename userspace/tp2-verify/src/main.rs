// SPDX-License-Identifier: GPL-2.0-only

//! The `tp2-verify` command; see the library.

use std::process::ExitCode;

use clap::Parser;
use tp2_verify::cli::{Cli, EXIT_ERROR};

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(exit) => ExitCode::from(exit),
        Err(error) => {
            anstream::eprintln!("tp2-verify: {error}");
            ExitCode::from(EXIT_ERROR)
        }
    }
}
