// SPDX-License-Identifier: GPL-2.0-only

//! `env.access`: whether this user may open `/dev/kfd` and the render nodes (`/dev/dri/renderD*`), which every GPU program
//! needs. Without that, runtimes say that there is no GPU. Judged by what opening gave where it was tried, else by owner,
//! group and mode; an access list (as logind sets for the user at the screen) can allow more than these show.

use super::commands::join_group;
use super::env_access_opened;
use crate::{
    facts::{DeviceNode, Facts, Opened, User},
    finding::{Finding, Remedy, Scope, Status},
    text,
    text::Text,
    view,
};

pub(super) const ID: &str = "env.access";
const KFD: &str = "dev/kfd";
/// `overflowgid`: how a user namespace shows groups that it does not have.
const NOBODY: u32 = 65_534;

/// Whether a node may be opened.
enum May {
    /// It may.
    Yes,
    /// These rights do not suffice.
    Denied,
    /// It is there, its device is not.
    NoDevice,
    /// Cannot be told.
    Unknown(Finding),
}

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    if let Err(error) = &facts.pci {
        return vec![Finding::unreadable(ID, Scope::Host, text!("gpu-kfd-what-devices"), error)];
    }
    match &facts.device_access {
        Ok(access) => env_access_opened::judge(facts, access),
        Err(error) if error.is_absent() => judge_nodes(facts),
        Err(error) => vec![Finding::unreadable(ID, Scope::Host, text!("env-access-openings"), error)],
    }
}

/// By owner, group and mode, where nothing could be opened.
fn judge_nodes(facts: &Facts) -> Vec<Finding> {
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    if view::gpus(facts).is_empty() {
        return vec![finding(Status::Na, text!("env-access-no-gpu"))];
    }
    if facts.kfd.as_ref().is_err_and(crate::facts::ReadError::is_absent) {
        return vec![finding(Status::Skip, text!("env-access-no-kfd"))];
    }
    let nodes = match &facts.access.nodes {
        Ok(nodes) => nodes,
        Err(error) if error.is_absent() && !facts.host.live => {
            return vec![finding(Status::Skip, text!("env-access-copy")).failed_reading(error)];
        }
        Err(error) => return vec![Finding::unreadable(ID, Scope::Host, text!("env-access-nodes"), error)],
    };
    let (kfd, render): (Vec<&DeviceNode>, Vec<&DeviceNode>) = nodes.iter().partition(|node| node.path == KFD);
    let Some(kfd) = kfd.first().filter(|node| node.opened != Some(Opened::Absent)) else {
        let summaries = [text!("env-access-missing-kfd"), text!("env-access-missing-kfd-container")];
        return vec![missing(facts, summaries, "--device=/dev/kfd")];
    };
    let mut findings = vec![judge_kfd(facts, kfd)];
    if render.is_empty() {
        let summaries = [text!("env-access-missing-render"), text!("env-access-missing-render-container")];
        findings.push(missing(facts, summaries, "--device=/dev/dri"));
    } else {
        findings.extend(judge_render(facts, &render));
    }
    findings
}

/// What is said outside a container, and in one.
fn missing(facts: &Facts, [outside, in_container]: [Text; 2], option: &str) -> Finding {
    let failure = |summary: Text| Finding::new(ID, Scope::Host, Status::Fail, summary);
    if let Some(mark) = facts.host.container_marks.first() {
        return failure(in_container)
            .evidence(format!("/{mark}"), text!("env-access-present"))
            .remedy(text!("env-access-missing-container-remedy", option = option.to_owned()));
    }
    failure(outside)
        .evidence("/dev".to_owned(), text!("env-access-no-such-node"))
        .remedy(text!("env-access-missing-remedy"))
}

