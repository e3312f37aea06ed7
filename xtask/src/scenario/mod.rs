// SPDX-License-Identifier: GPL-2.0-only
//! VM scenarios: what the kernel, the module and tp2-verify have to say of a machine, one row each in [`table`].

mod guest;
mod parity;
mod steps;
mod table;

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use self::guest::Guest;
use crate::deb::{self, Debs};
use crate::guest::{Implementation, Kernel, ScenarioGuest, System, kernels};
use crate::kernel;
use crate::vm::machine::Machine;
use crate::vm::{Accel, Vm, kernel_log};

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

/// A machine, parameters, and what has to come of them.
pub(crate) struct Scenario {
    /// Name for `--scenario`.
    name: &'static str,
    /// What it shows, in one line.
    about: &'static str,
    machine: Machine,
    /// Only kernels before this upstream series can do it.
    before: Option<(u32, u32)>,
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

impl Scenario {
    fn runs_on(&self, kernel: &Kernel) -> Result<bool> {
        let series = kernel.series()?;
        Ok(self.before.is_none_or(|limit| series < limit))
    }
}

/// What came of a scenario.
pub(crate) struct Outcome {
    /// Of the scenario.
    pub(crate) name: &'static str,
    /// Why it failed; empty when it passed.
    pub(crate) problems: Vec<String>,
    boot: Duration,
    total: Duration,
}

/// `cargo xtask vm --list`.
pub(crate) fn list() {
    for scenario in table::scenarios() {
        println!("{:<26} {}", scenario.name, scenario.about);
    }
}

/// Runs the scenarios of these names, or all, with one implementation or all; every failure is reported.
pub(crate) fn run(names: &[String], only: Option<Implementation>, workers: usize) -> Result<()> {
    let scenarios = named(names)?;
    let debs = deb::build()?;
    let kernels = kernels::choose()?;
    let newest = guest_with(&kernels.newest, &debs, only)?;
    let mut older = Vec::new();
    for scenario in &scenarios {
        if !scenario.runs_on(&kernels.newest)? {
            older.push(scenario.name);
        }
    }
    let previous = if older.is_empty() { None } else { Some(guest_with(&kernels.previous, &debs, only)?) };
    let accel = Accel::detect(&newest);
    println!(
        "{} scenarios on stock Linux {} (on {}: {}) in QEMU ({}), simulated PCI topologies; implementations: {}",
        scenarios.len(),
        kernels.newest,
        kernels.previous,
        if older.is_empty() { "none".to_owned() } else { older.join(" ") },
        accel.name(),
        join(&newest.implementations, ", ")
    );
    let jobs = scenarios
        .into_iter()
        .map(|scenario| match &previous {
            Some(previous) if older.contains(&scenario.name) => (scenario, previous),
            _ => (scenario, &newest),
        })
        .collect();
    summary(&run_jobs(jobs, accel, workers))
}

/// Runs the scenarios of these names, or all, on a kernel of our own.
pub(crate) fn run_on_own(label: &str, names: &[String], only: Option<Implementation>, workers: usize) -> Result<()> {
    let scenarios = named(names)?;
    let kernel = kernel::build(kernel::named(label)?, &kernels::choose()?)?;
    let guest = guest_with(&kernel, &deb::build()?, only)?;
    summary(&run_on(&guest, scenarios, workers)?)
}

/// Runs the whole table on a kernel.
pub(crate) fn run_all_on(guest: &ScenarioGuest, workers: usize) -> Result<Vec<Outcome>> {
    run_on(guest, table::scenarios(), workers)
}

/// Runs scenarios on a kernel, but for those that are of older kernels.
fn run_on(guest: &ScenarioGuest, scenarios: Vec<Scenario>, workers: usize) -> Result<Vec<Outcome>> {
    let mut jobs = VecDeque::new();
    for scenario in scenarios {
        if scenario.runs_on(&guest.kernel)? {
            jobs.push_back((scenario, guest));
        } else {
            println!("skip {:<26} Linux {} cannot do it", scenario.name, guest.kernel);
        }
    }
    Ok(run_jobs(jobs, Accel::detect(guest), workers))
}

/// The scenarios of these names, or all.
fn named(names: &[String]) -> Result<Vec<Scenario>> {
    let mut scenarios = table::scenarios();
    if let Some(unknown) = names.iter().find(|name| !scenarios.iter().any(|s| s.name == name.as_str())) {
        bail!("there is no scenario `{unknown}`: `cargo xtask vm --list` names them all");
    }
    if !names.is_empty() {
        scenarios.retain(|s| names.iter().any(|name| name == s.name));
    }
    Ok(scenarios)
}

fn run_jobs(jobs: VecDeque<(Scenario, &ScenarioGuest)>, accel: Accel, workers: usize) -> Vec<Outcome> {
    let queue = Mutex::new(jobs);
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| {
                while let Some((scenario, guest)) = queue.lock().ok().and_then(|mut queue| queue.pop_front()) {
                    let outcome = run_one(&scenario, guest, accel);
                    print_verdict(&outcome);
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push(outcome);
                    }
                }
            });
        }
    });
    outcomes.into_inner().unwrap_or_default()
}

