// SPDX-License-Identifier: GPL-2.0-only
//! Chooses between KVM and TCG. `/dev/kvm` may open and a guest still hang: only a guest that came up proves it.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use super::{Boot, Vm, machine};
use crate::cache;
use crate::guest::ScenarioGuest;

/// A kernel and our init come up within this time under a working KVM.
const PROBE_LIMIT: Duration = Duration::from_secs(8);

/// How QEMU runs guest code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accel {
    /// Hardware virtualisation.
    Kvm,
    /// Emulation.
    Tcg,
}

impl Accel {
    /// Picks KVM when a probe guest really came up under it, otherwise TCG; probed once a process.
    pub(crate) fn detect(guest: &ScenarioGuest) -> Self {
        static FOUND: OnceLock<Accel> = OnceLock::new();
        *FOUND.get_or_init(|| {
            if OpenOptions::new().read(true).write(true).open("/dev/kvm").is_err() || failed_on_this_boot() {
                return Self::Tcg;
            }
            let boot =
                Boot { kernel: &guest.kernel, initrd: &guest.initrd, disk: None, append: "", limit: PROBE_LIMIT };
            if Vm::boot(&machine::bare(), Self::Kvm, &boot).is_ok() {
                return Self::Kvm;
            }
            eprintln!(
                "/dev/kvm opens, but a probe guest did not come up within {} s: using emulation (TCG)",
                PROBE_LIMIT.as_secs()
            );
            remember_failure();
            Self::Tcg
        })
    }

    /// The name QEMU knows it by.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        }
    }
}

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

fn record() -> Option<PathBuf> {
    Some(cache::dir().ok()?.join("kvm-failed-on-boot"))
}

/// Whether the probe failed since the host booted: it would only cost the time again.
fn failed_on_this_boot() -> bool {
    let recorded = record().and_then(|path| fs::read(path).ok());
    recorded.is_some() && recorded == fs::read(BOOT_ID).ok()
}

/// Without the record the next run probes again, which is slower and not wrong.
fn remember_failure() {
    if let (Some(path), Ok(boot_id)) = (record(), fs::read(BOOT_ID)) {
        let _ = fs::write(path, boot_id);
    }
}
