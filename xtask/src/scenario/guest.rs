// SPDX-License-Identifier: GPL-2.0-only
//! A scenario's guest: asks the kernel and reads the module's state; problems are collected, not thrown.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Expect;
use super::parity::{self, Trace};
use crate::guest::{self, Implementation, SELECTED_MODULE};
use crate::vm::machine::Machine;
use crate::vm::{Answer, Vm};

const STATE: &str = "/sys/module/tp2_p2pdma/override";
/// There with `CONFIG_DEBUG_KMEMLEAK`.
const KMEMLEAK: &str = "/sys/kernel/debug/kmemleak";
/// The longest a single command may take: a million calls under emulation.
const COMMAND_LIMIT: Duration = Duration::from_secs(600);

/// The guest of one scenario.
pub(super) struct Guest {
    vm: Vm,
    addresses: BTreeMap<&'static str, String>,
    problems: Vec<String>,
    /// The implementation that is being tried.
    implementation: Option<Implementation>,
    trace: Trace,
    /// Length of the console when the implementation's turn began.
    console_before: usize,
}

impl Guest {
    /// Finds the machine's functions in the guest.
    pub(super) fn new(mut vm: Vm, machine: &Machine) -> Result<Self> {
        let mut addresses = BTreeMap::new();
        for function in &machine.functions {
            addresses.insert(function.name, vm.find(function)?);
        }
        Ok(Self {
            vm,
            addresses,
            problems: Vec::new(),
            implementation: None,
            trace: Trace::default(),
            console_before: 0,
        })
    }

    /// Puts the module of this implementation, and DKMS's records of it, where the system's own would be.
    pub(super) fn begin(&mut self, implementation: Implementation) -> Result<()> {
        self.implementation = Some(implementation);
        self.console_before = self.vm.console().len();
        self.vm.get(&guest::select(implementation))?;
        let modinfo = self.vm.get(&format!("/usr/bin/modinfo {SELECTED_MODULE}"))?;
        self.trace.note("modinfo", parity::comparable_modinfo(&modinfo));
        Ok(())
    }

    /// Ends the implementation's turn: all that it showed.
    pub(super) fn end(&mut self) -> Trace {
        let log = self.new_log_lines();
        self.trace.note("kernel log", log);
        self.implementation = None;
        std::mem::take(&mut self.trace)
    }

    /// For log lines whose number and order depend on other tasks: only which there are is compared.
    pub(super) fn note_distinct_log_lines(&mut self) {
        let log = self.new_log_lines();
        let distinct: std::collections::BTreeSet<&str> = log.lines().collect();
        self.trace.note("distinct lines of the kernel log", distinct.into_iter().collect::<Vec<_>>().join("\n"));
    }

    /// The module's log lines since the last call, or since the implementation's turn began.
    fn new_log_lines(&mut self) -> String {
        let console = self.vm.console();
        let lines = parity::own_log_lines(console.get(self.console_before..).unwrap_or_default());
        self.console_before = console.len();
        lines
    }

    /// The problems found, and the console.
    pub(super) fn finish(self) -> (Vec<String>, String) {
        let console = self.vm.console();
        (self.problems, console)
    }

    /// Notes a problem; the scenario goes on.
    pub(super) fn problem(&mut self, problem: String) {
        self.problems.push(match self.implementation {
            Some(implementation) => format!("{implementation}: {problem}"),
            None => problem,
        });
    }

    /// Notes a problem when `holds` is false.
    pub(super) fn check(&mut self, what: &str, holds: bool) {
        if !holds {
            self.problem(format!("{what}: does not hold"));
        }
    }

    /// Notes a problem when the two differ.
    pub(super) fn same<T: PartialEq + Display + ?Sized>(&mut self, what: &str, found: &T, expected: &T) {
        if found != expected {
            self.problem(format!("{what}: found {found}, expected {expected}"));
        }
    }

    /// The PCI address of a function of the machine.
    pub(super) fn address(&self, name: &str) -> Result<&str> {
        self.addresses.get(name).map(String::as_str).with_context(|| format!("the machine has no function {name}"))
    }

    /// Replaces `{a}` by the address of function `a`.
    pub(super) fn fill(&self, template: &str) -> String {
        self.addresses
            .iter()
            .fold(template.to_owned(), |text, (name, address)| text.replace(&format!("{{{name}}}"), address))
    }

    /// Runs a script that has to succeed, addresses filled in.
    pub(super) fn get(&mut self, script: &str) -> Result<String> {
        let script = self.fill(script);
        self.vm.get(&script)
    }

    /// Runs a script that may fail, addresses filled in.
    pub(super) fn run(&mut self, script: &str) -> Result<Answer> {
        let script = self.fill(script);
        self.vm.run(&script, COMMAND_LIMIT)
    }

