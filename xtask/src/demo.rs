// SPDX-License-Identifier: GPL-2.0-only
//! `make demo`: the main job on real parts, from package to answer, in one go.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::guest::{self, ScenarioGuest, kernels};
use crate::vm::{Accel, Boot, Vm, kernel_log, machine};
use crate::{deb, host, progress};

/// Until a full Debian answers under emulation.
const BOOT_LIMIT: Duration = Duration::from_secs(300);
/// Loading amdgpu takes most of a minute under emulation.
const LOAD_LIMIT: Duration = Duration::from_secs(400);

/// Runs the demo; fails when the override does not do what it is for.
pub(crate) fn run() -> Result<()> {
    println!("tp2 demo: a stock Debian system on a virtual X99-like machine.");
    println!("Real: the Debian packages, apt, DKMS, the stock Debian kernel and its amdgpu, the module, tp2-verify.");
    println!(
        "Simulated (QEMU): the board. Its host bridge is q35's 8086:29c0, not in the kernel's list, like X99's 8086:6f00;"
    );
    println!(
        "the two cards are ati-vga (vendor 1002) behind switches of their own: no amdgpu hardware, no data is moved.\n"
    );
    progress::step("host packages", host::prepare)?;
    let debs = progress::step("Debian packages tp2-p2pdma-dkms and tp2-verify", deb::build)?;
    let kernels = progress::step("stock kernels of the archive", kernels::choose)?;
    let base =
        progress::step(&format!("guest: Debian {} with Linux {} (mmdebstrap)", guest::SUITE, kernels.newest), || {
            guest::base(&kernels.newest)
        })?;
    let installed = progress::step("packages installed by apt, module built and signed by DKMS", || {
        guest::installed(&kernels.newest, &base, &debs)
    })?;
    println!("    apt took {} s of that, the module's build included", installed.seconds("install")?);
    let disk = progress::step("disk image", || installed.disk_image())?;
    let accel =
        progress::step("choice between KVM and emulation", || Ok(Accel::detect(&ScenarioGuest::from(&installed)?)))?;
    let (kernel, initrd) = (installed.out("vmlinuz"), installed.out("initrd.img"));
    let boot = Boot {
        kernel: &kernel,
        initrd: &initrd,
        disk: Some(&disk),
        // Debian's udev would load amdgpu, and with it the override, before anyone could look.
        append: "root=/dev/vda rw modprobe.blacklist=amdgpu",
        limit: BOOT_LIMIT,
    };
    let mut vm = progress::step(&format!("boot of Debian in QEMU ({})", accel.name()), || {
        Vm::boot(&machine::full_system(machine::x99()), accel, &boot)
    })?;
    let (a, b) = find_gpus(&mut vm)?;
    vm.get("insmod /opt/tp2/tp2_probe.ko")?;

    println!(
        "\nBEFORE: {} booted, with amdgpu (and so the override) held back by a kernel parameter",
        vm.get("uname -sr")?
    );
    let before = [vm.ask(&a, &b)?, vm.ask(&b, &a)?];
    print_answers(&a, &b, before);
    print!("{}", verdict(&mut vm)?);

    println!();
    let loaded = progress::step("modprobe amdgpu, which loads tp2_p2pdma first (softdep)", || {
        vm.run("modprobe amdgpu && cut -d' ' -f1 /proc/modules", LOAD_LIMIT)
    })?;
    if loaded.status != 0 {
        bail!("modprobe amdgpu failed in the guest: {}", loaded.text.trim());
    }
    println!("\nAFTER: amdgpu loaded, the override before it");
    let after = [vm.ask(&a, &b)?, vm.ask(&b, &a)?];
    print_answers(&a, &b, after);
    print!("{}", verdict(&mut vm)?);
    println!("\nThe module's own table (/sys/kernel/debug/tp2_p2pdma/pairs):");
    println!("{}", vm.get("cat /sys/kernel/debug/tp2_p2pdma/pairs")?);
    judge(before, after, &loaded.text, &vm.console())
}

fn find_gpus(vm: &mut Vm) -> Result<(String, String)> {
    let mut addresses = Vec::new();
    for function in &machine::x99().functions {
        addresses.push(vm.find(function)?);
    }
    match <[String; 2]>::try_from(addresses) {
        Ok([a, b]) => Ok((a, b)),
        Err(found) => bail!("the guest has {} GPUs instead of two", found.len()),
    }
}

fn print_answers(a: &str, b: &str, answers: [i32; 2]) {
    println!("  pci_p2pdma_distance({a}, {b}) = {}", answers[0]);
    println!("  pci_p2pdma_distance({b}, {a}) = {}", answers[1]);
}

/// What tp2-verify prints; its exit status says blocked, and rightly so on this kernel.
fn verdict(vm: &mut Vm) -> Result<String> {
    Ok(vm.run("tp2-verify --color never", LOAD_LIMIT)?.text)
}

fn judge(before: [i32; 2], after: [i32; 2], modules: &str, console: &str) -> Result<()> {
    let position = |name: &str| modules.lines().position(|line| line == name);
    if before != [-1, -1] {
        bail!("the kernel's own answers were {before:?} instead of -1 both ways");
    }
    if after != [8, 8] {
        bail!("the answers with the override are {after:?} instead of the hop count 8 both ways");
    }
    // /proc/modules lists the youngest first.
    if position("tp2_p2pdma") <= position("amdgpu") {
        bail!("tp2_p2pdma was not loaded before amdgpu");
    }
    let splats = kernel_log::splats(console);
    if !splats.is_empty() {
        bail!("the guest's kernel complained: {}", splats.join("; "));
    }
    println!("\nok: refused (-1) before, the kernel's own hop count (8) after, both ways, for exactly this pair.");
    println!("tp2-verify still says `blocked`, and is right: Debian builds amdgpu without CONFIG_HSA_AMD_P2P.");
    Ok(())
}
