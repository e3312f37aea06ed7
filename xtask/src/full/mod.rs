// SPDX-License-Identifier: GPL-2.0-only
//! `make test-full`: `make test`, then the whole table of scenarios on every kernel that we know how to get, the
//! sanitizers' included. What came of it is written into docs/kernel-support.md. Since all of it takes hours, each piece
//! can be run alone, and then replaces its own rows there.

mod amdgpu;
mod page;
mod rebuild;

use anyhow::{Context, Result, bail};

use self::page::Row;
use crate::guest::{Implementation, Kernel, ScenarioGuest, System, kernels};
use crate::kernel::{self, Recipe};
use crate::progress::{self, Part};
use crate::scenario::{self, Outcome};
use crate::{deb, deb::Debs, host, test};

/// The pieces that are no kernels of our own; those have their labels.
const PIECES: [&str; 4] = ["parts", "newest", "previous", "rebuild"];

/// Runs everything, or the pieces of these names; every failure is reported, and the page is written whatever came of it.
pub(crate) fn run(only: &[String]) -> Result<()> {
    let known = || PIECES.into_iter().chain(kernel::RECIPES.iter().map(|recipe| recipe.label));
    if let Some(unknown) = only.iter().find(|name| !known().any(|known| known == *name)) {
        bail!("there is no piece `{unknown}`: there are {}", known().collect::<Vec<_>>().join(" "));
    }
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|wanted| wanted == name);
    host::prepare()?;
    let mut failed = Vec::new();
    if is_wanted("parts") {
        let others: Vec<Part> = test::PARTS.iter().filter(|(name, _)| *name != test::SCENARIOS).copied().collect();
        note(&mut failed, "other parts of make test", progress::all("parts", &others));
    }
    let debs = deb::build()?;
    let stock = kernels::choose()?;
    let mut rows = Vec::new();
    let series =
        [("newest", &stock.newest, "stock Debian"), ("previous", &stock.previous, "stock Debian, older series")];
    for (_, kernel, about) in series.into_iter().filter(|(name, ..)| is_wanted(name)) {
        let result = on_kernel(kernel, about, &debs, &mut rows);
        note(&mut failed, &format!("Linux {kernel}"), result);
    }
    for recipe in kernel::RECIPES.iter().filter(|recipe| is_wanted(recipe.label)) {
        let result = on_own_kernel(recipe, &stock, &debs, &mut rows);
        note(&mut failed, &format!("kernel {}", recipe.label), result);
    }
    if is_wanted("rebuild") {
        note(&mut failed, "metadata rebuilt inside DKMS", rebuild::run(&stock.newest, &debs));
    }
    page::write(&rows, !only.is_empty())?;
    println!("full test: {} failed", failed.len());
    if failed.is_empty() {
        return Ok(());
    }
    bail!("failed: {}", failed.join(", "))
}

fn note(failed: &mut Vec<String>, what: &str, result: Result<()>) {
    if let Err(error) = result {
        println!("FAIL {what}: {error:#}");
        failed.push(what.to_owned());
    }
}

fn on_own_kernel(recipe: &Recipe, stock: &kernels::Kernels, debs: &Debs, rows: &mut Vec<Row>) -> Result<()> {
    let kernel = kernel::build(recipe, stock)?;
    on_kernel(&kernel, recipe.about, debs, rows)?;
    if recipe.label == "amdgpu" {
        return progress::step("real amdgpu with HSA_AMD_P2P", || amdgpu::run(&System::build(&kernel, debs)?));
    }
    Ok(())
}

/// The whole table with every implementation; the first one has to be what DKMS chose by itself.
fn on_kernel(kernel: &Kernel, about: &str, debs: &Debs, rows: &mut Vec<Row>) -> Result<()> {
    let system = System::build(kernel, debs)?;
    let guest = ScenarioGuest::from(&system)?;
    println!("Linux {kernel}: {about}");
    let outcomes = scenario::run_all_on(&guest, 2)?;
    let mut failures = 0;
    for &implementation in &guest.implementations {
        let choice = system.choice(implementation)?;
        let reason = choice.lines().find_map(|line| line.strip_prefix("building the "));
        let reason = reason.with_context(|| format!("DKMS's log for Linux {kernel} names no choice"))?;
        let expected = expected_reason(kernel, implementation);
        if !reason.contains(expected) {
            failures += 1;
            println!("FAIL reason for {implementation} on Linux {kernel}: `{reason}`, expected `{expected}`");
        }
        let failed = failed_with(implementation, &outcomes);
        failures += failed.len();
        rows.push(Row {
            kernel: kernel.release.clone(),
            about: about.to_owned(),
            implementation,
            reason: reason.to_owned(),
            scenarios: outcomes.len(),
            failed,
        });
    }
    if failures > 0 {
        bail!("{failures} failure(s) on Linux {kernel}");
    }
    Ok(())
}

/// Why DKMS has to choose this implementation: the three layouts that headers of distributions have.
fn expected_reason(kernel: &Kernel, implementation: Implementation) -> &'static str {
    match (implementation, kernel.rust, kernel.label) {
        (Implementation::Rust, ..) => "Rust implementation: the kernel, its metadata and the compilers allow it",
        (Implementation::C, false, _) => "was built without CONFIG_RUST",
        (Implementation::C, true, None) => "which external Rust modules need",
        (Implementation::C, true, Some(_)) => "asked for by TP2_IMPL=c",
    }
}

/// The scenarios that did not pass with this implementation.
fn failed_with(implementation: Implementation, outcomes: &[Outcome]) -> Vec<&'static str> {
    let other = |problem: &String| {
        [Implementation::Rust, Implementation::C]
            .iter()
            .any(|i| *i != implementation && problem.starts_with(&format!("{i}: ")))
    };
    outcomes.iter().filter(|outcome| outcome.problems.iter().any(|p| !other(p))).map(|outcome| outcome.name).collect()
}
