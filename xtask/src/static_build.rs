// SPDX-License-Identifier: GPL-2.0-only
//! `make static`: tp2-verify as one file that needs nothing of the machine but a Linux kernel.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use goblin::elf::Elf;

use crate::cmd::Cmd;
use crate::progress::Skipped;
use crate::workspace;

const TARGET: &str = "x86_64-unknown-linux-musl";
/// What still goes over a slow line and into a rescue image.
const SIZE_LIMIT: usize = 6_000_000;
/// Exit statuses of tp2-verify that are verdicts.
const VERDICTS: &[i32] = &[0, 1, 3, 4, 5];
/// What tp2-verify says in place of the HIP runtime's answers.
const NOT_ASKED: &str = "this is a static build of tp2-verify, which cannot load libraries";

/// `make static`: builds it, looks at it, tries it and names it.
pub(crate) fn command() -> Result<()> {
    match missing_library()? {
        Some(missing) => bail!("{missing}"),
        None => make(),
    }
}

/// Part of `make test`: the same, left out where the target's standard library is not there.
pub(crate) fn test() -> Result<()> {
    match missing_library()? {
        Some(missing) => Err(Skipped(missing).into()),
        None => make(),
    }
}

/// What to do about it, if the standard library for the target is not there.
fn missing_library() -> Result<Option<String>> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let libraries = Cmd::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output()?;
    let libraries = libraries.trim();
    Ok((!Path::new(libraries).is_dir()).then(|| {
        format!(
            "Rust's standard library for {TARGET} is not at {libraries}: run `rustup target add {TARGET}`, or install it \
             from where this rustc came"
        )
    }))
}

fn make() -> Result<()> {
    Cmd::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--locked", "--package", "tp2-verify", "--target", TARGET])
        .dir(workspace::root())
        .run()?;
    let binary = workspace::target().join(TARGET).join("release/tp2-verify");
    let bytes = fs::read(&binary).with_context(|| format!("cannot read {}", binary.display()))?;
    examine(&bytes, SIZE_LIMIT).with_context(|| format!("{} is not fit to be shipped", binary.display()))?;
    works(&binary)?;
    println!("{}: {} bytes, static", binary.display(), bytes.len());
    Ok(())
}

/// Refuses a program that is too large, or that needs a loader or a library.
fn examine(bytes: &[u8], limit: usize) -> Result<()> {
    if bytes.len() > limit {
        bail!("it has {} bytes, and {limit} are the limit: see what was added", bytes.len());
    }
    let elf = Elf::parse(bytes).context("it is no ELF file")?;
    if let Some(loader) = elf.interpreter {
        bail!("it needs the loader {loader}: a flag in RUSTFLAGS may have turned crt-static off");
    }
    if !elf.libraries.is_empty() {
        bail!("it needs {}: a dependency links a C library", elf.libraries.join(", "));
    }
    Ok(())
}

/// Reads this machine into a report and judges that; the runtime must not have been asked.
fn works(binary: &Path) -> Result<()> {
    let dir = tempfile::tempdir().context("cannot make a directory for a report")?;
    let report = dir.path().join("report.tar.gz");
    Cmd::new(binary).args(["report", "-o"]).arg(&report).output()?;
    let judged = Cmd::new(binary).args(["--json", "replay"]).arg(&report).env("LC_ALL", "C").output_of(VERDICTS)?;
    if !judged.contains(NOT_ASKED) {
        bail!(
            "`{} replay` of its own report does not say `{NOT_ASKED}`: see what it says with --json",
            binary.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_or_dynamic_or_no_program_is_refused() {
        let tests = fs::read(std::env::current_exe().unwrap()).unwrap();
        let why = |bytes: &[u8], limit| examine(bytes, limit).unwrap_err().to_string();
        assert!(why(&tests, usize::MAX).starts_with("it needs "), "{}", why(&tests, usize::MAX));
        assert!(why(&tests, 1000).contains("1000 are the limit"));
        assert_eq!(why(b"#!/bin/sh\n", 1000), "it is no ELF file");
    }
}
