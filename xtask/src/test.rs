// SPDX-License-Identifier: GPL-2.0-only
//! `make test`: everything that must pass, in the order in which it fails fastest. All failures are reported.

use anyhow::Result;

use crate::cmd::Cmd;
use crate::{check, deb, drift, fuzz, host, progress, scenario, upgrade, workspace};

/// Runs every part; a failed part does not keep the next from running.
pub(crate) fn run() -> Result<()> {
    host::prepare()?;
    progress::all(
        "parts",
        &[
            ("unit tests", unit_tests),
            ("checks", check::run),
            ("fuzzing, seconds a target", fuzz::smoke),
            ("drift", drift::test),
            ("package audit", audit),
            ("VM scenarios", || scenario::run(&[], 2)),
            ("upgrade path", upgrade::run),
        ],
    )
}

fn unit_tests() -> Result<()> {
    Cmd::new(env!("CARGO")).args(["test", "--workspace", "--locked", "--quiet"]).dir(workspace::root()).run()
}

fn audit() -> Result<()> {
    let debs = deb::build()?;
    Cmd::new(workspace::root().join("dkms/check-package")).arg(&debs.dkms).dir(workspace::root()).run()
}
