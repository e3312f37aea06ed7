// SPDX-License-Identifier: GPL-2.0-only

//! `kernel.kprobes`: what the module's hook needs: `CONFIG_KPROBES`, `CONFIG_KRETPROBES`, and, where probes ride on
//! ftrace (`CONFIG_KPROBES_ON_FTRACE`), up to Linux 7.2 the sysctl `kernel.ftrace_enabled`, which at 0 disarms them
//! without a trace (7.3 refuses to write it with EOPNOTSUPP). On every kernel, 0 in `/sys/kernel/debug/kprobes/enabled`
//! disarms them, too.

use super::commands::{SWITCH_ON_FTRACE, for_a_report, switch_on_kprobes};
use super::kernel_p2pdma::no_config;
use crate::{
    facts::{Facts, KernelConfig},
    finding::{Bearing, Finding, Remedy, Scope, Status},
    route::{OverrideUse, override_use},
    text,
    text::Text,
    view,
};

pub(super) const ID: &str = "kernel.kprobes";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    let wanted = matches!(override_use(facts), OverrideUse::Wanted | OverrideUse::Unknown);
    if !wanted && !facts.module.is_loaded() {
        return vec![finding(Status::Na, text!("kernel-kprobes-no-pair"))];
    }
    if !facts.module.is_loaded() && view::override_is_useless(facts) {
        return vec![finding(Status::Skip, text!("kernel-kprobes-useless"))];
    }
    if let Some(finding) = switched_off(facts) {
        return vec![finding];
    }
    let config = match &facts.kernel.config {
        Ok(config) => config,
        Err(error) => return vec![without_config(facts, error)],
    };
    let missing = |option: &&str| !config.is_on(option);
    let missing = ["CONFIG_KPROBES", "CONFIG_KRETPROBES"].into_iter().filter(missing);
    let missing: Vec<Text> = missing.map(|option| Text::AsRead(option.to_owned())).collect();
    if !missing.is_empty() {
        let summary = text!("kernel-kprobes-missing", options = Text::List(missing, "and"));
        let failure = finding(Status::Fail, summary)
            .evidence(format!("/{}", config.path), text!("kernel-kprobes-not-set"))
            .remedy(text!("kernel-kprobes-missing-remedy"));
        let failure = match view::hook_failure(facts) {
            Some(line) => failure.evidence(text!("pair-route-log"), line.to_owned()),
            None => failure,
        };
        return vec![failure.bearing(Bearing::NoOverride)];
    }
    if let Some(line) = view::hook_failure(facts) {
        return vec![refused(line)];
    }
    let pass = if facts.kernel.kprobes_enabled.as_deref() == Ok("1") {
        finding(Status::Pass, text!("kernel-kprobes-enabled"))
            .evidence(format!("/{}", config.path), "CONFIG_KRETPROBES=y".to_owned())
            .evidence("/sys/kernel/debug/kprobes/enabled".to_owned(), "1".to_owned())
    } else {
        finding(Status::Pass, text!("kernel-kprobes-pass"))
            .evidence(format!("/{}", config.path), "CONFIG_KRETPROBES=y".to_owned())
            .reading("sys/kernel/debug/kprobes/enabled", &facts.kernel.kprobes_enabled)
    };
    vec![pass]
}

/// The module tried, and the kernel did not let it.
fn refused(line: &str) -> Finding {
    Finding::new(ID, Scope::Host, Status::Fail, text!("kernel-kprobes-refused"))
        .evidence(text!("pair-route-log"), line.to_owned())
        .remedy(for_a_report(text!("kernel-kprobes-refused-remedy")))
        .bearing(Bearing::NoOverride)
}

/// What switches probes off at run time.
fn switched_off(facts: &Facts) -> Option<Finding> {
    let kernel = &facts.kernel;
    // Without a configuration there is nothing to say on ftrace.
    let on_ftrace = |config: &KernelConfig| config.is_on("CONFIG_KPROBES_ON_FTRACE");
    let (summary, path, remedy) = if kernel.kprobes_enabled.as_deref() == Ok("0") {
        (
            text!("kernel-kprobes-disabled"),
            "/sys/kernel/debug/kprobes/enabled",
            Remedy::from(text!("kernel-kprobes-disabled-remedy")).command(switch_on_kprobes(), &[]),
        )
    } else if kernel.config.as_ref().is_ok_and(on_ftrace) && kernel.ftrace_enabled.as_deref() == Ok("0") {
        (
            text!("kernel-kprobes-ftrace"),
            "/proc/sys/kernel/ftrace_enabled",
            Remedy::from(text!("kernel-kprobes-ftrace-remedy")).command(SWITCH_ON_FTRACE, &[]),
        )
    } else {
        return None;
    };
    let finding = if view::hook_is_proven(facts) {
        Finding::new(ID, Scope::Host, Status::Warn, text!("kernel-kprobes-yet-proven", what = summary))
    } else {
        let bearing = if facts.module.is_loaded() { Bearing::ModuleInert } else { Bearing::NoOverride };
        Finding::new(ID, Scope::Host, Status::Fail, summary).bearing(bearing)
    };
    Some(finding.evidence(path.to_owned(), "0".to_owned()).remedy(remedy))
}

/// A hook that was proven needs no configuration.
fn without_config(facts: &Facts, error: &crate::facts::ReadError) -> Finding {
    if view::hook_is_proven(facts) {
        return Finding::new(ID, Scope::Host, Status::Pass, text!("kernel-kprobes-proven"))
            .evidence("/sys/module/tp2_p2pdma/override/self_test".to_owned(), "pass".to_owned());
    }
    Finding::unreadable(ID, Scope::Host, text!("kernel-kprobes-config"), error).remedy(no_config())
}
