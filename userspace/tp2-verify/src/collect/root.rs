// SPDX-License-Identifier: GPL-2.0-only

//! A directory, or the record of one, that stands for the machine. Every read is bounded, never blocks on a FIFO and
//! never leaves the tree.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex},
};

use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

use super::{
    record::{Owner, Record, Seen},
    source::{Source, failure, lock, not_recorded, read_regular, words},
};
use crate::facts::{DeviceNode, ReadError, Reading};

/// Attributes of sysfs and procfs are one page; some procfs files are a few.
const ATTRIBUTE_LIMIT: u64 = 256 * 1024;
/// In place of what is not text: it still is none.
pub(crate) const NOT_TEXT: [u8; 1] = [0xff];
/// As in the kernel (`MAXSYMLINKS`).
const LINK_LIMIT: usize = 40;

/// As in the kernel (`NAME_MAX`, `PATH_MAX`), in bytes.
const NAME_LIMIT: usize = 255;
const PATH_LIMIT: usize = 4096;

/// The given root cannot stand for a machine.
#[derive(Debug, Error)]
pub enum RootError {
    /// It cannot be opened.
    #[error("--root {path:?} cannot be read ({reason}); give the directory that holds sys/ and proc/")]
    Unusable {
        /// As given.
        path: PathBuf,
        /// Words of the system.
        reason: String,
    },
    /// It is no directory.
    #[error(
        "--root {0:?} is not a directory; give the directory that holds sys/ and proc/ (a report is opened by tp2-verify \
         replay, another archive has to be unpacked first)"
    )]
    NotDirectory(PathBuf),
    /// It holds nothing to read.
    #[error("--root {0:?} has neither sys/ nor proc/; give the directory that holds them")]
    NoTree(PathBuf),
}

/// The root of a live machine, of a captured tree, or of a record.
#[derive(Clone, Debug)]
pub struct Root {
    source: Source,
    live: bool,
}

impl Root {
    /// Opens a root, which must look like one.
    pub fn open(path: &Path) -> Result<Self, RootError> {
        let unusable = |error: io::Error| RootError::Unusable { path: path.to_owned(), reason: words(&error) };
        let base = fs::canonicalize(path).map_err(unusable)?;
        if !base.is_dir() {
            return Err(RootError::NotDirectory(path.to_owned()));
        }
        // What may not be entered is not empty.
        fs::read_dir(&base).map_err(unusable)?;
        let live = base == Path::new("/");
        let root = Self { source: Source::Directory(base), live };
        let has = |name| root.is_dir(name) == Ok(true);
        if !has("sys") && !has("proc") {
            return Err(RootError::NoTree(path.to_owned()));
        }
        Ok(root)
    }

    /// The same root, from now on keeping a record of all that is read through it.
    #[must_use]
    pub fn recording(&self) -> Self {
        let Source::Directory(base) = &self.source else {
            return self.clone();
        };
        let record = Record { live: self.live, ..Record::default() };
        Self { source: Source::Recording(base.clone(), Arc::new(Mutex::new(record))), live: self.live }
    }

    /// What was recorded; empty unless made by [`Root::recording`] or [`Root::replay`].
    #[must_use]
    pub fn record(&self) -> Record {
        match &self.source {
            Source::Directory(_) => Record { live: self.live, ..Record::default() },
            Source::Recording(_, record) => lock(record).clone(),
            Source::Record(record) => Record::clone(record),
        }
    }

    /// A root that answers as the recorded one did, and never reads the machine it runs on.
    #[must_use]
    pub fn replay(record: Record) -> Self {
        Self { live: record.live, source: Source::Record(Arc::new(record)) }
    }

    /// Whether this is the running machine, or the record of a machine that was running.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// The answer to what no file tells and only the running machine can be asked, such as opening a device or calling
    /// a runtime. Recorded under `question`, a path-like name; `ask` is never called for a captured tree or a replay.
    pub fn ask(&self, question: &str, ask: impl Fn() -> Reading<String>) -> Reading<String> {
        self.source.answer(question, self.live, &ask)
    }

