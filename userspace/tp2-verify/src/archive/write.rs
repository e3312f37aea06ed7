// SPDX-License-Identifier: GPL-2.0-only

//! Writing a report: whole or not at all.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use super::{ARCHIVE_LIMIT, ArchiveError, EXPANDED_LIMIT, MEMBER_LIMIT, MEMBERS_LIMIT, Package, TOP, unpack};
use crate::collect;

/// The archive as bytes; the same for the same package.
pub fn pack(package: &Package) -> Result<Vec<u8>, ArchiveError> {
    let members = &package.members;
    if members.len() > MEMBERS_LIMIT {
        return Err(ArchiveError::TooMuch(format!("it has more than {MEMBERS_LIMIT} files")));
    }
    let length = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if let Some(large) = members.iter().find(|member| length(&member.bytes) > MEMBER_LIMIT) {
        return Err(ArchiveError::TooMuch(format!("{} is larger than {MEMBER_LIMIT} bytes", large.name)));
    }
    // No time and no name of a file in the header.
    let mut builder = Builder::new(GzBuilder::new().mtime(0).write(Vec::new(), Compression::default()));
    let failed = |error: io::Error| ArchiveError::TooMuch(error.to_string());
    for member in members {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(length(&member.bytes));
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        let path = format!("{TOP}/{}", member.name);
        builder.append_data(&mut header, path, member.bytes.as_slice()).map_err(failed)?;
    }
    let bytes = builder.into_inner().and_then(flate2::write::GzEncoder::finish).map_err(failed)?;
    // Two headers and padding for each, generously.
    let expanded = members.iter().map(|member| length(&member.bytes).saturating_add(4096)).sum::<u64>();
    if length(&bytes) > ARCHIVE_LIMIT || expanded > EXPANDED_LIMIT {
        return Err(ArchiveError::TooMuch(format!("it has {expanded} bytes, of which {EXPANDED_LIMIT} are accepted")));
    }
    // Whatever else is wrong with it: what cannot be opened is of no use to anybody.
    unpack("the archive", &bytes).map_err(|error| ArchiveError::TooMuch(error.to_string()))?;
    Ok(bytes)
}

/// Writes a file that is there whole or not at all, and not in place of another unless `replace`.
pub fn save(path: &Path, bytes: &[u8], replace: bool) -> Result<(), ArchiveError> {
    let name = path.display().to_string();
    let unwritable = |error: io::Error| ArchiveError::Unwritable { path: name.clone(), reason: collect::words(&error) };
    match fs::symlink_metadata(path) {
        Ok(_) if !replace => return Err(ArchiveError::Exists(name)),
        // Of root it could be /dev/null.
        Ok(data) if !data.is_file() => return Err(ArchiveError::NotFile(name)),
        _ => {}
    }
    let temporary = temporary_name(path).ok_or_else(|| unwritable(io::ErrorKind::InvalidFilename.into()))?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary).map_err(unwritable)?;
    let result = write_all(&mut file, bytes).and_then(|()| put(&temporary, path, replace));
    if result.is_err() {
        // What matters is the first error.
        let _ = fs::remove_file(&temporary);
    }
    result.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => ArchiveError::Exists(name.clone()),
        _ => unwritable(error),
    })
}

fn write_all(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

/// A link fails where a name is taken, and a rename does not; file systems without links have to take the rename.
fn put(temporary: &Path, path: &Path, replace: bool) -> io::Result<()> {
    if !replace {
        match fs::hard_link(temporary, path) {
            Ok(()) => return fs::remove_file(temporary),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) => {}
        }
    }
    fs::rename(temporary, path)
}

fn temporary_name(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    Some(path.with_file_name(format!(".{name}.{}.part", std::process::id())))
}
