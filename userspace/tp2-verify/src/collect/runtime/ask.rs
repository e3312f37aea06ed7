// SPDX-License-Identifier: GPL-2.0-only

//! The side that waits: starts the process that asks, limits its time and its words, and makes an answer of every end.

use std::{
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::Command,
    time::Duration,
};

use super::Options;
use crate::{
    collect::process::{self, End, Ended, Kept},
    facts::runtime::{Device, Outcome, Peer, Runtime},
    runtime::{Event, MARK, SUBCOMMAND},
};

/// What 256 devices have to say is less.
const OUT_LIMIT: usize = 32 * 1024 * 1024;

/// Asks `library`.
pub(super) fn ask(library: &Path, options: &Options) -> Runtime {
    let mut command = Command::new(&options.program);
    command.envs(options.variables.iter().map(|(name, value)| (name, value)));
    command.arg0("tp2-verify").arg(SUBCOMMAND).arg(library);
    match process::run(&mut command, Duration::from_secs(options.runtime_timeout), OUT_LIMIT) {
        Ok(Ended { out, err, end }) => {
            let mut runtime = account(&out, &end);
            String::from_utf8_lossy(&err.bytes).trim().clone_into(&mut runtime.stderr);
            runtime
        }
        Err(error) => Runtime::ended(Outcome::NotStarted { reason: error.to_string() }),
    }
}

/// Puts together what was said and how it ended.
fn account(out: &Kept, end: &End) -> Runtime {
    let mut told = Told { runtime: Runtime::ended(Outcome::Answered), during: "starting".to_owned(), last: None };
    let text = String::from_utf8_lossy(&out.bytes);
    for line in text.lines().filter_map(|line| line.strip_prefix(MARK)) {
        match serde_json::from_str(line) {
            Ok(event) => told.add(event),
            // A line that the end cut short is the end's matter.
            Err(error) if !error.is_eof() => told.last = Some(garbled(format!("{error}"), &told.during)),
            Err(_) => {}
        }
    }
    if out.cut {
        told.last = Some(garbled(format!("it wrote more than {OUT_LIMIT} bytes"), &told.during));
    }
    let Told { mut runtime, during, last } = told;
    let trouble = trouble(end, during.clone());
    (runtime.outcome, runtime.afterwards) = match (last, trouble) {
        // What was told stands, whatever came afterwards.
        (Some(last), trouble) => (last, trouble),
        (None, Some(trouble)) => (trouble, None),
        (None, None) => (garbled("it ended before it had told everything".to_owned(), &during), None),
    };
    runtime
}

fn garbled(reason: String, during: &str) -> Outcome {
    Outcome::Garbled { reason, during: during.to_owned() }
}

/// An end that is none by itself, with success.
fn trouble(end: &End, during: String) -> Option<Outcome> {
    match *end {
        End::Killed { seconds, unkillable } => Some(Outcome::TimedOut { seconds, during, unkillable }),
        End::Itself(status) if status.success() => None,
        End::Itself(status) => {
            let how = match (status.signal(), status.code()) {
                (Some(signal), _) => signal_words(signal),
                (None, Some(code)) => format!("exit status {code}"),
                (None, None) => "an end without a status".to_owned(),
            };
            Some(Outcome::Died { how, during })
        }
    }
}

/// Signals that programs die of; the numbers are those of x86-64 and arm64.
fn signal_words(signal: i32) -> String {
    let name = match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        31 => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}

/// The account so far.
struct Told {
    runtime: Runtime,
    during: String,
    /// What said that there is no more to come.
    last: Option<Outcome>,
}

impl Told {
    fn add(&mut self, event: Event) {
        match event {
            Event::Step { step } => self.during = step,
            Event::NotLoaded { reason } => self.last = Some(Outcome::NotLoaded { reason }),
            Event::Refused { call, code } => self.last = Some(Outcome::Refused { call, code }),
            Event::BadCount { count } => {
                self.last = Some(garbled(format!("it claims to have {count} devices"), &self.during));
            }
            Event::Version { version } => self.runtime.version = Some(version),
            Event::Device { index, pci } => {
                let bdf = match pci {
                    // HIP writes small letters, CUDA capital ones; the parser takes both.
                    Ok(text) => text.trim().parse().map_err(|_| format!("{text:?}")),
                    Err(code) => Err(format!("error {code}")),
                };
                self.runtime.devices.push(Device { index, bdf });
            }
            Event::Peer { from, to, answer } => self.runtime.peers.push(Peer { from, to, answer }),
            Event::Done => self.last = Some(Outcome::Answered),
        }
    }
}