    /// Contents of a small text file, without white space at the ends.
    ///
    /// Some archives of sysfs fill attributes up with NUL bytes to the page that `stat` promises.
    pub fn text(&self, path: &str) -> Reading<String> {
        let text = self.text_up_to(path, ATTRIBUTE_LIMIT)?;
        Ok(text.trim_end_matches('\0').trim().to_owned())
    }

    /// Contents of a text file up to a size.
    pub fn text_up_to(&self, path: &str, limit: u64) -> Reading<String> {
        let bytes = self.bytes(path, limit)?;
        String::from_utf8(bytes).map_err(|_| ReadError::malformed(path, "is not UTF-8 text"))
    }

    /// Contents of a regular file up to a size.
    pub fn bytes(&self, path: &str, limit: u64) -> Reading<Vec<u8>> {
        let real = self.resolve(path)?;
        self.source.bytes(&real, limit).map_err(|failure| failure.at(path))
    }

    /// What `keep` keeps of the contents of a regular file up to a size. A report has no more of the file than that,
    /// wherever links have led. `keep` must keep what it has kept, since a replay calls it again.
    pub fn excerpt(&self, path: &str, limit: u64, keep: impl Fn(&[u8]) -> Vec<u8>) -> Reading<Vec<u8>> {
        let real = self.resolve(path)?;
        self.source.excerpt(&real, limit, &keep).map_err(|failure| failure.at(path))
    }

    /// The same for text.
    pub fn text_excerpt(&self, path: &str, limit: u64, keep: impl Fn(&str) -> String) -> Reading<String> {
        let bytes = self.excerpt(path, limit, |bytes| match std::str::from_utf8(bytes) {
            Ok(text) => keep(text).into_bytes(),
            Err(_) => NOT_TEXT.to_vec(),
        })?;
        String::from_utf8(bytes).map_err(|_| ReadError::malformed(path, "is not UTF-8 text"))
    }

    /// What `make` makes of the contents of a regular file up to a size. A report keeps the result in place of the
    /// file: this is for files that are too large, or none of a report's business.
    pub fn derived<T: Serialize + DeserializeOwned>(
        &self,
        path: &str,
        limit: u64,
        make: impl Fn(&[u8]) -> Reading<T>,
    ) -> Reading<T> {
        let real = self.resolve(path)?;
        let mut reduce = |full: &Path| {
            let bytes = read_regular(full, limit).map_err(|failure| failure.at(path))?;
            serde_json::to_value(make(&bytes)?).map_err(|error| ReadError::malformed(path, error.to_string()))
        };
        let value = self.source.derived(&real, &mut reduce).unwrap_or_else(|| Err(not_recorded().at(path)))?;
        let other = |_| ReadError::malformed(path, "was recorded in a form that this version does not know");
        serde_json::from_value(value).map_err(other)
    }

    /// Names in a directory, sorted.
    pub fn names(&self, path: &str) -> Reading<Vec<String>> {
        self.names_where(path, |_| true)
    }

    /// Those names in a directory that are wanted, sorted. A report tells of no others.
    pub fn names_where(&self, path: &str, wanted: impl Fn(&str) -> bool) -> Reading<Vec<String>> {
        let real = self.resolve(path)?;
        self.source.names(&real, &wanted).map_err(|failure| failure.at(path))
    }

    /// Whether the path leads to a directory, and not to something else or nowhere. What cannot be looked at may be one.
    pub fn is_dir(&self, path: &str) -> Reading<bool> {
        Ok(self.seen(path)? == Some(Seen::Directory))
    }

    /// Whether there is a directory where nothing else can be.
    pub fn has_dir(&self, path: &str) -> Reading<bool> {
        match self.seen(path)? {
            None => Ok(false),
            Some(Seen::Directory) => Ok(true),
            Some(_) => Err(ReadError::malformed(path, "is not a directory")),
        }
    }