    /// Asks the kernel for the distance the way amdgpu does.
    pub(super) fn ask(&mut self, provider: &str, client: &str) -> Result<i32> {
        let addresses = (self.address(provider)?.to_owned(), self.address(client)?.to_owned());
        let answer = self.vm.ask(&addresses.0, &addresses.1)?;
        self.trace.note(format!("answer {provider}->{client}"), answer.to_string());
        Ok(answer)
    }

    /// See [`Vm::kernel_memory_kib`].
    pub(super) fn kernel_memory_kib(&mut self) -> Result<i64> {
        self.vm.kernel_memory_kib()
    }

    /// Whether the kernel looks for leaks itself.
    pub(super) fn looks_for_leaks(&mut self) -> Result<bool> {
        Ok(self.vm.run(&format!("[ -e {KMEMLEAK} ]"), COMMAND_LIMIT)?.status == 0)
    }

    /// Forgets leaks that are not of the scenario, on kernels that look for leaks.
    pub(super) fn clear_leaks(&mut self) -> Result<()> {
        self.vm.get(&format!("[ ! -e {KMEMLEAK} ] || {{ echo scan >{KMEMLEAK} && echo clear >{KMEMLEAK}; }}")).map(drop)
    }

    /// Notes what leaked, on kernels that look for leaks. One that gave up (no memory for its records) refuses the scan.
    pub(super) fn check_leaks(&mut self) -> Result<()> {
        // Younger objects than 5 s are not looked at (mm/kmemleak.c, Linux 7.3).
        let found = self.vm.get(&format!(
            "[ ! -e {KMEMLEAK} ] || {{ sleep 6; echo scan >{KMEMLEAK} && echo scan >{KMEMLEAK} && cat {KMEMLEAK}; }}"
        ))?;
        self.check(&format!("no memory leaked ({found})"), found.is_empty());
        Ok(())
    }

    /// Loads the module; a failure is an error.
    ///
    /// Modules are loaded by kmod's insmod, named by its path: busybox's own tries a refused module twice.
    pub(super) fn load(&mut self, params: &str) -> Result<()> {
        self.get(&format!("/usr/bin/insmod {SELECTED_MODULE} {params}")).map(drop)
    }

    /// Tries to load the module with one parameter, quoted.
    pub(super) fn try_load(&mut self, parameter: &str) -> Result<Answer> {
        let answer = self.run(&format!("/usr/bin/insmod {SELECTED_MODULE} '{parameter}'"))?;
        self.trace.note(format!("load with {parameter}"), format!("{} {}", answer.status, answer.text));
        Ok(answer)
    }

    /// Unloads the module.
    pub(super) fn unload(&mut self) -> Result<()> {
        self.get("/usr/bin/rmmod tp2_p2pdma").map(drop)
    }

    /// One of the module's state files.
    pub(super) fn state(&mut self, file: &str) -> Result<String> {
        let value = self.vm.get(&format!("cat {STATE}/{file}"))?;
        // These two have to differ.
        if !file.starts_with("implementation") {
            self.trace.note(format!("state file {file}"), value.as_str());
        }
        Ok(value)
    }

