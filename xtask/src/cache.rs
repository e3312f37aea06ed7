// SPDX-License-Identifier: GPL-2.0-only
//! The cache outside the source tree: downloads, guest roots and images, each made once and never seen half-written.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use fs4::fs_std::FileExt;
use sha2::{Digest, Sha256};

/// Entries of one name that are kept: the current one and its predecessor.
const KEPT_PER_NAME: usize = 2;

/// `${XDG_CACHE_HOME:-~/.cache}/tp2`, created when missing.
pub(crate) fn dir() -> Result<PathBuf> {
    let base = match std::env::var_os("XDG_CACHE_HOME").filter(|v| !v.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None => match std::env::var_os("HOME").filter(|v| !v.is_empty()) {
            Some(home) => PathBuf::from(home).join(".cache"),
            None => bail!("neither XDG_CACHE_HOME nor HOME is set: set XDG_CACHE_HOME to a directory with 16 GB free"),
        },
    };
    let dir = base.join("tp2");
    fs::create_dir_all(&dir).with_context(|| {
        format!("cannot create the cache directory {}: set XDG_CACHE_HOME to a writable directory", dir.display())
    })?;
    Ok(dir)
}

/// A cache key: the hash of everything that an entry is made from.
pub(crate) struct Key(Sha256);

impl Key {
    /// An empty key.
    pub(crate) fn new() -> Self {
        Self(Sha256::new())
    }

    /// Adds a piece of text or bytes.
    pub(crate) fn add(mut self, data: impl AsRef<[u8]>) -> Self {
        let data = data.as_ref();
        self.0.update((data.len() as u64).to_le_bytes());
        self.0.update(data);
        self
    }

    /// Adds the names and contents of all source files below `dir`, in a stable order; what Kbuild leaves is passed over.
    pub(crate) fn add_tree(mut self, dir: &Path) -> Result<Self> {
        let mut entries: Vec<PathBuf> = fs::read_dir(dir)
            .with_context(|| format!("cannot read {}", dir.display()))?
            .map(|entry| entry.map(|e| e.path()))
            .collect::<Result<_, _>>()?;
        entries.sort();
        for path in entries.into_iter().filter(|path| !is_build_product(path)) {
            self = if path.is_dir() { self.add_tree(&path)? } else { self.add_file(&path)? };
        }
        Ok(self)
    }

    /// Adds one file's name and content.
    pub(crate) fn add_file(self, path: &Path) -> Result<Self> {
        let content = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_name().unwrap_or_default();
        Ok(self.add(name.as_encoded_bytes()).add(content))
    }

    /// The first 16 hex digits of the hash.
    pub(crate) fn hex(self) -> String {
        let mut text = format!("{:x}", self.0.finalize());
        text.truncate(16);
        text
    }
}

fn is_build_product(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let products = [".o", ".ko", ".mod", ".mod.c", ".order", ".symvers"];
    name.starts_with('.') || products.iter().any(|suffix| name.ends_with(suffix))
}

/// Returns the directory `NAME-KEY` of the cache; when it is missing, `build` fills a temporary one that is then renamed.
///
/// Another process that wants the same entry waits. Older entries of the same name are removed.
pub(crate) fn entry(name: &str, key: &str, build: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let root = dir()?;
    let path = root.join(format!("{name}-{key}"));
    let _lock = lock(name)?;
    if path.exists() {
        // The newest two are kept, so that what is in use has to look new.
        File::open(&path)?.set_modified(std::time::SystemTime::now())?;
        return Ok(path);
    }
    remove_half_made(&root, name)?;
    let half = tempfile::Builder::new().prefix(&format!(".{name}-")).tempdir_in(&root)?;
    build(half.path())?;
    fs::rename(half.keep(), &path).with_context(|| format!("cannot move the new entry to {}", path.display()))?;
    prune(&root, name)?;
    Ok(path)
}

/// Waits until no other process makes entries of this name; the lock goes with the returned file.
pub(crate) fn lock(name: &str) -> Result<File> {
    let path = dir()?.join(format!("{name}.lock"));
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    file.lock_exclusive().with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(file)
}

/// Removes what a killed run left; only called under the lock of that name.
fn remove_half_made(root: &Path, name: &str) -> Result<()> {
    let prefix = format!(".{name}-");
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            fs::remove_dir_all(entry.path()).with_context(|| format!("cannot remove {}", entry.path().display()))?;
        }
    }
    Ok(())
}

fn prune(root: &Path, name: &str) -> Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let file_name = entry.file_name();
        let is_ours = file_name
            .to_str()
            .and_then(|n| n.strip_prefix(name)?.strip_prefix('-'))
            .is_some_and(|key| key.len() == 16 && key.bytes().all(|b| b.is_ascii_hexdigit()));
        if is_ours {
            entries.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    entries.sort();
    for (_, path) in entries.iter().rev().skip(KEPT_PER_NAME) {
        fs::remove_dir_all(path).with_context(|| format!("cannot remove the old cache entry {}", path.display()))?;
    }
    Ok(())
}

/// Fails when the cache's file system has less than `gib` GiB free.
pub(crate) fn require_space(gib: u64) -> Result<()> {
    let dir = dir()?;
    let free =
        fs4::available_space(&dir).with_context(|| format!("cannot read the free space of {}", dir.display()))?;
    if free < gib << 30 {
        bail!(
            "{} has {} GiB free and {gib} GiB are needed: free some, or set XDG_CACHE_HOME to a larger disk",
            dir.display(),
            free >> 30
        );
    }
    Ok(())
}
