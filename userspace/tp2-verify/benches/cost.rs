// SPDX-License-Identifier: GPL-2.0-only

//! What a run of `tp2-verify --json` costs, and how that grows with the number of pairs. Prints tables for
//! docs/measurements.md and judges nothing. Times are CPU time, which other work on the machine changes least, and the
//! least of several runs.

#![allow(clippy::unwrap_used, reason = "what cannot be measured ends the measurement")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use support::{
    Tree,
    many::{many_cards, many_cards_overridden},
    two_cards_overridden,
};
use wait4::Wait4;

const RUNS: usize = 30;
const CARDS: [u8; 6] = [2, 4, 8, 16, 32, 64];

/// What one run took.
struct Cost {
    /// User and system time.
    cpu: Duration,
    wall: Duration,
    /// Peak resident memory, bytes.
    memory: u64,
}

impl Cost {
    /// The best of several runs on `root`; of memory the worst.
    fn of(root: &Path) -> Self {
        let first = run(root);
        (1..RUNS).map(|_| run(root)).fold(first, |best, next| Self {
            cpu: best.cpu.min(next.cpu),
            wall: best.wall.min(next.wall),
            memory: best.memory.max(next.memory),
        })
    }

    /// As columns of a table: milliseconds, milliseconds, MB.
    fn columns(&self) -> String {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        let tenths = self.memory / 100_000;
        format!("{:.1} | {:.1} | {}.{}", milliseconds(self.cpu), milliseconds(self.wall), tenths / 10, tenths % 10)
    }
}

fn run(root: &Path) -> Cost {
    let started = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tp2-verify"));
    let mut child = command.arg("--json").arg("--root").arg(root).stdout(Stdio::null()).spawn().unwrap();
    let used = child.wait4().unwrap();
    let tool_error = i32::from(tp2_verify::cli::EXIT_ERROR);
    assert!(used.status.code().is_some_and(|code| code != tool_error), "tp2-verify: {}", used.status);
    Cost { cpu: used.rusage.utime + used.rusage.stime, wall: started.elapsed(), memory: used.rusage.maxrss }
}

/// What this program itself needed at most: that of a run is never shown as less, since a child begins as its parent.
fn own_peak() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim().to_owned()
}

fn main() {
    println!("least of {RUNS} runs each; load before: {}", fs::read_to_string("/proc/loadavg").unwrap().trim());
    println!("\n| run | CPU, ms | elapsed, ms | peak memory, MB |\n|---|---|---|---|");
    let captured = two_cards_overridden("8086:6f00");
    println!("| captured tree of two GPUs | {} |", Cost::of(captured.path()).columns());
    println!("| this machine | {} |", Cost::of(Path::new("/")).columns());
    for (title, make) in [
        ("all pairs refused", many_cards as fn(u8) -> Tree),
        ("all pairs overridden and linked", many_cards_overridden),
    ] {
        println!(
            "\n| GPUs, {title} | ordered pairs | CPU, ms | elapsed, ms | peak memory, MB |\n|---|---|---|---|---|"
        );
        for cards in CARDS {
            let pairs = u32::from(cards) * u32::from(cards - 1);
            println!("| {cards} | {pairs} | {} |", Cost::of(make(cards).path()).columns());
        }
    }
    println!("\nthis program's own peak: {}", own_peak());
}
