// SPDX-License-Identifier: GPL-2.0-only

//! `kernel.kprobes`: what the module's hook needs: `CONFIG_KPROBES`, `CONFIG_KRETPROBES`, and, where probes ride on
//! ftrace (`CONFIG_KPROBES_ON_FTRACE`), up to Linux 7.2 the sysctl `kernel.ftrace_enabled`, which disarms them without a
//! trace (7.3 refuses to write it with EOPNOTSUPP). On every kernel 0 in `/sys/kernel/debug/kprobes/enabled` does.

use super::kernel_p2pdma::NO_CONFIG;
use crate::{
    facts::{Facts, KernelConfig},
    finding::{Bearing, Finding, Scope, Status},
    route::{OverrideUse, override_use},
    view,
};

pub(super) const ID: &str = "kernel.kprobes";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    let wanted = matches!(override_use(facts), OverrideUse::Wanted | OverrideUse::Unknown);
    if !wanted && !facts.module.loaded {
        return vec![finding(Status::Na, "no pair here is one that the module would override")];
    }
    if !facts.module.loaded && view::override_is_useless(facts) {
        let summary = "the module that needs kretprobes would not help on this kernel";
        return vec![finding(Status::Skip, summary)];
    }
    if let Some(finding) = switched_off(facts) {
        return vec![finding];
    }
    let config = match &facts.kernel.config {
        Ok(config) => config,
        Err(error) => return vec![without_config(facts, error)],
    };
    let missing = |option: &&str| !config.is_on(option);
    let missing: Vec<&str> = ["CONFIG_KPROBES", "CONFIG_KRETPROBES"].into_iter().filter(missing).collect();
    if !missing.is_empty() {
        let summary =
            format!("the kernel was built without {}: the module cannot hook anything", missing.join(" and "));
        let failure = finding(Status::Fail, &summary).evidence(format!("/{}", config.path), "not set");
        let failure = failure.remedy("boot a kernel with CONFIG_KPROBES=y and CONFIG_KRETPROBES=y");
        return vec![failure.bearing(Bearing::NoOverride)];
    }
    let pass = if facts.kernel.kprobes_enabled.as_deref() == Ok("1") {
        finding(Status::Pass, "the kernel has kretprobes, and they are not switched off")
            .evidence(format!("/{}", config.path), "CONFIG_KRETPROBES=y")
            .evidence("/sys/kernel/debug/kprobes/enabled", "1")
    } else {
        finding(Status::Pass, "the kernel has kretprobes")
            .evidence(format!("/{}", config.path), "CONFIG_KRETPROBES=y")
            .reading("sys/kernel/debug/kprobes/enabled", &facts.kernel.kprobes_enabled)
    };
    vec![pass]
}

/// What switches probes off at run time.
fn switched_off(facts: &Facts) -> Option<Finding> {
    let kernel = &facts.kernel;
    // Without a configuration there is nothing to say on ftrace.
    let on_ftrace = |config: &KernelConfig| config.is_on("CONFIG_KPROBES_ON_FTRACE");
    let (summary, path, remedy) = if kernel.kprobes_enabled.as_deref() == Ok("0") {
        (
            "kprobes are switched off, so the module's hook does not run",
            "/sys/kernel/debug/kprobes/enabled",
            "write 1 to /sys/kernel/debug/kprobes/enabled as root, and reboot if amdgpu started meanwhile",
        )
    } else if kernel.config.as_ref().is_ok_and(on_ftrace) && kernel.ftrace_enabled.as_deref() == Ok("0") {
        (
            "kernel.ftrace_enabled is 0, which disarms the module's hook without a trace",
            "/proc/sys/kernel/ftrace_enabled",
            "sysctl kernel.ftrace_enabled=1, remove what sets it to 0, and reboot if amdgpu started meanwhile",
        )
    } else {
        return None;
    };
    let finding = if view::hook_is_proven(facts) {
        let summary = format!("{summary}; the module's self-test passes all the same");
        Finding::new(ID, Scope::Host, Status::Warn, summary)
    } else {
        let bearing = if facts.module.loaded { Bearing::ModuleInert } else { Bearing::NoOverride };
        Finding::new(ID, Scope::Host, Status::Fail, summary).bearing(bearing)
    };
    Some(finding.evidence(path, "0").remedy(remedy))
}

/// A hook that was proven needs no configuration.
fn without_config(facts: &Facts, error: &crate::facts::ReadError) -> Finding {
    if view::hook_is_proven(facts) {
        let summary = "kretprobes work: the module's self-test passes";
        return Finding::new(ID, Scope::Host, Status::Pass, summary)
            .evidence("/sys/module/tp2_p2pdma/override/self_test", "pass");
    }
    Finding::unreadable(ID, Scope::Host, "the kernel's configuration", error).remedy(NO_CONFIG)
}
