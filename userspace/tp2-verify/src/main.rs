// SPDX-License-Identifier: GPL-2.0-only

//! The `tp2-verify` command; see the library.

use std::{env, io::Write, process::ExitCode};

use clap::Parser;
use tp2_verify::{
    cli::{Cli, EXIT_ERROR},
    device_files,
    printable::{is_hidden, printable},
    runtime::child,
};

fn main() -> ExitCode {
    // No subcommands of the command line: completions and manual pages are no place for them.
    let status = |result: std::io::Result<()>| result.map_or(ExitCode::from(EXIT_ERROR), |()| ExitCode::SUCCESS);
    if let Some(library) = child::asked_for(env::args_os()) {
        return status(child::ask(&library));
    }
    if let Some(files) = device_files::asked_for(env::args_os()) {
        return status(device_files::open(&files));
    }
    match parse().run() {
        Ok(exit) => ExitCode::from(exit),
        Err(error) => {
            // A reader that went away is no reason to panic, as eprintln! would.
            let _ = writeln!(anstream::stderr(), "tp2-verify: {}", printable(&error.to_string()));
            ExitCode::from(EXIT_ERROR)
        }
    }
}

/// As clap parses, which repeats arguments on the terminal as they are when they are wrong.
fn parse() -> Cli {
    let is_plain = |argument: &std::ffi::OsString| !argument.to_string_lossy().contains(is_hidden);
    if env::args_os().all(|argument| is_plain(&argument)) {
        return Cli::parse();
    }
    Cli::try_parse().unwrap_or_else(|error| {
        let text = error.render().to_string();
        let lines: Vec<String> = text.lines().map(printable).collect();
        let _ = writeln!(anstream::stderr(), "{}", lines.join("\n"));
        std::process::exit(error.exit_code())
    })
}
