// SPDX-License-Identifier: GPL-2.0-only

//! `kernel.kprobes`: what the module's hook needs: `CONFIG_KPROBES`, `CONFIG_KRETPROBES`, and, where probes ride on
//! ftrace (`CONFIG_KPROBES_ON_FTRACE`), the sysctl `kernel.ftrace_enabled`, which disarms them without a trace.

use crate::{
    facts::{Facts, KernelConfig},
    finding::{Finding, Scope, Status},
    route::{OverrideUse, override_use},
};

pub(super) const ID: &str = "kernel.kprobes";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    let wanted = matches!(
        override_use(facts),
        OverrideUse::Wanted | OverrideUse::Unknown
    );
    if !wanted && !facts.module.loaded {
        return vec![finding(
            Status::Na,
            "no pair here is one that the module would override",
        )];
    }
    let config = match &facts.kernel.config {
        Ok(config) => config,
        Err(error) => return vec![without_config(facts, error)],
    };
    let missing = |option: &&str| !config.is_on(option);
    let missing: Vec<&str> = ["CONFIG_KPROBES", "CONFIG_KRETPROBES"]
        .into_iter()
        .filter(missing)
        .collect();
    if !missing.is_empty() {
        let summary = format!(
            "the kernel was built without {}: the module cannot hook anything",
            missing.join(" and ")
        );
        let failure =
            finding(Status::Fail, &summary).evidence(format!("/{}", config.path), "not set");
        return vec![failure.remedy("boot a kernel with CONFIG_KPROBES=y and CONFIG_KRETPROBES=y")];
    }
    switches(facts, config).map_or_else(
        || {
            let pass = finding(
                Status::Pass,
                "the kernel has kretprobes, and they are not switched off",
            );
            vec![pass.evidence(format!("/{}", config.path), "CONFIG_KRETPROBES=y")]
        },
        |failure| vec![failure],
    )
}

/// What switches probes off at run time.
fn switches(facts: &Facts, config: &KernelConfig) -> Option<Finding> {
    let finding = |summary: &str| Finding::new(ID, Scope::Host, Status::Fail, summary);
    let kernel = &facts.kernel;
    if config.is_on("CONFIG_KPROBES_ON_FTRACE") && kernel.ftrace_enabled.as_deref() == Ok("0") {
        let summary = "kernel.ftrace_enabled is 0, which disarms the module's hook without a trace";
        let failure = finding(summary).evidence("/proc/sys/kernel/ftrace_enabled", "0");
        return Some(
            failure.remedy("sysctl kernel.ftrace_enabled=1, and remove what sets it to 0"),
        );
    }
    if kernel.kprobes_enabled.as_deref() == Ok("0") {
        let summary = "kprobes are switched off, so the module's hook does not run";
        let failure = finding(summary).evidence("/sys/kernel/debug/kprobes/enabled", "0");
        return Some(failure.remedy("write 1 to /sys/kernel/debug/kprobes/enabled as root"));
    }
    None
}

/// A hook that was proven needs no configuration.
fn without_config(facts: &Facts, error: &crate::facts::ReadError) -> Finding {
    let proven = matches!(facts.module.state.get("self_test"), Some(Ok(text)) if text == "pass");
    if proven {
        let summary = "kretprobes work: the module's self-test passes";
        return Finding::new(ID, Scope::Host, Status::Pass, summary)
            .evidence("/sys/module/tp2_p2pdma/override/self_test", "pass");
    }
    Finding::unreadable(ID, Scope::Host, "the kernel's configuration", error)
}
