// SPDX-License-Identifier: GPL-2.0-only

//! A directory that stands for the machine. Every read is bounded, never blocks on a FIFO and never leaves the tree.

use std::{
    collections::VecDeque,
    ffi::OsString,
    fs::{self, File, Metadata},
    io::{self, Read},
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Component, Path, PathBuf},
};

use thiserror::Error;

use crate::facts::{DeviceNode, ReadError, ReadErrorKind, Reading};

/// Attributes of sysfs and procfs are one page; some procfs files are a few.
const ATTRIBUTE_LIMIT: u64 = 256 * 1024;
/// As in the kernel (`MAXSYMLINKS`).
const LINK_LIMIT: usize = 40;
/// More entries than any directory that is read has.
const DIRECTORY_LIMIT: usize = 65_536;

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
        "--root {0:?} is not a directory; give the directory that holds sys/ and proc/ (an archive has to be unpacked first)"
    )]
    NotDirectory(PathBuf),
    /// It holds nothing to read.
    #[error("--root {0:?} has neither sys/ nor proc/; give the directory that holds them")]
    NoTree(PathBuf),
}

/// The root of a live machine or of a captured tree.
#[derive(Clone, Debug)]
pub struct Root {
    base: PathBuf,
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
        let live = base == Path::new("/");
        let root = Self { base, live };
        // What may not be entered is not empty.
        fs::read_dir(&root.base).map_err(unusable)?;
        let has = |name| root.is_dir(name);
        if !has("sys") && !has("proc") {
            return Err(RootError::NoTree(path.to_owned()));
        }
        Ok(root)
    }

    /// Whether this is the running machine.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.live
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
        read_regular(&self.base.join(real), path, limit)
    }

    /// Names in a directory, sorted.
    pub fn names(&self, path: &str) -> Reading<Vec<String>> {
        let real = self.base.join(self.resolve(path)?);
        let entries = fs::read_dir(real).map_err(|error| from_io(path, &error))?;
        let mut names = Vec::new();
        for entry in entries.take(DIRECTORY_LIMIT) {
            let entry = entry.map_err(|error| from_io(path, &error))?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Whether the path leads to a directory.
    #[must_use]
    pub fn is_dir(&self, path: &str) -> bool {
        self.metadata(path).is_some_and(|data| data.is_dir())
    }

    /// Whether the path leads anywhere.
    #[must_use]
    pub fn exists(&self, path: &str) -> bool {
        self.metadata(path).is_some()
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

    /// Kind, mode and owner of a device node, without opening it.
    #[must_use]
    pub fn node(&self, path: &str) -> Option<DeviceNode> {
        let data = self.metadata(path)?;
        Some(DeviceNode {
            path: path.to_owned(),
            is_device: data.file_type().is_char_device(),
            mode: data.mode() & 0o777,
            uid: data.uid(),
            gid: data.gid(),
            opened: None,
        })
    }

    fn metadata(&self, path: &str) -> Option<Metadata> {
        let real = self.resolve(path).ok()?;
        fs::symlink_metadata(self.base.join(real)).ok()
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
            let here = self.base.join(&done).join(&name);
            let data = fs::symlink_metadata(&here).map_err(|error| from_io(path, &error))?;
            if !data.is_symlink() {
                done.push(name);
                continue;
            }
            links += 1;
            if links > LINK_LIMIT {
                return Err(ReadError::malformed(path, "goes in circles (symbolic links)"));
            }
            let target = fs::read_link(&here).map_err(|error| from_io(path, &error))?;
            if target.is_absolute() {
                done.clear();
            }
            for part in components(&target).collect::<Vec<_>>().into_iter().rev() {
                todo.push_front(part);
            }
        }
        Ok(done)
    }
}

/// Reads a regular file that was named on the command line.
pub fn read_named(path: &Path, limit: u64) -> Reading<Vec<u8>> {
    let name = path.to_string_lossy();
    let real = fs::canonicalize(path).map_err(|error| from_io(&name, &error))?;
    read_regular(&real, &name, limit)
}

/// Reads a file if it is a regular one and not larger than `limit`.
fn read_regular(real: &Path, path: &str, limit: u64) -> Reading<Vec<u8>> {
    let failed = |error: io::Error| from_io(path, &error);
    // Before opening: opening a FIFO waits for a writer.
    let data = fs::symlink_metadata(real).map_err(failed)?;
    if !data.is_file() {
        let what = if data.is_dir() { "a directory" } else { "a FIFO, socket or device" };
        return Err(ReadError::malformed(path, format!("is {what}, not a file")));
    }
    let file = File::open(real).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(ReadError::malformed(path, format!("is larger than {limit} bytes")));
    }
    Ok(bytes)
}

/// The parts of a path that name something or go up.
fn components(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// Gives a system error its path.
fn from_io(path: &str, error: &io::Error) -> ReadError {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ReadErrorKind::Absent,
        io::ErrorKind::PermissionDenied => ReadErrorKind::Denied,
        _ => ReadErrorKind::Io,
    };
    ReadError { path: path.to_owned(), kind, reason: words(error) }
}

/// An error in lower-case words, without the number.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.to_lowercase()
}
