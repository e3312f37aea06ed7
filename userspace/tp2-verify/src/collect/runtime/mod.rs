// SPDX-License-Identifier: GPL-2.0-only

//! Asks the GPU runtime what it tells programs. The library is looked for, looked at, and then loaded by another process
//! with a time limit, so that whatever it does is an answer.

mod ask;
mod elf;
mod search;

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use clap::{Args, value_parser};

use super::Root;
use crate::facts::{
    ReadError, Reading,
    runtime::{Outcome, PassedOver, Runtime},
};

pub use elf::check;
pub use search::candidates;

/// Name under which the answer is recorded.
const QUESTION: &str = "runtime";
/// Environment variables that hide or reorder devices, or change what the runtime does.
const VARIABLES: [&str; 15] = [
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "CUDA_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "HSA_ENABLE_SDMA",
    "HSA_ENABLE_PEER_SDMA",
    "HSA_REV_COPY_DIR",
    "HSA_FORCE_FINE_GRAIN_PCIE",
    "HSA_OVERRIDE_GFX_VERSION",
    "HSA_XNACK",
    "HSA_ENABLE_IPC_MODE_LEGACY",
    "ROC_P2P_SDMA_SIZE",
    "GPU_MAX_HW_QUEUES",
    "AMD_LOG_LEVEL",
    "LD_LIBRARY_PATH",
];
/// Longest value that is kept.
const VALUE_LIMIT: usize = 512;

/// How the runtime is to be asked.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Ask this HIP runtime (libamdhip64) in place of the first that is found
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "no_runtime")]
    pub runtime_library: Option<PathBuf>,
    /// Do not load and ask the HIP runtime
    #[arg(long, global = true)]
    pub no_runtime: bool,
    /// How long the HIP runtime may take
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 20, value_parser = value_parser!(u64).range(1..=3600))]
    pub runtime_timeout: u64,
    /// The program that has the hidden subcommand: this one.
    #[arg(skip = PathBuf::from("/proc/self/exe"))]
    pub program: PathBuf,
    /// Variables for the process that asks, besides those of this one.
    #[arg(skip)]
    pub variables: Vec<(String, String)>,
}

impl Options {
    /// Nobody is asked.
    #[must_use]
    pub fn off() -> Self {
        Self {
            runtime_library: None,
            no_runtime: true,
            runtime_timeout: 1,
            program: PathBuf::new(),
            variables: Vec::new(),
        }
    }
}

/// Asks the machine's runtime, or tells what was recorded of it.
///
/// To be called after everything else was read: a runtime wakes GPUs that sleep.
pub(super) fn read(root: &Root, options: &Options) -> Reading<Runtime> {
    let text = root.ask(QUESTION, || {
        let answer = ask(options);
        serde_json::to_string(&answer).map_err(|error| ReadError::malformed(QUESTION, error.to_string()))
    })?;
    let other = |_| ReadError::malformed(QUESTION, "was recorded in a form that this version does not know");
    serde_json::from_str(&text).map_err(other)
}

/// Asks the runtime of the machine that this runs on.
#[must_use]
pub fn ask(options: &Options) -> Runtime {
    if options.no_runtime {
        return Runtime::ended(Outcome::SwitchedOff);
    }
    // musl's static dlopen() always fails, and glibc's wants the very glibc it was linked with.
    if cfg!(target_feature = "crt-static") {
        return Runtime::ended(Outcome::StaticBuild);
    }
    let found = match &options.runtime_library {
        // A name without a slash would be looked up by the loader. As it stands, not where links lead: the loader finds
        // what a library needs from there.
        Some(path) => vec![std::path::absolute(path).unwrap_or_else(|_| path.clone())],
        None => search::candidates(Path::new("/"), &|name| env::var_os(name)),
    };
    let (library, passed_over) = choose(&found);
    let mut runtime = match &library {
        Some(path) => ask::ask(path, options),
        None if found.is_empty() => Runtime::ended(Outcome::NotFound),
        None => Runtime::ended(Outcome::NoneFits),
    };
    runtime.library = library.map(|path| path.to_string_lossy().into_owned());
    runtime.passed_over = passed_over;
    runtime.environment = environment();
    runtime
}

/// The first that can be one; what is said of the others.
fn choose(found: &[PathBuf]) -> (Option<PathBuf>, Vec<PassedOver>) {
    let mut chosen: Option<PathBuf> = None;
    let mut passed_over = Vec::new();
    for path in found {
        let reason = match &chosen {
            Some(first) => format!("{} comes before it", first.display()),
            None => match elf::check_file(path) {
                Ok(()) => {
                    chosen = Some(path.clone());
                    continue;
                }
                Err(reason) => reason,
            },
        };
        passed_over.push(PassedOver { path: path.to_string_lossy().into_owned(), reason });
    }
    (chosen, passed_over)
}

fn environment() -> BTreeMap<String, String> {
    let set = VARIABLES.iter().filter_map(|name| {
        let value: String = env::var_os(name)?.to_string_lossy().chars().take(VALUE_LIMIT).collect();
        Some(((*name).to_owned(), value))
    });
    set.collect()
}
