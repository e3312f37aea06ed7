// SPDX-License-Identifier: GPL-2.0-only
//! `make demo`: the main job on real parts, from package to answer, in one go.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::guest::{self, Implementation, SELECTED_MODULE, ScenarioGuest, System, kernels};
use crate::vm::{Accel, Boot, Vm, kernel_log, machine};
use crate::{deb, host, progress};

/// Until a full Debian answers under emulation.
const BOOT_LIMIT: Duration = Duration::from_secs(300);
/// Until the small initramfs answers.
const SMALL_BOOT_LIMIT: Duration = Duration::from_secs(120);
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
    let system = System::build(&kernels.newest, &debs)?;
    println!(
        "    apt took {} s to install, the module's build included; DKMS said:",
        system.installed.seconds("install")?
    );
    print_choice(&system, Implementation::Rust)?;
    let small = ScenarioGuest::from(&system)?;
    let accel = progress::step("choice between KVM and emulation", || Ok(Accel::detect(&small)))?;
    with_rust(&system, accel)?;
    without_metadata(&system, &small, accel)?;
    println!("\nok: refused (-1) before, the kernel's own hop count ({HOPS}) after, both ways, for exactly this pair,");
    println!("from the Rust module where the kernel's Rust metadata are there, and from the C one where they are not.");
    println!("tp2-verify still says `blocked`, and is right: Debian builds amdgpu without CONFIG_HSA_AMD_P2P.");
    Ok(())
}

/// Hops between the two cards: four functions from each to the root bus.
const HOPS: i32 = 8;

fn print_choice(system: &System, implementation: Implementation) -> Result<()> {
    for line in system.choice(implementation)?.lines() {
        println!("      dkms-build: {line}");
    }
    Ok(())
}

/// A whole Debian, before and after amdgpu and the module are loaded.
fn with_rust(system: &System, accel: Accel) -> Result<()> {
    let disk = progress::step("disk image", || system.installed.disk_image())?;
    let (kernel, initrd) = (system.installed.out("vmlinuz"), system.installed.out("initrd.img"));
    let boot = Boot {
        kernel: &kernel,
        initrd: &initrd,
        disk: Some(&disk),
        // Debian's udev would load amdgpu, and with it the override, before anyone could look.
        append: "root=/dev/vda rw modprobe.blacklist=amdgpu",
        limit: BOOT_LIMIT,
        patience: 1,
    };
    let mut vm = progress::step(&format!("boot of Debian in QEMU ({})", accel.name()), || {
        Vm::boot(&machine::full_system(machine::x99()), accel, &boot)
    })?;
    let gpus = find_gpus(&mut vm)?;
    vm.get("insmod /opt/tp2/tp2_probe.ko")?;

    println!(
        "\nBEFORE: {} booted, with amdgpu (and so the override) held back by a kernel parameter",
        vm.get("uname -sr")?
    );
    judge("before", ask_both_ways(&mut vm, &gpus)?, -1)?;
    print!("{}", verdict(&mut vm)?);

    println!();
    let loaded = progress::step("modprobe amdgpu, which loads tp2_p2pdma first (softdep)", || {
        vm.run("modprobe amdgpu && cut -d' ' -f1 /proc/modules", LOAD_LIMIT)
    })?;
    if loaded.status != 0 {
        bail!("modprobe amdgpu failed in the guest: {}", loaded.text.trim());
    }
    println!("\nAFTER: amdgpu loaded, the override before it");
    judge("with the override", ask_both_ways(&mut vm, &gpus)?, HOPS)?;
    show_implementation(&mut vm, Implementation::Rust)?;
    print!("{}", verdict(&mut vm)?);
    println!("\nThe module's own table (/sys/kernel/debug/tp2_p2pdma/pairs):");
    println!("{}", vm.get("cat /sys/kernel/debug/tp2_p2pdma/pairs")?);
    let position = |name: &str| loaded.text.lines().position(|line| line == name);
    // /proc/modules lists the youngest first.
    if position("tp2_p2pdma") <= position("amdgpu") {
        bail!("tp2_p2pdma was not loaded before amdgpu");
    }
    no_splats(&vm)
}

/// The same system without the kernel's Rust metadata: DKMS has built the C implementation, which takes over.
fn without_metadata(system: &System, small: &ScenarioGuest, accel: Accel) -> Result<()> {
    println!(
        "\nTAKEOVER: in the same system `tp2-rust-metadata remove`, `dkms build --force`, `dkms install --force`; DKMS said:"
    );
    print_choice(system, Implementation::C)?;
    let mut vm =
        progress::step("boot of the same kernel with a small initramfs and the module from that system", || {
            Vm::boot(&machine::x99(), accel, &small.boot(SMALL_BOOT_LIMIT))
        })?;
    let gpus = find_gpus(&mut vm)?;
    vm.get("insmod /opt/tp2/tp2_probe.ko")?;
    println!("  Without the module:");
    judge("before", ask_both_ways(&mut vm, &gpus)?, -1)?;
    vm.get(&guest::select(Implementation::C))?;
    vm.get(&format!("/usr/bin/insmod {SELECTED_MODULE}"))?;
    println!("  With it:");
    judge("with the override", ask_both_ways(&mut vm, &gpus)?, HOPS)?;
    show_implementation(&mut vm, Implementation::C)?;
    no_splats(&vm)
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

/// Asks the kernel for both directions, and shows what it says.
fn ask_both_ways(vm: &mut Vm, (a, b): &(String, String)) -> Result<[i32; 2]> {
    let answers = [vm.ask(a, b)?, vm.ask(b, a)?];
    println!("  pci_p2pdma_distance({a}, {b}) = {}", answers[0]);
    println!("  pci_p2pdma_distance({b}, {a}) = {}", answers[1]);
    Ok(answers)
}

/// Shows which implementation is loaded and why it was built; fails when it is not the expected one.
fn show_implementation(vm: &mut Vm, expected: Implementation) -> Result<()> {
    let state = "/sys/module/tp2_p2pdma/override";
    let loaded = vm.get(&format!("cat {state}/implementation"))?;
    println!("  implementation: {loaded} ({})", vm.get(&format!("cat {state}/implementation_reason"))?);
    if loaded != expected.name() {
        bail!("the loaded module is the {loaded} implementation, expected was {expected}");
    }
    Ok(())
}

/// What tp2-verify prints; its exit status says blocked, and rightly so on this kernel.
fn verdict(vm: &mut Vm) -> Result<String> {
    Ok(vm.run("tp2-verify --color never", LOAD_LIMIT)?.text)
}

fn judge(when: &str, answers: [i32; 2], expected: i32) -> Result<()> {
    if answers != [expected; 2] {
        bail!("the answers {when} are {answers:?} instead of {expected} both ways");
    }
    Ok(())
}

fn no_splats(vm: &Vm) -> Result<()> {
    let console = vm.console();
    let splats = kernel_log::splats(&console);
    if !splats.is_empty() {
        bail!("the guest's kernel complained: {}", splats.join("; "));
    }
    Ok(())
}
