// SPDX-License-Identifier: GPL-2.0-only

//! Asking a HIP runtime: whatever it does is an answer. The runtime is a stand-in, except where a test says otherwise.

#![allow(clippy::unwrap_used, reason = "what cannot be set up ends the test")]

mod support;

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use support::runtime::{BOTH, CARDS, ask, library, mock, options};
use tempfile::TempDir;
use tp2_verify::{
    collect::{
        Root, collect,
        runtime::{self, candidates},
    },
    facts::runtime::{Outcome, PeerAnswer, Runtime},
    runtime::NEEDED,
};

fn fault(fault: &str) -> [(&str, &str); 3] {
    [CARDS, BOTH, ("TP2_MOCK_FAULT", fault)]
}

#[test]
fn everything_is_asked() {
    let runtime = ask(&[
        ("TP2_MOCK_DEVICES", "0000:0A:00.0,10000:08:1f.7"),
        ("TP2_MOCK_PEERS", "01,00"),
        ("TP2_MOCK_VERSION", "60443484"),
    ]);
    assert_eq!(runtime.outcome, Outcome::Answered);
    assert_eq!(runtime.afterwards, None);
    assert_eq!(runtime.version, Some(60_443_484));
    let places: Vec<String> = runtime.devices.iter().map(|device| device.bdf.as_ref().unwrap().to_string()).collect();
    assert_eq!(places, ["0000:0a:00.0", "10000:08:1f.7"]);
    let peers: Vec<_> = runtime.peers.iter().map(|peer| (peer.from, peer.to, peer.answer)).collect();
    assert_eq!(peers, [(0, 1, PeerAnswer::Yes), (1, 0, PeerAnswer::No)]);
}

#[test]
fn every_ordered_pair_of_many() {
    let devices: Vec<String> = (0..64).map(|bus| format!("0000:{bus:02x}:00.0")).collect();
    let row = "1".repeat(64);
    let rows = vec![row.as_str(); 64].join(",");
    let runtime = ask(&[("TP2_MOCK_DEVICES", &devices.join(",")), ("TP2_MOCK_PEERS", &rows)]);
    assert_eq!((runtime.outcome, runtime.devices.len(), runtime.peers.len()), (Outcome::Answered, 64, 4032));
}

#[test]
fn a_crash_has_a_place_and_a_name() {
    for (what, how, during) in [
        ("load=abort", "signal 6 (SIGABRT)", "loading the library"),
        ("hipInit=segv", "signal 11 (SIGSEGV)", "hipInit"),
        ("hipRuntimeGetVersion=segv", "signal 11 (SIGSEGV)", "hipRuntimeGetVersion"),
        ("hipGetDeviceCount=abort", "signal 6 (SIGABRT)", "hipGetDeviceCount"),
        ("hipDeviceGetPCIBusId=segv", "signal 11 (SIGSEGV)", "hipDeviceGetPCIBusId of device 0"),
        ("hipDeviceCanAccessPeer=segv", "signal 11 (SIGSEGV)", "hipDeviceCanAccessPeer from device 0 to 1"),
    ] {
        let end = Outcome::Died { how: how.to_owned(), during: during.to_owned() };
        assert_eq!(ask(&fault(what)).outcome, end, "{what}");
    }
    // What was told before stands.
    assert_eq!(ask(&fault("hipDeviceCanAccessPeer=abort")).devices.len(), 2);
}

/// Asks with a short limit, and with a longer one where a busy machine did not get as far as `reached`.
fn ask_in_time(what: &str, reached: impl Fn(&Runtime) -> bool) -> Runtime {
    let mut options = options(&mock(), &fault(what));
    for limit in [1, 8, 64] {
        options.runtime_timeout = limit;
        let before = Instant::now();
        let runtime = runtime::ask(&options);
        assert!(before.elapsed() < Duration::from_secs(limit + 20), "{:?}", before.elapsed());
        if reached(&runtime) {
            return runtime;
        }
    }
    panic!("{what} was not reached in time");
}

#[test]
fn a_hang_ends_at_the_limit() {
    let is_hang = |runtime: &Runtime| matches!(&runtime.outcome, Outcome::TimedOut { during, unkillable: false, .. } if during == "hipInit");
    let runtime = ask_in_time("hipInit=hang", is_hang);
    assert!(runtime.devices.is_empty());
}

#[test]
fn trouble_at_the_end_does_not_spoil_the_answer() {
    let runtime = ask_in_time("exit=hang", |runtime| runtime.outcome == Outcome::Answered);
    assert_eq!(runtime.peers.len(), 2);
    assert!(matches!(runtime.afterwards, Some(Outcome::TimedOut { .. })));
    let runtime = ask(&fault("exit=abort"));
    assert_eq!(runtime.outcome, Outcome::Answered);
    let during = "ending the process".to_owned();
    assert_eq!(runtime.afterwards, Some(Outcome::Died { how: "signal 6 (SIGABRT)".to_owned(), during }));
}

