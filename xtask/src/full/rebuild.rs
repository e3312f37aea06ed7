// SPDX-License-Identifier: GPL-2.0-only
//! `RUST_METADATA=auto`: DKMS rebuilds the kernel's Rust metadata by itself while it builds the module.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::cache::Key;
use crate::deb::Debs;
use crate::guest::{Kernel, Layer, Origin, Spec, Support, System};
use crate::progress;

const SCRIPT: &str = include_str!("../guest/rebuild.sh");

/// The system without metadata and with the switch on has to end with the Rust implementation.
pub(super) fn run(kernel: &Kernel, debs: &Debs) -> Result<()> {
    let system = System::build(kernel, debs)?;
    let support = Support::new(&kernel.release)?;
    let layer = progress::step("dkms build with RUST_METADATA=auto (minutes)", || {
        Layer::build(&Spec {
            name: &kernel.entry("metadata-by-dkms"),
            key: Key::new().add(system.installed.id()).add(SCRIPT).hex(),
            origin: Origin::Root(&system.installed),
            inputs: &[&support.release()],
            script: SCRIPT,
            keep_root: false,
        })
    })?;
    let path = layer.out("result");
    let result = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    print!("{result}");
    if !result.lines().any(|line| line == "implementation: rust") {
        bail!("with RUST_METADATA=auto DKMS did not end with the Rust implementation");
    }
    Ok(())
}
