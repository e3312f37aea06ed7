// SPDX-License-Identifier: GPL-2.0-only

//! What the hidden subcommand does: load one library, ask it, tell.

use std::{
    ffi::OsString,
    io::{self, Write},
    os::unix::process::parent_id,
    path::{Path, PathBuf},
    process, thread,
    time::Duration,
};

use super::{DEVICE_LIMIT, Event, MARK, SUBCOMMAND, hip::Hip};
use crate::facts::runtime::PeerAnswer;

/// How often the watchdog looks.
const WATCH: Duration = Duration::from_millis(250);

/// The library, if these arguments are those with which [`crate::collect::runtime`] starts a process.
pub fn asked_for(mut arguments: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let (subcommand, library) = (arguments.nth(1)?, arguments.next()?);
    (subcommand == SUBCOMMAND && arguments.next().is_none()).then(|| library.into())
}

/// Asks `library` and writes lines to standard output. Errors of the library are lines, too.
pub fn ask(library: &Path) -> io::Result<()> {
    end_with_parent(parent_id());
    step("loading the library")?;
    let hip = match Hip::load(library) {
        Ok(hip) => hip,
        Err(reason) => return tell(&Event::NotLoaded { reason }),
    };
    if let Some(event) = ask_all(&hip)? {
        return tell(&event);
    }
    tell(&Event::Done)?;
    // Its exit handlers belong to what every program goes through.
    step("ending the process")
}

/// Asks everything; returns what made it stop before.
fn ask_all(hip: &Hip) -> io::Result<Option<Event>> {
    let refused = |call: &str, code| Ok(Some(Event::Refused { call: call.to_owned(), code }));
    // Before hipInit, which refuses where there is no device.
    step("hipRuntimeGetVersion")?;
    if let Some(Ok(version)) = hip.version() {
        tell(&Event::Version { version })?;
    }
    step("hipInit")?;
    if let Err(code) = hip.init() {
        return refused("hipInit", code);
    }
    step("hipGetDeviceCount")?;
    let count = match hip.device_count() {
        Ok(count) if (0..=DEVICE_LIMIT).contains(&count) => count,
        Ok(count) => return Ok(Some(Event::BadCount { count })),
        Err(code) => return refused("hipGetDeviceCount", code),
    };
    for index in 0..count {
        step(&format!("hipDeviceGetPCIBusId of device {index}"))?;
        tell(&Event::Device { index, pci: hip.pci_bus_id(index) })?;
    }
    for from in 0..count {
        for to in (0..count).filter(|to| *to != from) {
            step(&format!("hipDeviceCanAccessPeer from device {from} to {to}"))?;
            let answer = match hip.can_access_peer(from, to) {
                Ok(1) => PeerAnswer::Yes,
                Ok(0) => PeerAnswer::No,
                Ok(other) => PeerAnswer::Odd(other),
                Err(code) => PeerAnswer::Code(code),
            };
            tell(&Event::Peer { from, to, answer })?;
        }
    }
    Ok(None)
}

fn step(step: &str) -> io::Result<()> {
    tell(&Event::Step { step: step.to_owned() })
}

/// One write for a line, which begins with a line end: the library may have left an unfinished line.
fn tell(event: &Event) -> io::Result<()> {
    let line = format!("\n{MARK}{}\n", serde_json::to_string(event)?);
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}

/// A runtime that hangs would outlive a parent that was killed.
fn end_with_parent(parent: u32) {
    thread::spawn(move || {
        while parent_id() == parent {
            thread::sleep(WATCH);
        }
        process::abort();
    });
}