#[test]
fn output_without_end_is_cut() {
    let is_cut =
        |runtime: &Runtime| matches!(&runtime.outcome, Outcome::Garbled { reason, .. } if reason.contains("more than"));
    ask_in_time("hipInit=flood", is_cut);
}

#[test]
fn nonsense_is_called_that() {
    for (what, words) in [
        ("hipGetDeviceCount=value:257", "257 devices"),
        ("hipGetDeviceCount=value:-5", "-5 devices"),
        ("hipGetDeviceCount=silent", "-1 devices"),
        ("hipInit=exit", "before it had told everything"),
    ] {
        let runtime = ask(&fault(what));
        assert!(
            matches!(&runtime.outcome, Outcome::Garbled { reason, .. } if reason.contains(words)),
            "{what}: {runtime:?}"
        );
    }
}

#[test]
fn codes_are_kept() {
    let refused = |call: &str, code| Outcome::Refused { call: call.to_owned(), code };
    assert_eq!(ask(&fault("hipInit=999")).outcome, refused("hipInit", 999));
    assert_eq!(ask(&fault("hipGetDeviceCount=100")).outcome, refused("hipGetDeviceCount", 100));
    assert_eq!(ask(&[]).outcome, refused("hipInit", 100));
    let answers = |what| ask(&fault(what)).peers.iter().map(|peer| peer.answer).collect::<Vec<_>>();
    assert_eq!(answers("hipDeviceCanAccessPeer=101"), [PeerAnswer::Code(101); 2]);
    assert_eq!(answers("hipDeviceCanAccessPeer=silent"), [PeerAnswer::Odd(-1); 2]);
    assert_eq!(answers("hipDeviceCanAccessPeer=value:7"), [PeerAnswer::Odd(7); 2]);
    let places = |what| ask(&fault(what)).devices.into_iter().map(|device| device.bdf.unwrap_err()).collect::<Vec<_>>();
    assert_eq!(places("hipDeviceGetPCIBusId=1"), ["error 1"; 2]);
    assert_eq!(places("hipDeviceGetPCIBusId=silent"), ["\"\""; 2]);
}

#[test]
fn a_long_address_is_cut_and_refused() {
    let long = "z".repeat(300);
    let runtime = ask(&[("TP2_MOCK_DEVICES", &long), ("TP2_MOCK_PEERS", "0")]);
    assert_eq!(runtime.devices[0].bdf, Err(format!("{:?}", "z".repeat(31))));
}

#[test]
fn chatter_is_no_answer_and_kept_short() {
    let runtime = ask(&fault("hipDeviceCanAccessPeer=chat,load=chat"));
    assert_eq!((runtime.outcome, runtime.peers.len()), (Outcome::Answered, 2));
    assert!(runtime.stderr.contains("hipDeviceCanAccessPeer works as always"), "{}", runtime.stderr);
    let folder = TempDir::new().unwrap();
    let loud = "#include <stdio.h>\n__attribute__((constructor)) static void talk(void)\
                { for (int i = 0; i < 100000; i++) fputs(\"0123456789\", stderr); }";
    let runtime = runtime::ask(&options(&stub(folder.path(), loud, &NEEDED), &[]));
    assert_eq!(runtime.stderr.len(), 8192);
}

fn bodies(functions: &[&str]) -> String {
    let bodies: Vec<String> = functions.iter().map(|name| format!("int {name}(void) {{ return 100; }}")).collect();
    bodies.join("\n")
}

/// A library with these functions, all of which return 100.
fn stub(folder: &Path, begin: &str, functions: &[&str]) -> std::path::PathBuf {
    library(folder, "libamdhip64.so.7", &format!("{begin}\n{}", bodies(functions)), &[])
}

#[test]
fn a_library_is_looked_at_before_it_is_loaded() {
    let folder = TempDir::new().unwrap();
    // If its code ran, there would be a crash.
    let trap = "#include <stdlib.h>\n__attribute__((constructor)) static void trap(void) { abort(); }";
    let old = stub(folder.path(), trap, &NEEDED[..3]);
    let text = folder.path().join("text");
    fs::write(&text, "/* GNU ld script */").unwrap();
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let program = Path::new(env!("CARGO_BIN_EXE_tp2-verify"));
    let absent = folder.path().join("absent");
    for (path, words) in [
        (old.as_path(), "does not have hipDeviceCanAccessPeer"),
        (&text, "not a readable ELF file"),
        (&fifo, "a FIFO, socket or device"),
        (folder.path(), "a directory"),
        (program, "does not have hipInit"),
        (&absent, "no such file"),
    ] {
        let runtime = runtime::ask(&options(path, &[]));
        assert_eq!(runtime.outcome, Outcome::NoneFits, "{words}");
        assert!(runtime.passed_over[0].reason.contains(words), "{:?}", runtime.passed_over);
    }
}

