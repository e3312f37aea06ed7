// SPDX-License-Identifier: GPL-2.0-only
//! `make test`: everything that must pass, in the order in which it fails fastest. All failures are reported.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::cmd::Cmd;
use crate::{check, deb, host, scenario, upgrade, workspace};

/// Runs every part; a failed part does not keep the next from running.
pub(crate) fn run() -> Result<()> {
    host::prepare()?;
    let parts: [(&str, fn() -> Result<()>); 5] = [
        ("unit tests", unit_tests),
        ("checks", check::run),
        ("package audit", audit),
        ("scenarios", || scenario::run(&[], 2)),
        ("upgrade path", upgrade::run),
    ];
    let start = Instant::now();
    let mut failed = Vec::new();
    for (name, part) in parts {
        println!("\n== {name}");
        let begun = Instant::now();
        if let Err(error) = part() {
            println!("FAIL {name}: {error:#}");
            failed.push(name);
        }
        println!("== {name}: {:.0} s", begun.elapsed().as_secs_f32());
    }
    println!("\nall parts: {:.0} s", start.elapsed().as_secs_f32());
    println!(
        "{} passed, {} failed",
        parts.len() - failed.len(),
        failed.len()
    );
    if failed.is_empty() {
        return Ok(());
    }
    bail!("failed: {}", failed.join(", "))
}

fn unit_tests() -> Result<()> {
    Cmd::new(env!("CARGO"))
        .args(["test", "--workspace", "--locked", "--quiet"])
        .dir(workspace::root())
        .run()
}

fn audit() -> Result<()> {
    let debs = deb::build()?;
    Cmd::new(workspace::root().join("dkms/check-package"))
        .arg(&debs.dkms)
        .dir(workspace::root())
        .run()
}
