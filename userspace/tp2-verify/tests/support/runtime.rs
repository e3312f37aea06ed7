// SPDX-License-Identifier: GPL-2.0-only

//! Asks the stand-in for a HIP runtime, on the way that the tool takes. What it says is simulated.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tp2_verify::{
    collect::{Root, collect, runtime},
    facts::{
        Facts,
        runtime::{Device, Outcome, Peer, PeerAnswer, Runtime},
    },
    report,
};

use super::{Tree, validate};

/// The two cards of [`super::two_cards`], as `TP2_MOCK_DEVICES` wants them.
pub(crate) const CARDS: (&str, &str) = ("TP2_MOCK_DEVICES", "0000:05:00.0,0000:08:00.0");
/// Each reaches the other.
pub(crate) const BOTH: (&str, &str) = ("TP2_MOCK_PEERS", "01,10");
/// None reaches the other.
pub(crate) const NONE: (&str, &str) = ("TP2_MOCK_PEERS", "00,00");

/// Where cargo puts the library that it builds for these tests: beside them, or, as root of a build, one up.
pub(crate) fn mock() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.parent().unwrap().join("libtp2_mock_runtime.so");
    assert!(path.exists(), "cargo did not build {}", path.display());
    path
}

/// Options that name this library and set these variables.
pub(crate) fn options(library: &Path, variables: &[(&str, &str)]) -> runtime::Options {
    runtime::Options {
        runtime_library: Some(library.to_owned()),
        no_runtime: false,
        // Long, because tests run beside builds; those of the limit set their own.
        runtime_timeout: 120,
        program: env!("CARGO_BIN_EXE_tp2-verify").into(),
        variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    }
}

/// What came of asking the stand-in.
pub(crate) fn ask(variables: &[(&str, &str)]) -> Runtime {
    runtime::ask(&options(&mock(), variables))
}

/// Facts of a tree, to which a runtime is added.
pub(crate) fn facts(tree: &Tree, runtime: Runtime) -> Facts {
    let root = Root::open(tree.path()).unwrap();
    // A tree is asked nothing, so that these options are of no account.
    let mut facts = collect(&root, &options(Path::new("/nowhere"), &[]));
    assert!(facts.runtime.as_ref().is_err_and(tp2_verify::facts::ReadError::is_absent));
    facts.runtime = Ok(runtime);
    // Facts travel in reports.
    let text = serde_json::to_string(&facts).unwrap();
    assert_eq!(serde_json::from_str::<Facts>(&text).unwrap(), facts);
    facts
}

/// The report as JSON, which the schema must accept.
pub(crate) fn judge(facts: &Facts) -> Value {
    let value = serde_json::to_value(report::make(facts)).unwrap();
    validate(&value);
    value
}

/// The last finding of a gate: with `pair.runtime` the pair's, if it came to that.
pub(crate) fn last<'a>(report: &'a Value, gate: &str) -> &'a Value {
    report["findings"].as_array().unwrap().iter().rfind(|finding| finding["gate"] == gate).unwrap()
}

/// Compiles C to a shared library.
pub(crate) fn library(folder: &Path, name: &str, source: &str, more: &[&str]) -> PathBuf {
    let (from, to) = (folder.join(format!("{name}.c")), folder.join(name));
    fs::write(&from, source).unwrap();
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-o"]).arg(&to).arg(&from).args(more).current_dir(folder);
    assert!(command.status().unwrap().success());
    to
}

/// What a runtime says that was asked about the two cards of [`super::two_cards`]: whether the second can reach the first,
/// and the other way. Nobody is asked.
pub(crate) fn saying(there: Option<PeerAnswer>, back: Option<PeerAnswer>) -> Runtime {
    let mut runtime = Runtime::ended(Outcome::Answered);
    runtime.library = Some("libamdhip64.so.7".to_owned());
    runtime.devices = ["0000:05:00.0", "0000:08:00.0"]
        .iter()
        .zip(0..)
        .map(|(bdf, index)| Device { index, bdf: Ok(bdf.parse().unwrap()) })
        .collect();
    let peers = [(1, 0, there), (0, 1, back)];
    runtime.peers =
        peers.into_iter().filter_map(|(from, to, answer)| Some(Peer { from, to, answer: answer? })).collect();
    runtime
}
