// SPDX-License-Identifier: GPL-2.0-only
//! The upgrade path: packages installed on one stock kernel, a newer kernel installed by apt, booted, packages purged.
//!
//! apt and DKMS run in a chroot of the guest's root; the boot is the guest's own, with its own initramfs.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::cache::Key;
use crate::guest::kernels::{self, Kernels};
use crate::guest::{self, Layer, Origin, ScenarioGuest, Spec, Support, System};
use crate::progress;
use crate::vm::{Accel, Boot, Vm, kernel_log, machine};
use crate::{deb, deb::Debs};

const UPGRADE_SCRIPT: &str = include_str!("guest/upgrade.sh");
const PURGE_SCRIPT: &str = include_str!("guest/purge.sh");

/// Until a full Debian answers, amdgpu loaded from the initramfs under emulation included.
const BOOT_LIMIT: Duration = Duration::from_secs(400);

/// What may be new after the purge: made by programs that stay, for the kernel that stays.
const NOT_OURS: &[(&str, &str)] = &[
    ("/boot/initrd.img-", "initramfs-tools, for the new kernel"),
    ("/boot/vmlinuz-", "linux-base, for the new kernel"),
    ("/boot/config-", "linux-base, for the new kernel"),
    ("/var/cache/debconf/", "debconf's caches"),
    ("/usr/lib/modules/", "depmod's indexes, for the new kernel"),
    ("/initrd.img", "links of linux-base to the newest kernel"),
    ("/vmlinuz", "links of linux-base to the newest kernel"),
    ("/var/lib/dkms/mok.", "the signing key that dkms made for itself"),
    ("/var/lib/apt/lists/", "apt's package lists"),
    ("/var/cache/apt/", "apt's caches"),
    ("/var/lib/dpkg/", "dpkg's own records"),
    ("/var/lib/initramfs-tools/", "initramfs-tools' record of its images"),
    ("/var/log/", "logs"),
    ("/var/cache/ldconfig/", "ldconfig's cache"),
    ("/etc/apt/", "the guest's package sources"),
];

/// Runs the whole path; every failed expectation is reported.
pub(crate) fn run() -> Result<()> {
    let debs = deb::build()?;
    let kernels = kernels::choose()?;
    let base = progress::step(&format!("guest: Debian {} with Linux {}", guest::SUITE, kernels.previous), || {
        guest::base(&kernels.previous)
    })?;
    let upgraded = progress::step(&format!("packages installed, then Linux {} by apt", kernels.newest), || {
        upgraded(&kernels, &base, &debs)
    })?;
    let purged = progress::step("packages purged by apt", || purged(&upgraded))?;
    let mut problems = Vec::new();
    check_upgrade(&kernels, &upgraded, &mut problems)?;
    check_purge(&kernels, &purged, &mut problems)?;
    let boot = progress::step(&format!("boot of Linux {} with its own initramfs", kernels.newest), || {
        check_boot(&kernels, &upgraded, &debs, &mut problems)
    })?;
    for problem in &problems {
        println!("       {problem}");
    }
    let verdict = if problems.is_empty() { "ok  " } else { "FAIL" };
    println!(
        "{verdict} upgrade {} -> {}: apt {} s, boot to the agent {:.0} s",
        kernels.previous,
        kernels.newest,
        upgraded.seconds("upgrade")?,
        boot.as_secs_f32()
    );
    if problems.is_empty() {
        return Ok(());
    }
    bail!("the upgrade path has {} problem(s)", problems.len())
}

fn upgraded(kernels: &Kernels, base: &Layer, debs: &Debs) -> Result<Layer> {
    let support = Support::new(&kernels.previous.release)?;
    let newest = support.file("new-kernel", &kernels.newest.release)?;
    Layer::build(&Spec {
        name: "guest-upgraded",
        key: debs.key().add(base.id()).add(&kernels.newest.release).add(UPGRADE_SCRIPT).hex(),
        origin: Origin::Root(base),
        inputs: &[&support.release(), &newest, &debs.dkms, &debs.verify],
        script: UPGRADE_SCRIPT,
        keep_root: true,
    })
}

fn purged(upgraded: &Layer) -> Result<Layer> {
    Layer::build(&Spec {
        name: "guest-purged",
        key: Key::new().add(upgraded.id()).add(PURGE_SCRIPT).hex(),
        origin: Origin::Root(upgraded),
        inputs: &[&upgraded.out("files-before")],
        script: PURGE_SCRIPT,
        keep_root: false,
    })
}

