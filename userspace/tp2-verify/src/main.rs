// SPDX-License-Identifier: GPL-2.0-only

//! The `tp2-verify` command; see the library.

use std::{io::Write, process::ExitCode};

use clap::Parser;
use tp2_verify::{
    cli::{Cli, EXIT_ERROR},
    device_files,
    runtime::child,
};

fn main() -> ExitCode {
    // No subcommands of the command line: completions and manual pages are no place for them.
    let status = |result: std::io::Result<()>| result.map_or(ExitCode::from(EXIT_ERROR), |()| ExitCode::SUCCESS);
    if let Some(library) = child::asked_for(std::env::args_os()) {
        return status(child::ask(&library));
    }
    if let Some(files) = device_files::asked_for(std::env::args_os()) {
        return status(device_files::open(&files));
    }
    match Cli::parse().run() {
        Ok(exit) => ExitCode::from(exit),
        Err(error) => {
            // A reader that went away is no reason to panic, as eprintln! would.
            let _ = writeln!(anstream::stderr(), "tp2-verify: {error}");
            ExitCode::from(EXIT_ERROR)
        }
    }
}