    /// Every file of the module in sysfs with mode and content, for the comparison of the implementations.
    pub(super) fn note_sysfs(&mut self) -> Result<()> {
        let files = self.vm.get(
            "cd /sys/module/tp2_p2pdma && for f in $(find . -type f ! -path './sections/*' ! -path './notes/*' | sort); do
                case $f in */implementation* | */coresize | */initsize | */srcversion | */uevent | */refcnt) continue ;; esac
                echo \"$f $(stat -c %a $f) $(cat $f)\"
            done",
        )?;
        self.trace.note("files in sysfs", files);
        Ok(())
    }

    /// One of the module's counters.
    pub(super) fn counter(&mut self, file: &str) -> Result<u64> {
        let text = self.state(file)?;
        text.parse().with_context(|| format!("{STATE}/{file} holds `{text}`, not a number"))
    }

    /// The rows of the module's pair table, keyed by provider and client.
    pub(super) fn pair_table(&mut self) -> Result<BTreeMap<(String, String), PairRow>> {
        let text = self.vm.get("cat /sys/kernel/debug/tp2_p2pdma/pairs")?;
        self.trace.note("pair table", text.as_str());
        let mut rows = BTreeMap::new();
        let mut lines = text.lines();
        self.same(
            "header of the pair table",
            lines.next().unwrap_or_default(),
            "provider client calls kernel_answer answer rule",
        );
        for line in lines.filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split(' ').collect();
            let [provider, client, calls, kernel, answer, rule] = fields[..] else {
                bail!("the pair table has the line `{line}`");
            };
            let row = PairRow {
                calls: calls.parse()?,
                kernel: kernel.parse()?,
                answer: answer.parse()?,
                rule: rule.to_owned(),
            };
            if rows.insert((provider.to_owned(), client.to_owned()), row).is_some() {
                self.problem(format!("the pair table has two lines for {provider} {client}"));
            }
        }
        Ok(rows)
    }

    /// The pair table must have exactly the expected pairs, with answers and rules.
    pub(super) fn compare_pair_table(&mut self, expects: &[Expect]) -> Result<()> {
        let mut rows = self.pair_table()?;
        for expect in expects.iter().filter(|e| !e.rule.is_empty()) {
            let key = (self.address(expect.provider)?.to_owned(), self.address(expect.client)?.to_owned());
            let what = format!("pair table, {}->{}", expect.provider, expect.client);
            match rows.remove(&key) {
                Some(row) => {
                    self.same(&format!("{what}, kernel_answer"), &row.kernel, &expect.kernel);
                    self.same(&format!("{what}, answer"), &row.answer, &expect.answer);
                    self.same(&format!("{what}, rule"), row.rule.as_str(), expect.rule);
                    self.same(&format!("{what}, calls"), &row.calls, &1);
                }
                None => self.problem(format!("{what}: no line")),
            }
        }
        for (provider, client) in rows.keys() {
            self.problem(format!("pair table: unexpected line for {provider} {client}"));
        }
        Ok(())
    }

    /// The counters must follow from the expected answers; the hook must act and miss nothing.
    pub(super) fn compare_state(&mut self, expects: &[Expect]) -> Result<()> {
        let seen = expects.iter().filter(|e| !e.rule.is_empty());
        let calls = seen.clone().count() as u64;
        let overridden = seen.clone().filter(|e| e.answer != e.kernel).count() as u64;
        let refused = seen.filter(|e| e.answer < 0).count() as u64;
        for (file, expected) in [("calls", calls), ("overridden", overridden), ("refused", refused), ("missed", 0)] {
            let found = self.counter(file)?;
            self.same(&format!("state file {file}"), &found, &expected);
        }
        let self_test = self.state("self_test")?;
        self.same("state file self_test", self_test.as_str(), "pass");
        let implementation = self.state("implementation")?;
        let expected = self.implementation.map_or("", Implementation::name);
        self.same("state file implementation", implementation.as_str(), expected);
        let reason = self.state("implementation_reason")?;
        self.check("state file implementation_reason gives a reason", !reason.is_empty());
        Ok(())
    }

    /// What `tp2-verify --json` reports now.
    pub(super) fn verify(&mut self) -> Result<Value> {
        let answer = self.run("tp2-verify --json 2>/run/tp2-verify.err")?;
        let report: Value = serde_json::from_str(&answer.text)
            .with_context(|| format!("tp2-verify --json printed `{}`", answer.text))?;
        let exit = report["exit"].as_i64().unwrap_or(-1);
        self.same("exit status of tp2-verify and its JSON", &i64::from(answer.status), &exit);
        Ok(report)
    }

    /// tp2-verify's prediction must be what the kernel said, for every GPU pair it judges.
    pub(super) fn compare_predictions(&mut self, expects: &[Expect]) -> Result<()> {
        let report = self.verify()?;
        let mut compared = 0;
        for expect in expects {
            let (provider, client) =
                (self.address(expect.provider)?.to_owned(), self.address(expect.client)?.to_owned());
            let Some(predicted) = predicted_answer(&report, &provider, &client) else {
                continue;
            };
            compared += 1;
            match predicted.as_i64() {
                Some(answer) => self.same(
                    &format!("prediction {}->{}", expect.provider, expect.client),
                    &answer,
                    &i64::from(expect.kernel),
                ),
                None => self.problem(format!("prediction {}->{}: {predicted}", expect.provider, expect.client)),
            }
        }
        self.check("tp2-verify predicts at least one pair", compared > 0);
        Ok(())
    }

    /// A gate of a tp2-verify report must have this status wherever it appears.
    pub(super) fn gate(&mut self, report: &Value, gate: &str, status: &str) {
        let found: Vec<String> = report["findings"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|finding| finding["gate"] == gate)
            .map(|finding| finding["status"].as_str().unwrap_or_default().to_owned())
            .collect();
        if found.is_empty() || found.iter().any(|s| s != status) {
            self.problem(format!("tp2-verify gate {gate}: found {found:?}, expected {status}"));
        }
    }
}

/// One line of the module's pair table.
pub(super) struct PairRow {
    /// Calls for this ordered pair.
    pub(super) calls: u64,
    /// The kernel's own answer.
    pub(super) kernel: i32,
    /// The answer given.
    pub(super) answer: i32,
    /// The rule that decided.
    pub(super) rule: String,
}

/// The predicted answer for an ordered pair in a report, if the report judges the pair.
fn predicted_answer(report: &Value, provider: &str, client: &str) -> Option<Value> {
    report["pairs"].as_array()?.iter().find_map(|pair| {
        let direction = if pair["a"] == provider && pair["b"] == client {
            "a_to_b"
        } else if pair["a"] == client && pair["b"] == provider {
            "b_to_a"
        } else {
            return None;
        };
        Some(pair["distance"][direction]["expected"].clone())
    })
}
