// SPDX-License-Identifier: GPL-2.0-only

//! What can go wrong, by name.

use std::{
    env,
    ffi::c_int,
    io::{self, Write},
    process, ptr, thread,
    time::Duration,
};

/// A fault after which the call returns.
pub(super) enum Fault {
    /// An error code.
    Code(c_int),
    /// Success without an answer.
    Silent,
    /// Success with this answer.
    Value(c_int),
}

/// The constructor: the loader calls what this section lists.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;
/// The destructor.
#[used]
#[unsafe(link_section = ".fini_array")]
static ENDING: extern "C" fn() = ending;

extern "C" fn loaded() {
    let _ = act("load");
}

extern "C" fn ending() {
    let _ = act("exit");
}

/// Carries out what `TP2_MOCK_FAULT` says of a call.
pub(super) fn act(call: &str) -> Option<Fault> {
    let faults = env::var("TP2_MOCK_FAULT").unwrap_or_default();
    let ours = faults.split(',').filter_map(|fault| fault.split_once('=')).find(|(name, _)| *name == call)?.1;
    match ours {
        "abort" => process::abort(),
        "exit" => process::exit(0),
        "segv" => segv(),
        "hang" => loop {
            thread::sleep(Duration::from_secs(1));
        },
        "flood" => flood(),
        "chat" => {
            // No line end: what follows must not be lost behind it.
            print!("amdhip: hello");
            let _ = io::stdout().flush();
            eprintln!("amdhip: {call} works as always");
            None
        }
        "silent" => Some(Fault::Silent),
        other => match other.strip_prefix("value:") {
            Some(value) => value.parse().ok().map(Fault::Value),
            None => other.parse().ok().map(Fault::Code),
        },
    }
}

/// Writes to where no memory is.
fn segv() -> ! {
    let nowhere = ptr::without_provenance_mut::<u8>(8);
    // SAFETY: there is none: the fault that follows is what was asked for.
    unsafe { nowhere.write_volatile(1) };
    process::abort()
}

fn flood() -> ! {
    let block = vec![b'x'; 64 * 1024];
    loop {
        if io::stdout().write_all(&block).is_err() {
            process::abort();
        }
    }
}
