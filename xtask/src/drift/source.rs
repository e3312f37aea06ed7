// SPDX-License-Identifier: GPL-2.0-only
//! Debian's packages of kernel sources. Of each only the files that the checks read are kept, in the cache.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::tree;
use crate::cache::{self, Key};
use crate::cmd::Cmd;
use crate::guest::{BACKPORTS, PrivateApt, SUITE};

/// What the names of the packages begin with.
pub(super) const PREFIX: &str = "linux-source-";
/// Suite that still has the oldest series that is supported.
const OLD_SUITE: &str = "bookworm";

/// Unpacks the C files of drivers/ and include/, the drm drivers' options and the Makefile.
const UNPACK: &str = r#"dpkg-deb --fsys-tarfile "$1" |
    tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
    tar -xJ -C "$2" --strip-components=1 --wildcards \
        --no-wildcards-match-slash 'linux-source-*/Makefile' \
        --wildcards-match-slash 'linux-source-*/drivers/*.[ch]' 'linux-source-*/include/*.h' \
        'linux-source-*/drivers/gpu/drm/*/Kconfig'"#;

/// The package archive, asked once.
pub(super) struct Archive {
    apt: Result<PrivateApt, String>,
}

impl Archive {
    /// Asks the archive what it has. Where it cannot be asked, only what is in the cache is there.
    pub(super) fn open() -> Self {
        Self { apt: PrivateApt::updated("apt-sources", &[OLD_SUITE, SUITE, BACKPORTS]).map_err(|e| format!("{e:#}")) }
    }

    /// A directory with the files of a package that the checks read.
    pub(super) fn needed_files(&self, package: &str) -> Result<PathBuf> {
        let record = cache::dir()?.join(format!("{package}.key"));
        let apt = match &self.apt {
            Ok(apt) => apt,
            Err(error) => return last_files(package, &record, error),
        };
        let shown =
            apt.command("apt-cache").args(["show", "--no-all-versions", package]).output().with_context(|| {
                format!(
                    "there is no package {package} in {OLD_SUITE}, {SUITE} or {BACKPORTS}: name another, or a directory"
                )
            })?;
        let Some(hash) = shown.lines().find_map(|line| line.strip_prefix("SHA256: ")) else {
            bail!("the package archive tells no hash of {package}");
        };
        let key = Key::new().add(hash).add(UNPACK).add(tree::selection()).hex();
        let dir = cache::entry(package, &key, |half| fetch(apt, package, half))?;
        fs::write(&record, key).with_context(|| format!("cannot write {}", record.display()))?;
        Ok(dir)
    }
}

/// What the last run fetched, for want of a network.
fn last_files(package: &str, record: &Path, error: &str) -> Result<PathBuf> {
    if let Ok(key) = fs::read_to_string(record) {
        let dir = cache::dir()?.join(format!("{package}-{key}"));
        if dir.is_dir() {
            eprintln!("warning: the package archive cannot be asked ({error}); using {package} of the last run");
            return Ok(dir);
        }
    }
    bail!("cannot ask the package archive for {package}: is there a network, and is apt's mirror reachable? ({error})")
}

/// Downloads a package, unpacks it for a moment and keeps what is needed.
fn fetch(apt: &PrivateApt, package: &str, half: &Path) -> Result<()> {
    cache::require_space(3)?;
    // A part of the entry, so that a killed run leaves nothing that the next does not remove.
    let work = half.join("unpacked");
    fs::create_dir(&work).with_context(|| format!("cannot create {}", work.display()))?;
    apt.command("apt-get").args(["download", "-qq", package]).dir(half).output()?;
    let deb = fs::read_dir(half)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .with_context(|| format!("apt-get download left no {package}*.deb"))?;
    Cmd::new("sh").args(["-euc", UNPACK, "unpack"]).arg(&deb).arg(&work).output()?;
    tree::copy_needed(&work, half)?;
    fs::remove_file(&deb).with_context(|| format!("cannot remove {}", deb.display()))?;
    fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", work.display()))
}
