// SPDX-License-Identifier: GPL-2.0-only
//! `make deb`: the two Debian packages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cache::Key;
use crate::cmd::Cmd;
use crate::{host, workspace};

/// The built packages.
pub(crate) struct Debs {
    /// `tp2-p2pdma-dkms`.
    pub(crate) dkms: PathBuf,
    /// `tp2-verify`.
    pub(crate) verify: PathBuf,
    key: String,
}

impl Debs {
    /// A cache key that starts with everything the packages were made from.
    pub(crate) fn key(&self) -> Key {
        Key::new().add(&self.key)
    }
}

/// `make deb`: builds both packages and names them.
pub(crate) fn command() -> Result<()> {
    let debs = build()?;
    println!("{}\n{}", debs.dkms.display(), debs.verify.display());
    Ok(())
}

/// Builds both packages into `target/deb`, or returns those already built from the same sources.
pub(crate) fn build() -> Result<Debs> {
    host::prepare()?;
    let target = workspace::target();
    Cmd::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--locked", "--package", "tp2-verify"])
        .dir(workspace::root())
        .run()?;
    let binary = target.join("release/tp2-verify");
    let key = source_key(&binary)?;
    let dir = target.join("deb");
    let stamp = dir.join("sources.key");
    if fs::read_to_string(&stamp).is_ok_and(|built_from| built_from == key)
        && let Ok(debs) = find(&dir, &key)
    {
        return Ok(debs);
    }
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    Cmd::new(workspace::root().join("dkms/build-deb"))
        .arg(&dir)
        .dir(workspace::root())
        .env("TP2_VERIFY", &binary)
        .output()?;
    let debs = find(&dir, &key)?;
    fs::write(&stamp, &key)?;
    Ok(debs)
}

fn source_key(binary: &Path) -> Result<String> {
    let root = workspace::root();
    Ok(Key::new()
        .add_tree(&root.join("rust-kmod"))?
        .add_tree(&root.join("dkms"))?
        .add_tree(&root.join("userspace/tp2-verify/schema"))?
        .add_file(&root.join("Cargo.toml"))?
        .add_file(binary)?
        .hex())
}

fn find(dir: &Path, key: &str) -> Result<Debs> {
    Ok(Debs { dkms: find_one(dir, "tp2-p2pdma-dkms_")?, verify: find_one(dir, "tp2-verify_")?, key: key.to_owned() })
}

fn find_one(dir: &Path, prefix: &str) -> Result<PathBuf> {
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if name.starts_with(prefix) && Path::new(name).extension().is_some_and(|e| e == "deb") {
            return Ok(path);
        }
    }
    bail!("{} has no {prefix}*.deb after the package build", dir.display())
}
