// SPDX-License-Identifier: GPL-2.0-only

//! Where single reads of a root come from: a directory, a directory whose reads are recorded, or such a record.

use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use super::record::{Entry, Failure, Owner, Record, Seen};
use crate::facts::{ReadError, ReadErrorKind, Reading};

/// More entries than any directory that is read has; a part of them would look like the whole.
const DIRECTORY_LIMIT: usize = 65_536;

/// What is kept of a file.
type Keep<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;

/// See the module. Paths are below the root and without links.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Directory(PathBuf),
    /// What was read once is served from the record, so that the record is what the collectors saw.
    Recording(PathBuf, Arc<Mutex<Record>>),
    Record(Arc<Record>),
}

impl Source {
    /// What is there, links not followed.
    pub(super) fn look(&self, real: &Path) -> Result<Seen, Failure> {
        match self {
            Self::Directory(base) => look(&base.join(real)),
            Self::Recording(base, record) => entry(base, real, &mut lock(record)).seen.clone(),
            // The root itself is there without being recorded.
            Self::Record(_) if real.as_os_str().is_empty() => Ok(Seen::Directory),
            Self::Record(record) => recorded(record, real)?.seen.clone(),
        }
    }

    /// Names in a directory that are wanted, sorted.
    pub(super) fn names(&self, real: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>, Failure> {
        match self {
            Self::Directory(base) => names(&base.join(real), wanted),
            Self::Recording(base, record) => {
                let now = names(&base.join(real), wanted);
                let mut record = lock(record);
                let slot = &mut entry(base, real, &mut record).names;
                // Another question about the same directory may have wanted other names.
                match (slot.as_mut(), &now) {
                    (Some(Ok(before)), Ok(now)) => {
                        before.extend(now.iter().cloned());
                        before.sort();
                        before.dedup();
                    }
                    (Some(_), _) => {}
                    (None, _) => *slot = Some(now.clone()),
                }
                now
            }
            Self::Record(record) => {
                let names = recorded(record, real)?.names.clone().ok_or_else(not_recorded)??;
                Ok(names.into_iter().filter(|name| wanted(name)).collect())
            }
        }
    }

    /// Contents of a regular file that is not larger than `limit`.
    pub(super) fn bytes(&self, real: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
        let bytes = match self {
            Self::Directory(base) => return read_regular(&base.join(real), limit),
            Self::Recording(base, record) => {
                let mut record = lock(record);
                let slot = &mut entry(base, real, &mut record).content;
                slot.get_or_insert_with(|| read_regular(&base.join(real), limit)).clone()?
            }
            Self::Record(record) => recorded(record, real)?.content.clone().ok_or_else(not_recorded)??,
        };
        within(bytes, limit)
    }

    /// What `keep` keeps of a regular file that is not larger than `limit`; only that is recorded.
    pub(super) fn excerpt(&self, real: &Path, limit: u64, keep: Keep<'_>) -> Result<Vec<u8>, Failure> {
        let taken = |base: &Path| read_regular(&base.join(real), limit).map(|bytes| keep(&bytes));
        match self {
            Self::Directory(base) => taken(base),
            Self::Recording(base, record) => {
                let mut record = lock(record);
                let slot = &mut entry(base, real, &mut record).content;
                slot.get_or_insert_with(|| taken(base)).clone()
            }
            Self::Record(_) => self.bytes(real, limit).map(|bytes| keep(&bytes)),
        }
    }

    /// Owner and rights, links not followed.
    pub(super) fn owner(&self, real: &Path) -> Option<Owner> {
        match self {
            Self::Directory(base) => owner(&base.join(real)),
            Self::Recording(base, record) => {
                let mut record = lock(record);
                let slot = &mut entry(base, real, &mut record).owner;
                *slot = slot.or_else(|| owner(&base.join(real)));
                *slot
            }
            Self::Record(record) => recorded(record, real).ok()?.owner,
        }
    }

    /// What `make` makes of a file's contents; only that is recorded.
    pub(super) fn derived(&self, real: &Path, make: &mut dyn FnMut(&Path) -> Reading<Value>) -> Option<Reading<Value>> {
        match self {
            Self::Directory(base) => Some(make(&base.join(real))),
            Self::Recording(base, record) => {
                let mut record = lock(record);
                let slot = &mut entry(base, real, &mut record).derived;
                Some(slot.get_or_insert_with(|| make(&base.join(real))).clone())
            }
            Self::Record(record) => recorded(record, real).ok()?.derived.clone(),
        }
    }

    /// The answer to a question that only a running machine can be asked.
    pub(super) fn answer(&self, question: &str, live: bool, ask: &dyn Fn() -> Reading<String>) -> Reading<String> {
        match self {
            // Of a record, too: what was recorded of a captured tree was not asked either.
            _ if !live => Err(ReadError {
                reason: "cannot be asked of a captured tree".to_owned(),
                ..ReadError::absent(question)
            }),
            Self::Directory(_) => ask(),
            Self::Recording(_, record) => lock(record).answers.entry(question.to_owned()).or_insert_with(ask).clone(),
            Self::Record(record) => {
                record.answers.get(question).cloned().unwrap_or_else(|| Err(not_recorded().at(question)))
            }
        }
    }
}

impl Failure {
    /// The same with its path.
    pub(super) fn at(self, path: &str) -> ReadError {
        ReadError { path: path.to_owned(), kind: self.kind, reason: self.reason }
    }

