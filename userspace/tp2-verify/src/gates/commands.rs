// SPDX-License-Identifier: GPL-2.0-only

//! Commands that several remedies tell people to run.

use crate::{
    facts::{DkmsBuild, Facts},
    finding::Remedy,
    text::Text,
};

/// Writes a word of ours to a file of root's; the shell that people type into may not.
pub(super) fn write_as_root(text: &str, path: &str) -> String {
    format!("echo {text} | sudo tee {path}")
}

/// Switches kprobes on (`kernel/kprobes.c`).
pub(super) fn switch_on_kprobes() -> String {
    write_as_root("1", "/sys/kernel/debug/kprobes/enabled")
}

/// Switches ftrace on (`kernel/trace/ftrace.c`), which kprobes at a function's entry go through.
pub(super) const SWITCH_ON_FTRACE: &str = "sudo sysctl kernel.ftrace_enabled=1";

/// Adds a user to a group. The number is right where the name is unknown, too.
pub(super) fn join_group(gid: u32) -> String {
    format!(r#"sudo usermod -aG {gid} "$USER""#)
}

/// Adds what maintainers need of a machine that behaves as nobody expects.
pub(super) fn for_a_report(words: Text) -> Remedy {
    Remedy::from(words).command("sudo tp2-verify report", &[]).command("sudo lspci -nnvvt > lspci.txt", &[])
}

/// Adds the commands that install a kernel's headers, where the distribution is known, and build all that DKMS has.
pub(super) fn build_for(facts: &Facts, release: &str, words: Text) -> Remedy {
    let is = |name: &str| facts.host.distribution.iter().any(|word| word == name);
    let remedy = Remedy::from(words);
    let remedy = if is("debian") {
        remedy.command("sudo apt install", &[&format!("linux-headers-{release}")])
    } else if is("fedora") {
        remedy.command("sudo dnf install", &[&format!("kernel-devel-{release}")])
    } else {
        remedy
    };
    remedy.command("sudo dkms autoinstall -k", &[release])
}

/// Adds the commands that build a version anew for a kernel for which DKMS has a build already, which it would keep.
pub(super) fn rebuild_for(release: &str, build: &DkmsBuild, remedy: impl Into<Remedy>) -> Remedy {
    let module = format!("tp2_p2pdma/{}", build.version);
    let words = ["--force", &module, "-k", release];
    remedy.into().command("sudo dkms build", &words).command("sudo dkms install", &words)
}

/// Adds the command that makes the running kernel's initramfs image anew, if it is known what made that.
pub(super) fn rebuild_initramfs(facts: &Facts, remedy: impl Into<Remedy>) -> Remedy {
    let remedy = remedy.into();
    let (Ok(image), Ok(release)) = (&facts.initramfs, &facts.kernel.release) else {
        return remedy;
    };
    match image.maker.as_deref() {
        Some("initramfs-tools") => remedy.command("sudo update-initramfs -u -k", &[release]),
        Some("dracut") => remedy.command("sudo dracut --force --kver", &[release]),
        Some("mkinitcpio") => remedy.command("sudo mkinitcpio -P", &[]),
        _ => remedy,
    }
}
