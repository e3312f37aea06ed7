// SPDX-License-Identifier: GPL-2.0-only

//! What a run saw of a machine: enough to run again elsewhere with the same result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::facts::{ReadErrorKind, Reading};

/// Why a single read failed; the path is that of the entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Kind of failure.
    pub kind: ReadErrorKind,
    /// Words for the reader.
    pub reason: String,
}

/// What is at a path, links not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link and where it points, as text. It is followed in the record only, never on the reader's machine.
    Link(String),
    /// A FIFO, socket or device.
    Other,
}

/// Owner and rights of what is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// Whether it is a character device.
    pub is_character_device: bool,
    /// Permission bits.
    pub mode: u32,
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

/// One path of which something was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What is there, or why that could not be seen (absence included).
    pub seen: Result<Seen, Failure>,
    /// Names in a directory, where they were read.
    pub names: Option<Result<Vec<String>, Failure>>,
    /// Contents of a file, where they were read.
    pub content: Option<Result<Vec<u8>, Failure>>,
    /// Owner and rights, where they were read.
    pub owner: Option<Owner>,
    /// What was made of the contents of a file that is too large to keep (a kernel module, an initramfs image).
    pub derived: Option<Reading<Value>>,
}

impl Entry {
    /// Makes an entry of which only the kind was read.
    #[must_use]
    pub fn new(seen: Result<Seen, Failure>) -> Self {
        Self { seen, names: None, content: None, owner: None, derived: None }
    }
}

/// Everything that was read. Paths are below the root, without links in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Whether it was the running machine.
    pub live: bool,
    /// By path.
    pub entries: BTreeMap<String, Entry>,
    /// Answers that only the running machine gives, by question.
    pub answers: BTreeMap<String, Reading<String>>,
}
