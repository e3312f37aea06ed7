// SPDX-License-Identifier: GPL-2.0-only
//! `make test`: everything that must pass, in the order in which it fails fastest. All failures are reported.

use anyhow::Result;

use crate::cmd::Cmd;
use crate::progress::{self, Part};
use crate::{builds, check, deb, drift, fuzz, host, images, real_runtime, scenario, static_build, upgrade, workspace};

/// The part that `make test-full` does on more kernels.
pub(crate) const SCENARIOS: &str = "VM scenarios";

/// What must pass, in the order in which it fails fastest.
pub(crate) const PARTS: &[Part] = &[
    ("unit tests", unit_tests),
    ("checks", check::run),
    ("fuzzing, seconds a target", fuzz::smoke),
    ("drift", drift::test),
    ("package audit", audit),
    ("static tp2-verify", static_build::test),
    (SCENARIOS, || scenario::run(&[], None, 2)),
    ("builds with something broken", builds::run),
    ("initramfs images of their makers", images::run),
    ("upgrade path", upgrade::run),
];

/// Runs every part; a failed part does not keep the next from running.
pub(crate) fn run() -> Result<()> {
    host::prepare()?;
    progress::all("parts", PARTS)
}

fn unit_tests() -> Result<()> {
    Cmd::new(env!("CARGO"))
        .args(["test", "--workspace", "--locked", "--quiet"])
        .env("TP2_REAL_HIP", real_runtime::library()?)
        .dir(workspace::root())
        .run()
}

fn audit() -> Result<()> {
    let debs = deb::build()?;
    for package in [&debs.dkms, &debs.verify] {
        Cmd::new(workspace::root().join("dkms/check-package")).arg(package).dir(workspace::root()).run()?;
    }
    Ok(())
}