    fn malformed(reason: impl Into<String>) -> Self {
        Self { kind: ReadErrorKind::Malformed, reason: reason.into() }
    }
}

/// Not absence: nobody looked.
pub(super) fn not_recorded() -> Failure {
    let reason = "was not read when this report was made, perhaps by another version".to_owned();
    Failure { kind: ReadErrorKind::Io, reason }
}

fn recorded<'a>(record: &'a Record, real: &Path) -> Result<&'a Entry, Failure> {
    record.entries.get(&*real.to_string_lossy()).ok_or_else(not_recorded)
}

fn entry<'a>(base: &Path, real: &Path, record: &'a mut Record) -> &'a mut Entry {
    let path = real.to_string_lossy().into_owned();
    record.entries.entry(path).or_insert_with(|| Entry::new(look(&base.join(real))))
}

/// Nothing is half-done while the lock is held, so a panic elsewhere does not spoil the record.
pub(super) fn lock(record: &Mutex<Record>) -> MutexGuard<'_, Record> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}

fn look(full: &Path) -> Result<Seen, Failure> {
    let kind = fs::symlink_metadata(full).map_err(|error| failure(&error))?.file_type();
    if kind.is_symlink() {
        let target = fs::read_link(full).map_err(|error| failure(&error))?;
        // In other letters it would lead elsewhere, and be longer than a target can be.
        let target = target.into_os_string().into_string();
        return target.map(Seen::Link).map_err(|_| Failure::malformed("is a link to a name that is not UTF-8 text"));
    }
    Ok(match (kind.is_file(), kind.is_dir()) {
        (true, _) => Seen::File,
        (_, true) => Seen::Directory,
        _ => Seen::Other,
    })
}

fn owner(full: &Path) -> Option<Owner> {
    let data = fs::symlink_metadata(full).ok()?;
    Some(Owner {
        is_character_device: data.file_type().is_char_device(),
        mode: data.mode() & 0o777,
        uid: data.uid(),
        gid: data.gid(),
    })
}

fn names(full: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for (count, entry) in fs::read_dir(full).map_err(|error| failure(&error))?.enumerate() {
        if count == DIRECTORY_LIMIT {
            return Err(Failure::malformed(format!("has more than {DIRECTORY_LIMIT} entries")));
        }
        let entry = entry.map_err(|error| failure(&error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if wanted(&name) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Reads a file if it is a regular one and not larger than `limit`.
pub(super) fn read_regular(full: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let failed = |error: io::Error| failure(&error);
    // Before opening: opening a FIFO waits for a writer.
    let data = fs::symlink_metadata(full).map_err(failed)?;
    if !data.is_file() {
        let what = if data.is_dir() { "a directory" } else { "a FIFO, socket or device" };
        return Err(Failure::malformed(format!("is {what}, not a file")));
    }
    let file = File::open(full).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    within(bytes, limit)
}

fn within(bytes: Vec<u8>, limit: u64) -> Result<Vec<u8>, Failure> {
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(Failure::malformed(format!("is larger than {limit} bytes")));
    }
    Ok(bytes)
}

/// What a system error means for a reading.
pub(super) fn failure(error: &io::Error) -> Failure {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ReadErrorKind::Absent,
        io::ErrorKind::PermissionDenied => ReadErrorKind::Denied,
        _ => ReadErrorKind::Io,
    };
    Failure { kind, reason: words(error) }
}

/// An error in lower-case words, without the number.
pub(crate) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.to_lowercase()
}