    /// Whether the path leads anywhere.
    pub fn exists(&self, path: &str) -> Reading<bool> {
        Ok(self.seen(path)?.is_some())
    }

    /// Owner and rights of what a path leads to, without opening it.
    #[must_use]
    pub fn owner(&self, path: &str) -> Option<Owner> {
        let real = self.resolve(path).ok()?;
        self.source.owner(&real)
    }

    /// Kind, mode and owner of a device node, without opening it.
    #[must_use]
    pub fn node(&self, path: &str) -> Option<DeviceNode> {
        let owner = self.owner(path)?;
        Some(DeviceNode {
            path: path.to_owned(),
            is_device: owner.is_character_device,
            mode: owner.mode & 0o777,
            uid: owner.uid,
            gid: owner.gid,
            opened: None,
        })
    }

    /// Where a path really leads, below the root and without links.
    pub fn real(&self, path: &str) -> Reading<String> {
        self.resolve(path).map(|real| real.to_string_lossy().into_owned())
    }

    /// Last component of where a link leads.
    pub fn link_name(&self, path: &str) -> Reading<String> {
        let real = self.resolve(path)?;
        let name = real.file_name().map(|name| name.to_string_lossy());
        name.map(std::borrow::Cow::into_owned)
            .ok_or_else(|| ReadError::malformed(path, "leads to the root of the tree"))
    }

    /// What the path leads to; `None`: it is absent.
    fn seen(&self, path: &str) -> Reading<Option<Seen>> {
        let seen = self.resolve(path).and_then(|real| self.source.look(&real).map_err(|failure| failure.at(path)));
        match seen {
            Err(error) if error.is_absent() => Ok(None),
            other => other.map(Some),
        }
    }

    /// Follows links by hand, so that absolute ones and `..` stay below the root.
    fn resolve(&self, path: &str) -> Reading<PathBuf> {
        let mut todo: VecDeque<OsString> = components(Path::new(path)).collect();
        let mut done = PathBuf::new();
        let mut links = 0;
        while let Some(name) = todo.pop_front() {
            if name == ".." {
                done.pop();
                continue;
            }
            let here = done.join(&name);
            check_name(path, &name, &here)?;
            let Seen::Link(target) = self.source.look(&here).map_err(|failure| failure.at(path))? else {
                done = here;
                continue;
            };
            links += 1;
            if links > LINK_LIMIT {
                return Err(ReadError::malformed(path, "goes in circles (symbolic links)"));
            }
            let target = Path::new(&target);
            if target.is_absolute() {
                done.clear();
            }
            for part in components(target).collect::<Vec<_>>().into_iter().rev() {
                todo.push_front(part);
            }
        }
        Ok(done)
    }
}

/// Paths come from files, too (`modules.dep`). What no file can be named is not looked up, and so is in no report, which
/// would not be opened again.
fn check_name(path: &str, name: &OsStr, here: &Path) -> Reading<()> {
    let shown: String = path.chars().take(80).collect();
    let bad = |reason| Err(ReadError::malformed(&shown, reason));
    if name.as_encoded_bytes().contains(&0) {
        return bad("has a NUL byte in it, which no path has");
    }
    if name.len() > NAME_LIMIT || here.as_os_str().len() > PATH_LIMIT {
        return bad("begins a path that is longer than any path is");
    }
    Ok(())
}

/// Reads a regular file that was named on the command line.
pub fn read_named(path: &Path, limit: u64) -> Reading<Vec<u8>> {
    let name = path.to_string_lossy();
    let real = fs::canonicalize(path).map_err(|error| failure(&error).at(&name))?;
    read_regular(&real, limit).map_err(|failure| failure.at(&name))
}

/// The parts of a path that name something or go up.
fn components(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}
