// SPDX-License-Identifier: GPL-2.0-only
//! `cargo xtask bench`: what the module costs, C and Rust in one run. Prints numbers, judges nothing.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::guest::{self, Implementation, SELECTED_MODULE, ScenarioGuest, System, kernels};
use crate::vm::machine::{self, NETWORK_CARD};
use crate::vm::{Accel, Vm};
use crate::{deb, progress};

const BUILDS_SCRIPT: &str = include_str!("guest/time-builds.sh");
/// Counting instructions is slow, and a guest boots with many.
const BOOT_LIMIT: Duration = Duration::from_secs(300);
/// Calls that are timed together.
const CALLS: u64 = 10_000;
/// Of so many measurements the shortest counts: the others were interrupted more often.
const ROUNDS: usize = 5;

/// Measures and prints tables for docs/measurements.md.
pub(crate) fn run() -> Result<()> {
    let debs = deb::build()?;
    let kernel = kernels::choose()?.newest;
    let system = System::build(&kernel, &debs)?;
    let numbers = progress::step("builds by DKMS, three of each implementation", || {
        system.after("time-builds", BUILDS_SCRIPT)?.text("numbers")
    })?;
    print_builds(&numbers)?;
    let small = ScenarioGuest::from(&system)?;
    println!("\n| call, Linux {kernel}, emulated | no module | Rust | C | command |\n|---|---|---|---|---|");
    let accel = Accel::detect(&small);
    calls("ns", &small, accel)?;
    calls("instructions", &small, Accel::TcgCounted)
}

/// The smallest of the values of this name.
fn smallest(numbers: &str, name: &str, implementation: Implementation) -> Result<u64> {
    let values = numbers.lines().filter_map(|line| {
        let value = line.strip_prefix(name)?.strip_prefix(' ')?.strip_prefix(implementation.name())?;
        value.trim().parse().ok()
    });
    values.min().with_context(|| format!("the builds printed no {name} of {implementation}"))
}

fn print_builds(numbers: &str) -> Result<()> {
    println!("\n| what | Rust | C | Rust / C |\n|---|---|---|---|");
    for (name, what) in [
        ("build_ms", "`dkms build`, ms, shortest of three"),
        ("file_bytes", "`tp2_p2pdma.ko` as DKMS leaves it, bytes"),
        ("text_bytes", "text by `size`, with read-only data, bytes"),
        ("code_bytes", "machine code alone (`size -A`, all .text sections), bytes"),
        ("stripped_bytes", "the file without debug information and BTF, bytes"),
        ("unneeded_bytes", "the same, `strip --strip-unneeded`, bytes"),
    ] {
        let rust = smallest(numbers, name, Implementation::Rust)?;
        let c = smallest(numbers, name, Implementation::C)?;
        println!("| {what} | {rust} | {c} | {} |", ratio(rust, c));
    }
    Ok(())
}

/// To two places, without floating point.
fn ratio(a: u64, b: u64) -> String {
    let hundredths = (a * 100).checked_div(b).unwrap_or_default();
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// One table row for a pair of GPUs and one for a pair of network cards, and one for memory.
fn calls(unit: &str, small: &ScenarioGuest, accel: Accel) -> Result<()> {
    let machine = machine::x99().card("c", "04.0", NETWORK_CARD).card("d", "05.0", NETWORK_CARD);
    let mut vm = Vm::boot(&machine, accel, &small.boot(BOOT_LIMIT))?;
    let mut addresses = Vec::new();
    for function in &machine.functions {
        addresses.push(vm.find(function)?);
    }
    vm.get("/usr/bin/insmod /opt/tp2/tp2_probe.ko")?;
    let pairs = [("two GPUs", &addresses[..2]), ("two network cards", &addresses[2..])];
    let mut columns = vec![time_pairs(&mut vm, &pairs)?];
    let before = vm.kernel_memory_kib()?;
    let mut memory = Vec::new();
    for implementation in [Implementation::Rust, Implementation::C] {
        vm.get(&guest::select(implementation))?;
        vm.get(&format!("/usr/bin/insmod {SELECTED_MODULE}"))?;
        columns.push(time_pairs(&mut vm, &pairs)?);
        memory.push(vm.kernel_memory_kib()? - before);
        vm.get("/usr/bin/rmmod tp2_p2pdma")?;
    }
    for (row, (pair, _)) in pairs.iter().enumerate() {
        println!(
            "| {pair}, {unit} a call | {} | {} | {} | `cargo xtask bench` |",
            columns[0][row], columns[1][row], columns[2][row]
        );
    }
    if unit == "ns" {
        println!("| kernel memory of a load, KiB | 0 | {} | {} | the same |", memory[0], memory[1]);
    }
    Ok(())
}

/// For each pair what one call takes, in the guest's nanoseconds.
fn time_pairs(vm: &mut Vm, pairs: &[(&str, &[String])]) -> Result<Vec<u64>> {
    let mut shortest = Vec::new();
    for (_, pair) in pairs {
        let mut best = u64::MAX;
        for _ in 0..ROUNDS {
            let script = format!("cd /sys/kernel/debug/tp2_probe && echo {} {CALLS} >time && cat time", pair.join(" "));
            let text = vm.get(&script)?;
            best = best.min(text.parse().with_context(|| format!("tp2_probe's time `{text}` is no number"))?);
        }
        shortest.push(best / CALLS);
    }
    Ok(shortest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_value_of_a_name_and_an_implementation_is_taken() {
        let numbers = "build_ms rust 300\nbuild_ms c 100\nbuild_ms rust 250\nfile_bytes rust 1\n";
        assert_eq!(smallest(numbers, "build_ms", Implementation::Rust).unwrap(), 250);
        assert_eq!(smallest(numbers, "build_ms", Implementation::C).unwrap(), 100);
        assert!(smallest(numbers, "file_bytes", Implementation::C).is_err());
    }

    #[test]
    fn ratios_have_two_places() {
        assert_eq!(ratio(250, 100), "2.50");
        assert_eq!(ratio(107, 100), "1.07");
        assert_eq!(ratio(1, 0), "0.00");
    }
}
