// SPDX-License-Identifier: GPL-2.0-only

//! `module.effective`: whether the loaded module acts: its self-test passes now, its mode is `force`, it missed no call,
//! and it was there before the GPU driver. KFD asks when a GPU is added (`kfd_dev_create_p2p_links()`, Linux 6.1 to
//! 7.3), so an override that comes later changes no link.

use super::commands::{SWITCH_ON_FTRACE, for_a_report, rebuild_initramfs, switch_on_kprobes};
use crate::{
    facts::{Facts, ReadError, Reading},
    finding::{Bearing, Finding, Remedy, Scope, Status},
    route::{OverrideUse, override_use},
    text,
    text::Text,
    view,
};

pub(super) const ID: &str = "module.effective";
const MODULE: &str = "sys/module/tp2_p2pdma";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let module = &facts.module;
    if !module.is_loaded() {
        return vec![Finding::new(ID, Scope::Host, Status::Skip, text!("module-effective-not-loaded"))];
    }
    let checks = [self_test(facts), mode(facts), missed(facts), too_late(facts)];
    let found: Vec<Finding> = checks.into_iter().flatten().collect();
    let worst = [Status::Fail, Status::Unknown, Status::Warn]
        .into_iter()
        .find(|status| found.iter().any(|finding| finding.status == *status));
    match worst {
        // What is worse makes what is less bad uninteresting.
        Some(status) => found.into_iter().filter(|finding| finding.status == status).collect(),
        None => vec![
            Finding::new(ID, Scope::Host, Status::Pass, text!("module-effective-pass"))
                .evidence(format!("/{MODULE}/override/self_test"), "pass".to_owned())
                .evidence(format!("/{MODULE}/override/missed"), "0".to_owned())
                .evidence(format!("/{MODULE}/override/gpu_driver_was_bound"), "0".to_owned()),
        ],
    }
}

fn inert(summary: Text, path: &str, value: &str) -> Finding {
    Finding::new(ID, Scope::Host, Status::Fail, summary)
        .evidence(format!("/{MODULE}/{path}"), value.to_owned())
        .bearing(Bearing::ModuleInert)
}

/// A state file's value.
fn state<'a>(facts: &'a Facts, name: &str) -> Reading<&'a str> {
    value(facts.module.state.get(name), &format!("override/{name}"))
}

fn value<'a>(reading: Option<&'a Reading<String>>, path: &str) -> Reading<&'a str> {
    match reading {
        Some(Ok(text)) => Ok(text),
        Some(Err(error)) => Err(error.clone()),
        None => Err(ReadError::absent(&format!("{MODULE}/{path}"))),
    }
}

fn unknown(error: &ReadError) -> Finding {
    Finding::unreadable(ID, Scope::Host, text!("module-effective-what"), error)
}

fn self_test(facts: &Facts) -> Option<Finding> {
    match state(facts, "self_test") {
        Err(error) => Some(unknown(&error)),
        Ok("pass") => None,
        Ok(text) => {
            let summary = text!("module-effective-self-test", state = text.to_owned());
            Some(inert(summary, "override/self_test", text).remedy(self_test_remedy(text)))
        }
    }
}

/// By what the module says (`tp2_self_test()` of `rust-kmod/c/probe.c`, and its like in Rust).
fn self_test_remedy(text: &str) -> Remedy {
    if text.contains("maxactive") {
        text!("module-effective-self-test-remedy-instances").into()
    } else if text.contains("did not run (") {
        Remedy::from(text!("module-effective-self-test-remedy"))
            .command(switch_on_kprobes(), &[])
            .command(SWITCH_ON_FTRACE, &[])
    } else {
        for_a_report(text!("module-effective-self-test-remedy-kernel"))
    }
}

fn mode(facts: &Facts) -> Option<Finding> {
    match value(facts.module.parameters.get("mode"), "parameters/mode") {
        Err(error) => Some(unknown(&error)),
        Ok("force") => None,
        Ok(text) => {
            if matches!(override_use(facts), OverrideUse::NotNeeded | OverrideUse::NoHelp) {
                let summary = text!("module-effective-mode-not-needed", mode = text.to_owned());
                let warning = Finding::new(ID, Scope::Host, Status::Warn, summary);
                return Some(warning.evidence(format!("/{MODULE}/parameters/mode"), text.to_owned()));
            }
            let summary = text!("module-effective-mode", mode = text.to_owned());
            Some(inert(summary, "parameters/mode", text).remedy(text!("module-effective-mode-remedy")))
        }
    }
}

fn missed(facts: &Facts) -> Option<Finding> {
    let text = match state(facts, "missed") {
        Err(error) => return Some(unknown(&error)),
        Ok("0") => return None,
        Ok(text) => text,
    };
    let remedy = text!("module-effective-missed-remedy");
    if view::all_pairs_linked(facts) {
        let summary = text!("module-effective-missed-linked", calls = text.to_owned());
        let warning = Finding::new(ID, Scope::Host, Status::Warn, summary);
        return Some(warning.evidence(format!("/{MODULE}/override/missed"), text.to_owned()).remedy(remedy));
    }
    let summary = text!("module-effective-missed", calls = text.to_owned());
    Some(inert(summary, "override/missed", text).remedy(remedy))
}

fn too_late(facts: &Facts) -> Option<Finding> {
    let text = match state(facts, "gpu_driver_was_bound") {
        Err(error) => return Some(unknown(&error)),
        Ok("0") => return None,
        Ok(text) => text,
    };
    let path = "override/gpu_driver_was_bound";
    if view::all_pairs_linked(facts) {
        let warning = Finding::new(ID, Scope::Host, Status::Warn, text!("module-effective-late-linked"));
        return Some(warning.evidence(format!("/{MODULE}/{path}"), text.to_owned()));
    }
    Some(
        inert(text!("module-effective-late"), path, text)
            .remedy(rebuild_initramfs(facts, text!("module-effective-late-remedy"))),
    )
}