fn guest_with(kernel: &Kernel, debs: &Debs, only: Option<Implementation>) -> Result<ScenarioGuest> {
    let mut guest = ScenarioGuest::from(&System::build(kernel, debs)?)?;
    if let Some(only) = only {
        guest.implementations.retain(|&implementation| implementation == only);
    }
    if guest.implementations.is_empty() {
        bail!("Linux {kernel} cannot carry the implementation that --impl names");
    }
    Ok(guest)
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
    let (problems, boot) = match Vm::boot(&scenario.machine, accel, &guest.boot(BOOT_LIMIT)) {
        Ok(vm) => {
            let boot = vm.boot_time;
            (drive(scenario, vm, &guest.implementations), boot)
        }
        Err(error) => (vec![format!("{error:#}")], start.elapsed()),
    };
    Outcome { name: scenario.name, problems, boot, total: start.elapsed() }
}

fn drive(scenario: &Scenario, vm: Vm, implementations: &[Implementation]) -> Vec<String> {
    let mut guest = match Guest::new(vm, &scenario.machine) {
        Ok(guest) => guest,
        Err(error) => return vec![format!("{error:#}")],
    };
    if let Err(error) = play(scenario, &mut guest, implementations) {
        guest.problem(format!("{error:#}"));
    }
    let (mut problems, console) = guest.finish();
    problems.extend(kernel_log::splats(&console).into_iter().map(|line| format!("kernel log: {line}")));
    problems
}

/// Everything with each implementation in turn, in the same guest, so that what they show can be compared.
fn play(scenario: &Scenario, guest: &mut Guest, implementations: &[Implementation]) -> Result<()> {
    guest.get("/usr/bin/insmod /opt/tp2/tp2_probe.ko")?;
    for expect in &scenario.expect {
        let answer = guest.ask(expect.provider, expect.client)?;
        guest.same(&format!("kernel's own answer {}->{}", expect.provider, expect.client), &answer, &expect.kernel);
    }
    guest.compare_predictions(&scenario.expect)?;
    guest.end();
    guest.clear_leaks()?;
    let mut traces = Vec::new();
    for &implementation in implementations {
        guest.begin(implementation)?;
        if let Err(error) = play_with(scenario, guest) {
            guest.problem(format!("{error:#}"));
            // The next one has to find nothing of this one.
            guest.run("/usr/bin/rmmod tp2_kfdsim; /usr/bin/rmmod tp2_p2pdma")?;
        }
        traces.push(guest.end());
    }
    if let [one, other] = &traces[..] {
        for difference in one.differences(other) {
            guest.problem(format!("{} differ in {difference}", join(implementations, " and ")));
        }
    }
    guest.check_leaks()
}

fn join(implementations: &[Implementation], separator: &str) -> String {
    implementations.iter().map(|implementation| implementation.name()).collect::<Vec<_>>().join(separator)
}

fn play_with(scenario: &Scenario, guest: &mut Guest) -> Result<()> {
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
    guest.note_sysfs()?;
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
