// SPDX-License-Identifier: GPL-2.0-only
//! VM scenarios: what the kernel, the module and tp2-verify have to say of a machine, one row each in [`table`].

mod guest;
mod steps;
mod table;

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use self::guest::Guest;
use crate::deb::{self, Debs};
use crate::guest as debian;
use crate::guest::{ScenarioGuest, kernels};
use crate::vm::machine::Machine;
use crate::vm::{Accel, Boot, Vm, kernel_log};

/// Until a scenario guest's agent answers, emulation on a busy host included.
const BOOT_LIMIT: Duration = Duration::from_secs(120);

/// The answers expected for one ordered pair.
pub(crate) struct Expect {
    provider: &'static str,
    client: &'static str,
    /// The kernel's own answer.
    kernel: i32,
    /// The answer with the module loaded.
    answer: i32,
    /// The rule in the module's table; empty when the module must not have looked.
    rule: &'static str,
}

/// Something a scenario does besides asking for every pair.
type Step = fn(&mut Guest) -> Result<()>;

/// Which of the two stock kernels a scenario runs on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kernel {
    /// The archive's newest.
    Newest,
    /// The newest of an older series.
    Previous,
}

/// A machine, parameters, and what has to come of them.
pub(crate) struct Scenario {
    /// Name for `--scenario`.
    name: &'static str,
    /// What it shows, in one line.
    about: &'static str,
    machine: Machine,
    /// Which of the two stock kernels it runs on.
    kernel: Kernel,
    /// Module parameters; `{a}` stands for the address of function `a`.
    params: &'static str,
    expect: Vec<Expect>,
    /// Before the module is loaded.
    prepare: Option<Step>,
    /// After the pairs were asked for with the module loaded.
    then: Option<Step>,
    /// Status that tp2-verify must give to gates while the module is loaded: gate id, status.
    verify: Vec<(&'static str, &'static str)>,
}

/// What came of a scenario.
struct Outcome {
    name: &'static str,
    problems: Vec<String>,
    boot: Duration,
    total: Duration,
}

/// `cargo xtask vm --list`.
pub(crate) fn list() {
    for scenario in table::scenarios() {
        println!("{:<26} {}", scenario.name, scenario.about);
    }
}

/// Runs the scenarios of these names, or all; every failure is reported.
pub(crate) fn run(names: &[String], workers: usize) -> Result<()> {
    let mut scenarios: VecDeque<Scenario> = table::scenarios().into();
    if let Some(unknown) = names.iter().find(|name| !scenarios.iter().any(|s| s.name == name.as_str())) {
        bail!("there is no scenario `{unknown}`: `cargo xtask vm --list` names them all");
    }
    if !names.is_empty() {
        scenarios.retain(|s| names.iter().any(|name| name == s.name));
    }
    let debs = deb::build()?;
    let kernels = kernels::choose()?;
    let newest = guest_with(&kernels.newest, &debs)?;
    let previous = if scenarios.iter().any(|s| s.kernel == Kernel::Previous) {
        Some(guest_with(&kernels.previous, &debs)?)
    } else {
        None
    };
    let accel = Accel::detect(&newest);
    println!(
        "{} scenarios on stock Linux {} (some on {}) in QEMU ({}), simulated PCI topologies",
        scenarios.len(),
        kernels.newest,
        kernels.previous,
        accel.name()
    );

    let queue = Mutex::new(scenarios);
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| {
                while let Some(scenario) = queue.lock().ok().and_then(|mut queue| queue.pop_front()) {
                    let guest = match scenario.kernel {
                        Kernel::Newest => &newest,
                        Kernel::Previous => previous.as_ref().unwrap_or(&newest),
                    };
                    let outcome = run_one(&scenario, guest, accel);
                    print_verdict(&outcome);
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push(outcome);
                    }
                }
            });
        }
    });
    summary(&outcomes.into_inner().unwrap_or_default())
}

fn guest_with(kernel: &str, debs: &Debs) -> Result<ScenarioGuest> {
    let what = format!("guest: Debian {} with Linux {kernel}, packages installed by apt", debian::SUITE);
    let installed = crate::progress::step(&what, || {
        let base = debian::base(kernel)?;
        debian::installed(kernel, &base, debs)
    })?;
    ScenarioGuest::from(&installed)
}

fn print_verdict(outcome: &Outcome) {
    let verdict = if outcome.problems.is_empty() { "ok  " } else { "FAIL" };
    println!(
        "{verdict} {:<26} boot {:>5.1} s, all {:>6.1} s",
        outcome.name,
        outcome.boot.as_secs_f32(),
        outcome.total.as_secs_f32()
    );
    for problem in &outcome.problems {
        println!("       {problem}");
    }
}

fn summary(outcomes: &[Outcome]) -> Result<()> {
    let failed: Vec<&str> = outcomes.iter().filter(|o| !o.problems.is_empty()).map(|o| o.name).collect();
    println!("scenarios: {} passed, {} failed", outcomes.len() - failed.len(), failed.len());
    if failed.is_empty() {
        return Ok(());
    }
    bail!("failed: {}", failed.join(" "))
}

fn run_one(scenario: &Scenario, guest: &ScenarioGuest, accel: Accel) -> Outcome {
    let start = Instant::now();
    let boot = Boot { kernel: &guest.kernel, initrd: &guest.initrd, disk: None, append: "", limit: BOOT_LIMIT };
    let (problems, boot) = match Vm::boot(&scenario.machine, accel, &boot) {
        Ok(vm) => {
            let boot = vm.boot_time;
            (drive(scenario, vm), boot)
        }
        Err(error) => (vec![format!("{error:#}")], start.elapsed()),
    };
    Outcome { name: scenario.name, problems, boot, total: start.elapsed() }
}

fn drive(scenario: &Scenario, vm: Vm) -> Vec<String> {
    let mut guest = match Guest::new(vm, &scenario.machine) {
        Ok(guest) => guest,
        Err(error) => return vec![format!("{error:#}")],
    };
    if let Err(error) = play(scenario, &mut guest) {
        guest.problem(format!("{error:#}"));
    }
    let (mut problems, console) = guest.finish();
    problems.extend(kernel_log::splats(&console).into_iter().map(|line| format!("kernel log: {line}")));
    problems
}

fn play(scenario: &Scenario, guest: &mut Guest) -> Result<()> {
    guest.get("/usr/bin/insmod /opt/tp2/tp2_probe.ko")?;
    for expect in &scenario.expect {
        let answer = guest.ask(expect.provider, expect.client)?;
        guest.same(&format!("kernel's own answer {}->{}", expect.provider, expect.client), &answer, &expect.kernel);
    }
    guest.compare_predictions(&scenario.expect)?;
    if let Some(prepare) = scenario.prepare {
        prepare(guest)?;
    }
    guest.load(scenario.params)?;
    for expect in &scenario.expect {
        let answer = guest.ask(expect.provider, expect.client)?;
        guest.same(&format!("answer {}->{} with the module", expect.provider, expect.client), &answer, &expect.answer);
    }
    guest.compare_pair_table(&scenario.expect)?;
    guest.compare_state(&scenario.expect)?;
    if !scenario.verify.is_empty() {
        let report = guest.verify()?;
        for (gate, status) in &scenario.verify {
            guest.gate(&report, gate, status);
        }
    }
    if let Some(then) = scenario.then {
        then(guest)?;
    }
    guest.unload()?;
    for expect in &scenario.expect {
        let answer = guest.ask(expect.provider, expect.client)?;
        guest.same(&format!("answer {}->{} after unload", expect.provider, expect.client), &answer, &expect.kernel);
    }
    Ok(())
}
