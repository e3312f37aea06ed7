// SPDX-License-Identifier: GPL-2.0-only

//! Opening a report that may come from anyone: into memory, within limits, nothing but regular files.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read},
    path::Path,
};

use flate2::bufread::GzDecoder;
use tar::{Archive, Entry, EntryType};

use super::{
    ARCHIVE_LIMIT, ArchiveError, EXPANDED_LIMIT, FORMAT, MANIFEST, MEMBER_LIMIT, MEMBERS_LIMIT, TOP,
    manifest::{Manifest, check_path},
};
use crate::{
    collect::{self, record::Record},
    plain::{brief, quoted},
};

/// Rendered files, which a replay does not need.
const RENDERED: [&str; 3] = ["result.json", "result.txt", "summary.md"];

/// Opens the report that a file holds.
pub fn open(path: &Path) -> Result<Record, ArchiveError> {
    let name = path.display().to_string();
    let bytes = collect::read_named(path, ARCHIVE_LIMIT)
        .map_err(|error| ArchiveError::Unreadable { path: name.clone(), reason: error.reason })?;
    unpack(&name, &bytes)
}

/// Opens a report, of which `name` is only the name.
pub fn unpack(name: &str, bytes: &[u8]) -> Result<Record, ArchiveError> {
    let bad = |reason: String| ArchiveError::Bad { path: name.to_owned(), reason };
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(bad("is not a report (not gzip-compressed)".to_owned()));
    }
    let mut archive = Archive::new(Limited { inner: GzDecoder::new(bytes), left: EXPANDED_LIMIT });
    let mut entries = archive.entries().map_err(|error| bad(words(&error)))?;
    let first = entries.next().ok_or_else(|| bad("is empty".to_owned()))?;
    let (manifest_name, manifest) = member(first).map_err(bad)?;
    if manifest_name != MANIFEST {
        return Err(bad(format!("is not a report (it begins with {}, not with its manifest)", quoted(&manifest_name))));
    }
    match Manifest::format(&manifest) {
        Some(format) if format != FORMAT => {
            return Err(ArchiveError::Format { path: name.to_owned(), format: brief(&format) });
        }
        _ => {}
    }
    let manifest = Manifest::parse(&manifest).map_err(bad)?;
    let members = members(&mut entries, &manifest.wanted()).map_err(bad)?;
    finish(archive.into_inner()).map_err(bad)?;
    manifest.into_record(members).map_err(bad)
}

/// All members after the manifest; those that it does not tell of are refused.
fn members<R: Read>(
    entries: &mut tar::Entries<'_, R>,
    wanted: &BTreeSet<String>,
) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut members = BTreeMap::new();
    for entry in entries {
        if members.len() > MEMBERS_LIMIT {
            return Err(format!("has more than {MEMBERS_LIMIT} files"));
        }
        let (name, bytes) = member(entry)?;
        if !wanted.contains(&name) && !RENDERED.contains(&name.as_str()) {
            return Err(format!("holds {}, of which its manifest does not tell", quoted(&name)));
        }
        if members.contains_key(&name) {
            return Err(format!("holds {} twice", quoted(&name)));
        }
        members.insert(name, bytes);
    }
    Ok(members)
}

/// Name below [`TOP`] and contents of a member.
fn member<R: Read>(entry: io::Result<Entry<'_, R>>) -> Result<(String, Vec<u8>), String> {
    let mut entry = entry.map_err(|error| words(&error))?;
    let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    let kind = entry.header().entry_type();
    if kind != EntryType::Regular {
        check_path(&path)?;
        return Err(format!("holds {}, which is {}, not a file", quoted(&path), kind_words(kind)));
    }
    check_path(&path)?;
    let name = path.strip_prefix(TOP).and_then(|rest| rest.strip_prefix('/'));
    let name = name
        .ok_or_else(|| format!("is not a report (it holds {}, which is not below {TOP})", quoted(&path)))?
        .to_owned();
    let mut bytes = Vec::new();
    entry.by_ref().take(MEMBER_LIMIT.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| words(&error))?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > MEMBER_LIMIT {
        return Err(format!("holds {}, which is larger than {MEMBER_LIMIT} bytes", quoted(&name)));
    }
    if length != entry.size() {
        return Err(format!("is cut short in {}", quoted(&name)));
    }
    Ok((name, bytes))
}

fn kind_words(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Symlink | EntryType::Link => "a link",
        EntryType::Char | EntryType::Block => "a device",
        EntryType::Directory => "a directory",
        EntryType::Fifo => "a FIFO",
        _ => "something else",
    }
}

/// Reads on to the end, where gzip has its checksum.
fn finish(mut rest: Limited<GzDecoder<&[u8]>>) -> Result<(), String> {
    let mut padding = Padding(true);
    io::copy(&mut rest, &mut padding).map_err(|error| words(&error))?;
    if !padding.0 {
        return Err("holds more after its last file".to_owned());
    }
    let after = rest.inner.into_inner();
    if after.is_empty() { Ok(()) } else { Err(format!("has {} bytes after its end", after.len())) }
}

/// The libraries' words for a broken archive, in a sentence.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    if text.contains(LIMIT_WORDS) {
        return format!("holds more than {EXPANDED_LIMIT} bytes");
    }
    format!("is not a whole report ({})", brief(&text))
}

/// Takes what follows the end of a tar, where programs may write zeros, and nobody looks for anything else.
struct Padding(bool);

impl io::Write for Padding {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 &= bytes.iter().all(|byte| *byte == 0);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const LIMIT_WORDS: &str = "more than is accepted";

/// Fails, rather than ends, beyond a number of bytes.
struct Limited<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let read = u64::try_from(count).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(read).ok_or_else(|| io::Error::other(LIMIT_WORDS))?;
        Ok(count)
    }
}
