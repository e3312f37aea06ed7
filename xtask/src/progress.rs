// SPDX-License-Identifier: GPL-2.0-only
//! Shows that something long is going on, and how long it took.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};

/// Steps shorter than this were found in a cache: their time is not worth a word.
const WORTH_TELLING: Duration = Duration::from_secs(1);

/// Runs `work` under a spinner (on a terminal) and leaves one line with the time.
pub(crate) fn step<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let bar = ProgressBar::new_spinner().with_message(what.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    if bar.is_hidden() {
        eprintln!("... {what}");
    }
    let result = work();
    bar.finish_and_clear();
    let took = start.elapsed();
    match &result {
        Ok(_) if took < WORTH_TELLING => eprintln!("ok  {what}"),
        Ok(_) => eprintln!("ok  {what} ({:.0} s)", took.as_secs_f32()),
        Err(_) => eprintln!("FAIL {what} ({:.0} s)", took.as_secs_f32()),
    }
    result
}

/// A named part of something larger.
pub(crate) type Part = (&'static str, fn() -> Result<()>);

/// Does every part, also after one failed, and counts what passed.
pub(crate) fn all(what: &str, parts: &[Part]) -> Result<()> {
    let mut failed = Vec::new();
    for (name, part) in parts {
        if let Err(error) = step(name, part) {
            println!("FAIL {name}: {error:#}");
            failed.push(*name);
        }
    }
    println!("{what}: {} passed, {} failed", parts.len() - failed.len(), failed.len());
    if failed.is_empty() {
        return Ok(());
    }
    bail!("failed: {}", failed.join(", "))
}
