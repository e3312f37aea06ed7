// SPDX-License-Identifier: GPL-2.0-only
//! `make check`: formatting, lints, licences, versions, shell scripts, and the module by the kernel's own measures.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cache::Key;
use crate::cmd::Cmd;
use crate::guest::{self, Layer, Origin, Spec, Support, kernels};
use crate::{progress, workspace};

const TOOLS_SCRIPT: &str = include_str!("guest/kernel-tools.sh");
const STYLE_SCRIPT: &str = include_str!("guest/kernel-style.sh");
const RUST_STYLE_SCRIPT: &str = include_str!("guest/rust-style.sh");

/// Runs every check; all failures are reported.
pub(crate) fn run() -> Result<()> {
    progress::all(
        "checks",
        &[
            ("cargo fmt", rustfmt),
            ("cargo clippy", clippy),
            ("SPDX lines", spdx_lines),
            ("one version everywhere", versions),
            ("shellcheck", shellcheck),
            ("module in C: W=1, sparse, arm64, checkpatch", kernel_style),
            ("module in Rust: rustfmt, clippy with the kernel's lints", rust_style),
        ],
    )
}

fn rustfmt() -> Result<()> {
    // The fuzz targets are a workspace of their own.
    for manifest in ["Cargo.toml", "userspace/fuzz/Cargo.toml"] {
        Cmd::new(env!("CARGO"))
            .args(["fmt", "--all", "--check", "--manifest-path", manifest])
            .dir(workspace::root())
            .output()?;
    }
    Ok(())
}

fn clippy() -> Result<()> {
    Cmd::new(env!("CARGO"))
        .args(["clippy", "--quiet", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
        .dir(workspace::root())
        .output()
        .map(drop)
}

/// Every file of the project that a person wrote.
fn own_files() -> Result<Vec<PathBuf>> {
    let list = Cmd::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .dir(workspace::root())
        .output()?;
    Ok(list.lines().map(|line| workspace::root().join(line)).filter(|path| path.is_file()).collect())
}

fn spdx_lines() -> Result<()> {
    // These formats have no comments, or their place is fixed by somebody else's rule.
    let exempt = [
        "json",
        "lock",
        "md",
        "dkms",
        "triggers",
        "format",
        "changelog",
        "control",
        "copyright",
        "LICENSE",
        "proptest-regressions",
    ];
    let mut missing = Vec::new();
    for path in own_files()? {
        let kind = path.extension().or(path.file_name()).unwrap_or_default().to_string_lossy().into_owned();
        if exempt.contains(&kind.as_str()) || path.ends_with("debian/source/format") {
            continue;
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let spdx = if first.starts_with("#!") { lines.next().unwrap_or_default() } else { first };
        if !spdx.contains("SPDX-License-Identifier: GPL-2.0-only") {
            missing.push(path.display().to_string());
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    bail!("no SPDX line at the top of {}", missing.join(", "))
}

fn versions() -> Result<()> {
    let root = workspace::root();
    let version = env!("CARGO_PKG_VERSION");
    for (file, line) in [
        ("rust-kmod/common/version.h", format!("\"{version}\"")),
        ("dkms/debian/changelog", format!("tp2-p2pdma ({version})")),
        ("CHANGELOG.md", format!("## {version}")),
    ] {
        let path = root.join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if !text.contains(&line) {
            bail!(
                "{file} does not have the workspace version {version} (looked for `{line}`): write the same version everywhere"
            );
        }
    }
    Ok(())
}

fn shellcheck() -> Result<()> {
    let scripts: Vec<PathBuf> = own_files()?.into_iter().filter(|path| is_shell(path)).collect();
    Cmd::new("shellcheck").arg("--shell=sh").args(&scripts).output().map(drop)
}

fn is_shell(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "sh")
        || fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"#!/bin/sh") || bytes.starts_with(b"#! /bin/sh"))
}

fn kernel_style() -> Result<()> {
    let kernels = kernels::choose()?;
    let base = guest::base(&kernels.newest)?;
    let support = Support::new(&kernels.newest.release)?;
    let release = support.release();
    let tools = Layer::build(&Spec {
        name: "kernel-tools",
        key: Key::new().add(base.id()).add(TOOLS_SCRIPT).hex(),
        origin: Origin::Root(&base),
        inputs: &[&release],
        script: TOOLS_SCRIPT,
        keep_root: true,
    })?;
    let sources = workspace::root().join("rust-kmod");
    Layer::build(&Spec {
        name: "kernel-style",
        key: Key::new().add(tools.id()).add_tree(&sources)?.add(STYLE_SCRIPT).hex(),
        origin: Origin::Root(&tools),
        inputs: &[&release, &sources],
        script: STYLE_SCRIPT,
        keep_root: false,
    })
    .map(drop)
}

fn rust_style() -> Result<()> {
    let kernel = kernels::choose()?.newest;
    let with_rust = guest::with_rust(&kernel, &guest::base(&kernel)?)?;
    let support = Support::new(&kernel.release)?;
    let sources = workspace::root().join("rust-kmod");
    let probe = workspace::root().join("dkms/rust-probe");
    Layer::build(&Spec {
        name: "rust-style",
        key: Key::new().add(with_rust.id()).add_tree(&sources)?.add(RUST_STYLE_SCRIPT).hex(),
        origin: Origin::Root(&with_rust),
        inputs: &[&support.release(), &sources, &probe],
        script: RUST_STYLE_SCRIPT,
        keep_root: false,
    })
    .map(drop)
}
