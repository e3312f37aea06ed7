// SPDX-License-Identifier: GPL-2.0-only

//! What the initramfs image holds.

use serde::{Deserialize, Serialize};

/// What is inside an initramfs image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Initramfs {
    /// File that was read.
    pub path: String,
    /// What made it, by files that only that tool puts there: `initramfs-tools`, `dracut` or `mkinitcpio`.
    pub maker: Option<String>,
    /// How its segments are compressed, in order, repetitions left out: `cpio` (not at all), `gzip`, `xz`, `zstd`,
    /// `lz4`.
    pub segments: Vec<String>,
    /// Whether it holds amdgpu, as a module for the running kernel.
    pub has_amdgpu: bool,
    /// Whether it holds `tp2_p2pdma`, likewise.
    pub has_override: bool,
    /// Whether it holds `modprobe.d/tp2_p2pdma.conf`, which loads the override before amdgpu.
    pub has_modprobe_conf: bool,
}
