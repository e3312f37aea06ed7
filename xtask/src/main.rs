// SPDX-License-Identifier: GPL-2.0-only
//! `cargo xtask`: everything behind the Makefile.

mod bench;
mod builds;
mod cache;
mod check;
mod cmd;
mod deb;
mod demo;
mod drift;
mod full;
mod fuzz;
mod guest;
mod host;
mod images;
mod kernel;
mod progress;
mod real_runtime;
mod scenario;
mod static_build;
mod test;
mod upgrade;
mod vm;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Builds, tests and shows tp2; the Makefile is its front door")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the override at work in a real Debian system on a virtual X99-like machine.
    Demo,
    /// Build the Debian packages into target/deb.
    Deb,
    /// Build tp2-verify as one static file for x86-64, whatever C library a machine has.
    Static,
    /// Run the VM scenarios.
    Vm {
        /// Only name the scenarios.
        #[arg(long)]
        list: bool,
        /// Run this scenario; may be given more than once. All run when left out.
        #[arg(long = "scenario", value_name = "NAME")]
        scenarios: Vec<String>,
        /// Only this implementation. All that the kernel can carry are tried, and compared, when left out.
        #[arg(long = "impl", value_name = "NAME")]
        implementation: Option<guest::Implementation>,
        /// On a kernel of our own instead of the stock ones; `cargo xtask kernel` names them.
        #[arg(long, value_name = "LABEL")]
        kernel: Option<String>,
        /// Virtual machines at a time.
        #[arg(long, default_value_t = 2)]
        jobs: usize,
    },
    /// Measure what the module costs: build time, sizes, memory, nanoseconds and instructions a call.
    Bench,
    /// Build the module with one thing broken at a time: wrong compilers, damaged metadata, read-only sources.
    Builds,
    /// Make initramfs images with the real tools and read them with tp2-verify.
    Images,
    /// Upgrade the kernel of a guest with the packages installed, boot it, purge the packages.
    Upgrade,
    /// Compare a kernel's sources with what the project assumes of them.
    Drift {
        /// A source tree, or a Debian package of one. May be given more than once.
        #[arg(long = "source", value_name = "DIR|linux-source-X.Y", required = true)]
        sources: Vec<String>,
        /// Write what is read into the host-bridge table and the assumed functions.
        #[arg(long)]
        write: bool,
    },
    /// Check formatting, lints, licences, versions, shell scripts and the module's kernel style.
    Check,
    /// Everything that must pass: checks, unit tests, kernel sources, package audit, VM scenarios, upgrade path.
    Test,
    /// Fuzz the rule book and the parsers.
    Fuzz {
        /// Which targets; all when left out.
        #[arg(value_name = "TARGET")]
        targets: Vec<String>,
        /// Seconds for each.
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// Executions of each, whatever time they take.
        #[arg(long, conflicts_with = "seconds")]
        runs: Option<u64>,
    },
    /// Build kernels of our own for the full test; without a label, name them.
    Kernel {
        /// Which ones.
        #[arg(value_name = "LABEL")]
        labels: Vec<String>,
    },
    /// The test, then all scenarios on every kernel that we know how to get; writes docs/kernel-support.md. Takes hours.
    TestFull {
        /// Only these: parts, newest, previous, rebuild, or the label of a kernel.
        #[arg(value_name = "PIECE")]
        only: Vec<String>,
    },
    /// Install the Debian packages that all of this needs (when root), or name them.
    Prepare,
}

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Demo => demo::run(),
        Command::Deb => deb::command(),
        Command::Static => static_build::command(),
        Command::Vm { list: true, .. } => {
            scenario::list();
            Ok(())
        }
        Command::Vm { scenarios, implementation, kernel, jobs, .. } => host::prepare().and_then(|()| match &kernel {
            Some(label) => scenario::run_on_own(label, &scenarios, implementation, jobs),
            None => scenario::run(&scenarios, implementation, jobs),
        }),
        Command::Bench => host::prepare().and_then(|()| bench::run()),
        Command::Builds => host::prepare().and_then(|()| builds::run()),
        Command::Images => host::prepare().and_then(|()| images::run()),
        Command::Upgrade => host::prepare().and_then(|()| upgrade::run()),
        Command::Drift { sources, write } => drift::run(&sources, write),
        Command::Check => host::prepare().and_then(|()| check::run()),
        Command::Test => test::run(),
        Command::Fuzz { targets, seconds, runs } => {
            fuzz::run(&targets, runs.map_or(fuzz::Until::Seconds(seconds), fuzz::Until::Runs))
        }
        Command::Kernel { labels } => kernel::command(&labels),
        Command::TestFull { only } => full::run(&only),
        Command::Prepare => host::prepare(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
