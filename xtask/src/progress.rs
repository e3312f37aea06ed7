// SPDX-License-Identifier: GPL-2.0-only
//! Shows that something long is going on, and how long it took.

use std::fmt;
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
        Err(error) if error.is::<Skipped>() => eprintln!("skip {what}"),
        Err(_) => eprintln!("FAIL {what} ({:.0} s)", took.as_secs_f32()),
    }
    result
}

/// A named part of something larger.
pub(crate) type Part = (&'static str, fn() -> Result<()>);

/// Why a part was left out, as its error: it is told, and counted by itself.
#[derive(Debug)]
pub(crate) struct Skipped(pub(crate) String);

impl fmt::Display for Skipped {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Skipped {}

/// Does every part, also after one failed, and counts what passed.
pub(crate) fn all(what: &str, parts: &[Part]) -> Result<()> {
    let mut failed = Vec::new();
    let mut skipped = 0;
    for (name, part) in parts {
        match step(name, part) {
            Ok(()) => {}
            Err(error) if error.is::<Skipped>() => {
                println!("SKIP {name}: {error}");
                skipped += 1;
            }
            Err(error) => {
                println!("FAIL {name}: {error:#}");
                failed.push(*name);
            }
        }
    }
    let passed = parts.len() - failed.len() - skipped;
    let left_out = if skipped == 0 { String::new() } else { format!(", {skipped} skipped") };
    println!("{what}: {passed} passed, {} failed{left_out}", failed.len());
    if failed.is_empty() {
        return Ok(());
    }
    bail!("failed: {}", failed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_left_out_is_no_failure() {
        let skipped = || Err(Skipped("a tool is missing".to_owned()).into());
        assert!(all("parts", &[("a", || Ok(())), ("b", skipped)]).is_ok());
        let failed = all("parts", &[("a", || bail!("broken")), ("b", skipped)]);
        assert_eq!(failed.unwrap_err().to_string(), "failed: a");
    }
}
