// SPDX-License-Identifier: GPL-2.0-only
//! A real HIP runtime for the tests: Debian's libamdhip64, unpacked in the cache and never installed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cmd::Cmd;
use crate::guest::PrivateApt;
use crate::{cache, progress};

/// The package without its number, which is that of the library.
const PACKAGE: &str = "libamdhip64-";
/// Where Debian's packages have their libraries.
const FOLDER: &str = "root/usr/lib/x86_64-linux-gnu";

/// Where the library is, beside all that it needs but the C library.
///
/// It is that of the host's own release: a program of the host loads it, with the host's C library.
pub(crate) fn library() -> Result<PathBuf> {
    let suite = codename()?;
    let entry = cache::entry("hip-runtime", &suite, |half| {
        progress::step(&format!("HIP runtime of {suite}: download"), || fetch(&suite, half))
    })?;
    let folder = entry.join(FOLDER);
    let names = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let number = |name: &str| name.strip_prefix("libamdhip64.so.").and_then(|rest| rest.parse::<u32>().ok());
    names
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .find(|name| number(name).is_some())
        .map(|name| folder.join(name))
        .with_context(|| {
            format!("{} has no libamdhip64.so.N: remove {} and try again", folder.display(), entry.display())
        })
}

/// Downloads the newest there is, with what it needs, and unpacks it.
fn fetch(suite: &str, half: &Path) -> Result<()> {
    cache::require_space(1)?;
    let apt = PrivateApt::updated("apt-runtime", &[suite])?;
    let names = apt.command("apt-cache").args(["pkgnames", PACKAGE]).output()?;
    let number = |name: &str| name.strip_prefix(PACKAGE).and_then(|rest| rest.parse::<u32>().ok());
    let Some(package) = names.lines().filter(|name| number(name).is_some()).max_by_key(|name| number(name)) else {
        bail!("{suite} has no package {PACKAGE}N: run the tests on Debian 12 or later");
    };
    let archives = half.join("archives");
    fs::create_dir_all(archives.join("partial")).with_context(|| format!("cannot create {}", archives.display()))?;
    // This apt knows of no installed package, so that it downloads all that the library needs.
    apt.command("apt-get")
        .args(["-o", &format!("Dir::Cache::archives={}", archives.display())])
        .args(["install", "-qq", "--yes", "--no-install-recommends", "--download-only", package])
        .output()?;
    let root = half.join("root");
    for entry in fs::read_dir(&archives).with_context(|| format!("cannot read {}", archives.display()))? {
        let deb = entry?.path();
        let is_deb = deb.extension().is_some_and(|extension| extension == "deb");
        // The host's loader takes the host's C library only.
        let is_libc = deb.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"libc6_"));
        if is_deb && !is_libc {
            Cmd::new("dpkg-deb").arg("-x").args([&deb, &root]).output()?;
        }
    }
    fs::remove_dir_all(&archives).with_context(|| format!("cannot remove {}", archives.display()))
}

/// The host's release, as `/etc/os-release` names it.
fn codename() -> Result<String> {
    let text = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    let name = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    name.map(|name| name.trim_matches('"').to_owned())
        .context("/etc/os-release has no VERSION_CODENAME: run the tests on a release of Debian")
}
