// SPDX-License-Identifier: GPL-2.0-only
//! What the builds of the module do when something is wrong: a clean fallback to C, or one sentence and nothing built.

use anyhow::{Result, bail};

use crate::deb;
use crate::guest::{System, kernels};

const SCRIPT: &str = include_str!("guest/bad-builds.sh");

/// Breaks one thing at a time in a system whose DKMS has built the Rust implementation; every failure is reported.
pub(crate) fn run() -> Result<()> {
    let debs = deb::build()?;
    let kernel = kernels::choose()?.newest;
    let system = System::build(&kernel, &debs)?;
    let results = system.after("bad-builds", SCRIPT)?.text("results")?;
    print!("{results}");
    judge(&results)
}

/// The script goes on after a failed case, so that its results have to be looked at.
fn judge(results: &str) -> Result<()> {
    let failed = results.lines().filter(|line| line.starts_with("FAIL ")).count();
    let passed = results.lines().filter(|line| line.starts_with("ok   ")).count();
    println!("builds with something broken: {passed} passed, {failed} failed");
    if failed > 0 || passed == 0 {
        bail!("{failed} of {} builds with something broken did not end as they have to", passed + failed);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn failed_cases_and_no_cases_are_failures() {
        assert!(judge("ok   a: b\nok   c: d\n").is_ok());
        assert!(judge("ok   a: b\nFAIL c: d\n     log\n").is_err());
        assert!(judge("").is_err());
    }
}