fn may_open(facts: &Facts, node: &DeviceNode) -> May {
    match &node.opened {
        Some(Opened::Fine) => return May::Yes,
        Some(Opened::Denied) => return May::Denied,
        Some(Opened::NoDevice | Opened::Absent) => return May::NoDevice,
        Some(Opened::Failed(words)) => {
            let summary = text!("env-access-failed", path = format!("/{}", node.path), reason = words);
            let unknown = Finding::new(ID, Scope::Host, Status::Unknown, summary);
            return May::Unknown(unknown.remedy(text!("env-access-failed-remedy")));
        }
        None => {}
    }
    if !node.is_device {
        return May::NoDevice;
    }
    match &facts.access.user {
        Ok(user) if allows(node, user) => May::Yes,
        Ok(_) => May::Denied,
        Err(error) => May::Unknown(Finding::unreadable(ID, Scope::Host, text!("env-access-who"), error)),
    }
}

/// As the kernel's `acl_permission_check()` without access lists: the first of owner, group, others that fits decides.
fn allows(node: &DeviceNode, user: &User) -> bool {
    let bits = if user.uid == 0 {
        return true;
    } else if user.uid == node.uid {
        node.mode >> 6
    } else if user.groups.contains(&node.gid) {
        node.mode >> 3
    } else {
        node.mode
    };
    bits & 0o6 == 0o6
}

fn judge_kfd(facts: &Facts, kfd: &DeviceNode) -> Finding {
    let finding = |status, summary: Text| evidence(Finding::new(ID, Scope::Host, status, summary), facts, kfd);
    match may_open(facts, kfd) {
        May::Yes => finding(Status::Pass, text!("env-access-kfd-pass")),
        May::Denied => finding(Status::Fail, text!("env-access-kfd-denied")).remedy(remedy(facts, kfd)),
        May::NoDevice => {
            finding(Status::Fail, text!("env-access-kfd-no-device")).remedy(text!("env-access-kfd-no-device-remedy"))
        }
        May::Unknown(finding) => finding,
    }
}

/// Some render nodes may belong to other GPUs, so one that opens will do.
fn judge_render(facts: &Facts, nodes: &[&DeviceNode]) -> Option<Finding> {
    let mut refused = None;
    for node in nodes {
        match may_open(facts, node) {
            May::Yes => return None,
            May::Denied => refused = refused.or(Some(*node)),
            May::NoDevice => {}
            May::Unknown(finding) => return Some(finding),
        }
    }
    let finding = |node, summary: Text| evidence(Finding::new(ID, Scope::Host, Status::Fail, summary), facts, node);
    Some(match (refused, nodes.first()) {
        (Some(node), _) => finding(node, text!("env-access-render-denied")).remedy(remedy(facts, node)),
        (None, Some(node)) => {
            finding(node, text!("env-access-render-no-device")).remedy(text!("env-access-render-no-device-remedy"))
        }
        (None, None) => return None,
    })
}

fn evidence(finding: Finding, facts: &Facts, node: &DeviceNode) -> Finding {
    let mode = format!("{:o}", node.mode);
    let value = text!("env-access-node", mode = mode, uid = node.uid, gid = node.gid);
    let finding = finding.evidence(format!("/{}", node.path), value);
    match &facts.access.user {
        Ok(user) => {
            let groups: Vec<String> = user.groups.iter().map(u32::to_string).collect();
            let value = text!("env-access-user", uid = user.uid, groups = groups.join(" "));
            finding.evidence("/proc/self/status".to_owned(), value)
        }
        Err(error) => finding.failed_reading(error),
    }
}

fn remedy(facts: &Facts, node: &DeviceNode) -> Remedy {
    let (path, gid) = (format!("/{}", node.path), node.gid);
    let is_root = facts.access.user.as_ref().is_ok_and(|user| user.uid == 0);
    let in_container = !facts.host.container_marks.is_empty();
    if is_root {
        return text!("env-access-remedy-root", path = path).into();
    }
    if gid == NOBODY || gid == 0 {
        return text!("env-access-remedy-nobody", gid = gid, path = path).into();
    }
    if in_container {
        return text!("env-access-remedy-container", gid = gid, path = path).into();
    }
    Remedy::from(text!("env-access-remedy-join", gid = gid, path = path)).command(join_group(gid), &[])
}