fn check_upgrade(kernels: &Kernels, upgraded: &Layer, problems: &mut Vec<String>) -> Result<()> {
    let status = upgraded.text("dkms-status")?;
    for kernel in [&kernels.previous, &kernels.newest] {
        if !status
            .lines()
            .any(|l| l.starts_with("tp2_p2pdma/") && l.contains(&kernel.release) && l.ends_with(": installed"))
        {
            problems
                .push(format!("dkms status does not say that tp2_p2pdma is installed for {kernel}: {}", status.trim()));
        }
    }
    let files = upgraded.text("initrd-files")?;
    for wanted in ["tp2_p2pdma.ko", "amdgpu.ko", "modprobe.d/tp2_p2pdma.conf"] {
        if !files.lines().any(|line| line.contains(wanted)) {
            problems.push(format!("the initramfs of {} has no {wanted}", kernels.newest));
        }
    }
    Ok(())
}

fn check_purge(kernels: &Kernels, purged: &Layer, problems: &mut Vec<String>) -> Result<()> {
    for line in purged.text("left")?.lines() {
        let index_of_old_kernel = line.starts_with(&format!("/usr/lib/modules/{}/", kernels.previous));
        if index_of_old_kernel || line.contains("tp2") || !NOT_OURS.iter().any(|(prefix, _)| line.starts_with(prefix)) {
            problems.push(format!("apt purge leaves {line}"));
        }
    }
    for line in purged.text("left-in-images")?.lines() {
        problems.push(format!("apt purge leaves in an image {line}"));
    }
    Ok(())
}

fn check_boot(kernels: &Kernels, upgraded: &Layer, debs: &Debs, problems: &mut Vec<String>) -> Result<Duration> {
    let accel = Accel::detect(&ScenarioGuest::from(&System::build(&kernels.newest, debs)?)?);
    let disk = upgraded.disk_image()?;
    let (kernel, initrd) = (upgraded.out("vmlinuz"), upgraded.out("initrd.img"));
    let boot = Boot {
        kernel: &kernel,
        initrd: &initrd,
        disk: Some(&disk),
        append: "root=/dev/vda rw",
        limit: BOOT_LIMIT,
        patience: 1,
    };
    let mut vm = Vm::boot(&machine::full_system(machine::x99()), accel, &boot)?;

    let release = vm.get("uname -r")?;
    if release != kernels.newest.release {
        problems.push(format!("the guest runs {release} instead of {}", kernels.newest));
    }
    // /proc/modules lists the youngest first.
    let modules = vm.get("cut -d' ' -f1 /proc/modules")?;
    let position = |name: &str| modules.lines().position(|line| line == name);
    match (position("tp2_p2pdma"), position("amdgpu")) {
        (Some(ours), Some(amdgpu)) if ours > amdgpu => {}
        found => problems.push(format!(
            "tp2_p2pdma was not loaded before amdgpu: positions (ours, amdgpu) in /proc/modules are {found:?}"
        )),
    }
    let log = vm.get("dmesg")?;
    let line_of = |text: &str| log.lines().position(|line| line.contains(text));
    match (line_of("tp2_p2pdma: "), line_of("EXT4-fs (vda): mounted")) {
        (Some(ours), Some(mounted)) if ours < mounted => {}
        found => problems.push(format!(
            "tp2_p2pdma was not loaded from the initramfs: log lines (ours, root mounted) are {found:?}"
        )),
    }
    check_verify(&mut vm, problems)?;
    problems.extend(kernel_log::splats(&vm.console()).into_iter().map(|line| format!("kernel log: {line}")));
    Ok(vm.boot_time)
}

fn check_verify(vm: &mut Vm, problems: &mut Vec<String>) -> Result<()> {
    let answer = vm.run("tp2-verify --json", Duration::from_secs(300))?;
    let report: serde_json::Value = serde_json::from_str(answer.text.trim())
        .map_err(|error| anyhow::anyhow!("tp2-verify --json printed no JSON ({error}): {}", answer.text))?;
    for (gate, expected) in [
        ("module.dkms", "pass"),
        ("module.match", "pass"),
        ("module.loaded", "pass"),
        ("module.effective", "pass"),
        ("kernel.hsa-amd-p2p", "fail"),
    ] {
        let found = report["findings"].as_array().into_iter().flatten().find(|f| f["gate"] == gate);
        let status = found.map_or("absent", |f| f["status"].as_str().unwrap_or_default());
        if status != expected {
            problems.push(format!("tp2-verify gate {gate} is {status}, expected {expected}"));
        }
    }
    Ok(())
}
