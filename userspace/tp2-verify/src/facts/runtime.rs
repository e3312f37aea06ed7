// SPDX-License-Identifier: GPL-2.0-only

//! What the GPU runtime (`libamdhip64`) told a program, and how the asking ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Bdf;

/// Everything that came of asking the runtime. What was told before an end with trouble is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// The library that was asked.
    pub library: Option<String>,
    /// Libraries that were found and not asked, and why not.
    pub passed_over: Vec<PassedOver>,
    /// Environment variables that hide or reorder devices or change how the runtime works, as far as they are set.
    pub environment: BTreeMap<String, String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Trouble after that: the process did not end well.
    pub afterwards: Option<Outcome>,
    /// What `hipRuntimeGetVersion` said: `major * 10^7 + minor * 10^5 + patch`.
    pub version: Option<i32>,
    /// Its devices, by index.
    pub devices: Vec<Device>,
    /// What it said of ordered pairs.
    pub peers: Vec<Peer>,
    /// Beginning of what it wrote to standard error.
    pub stderr: String,
}

impl Runtime {
    /// The record of an asking that went no further than this.
    #[must_use]
    pub fn ended(outcome: Outcome) -> Self {
        Self {
            library: None,
            passed_over: Vec::new(),
            environment: BTreeMap::new(),
            outcome,
            afterwards: None,
            version: None,
            devices: Vec::new(),
            peers: Vec::new(),
            stderr: String::new(),
        }
    }
}

/// A library that was found and not asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// Its path.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// How the asking ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum Outcome {
    /// Nobody wanted it asked.
    SwitchedOff,
    /// This program is linked statically and cannot load libraries.
    StaticBuild,
    /// There is no library.
    NotFound,
    /// None of the libraries can be one to ask; see [`Runtime::passed_over`].
    NoneFits,
    /// The process that asks could not be started.
    NotStarted {
        /// Words of the system.
        reason: String,
    },
    /// The loader refused the library.
    NotLoaded {
        /// Words of the loader.
        reason: String,
    },
    /// A call without which there is nothing to ask returned an error.
    Refused {
        /// The call.
        call: String,
        /// Its code.
        code: i32,
    },
    /// It was asked everything.
    Answered,
    /// The process ended before that.
    Died {
        /// Signal or exit status.
        how: String,
        /// What it was doing.
        during: String,
    },
    /// The time limit came before that.
    TimedOut {
        /// The limit.
        seconds: u64,
        /// What it was doing.
        during: String,
        /// Whether it was still there after it had been killed, as when it waits in the kernel.
        unkillable: bool,
    },
    /// What it said makes no sense.
    Garbled {
        /// Why.
        reason: String,
        /// What it was doing.
        during: String,
    },
}

/// A device of the runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The runtime's index: good for nothing but naming it here.
    pub index: i32,
    /// Its PCI address; else what `hipDeviceGetPCIBusId` gave in its place.
    pub bdf: Result<Bdf, String>,
}

/// What the runtime said of one ordered pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Index of the device that reaches.
    pub from: i32,
    /// Index of the device whose memory is reached.
    pub to: i32,
    /// What was said.
    pub answer: PeerAnswer,
}

/// Answer of `hipDeviceCanAccessPeer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerAnswer {
    /// 1.
    Yes,
    /// 0.
    No,
    /// Success with another value, or with none.
    Odd(i32),
    /// An error code.
    Code(i32),
}