#[test]
fn only_imported_functions_are_none() {
    let folder = TempDir::new().unwrap();
    let calls = "int hipInit(int); int hipGetDeviceCount(int *); int hipDeviceGetPCIBusId(char *, int, int);\
                 int hipDeviceCanAccessPeer(int *, int, int); int use(void)\
                 { return hipInit(0) + hipGetDeviceCount(0) + hipDeviceGetPCIBusId(0, 0, 0) + hipDeviceCanAccessPeer(0, 0, 0); }";
    let path = library(folder.path(), "libuser.so", calls, &[]);
    let runtime = runtime::ask(&options(&path, &[]));
    assert!(runtime.passed_over[0].reason.contains("does not have hipInit"), "{:?}", runtime.passed_over);
}

#[test]
fn a_library_that_lacks_another_is_not_loaded() {
    let folder = TempDir::new().unwrap();
    let other = library(folder.path(), "libhsa-gone.so.1", "int hsa_gone;", &[]);
    let path =
        library(folder.path(), "libamdhip64.so.6", &bodies(&NEEDED), &["-Wl,--no-as-needed", "libhsa-gone.so.1"]);
    fs::remove_file(other).unwrap();
    let runtime = runtime::ask(&options(&path, &[]));
    assert!(
        matches!(&runtime.outcome, Outcome::NotLoaded { reason } if reason.contains("libhsa-gone.so.1")),
        "{runtime:?}"
    );
}

#[test]
fn a_process_that_cannot_start_is_an_answer() {
    let mut options = options(&mock(), &[]);
    options.program = "/nowhere/tp2-verify".into();
    assert!(matches!(runtime::ask(&options).outcome, Outcome::NotStarted { .. }));
    // One that knows nothing of the subcommand.
    options.program = "/bin/true".into();
    assert!(matches!(runtime::ask(&options).outcome, Outcome::Garbled { .. }));
}

#[test]
fn search_has_an_order() {
    let base = TempDir::new().unwrap();
    let put = |path: &str| {
        let full = base.path().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, path).unwrap();
    };
    for path in [
        "usr/lib/x86_64-linux-gnu/libamdhip64.so.5",
        "usr/lib/x86_64-linux-gnu/libamdhip64.so.11",
        "usr/lib/x86_64-linux-gnu/libamdhip64.so.9",
        "usr/lib/x86_64-linux-gnu/libamdhip64.so.9.1",
        "configured/libamdhip64.so.6",
        "opt/rocm/lib/libamdhip64.so.7",
        "opt/rocm-6.4.3/lib/libamdhip64.so.6",
        "opt/rocm-6.10.0/lib/libamdhip64.so.6",
        "opt/rocm/core-7/lib/libamdhip64.so.7",
        "chosen/lib/libamdhip64.so",
        "preloaded/libamdhip64.so.7",
        "relative/libamdhip64.so.7",
        "venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.7",
    ] {
        put(path);
    }
    fs::create_dir_all(base.path().join("etc/ld.so.conf.d")).unwrap();
    fs::write(base.path().join("etc/ld.so.conf.d/rocm.conf"), "# here\n/configured # and no more\n").unwrap();
    // The same file again, and one that leads nowhere.
    symlink("libamdhip64.so.5", base.path().join("usr/lib/x86_64-linux-gnu/libamdhip64.so")).unwrap();
    symlink("gone", base.path().join("configured/libamdhip64.so.5")).unwrap();
    // From the working folder to one that has a library: it is passed over.
    let depth = std::env::current_dir().unwrap().components().count();
    let relative =
        format!("{}{}", "../".repeat(depth), base.path().join("relative").strip_prefix("/").unwrap().display());
    assert!(Path::new(&relative).join("libamdhip64.so.7").exists());
    let variable = |name: &str| {
        let value = match name {
            "ROCM_PATH" => "chosen",
            "VIRTUAL_ENV" => "venv",
            "LD_LIBRARY_PATH" => {
                return Some(format!(":{relative}:{}", base.path().join("preloaded").display()).into());
            }
            _ => return None,
        };
        Some(base.path().join(value).into())
    };
    let found = candidates(base.path(), &variable);
    let names: Vec<&str> = found.iter().map(|path| path.strip_prefix(base.path()).unwrap().to_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "chosen/lib/libamdhip64.so",
            "venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.7",
            "preloaded/libamdhip64.so.7",
            "configured/libamdhip64.so.6",
            "usr/lib/x86_64-linux-gnu/libamdhip64.so.5",
            "usr/lib/x86_64-linux-gnu/libamdhip64.so.9",
            "usr/lib/x86_64-linux-gnu/libamdhip64.so.11",
            "opt/rocm/lib/libamdhip64.so.7",
            "opt/rocm/core-7/lib/libamdhip64.so.7",
            "opt/rocm-6.10.0/lib/libamdhip64.so.6",
            "opt/rocm-6.4.3/lib/libamdhip64.so.6",
        ]
    );
}

