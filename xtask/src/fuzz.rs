// SPDX-License-Identifier: GPL-2.0-only
//! `cargo xtask fuzz`: libFuzzer on stable Rust. The flags are those of cargo-fuzz without its sanitizer, which needs a
//! nightly compiler; Rust's own checks for overflows and assertions are on.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cmd::Cmd;
use crate::workspace;

/// Coverage counters, and the operands of comparisons, for libFuzzer to look at.
const FLAGS: &str = "--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";
/// Named, so that build scripts and macros are compiled without the flags.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Seconds for one input. No input takes a thousandth of it, but a busy machine may let the program wait for longer than
/// libFuzzer's customary ten.
const TIMEOUT: &str = "-timeout=60";
/// For each target in `make test`.
const SMOKE_SECONDS: u32 = 3;

/// When a target's run ends, if nothing is found before.
#[derive(Clone, Copy)]
pub(crate) enum Until {
    /// After so many seconds.
    Seconds(u32),
    /// After so many executions.
    Runs(u64),
}

/// Part of `make test`: every target for a moment.
pub(crate) fn smoke() -> Result<()> {
    run(&[], Until::Seconds(SMOKE_SECONDS))
}

/// Runs the targets of these names, or all; every finding is reported, and its input kept.
pub(crate) fn run(names: &[String], until: Until) -> Result<()> {
    let known = targets()?;
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        bail!("there is no fuzz target `{unknown}`: there are {}", known.join(" "));
    }
    let dir = workspace::target().join("fuzz");
    Cmd::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--locked", "--target", TARGET, "--manifest-path"])
        .arg(manifest())
        .dir(workspace::root())
        .env("CARGO_TARGET_DIR", &dir)
        .env("RUSTFLAGS", FLAGS)
        .run()?;
    let mut failed = Vec::new();
    for name in known.iter().filter(|name| names.is_empty() || names.contains(name)) {
        match run_one(&dir, name, until) {
            Ok(executions) => println!("ok   fuzz {name}: {executions} executions"),
            Err(error) => {
                println!("FAIL fuzz {name}: {error:#}");
                failed.push(name.as_str());
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    bail!("failed: {}; inputs are in {}", failed.join(" "), dir.join("artifacts").display())
}

fn manifest() -> PathBuf {
    workspace::root().join("userspace/fuzz/Cargo.toml")
}

/// A target is a file in `fuzz_targets`.
fn targets() -> Result<Vec<String>> {
    let dir = workspace::root().join("userspace/fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// The number of executions, as libFuzzer counts them.
fn run_one(dir: &Path, name: &str, until: Until) -> Result<u64> {
    let [corpus, artifacts] = ["corpus", "artifacts"].map(|kind| dir.join(kind).join(name));
    for path in [&corpus, &artifacts] {
        fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))?;
    }
    let limit = match until {
        Until::Seconds(seconds) => format!("-max_total_time={seconds}"),
        Until::Runs(runs) => format!("-runs={runs}"),
    };
    // libFuzzer speaks on standard error.
    let log = Cmd::new("sh")
        .args(["-euc", r#""$@" 2>&1"#, "fuzz"])
        .arg(dir.join(TARGET).join("release").join(name))
        .args(["-print_final_stats=1", TIMEOUT, "-rss_limit_mb=1024", &limit])
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(&corpus)
        .output()?;
    log.lines()
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok())
        .with_context(|| format!("libFuzzer told no number of executions of {name}"))
}
