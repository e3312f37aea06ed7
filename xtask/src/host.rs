// SPDX-License-Identifier: GPL-2.0-only
//! What the host must have: Debian packages, and the mirror its own apt uses.

use std::path::Path;

use anyhow::{Result, bail};

use crate::cmd::Cmd;

/// Debian package and a file that it brings.
const NEEDED: &[(&str, &str)] = &[
    ("qemu-system-x86", "/usr/bin/qemu-system-x86_64"),
    ("mmdebstrap", "/usr/bin/mmdebstrap"),
    ("e2fsprogs", "/usr/sbin/mke2fs"),
    ("fakeroot", "/usr/bin/fakeroot"),
    ("uidmap", "/usr/bin/newuidmap"),
    ("cpio", "/usr/bin/cpio"),
    ("xz-utils", "/usr/bin/xz"),
    ("zstd", "/usr/bin/zstd"),
    ("make", "/usr/bin/make"),
    ("gcc", "/usr/bin/gcc"),
    ("g++", "/usr/bin/g++"),
    ("dpkg-dev", "/usr/bin/dpkg-buildpackage"),
    ("debhelper", "/usr/bin/dh"),
    ("dh-dkms", "/usr/bin/dh_dkms"),
    ("lintian", "/usr/bin/lintian"),
    ("shellcheck", "/usr/bin/shellcheck"),
    ("debian-archive-keyring", "/usr/share/keyrings/debian-archive-keyring.gpg"),
];

/// Installs the missing Debian packages when root; otherwise fails with the one command that does.
pub(crate) fn prepare() -> Result<()> {
    if !Path::new("/usr/bin/apt-get").exists() {
        bail!("/usr/bin/apt-get is missing: building guests needs a Debian 12 or 13 host");
    }
    let missing = missing_packages();
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root() {
        bail!(
            "{} Debian package(s) are missing: run `sudo apt-get install --no-install-recommends {}`",
            missing.len(),
            missing.join(" ")
        );
    }
    eprintln!("installing Debian packages: {}", missing.join(" "));
    Cmd::new("apt-get").arg("update").output()?;
    Cmd::new("apt-get")
        .args(["install", "--yes", "--no-install-recommends"])
        .args(&missing)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .output()?;
    let still = missing_packages();
    if !still.is_empty() {
        bail!("apt-get installed {} but its files are not where they are expected", still.join(" "));
    }
    Ok(())
}

fn missing_packages() -> Vec<&'static str> {
    NEEDED.iter().filter(|(_, file)| !Path::new(file).exists()).map(|(package, _)| *package).collect()
}

/// Whether this process runs as root.
pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0)
}

/// The Debian mirror that the host's apt uses for its main archive, without a trailing slash.
pub(crate) fn debian_mirror() -> Result<String> {
    let list = index_targets()?;
    let list = if list.trim().is_empty() && is_root() {
        Cmd::new("apt-get").arg("update").output()?;
        index_targets()?
    } else {
        list
    };
    // Security and other archives have other layouts; the main archive is the one with plain suite names.
    list.lines()
        .find_map(|line| {
            let mut fields = line.split('|');
            let (uri, codename, component, origin) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
            let main_archive =
                origin == "Debian" && component == "main" && !codename.contains('-') && !uri.contains("security");
            main_archive.then(|| uri.trim_end_matches('/').to_owned())
        })
        .ok_or_else(|| {
            anyhow::anyhow!(
                "apt lists no Debian main archive: add one to /etc/apt/sources.list.d and run `apt-get update` as root"
            )
        })
}

fn index_targets() -> Result<String> {
    Cmd::new("apt-get")
        .args(["indextargets", "--format", "$(REPO_URI)|$(CODENAME)|$(COMPONENT)|$(ORIGIN)", "Created-By: Packages"])
        .output()
}