/// The tool as a user runs it, on the machine that runs the tests.
fn live(arguments: &[&str], variables: &[(&str, &str)]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tp2-verify"));
    let output = command.arg("--json").args(arguments).envs(variables.iter().copied()).output().unwrap();
    let value = serde_json::from_slice(&output.stdout).unwrap();
    support::validate(&value);
    value
}

fn of_host(report: &Value) -> (&str, &str) {
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["gate"] == "pair.runtime").unwrap();
    (finding["status"].as_str().unwrap(), finding["summary"].as_str().unwrap())
}

#[test]
fn options_reach_the_runtime() {
    let path = mock();
    let mock = ["--runtime-library", path.to_str().unwrap()];
    let report = live(&mock, &[CARDS, BOTH, ("TP2_MOCK_VERSION", "60443484")]);
    let (status, summary) = of_host(&report);
    assert_eq!(status, "pass");
    assert!(summary.ends_with("(HIP 6.4.43484) answered for 2 devices"), "{summary}");
    let report = live(&mock, &fault("hipInit=segv"));
    assert_eq!(of_host(&report).0, "fail");
    assert!(of_host(&report).1.contains("signal 11 (SIGSEGV), during hipInit"));
    let report = live(&[mock[0], mock[1], "--runtime-timeout", "1"], &fault("hipInit=hang"));
    assert!(of_host(&report).1.contains("did not answer within 1 s"));
    assert_eq!(
        of_host(&live(&["--no-runtime"], &[])),
        ("skip", "the HIP runtime was not asked: --no-runtime was given")
    );
}

#[test]
fn a_captured_tree_is_not_asked() {
    let tree = support::two_cards("8086:6f00");
    let path = mock();
    let run = tree.run(&["--json", "--runtime-library", path.to_str().unwrap()]);
    let report = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(of_host(&report), ("skip", "the HIP runtime can only be asked on the running machine"));
}

/// A report holds what was said, and asks nobody where it is opened.
#[test]
fn a_replay_tells_what_was_recorded() {
    let root = Root::open(Path::new("/")).unwrap().recording();
    let said = collect(&root, &options(&mock(), &[CARDS, BOTH]));
    assert_eq!(said.runtime.as_ref().unwrap().outcome, Outcome::Answered);
    let there = collect(&Root::replay(root.record()), &options(Path::new("/nowhere"), &[]));
    assert_eq!((there.runtime, there.device_access), (said.runtime, said.device_access));
}

/// Children of a process, from the parent IDs in `/proc`.
fn children(parent: u32) -> Vec<String> {
    let is_child = |status: &str| status.lines().any(|line| line == format!("PPid:\t{parent}"));
    let pids = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let numbers = pids.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    numbers.filter(|pid| is_child(&fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default())).collect()
}

fn within_seconds<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it did not happen within 60 s");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn nothing_is_left_when_the_tool_is_killed() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tp2-verify"));
    command.arg("--runtime-library").arg(mock()).envs(fault("hipInit=hang")).stdout(Stdio::null());
    let mut tool = command.spawn().unwrap();
    let child = within_seconds(|| children(tool.id()).pop());
    // Long enough for it to hang rather than to start.
    thread::sleep(Duration::from_millis(500));
    tool.kill().unwrap();
    tool.wait().unwrap();
    within_seconds(|| {
        let status = fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
        // A process that nobody waits for stays as a zombie.
        (status.is_empty() || status.contains("State:\tZ")).then_some(())
    });
}

/// With a real library and no GPU. It runs where `TP2_REAL_HIP` names one, such as Debian's `libamdhip64.so.5`, whose
/// folder holds what it needs, too.
#[test]
fn a_real_runtime_without_a_device() {
    let Some(path) = std::env::var_os("TP2_REAL_HIP") else {
        println!("TP2_REAL_HIP is not set: nothing was tested here");
        return;
    };
    let path = Path::new(&path);
    let folder = path.parent().unwrap().to_str().unwrap();
    let runtime = runtime::ask(&options(path, &[("LD_LIBRARY_PATH", folder)]));
    println!("{runtime:#?}");
    assert!(runtime.version.is_some());
    match &runtime.outcome {
        Outcome::Refused { call, code: 100 | 101 } if call == "hipInit" => {}
        // A developer's machine may have what that of CI lacks.
        Outcome::Answered if Path::new("/dev/kfd").exists() => {}
        _ => panic!("{runtime:?}"),
    }
    assert_eq!(runtime.afterwards, None);
}
