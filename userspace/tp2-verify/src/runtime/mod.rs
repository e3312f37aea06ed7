// SPDX-License-Identifier: GPL-2.0-only

//! The side that asks: it runs in a process of its own, because loading and calling somebody else's library may crash,
//! abort or hang. It tells each step on standard output before it takes it, so that an end with trouble has a place.

pub mod child;
mod hip;

use serde::{Deserialize, Serialize};

use crate::facts::runtime::PeerAnswer;

/// The hidden subcommand.
pub const SUBCOMMAND: &str = "ask-runtime";
/// Begins each line that is ours: the library may write to standard output, too.
pub const MARK: &str = "tp2-runtime ";
/// Functions that must be there. All are in every release from 4.2 on (`hip_4.2` in the libraries' version tables).
pub const NEEDED: [&str; 4] = ["hipInit", "hipGetDeviceCount", "hipDeviceGetPCIBusId", "hipDeviceCanAccessPeer"];
/// More devices than any machine has, and few enough to ask for all pairs.
pub const DEVICE_LIMIT: i32 = 256;

/// A line of the asking process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The next step.
    Step {
        /// In words.
        step: String,
    },
    /// The loader refused the library.
    NotLoaded {
        /// Its words.
        reason: String,
    },
    /// A call failed without which there is nothing to ask.
    Refused {
        /// The call.
        call: String,
        /// Its code.
        code: i32,
    },
    /// The number of devices makes no sense.
    BadCount {
        /// The number.
        count: i32,
    },
    /// Answer of `hipRuntimeGetVersion`.
    Version {
        /// The number.
        version: i32,
    },
    /// A device.
    Device {
        /// Its index.
        index: i32,
        /// What `hipDeviceGetPCIBusId` wrote, or its code.
        pci: Result<String, i32>,
    },
    /// An ordered pair.
    Peer {
        /// Who reaches.
        from: i32,
        /// Whose memory.
        to: i32,
        /// The answer.
        answer: PeerAnswer,
    },
    /// Everything was asked.
    Done,
}
