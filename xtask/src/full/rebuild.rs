// SPDX-License-Identifier: GPL-2.0-only
//! `RUST_METADATA=auto`: DKMS rebuilds the kernel's Rust metadata by itself while it builds the module.

use anyhow::{Result, bail};

use crate::deb::Debs;
use crate::guest::{Kernel, System};
use crate::progress;

const SCRIPT: &str = include_str!("../guest/rebuild.sh");

/// The system without metadata and with the switch on has to end with the Rust implementation.
pub(super) fn run(kernel: &Kernel, debs: &Debs) -> Result<()> {
    let system = System::build(kernel, debs)?;
    let layer =
        progress::step("dkms build with RUST_METADATA=auto (minutes)", || system.after("metadata-by-dkms", SCRIPT))?;
    let result = layer.text("result")?;
    print!("{result}");
    if !result.lines().any(|line| line == "implementation: rust") {
        bail!("with RUST_METADATA=auto DKMS did not end with the Rust implementation");
    }
    Ok(())
}
