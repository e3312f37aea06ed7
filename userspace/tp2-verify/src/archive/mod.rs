// SPDX-License-Identifier: GPL-2.0-only

//! Report archives: what they hold, and what is accepted of one that comes from elsewhere.
//!
//! A report is a gzip-compressed tar of regular files below [`TOP`]: a manifest, which tells of everything that was read
//! (links, listings and absences included), the files that were read, what was made of files that are too large, and
//! the rendered result. Links are text in the manifest, so nothing in an archive can lead anywhere.

mod manifest;
mod read;
mod write;

use std::fmt::Write;

use thiserror::Error;

use crate::{
    collect::record::{Entry, Failure, Record, Seen},
    facts::ReadError,
    printable::printable as shown,
};

pub use read::{open, unpack};
pub use write::{pack, save};

/// Name and version of the format.
pub const FORMAT: &str = "tp2-report/1";
/// The directory that everything in an archive is in.
pub const TOP: &str = "tp2-report";
/// The member that tells of all others; the first.
pub const MANIFEST: &str = "manifest.json";

/// Largest archive, in bytes. A report of a machine with eight GPUs has some 500 KiB.
pub const ARCHIVE_LIMIT: u64 = 64 * 1024 * 1024;
/// Bytes of all that comes out of an archive, headers included.
pub const EXPANDED_LIMIT: u64 = 128 * 1024 * 1024;
/// Bytes of a single member; as the largest file that collectors read whole.
pub const MEMBER_LIMIT: u64 = 32 * 1024 * 1024;
/// Members, and entries of the manifest.
pub const MEMBERS_LIMIT: usize = 65_536;
/// Bytes of a path or of a link's target; as in the kernel (`PATH_MAX`).
pub const PATH_LIMIT: usize = 4096;

/// Why a report could not be written or opened.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// It is there already.
    #[error("{0} exists already; name another file with -o, or give --force to replace it")]
    Exists(String),
    /// A device, a FIFO, a link: what it leads to would be lost.
    #[error("{0} is not a regular file, so --force does not replace it; name another file with -o")]
    NotFile(String),
    /// It could not be written.
    #[error("{path} could not be written ({reason}); name a file in a directory with room that you may write to")]
    Unwritable {
        /// As given.
        path: String,
        /// Words of the system.
        reason: String,
    },
    /// What was read is more than any version of the tool opens.
    #[error("the report would not be opened again: {0}; please file an issue with the output of --dry-run")]
    TooMuch(String),
    /// It could not be read.
    #[error("{path}: {reason}; name a report that you may read")]
    Unreadable {
        /// As given.
        path: String,
        /// Words of the system, or what it is.
        reason: String,
    },
    /// It is no report, not a whole one, or one that was tampered with.
    #[error("{path} {reason}; ask for the report again, as tp2-verify report wrote it")]
    Bad {
        /// As given.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It has another version.
    #[error("{path} has the format {format:?}, which this version does not know; open it with a newer tp2-verify")]
    Format {
        /// As given.
        path: String,
        /// As the manifest has it.
        format: String,
    },
}

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Path below [`TOP`].
    pub name: String,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// What goes into an archive: no more, no less.
#[derive(Clone, Debug)]
pub struct Package {
    /// The manifest first.
    pub members: Vec<Member>,
    listing: String,
}

impl Package {
    /// Puts a record and rendered files together.
    pub fn new(record: &Record, rendered: Vec<Member>) -> Result<Self, ArchiveError> {
        let mut members = manifest::members(record)?;
        members.extend(rendered);
        let mut listing = String::new();
        for member in &members {
            let _ = writeln!(listing, "{:>9}  {TOP}/{}", member.bytes.len(), shown(&member.name));
        }
        let _ = writeln!(listing, "\nThe manifest also names:");
        for (path, entry) in &record.entries {
            list_entry(&mut listing, path, entry);
        }
        for question in record.answers.keys() {
            let _ = writeln!(listing, "   answer  {}", shown(question));
        }
        Ok(Self { members, listing })
    }

    /// Everything in it, for people: members with their sizes in bytes, then what only the manifest tells.
    #[must_use]
    pub fn listing(&self) -> &str {
        &self.listing
    }
}

fn list_entry(out: &mut String, path: &str, entry: &Entry) {
    let path = shown(path);
    let _ = match &entry.seen {
        Ok(Seen::Link(target)) => writeln!(out, "     link  /{path} -> {}", shown(target)),
        Ok(Seen::Other) => match &entry.owner {
            Some(owner) => writeln!(out, "  special  /{path} {:03o} {}:{}", owner.mode, owner.uid, owner.gid),
            None => writeln!(out, "  special  /{path}"),
        },
        Ok(Seen::File) if entry.content.is_none() && entry.derived.is_none() => writeln!(out, "   exists  /{path}"),
        // Contents are members, and their failures are below.
        Ok(Seen::File) => Ok(()),
        Ok(Seen::Directory) => match &entry.names {
            Some(Ok(names)) => writeln!(out, "directory  /{path}: {}", shown(&names.join(" "))),
            _ => writeln!(out, "directory  /{path}"),
        },
        Err(failure) => writeln!(out, "  failure  /{path}: {}", shown(&failure.reason)),
    };
    let failed = |failure: &Failure| failure.reason.clone();
    let content = entry.content.as_ref().and_then(|content| content.as_ref().err()).map(failed);
    let names = entry.names.as_ref().and_then(|names| names.as_ref().err()).map(failed);
    let of_derived = |error: &ReadError| error.reason.clone();
    let derived = entry.derived.as_ref().and_then(|derived| derived.as_ref().err()).map(of_derived);
    for reason in [content, names, derived].into_iter().flatten() {
        let _ = writeln!(out, "  failure  /{path}: {}", shown(&reason));
    }
}
