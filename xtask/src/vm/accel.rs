// SPDX-License-Identifier: GPL-2.0-only
//! Chooses between KVM and TCG. `/dev/kvm` may open and a guest still hang: only a guest that came up proves it.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use super::{Vm, machine};
use crate::cache;
use crate::cmd::Cmd;
use crate::guest::ScenarioGuest;

/// A kernel and our init come up within this time under a working KVM.
const PROBE_LIMIT: Duration = Duration::from_secs(8);

/// How QEMU runs guest code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accel {
    /// Hardware virtualisation.
    Kvm,
    /// Emulation, a thread for each virtual CPU.
    TcgMany,
    /// Emulation, one thread for all virtual CPUs.
    TcgOne,
    /// The same, and the guest's clock advances by 1 ns for each instruction: what the guest times is their number.
    TcgCounted,
}

impl Accel {
    /// Picks KVM when a probe guest really came up under it, otherwise TCG; probed once a process.
    pub(crate) fn detect(guest: &ScenarioGuest) -> Self {
        static FOUND: OnceLock<Accel> = OnceLock::new();
        *FOUND.get_or_init(|| {
            if OpenOptions::new().read(true).write(true).open("/dev/kvm").is_err() || failed_on_this_boot() {
                return Self::emulation();
            }
            if Vm::boot(&machine::bare(), Self::Kvm, &guest.boot(PROBE_LIMIT)).is_ok() {
                return Self::Kvm;
            }
            eprintln!(
                "/dev/kvm opens, but a probe guest did not come up within {} s: using emulation",
                PROBE_LIMIT.as_secs()
            );
            remember_failure();
            Self::emulation()
        })
    }

    /// QEMU before 8.1 loses races between code patching and running threads: guests crash while they boot, and the
    /// kernel's own kretprobe sample crashes them too. There one thread runs all virtual CPUs.
    fn emulation() -> Self {
        let version = Cmd::new("qemu-system-x86_64").arg("--version").output().unwrap_or_default();
        if qemu_version(&version).is_some_and(|version| version >= (8, 1)) { Self::TcgMany } else { Self::TcgOne }
    }

    /// QEMU's `-accel`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::TcgMany => "tcg,thread=multi",
            Self::TcgOne | Self::TcgCounted => "tcg,thread=single",
        }
    }

    /// What QEMU needs besides `-accel`.
    pub(super) fn options(self) -> &'static [&'static str] {
        match self {
            Self::TcgCounted => &["-icount", "shift=0,sleep=off"],
            Self::Kvm | Self::TcgMany | Self::TcgOne => &[],
        }
    }
}

/// Major and minor of what `qemu-system-x86_64 --version` prints.
fn qemu_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split_whitespace().skip_while(|word| *word != "version").nth(1)?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
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

#[cfg(test)]
mod tests {
    use super::qemu_version;

    #[test]
    fn version_is_read_from_what_debian_prints() {
        assert_eq!(qemu_version("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\n"), Some((7, 2)));
        assert_eq!(qemu_version("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)\n"), Some((10, 0)));
        assert_eq!(qemu_version(""), None);
    }
}
