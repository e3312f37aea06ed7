// SPDX-License-Identifier: GPL-2.0-only

//! `env.access`: whether this user may open `/dev/kfd` and the render nodes (`/dev/dri/renderD*`), which every GPU program
//! needs. Without that, runtimes say that there is no GPU. Judged by what opening gave where it was tried, else by owner,
//! group and mode; an access list (as logind sets for the user at the screen) can allow more than these show.

use super::env_access_opened;
use crate::{
    facts::{DeviceNode, Facts, Opened, User},
    finding::{Finding, Scope, Status},
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
    match &facts.device_access {
        Ok(access) => env_access_opened::judge(facts, access),
        Err(error) if error.is_absent() => judge_nodes(facts),
        Err(error) => vec![Finding::unreadable(ID, Scope::Host, "whether device files open", error)],
    }
}

/// By owner, group and mode, where nothing could be opened.
fn judge_nodes(facts: &Facts) -> Vec<Finding> {
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    if view::gpus(facts).is_empty() {
        return vec![finding(Status::Na, "no AMD GPU was found")];
    }
    if facts.kfd.as_ref().is_err_and(crate::facts::ReadError::is_absent) {
        return vec![finding(Status::Skip, "there is no KFD that could be opened; see gpu.kfd")];
    }
    let nodes = match &facts.access.nodes {
        Ok(nodes) => nodes,
        Err(error) if error.is_absent() && !facts.host.live => {
            let summary = "a copy of a machine has no device nodes, and no list of them was made";
            return vec![finding(Status::Skip, summary).failed_reading(error)];
        }
        Err(error) => return vec![Finding::unreadable(ID, Scope::Host, "the device nodes of GPUs", error)],
    };
    let (kfd, render): (Vec<&DeviceNode>, Vec<&DeviceNode>) = nodes.iter().partition(|node| node.path == KFD);
    let Some(kfd) = kfd.first().filter(|node| node.opened != Some(Opened::Absent)) else {
        return vec![missing(facts, "/dev/kfd", "--device=/dev/kfd")];
    };
    let mut findings = vec![judge_kfd(facts, kfd)];
    if render.is_empty() {
        findings.push(missing(facts, "a render node (/dev/dri/renderD*)", "--device=/dev/dri"));
    } else {
        findings.extend(judge_render(facts, &render));
    }
    findings
}

fn missing(facts: &Facts, what: &str, option: &str) -> Finding {
    let failure = |summary: String| Finding::new(ID, Scope::Host, Status::Fail, summary);
    if let Some(mark) = facts.host.container_marks.first() {
        return failure(format!("this container was not given {what}"))
            .evidence(format!("/{mark}"), "present")
            .remedy(format!("start the container with {option}"));
    }
    failure(format!("the driver runs, but there is no {what}"))
        .evidence("/dev", "no such node")
        .remedy("see whether udev and devtmpfs run; in a sandbox, let it see /dev/kfd and /dev/dri")
}

fn may_open(facts: &Facts, node: &DeviceNode) -> May {
    match &node.opened {
        Some(Opened::Fine) => return May::Yes,
        Some(Opened::Denied) => return May::Denied,
        Some(Opened::NoDevice | Opened::Absent) => return May::NoDevice,
        Some(Opened::Failed(words)) => {
            let summary = format!("/{} could not be opened: {words}", node.path);
            return May::Unknown(Finding::new(ID, Scope::Host, Status::Unknown, summary).remedy("read the kernel log"));
        }
        None => {}
    }
    if !node.is_device {
        return May::NoDevice;
    }
    match &facts.access.user {
        Ok(user) if allows(node, user) => May::Yes,
        Ok(_) => May::Denied,
        Err(error) => May::Unknown(Finding::unreadable(ID, Scope::Host, "which user and groups run this", error)),
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
    let finding = |status, summary: &str| evidence(Finding::new(ID, Scope::Host, status, summary), facts, kfd);
    match may_open(facts, kfd) {
        May::Yes => finding(Status::Pass, "this user may open /dev/kfd"),
        May::Denied => finding(Status::Fail, "this user may not open /dev/kfd, so GPU programs see no GPU")
            .remedy(remedy(facts, kfd)),
        May::NoDevice => finding(Status::Fail, "/dev/kfd is there, but no device answers behind it")
            .remedy("see whether amdgpu is loaded; in a container, pass the host's own node with --device=/dev/kfd"),
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
    let finding = |node, summary: &str| evidence(Finding::new(ID, Scope::Host, Status::Fail, summary), facts, node);
    Some(match (refused, nodes.first()) {
        (Some(node), _) => {
            finding(node, "this user may open no render node, so GPU programs fail").remedy(remedy(facts, node))
        }
        (None, Some(node)) => finding(node, "render nodes are there, but no device answers behind them")
            .remedy("see whether amdgpu is loaded; in a container, pass the host's own nodes with --device=/dev/dri"),
        (None, None) => return None,
    })
}

fn evidence(finding: Finding, facts: &Facts, node: &DeviceNode) -> Finding {
    let value = format!("mode {:o}, owner {}, group {}", node.mode, node.uid, node.gid);
    let finding = finding.evidence(format!("/{}", node.path), value);
    match &facts.access.user {
        Ok(user) => {
            let groups: Vec<String> = user.groups.iter().map(u32::to_string).collect();
            finding.evidence("/proc/self/status", format!("user {}, groups {}", user.uid, groups.join(" ")))
        }
        Err(error) => finding.failed_reading(error),
    }
}

fn remedy(facts: &Facts, node: &DeviceNode) -> String {
    let (path, gid) = (&node.path, node.gid);
    let is_root = facts.access.user.as_ref().is_ok_and(|user| user.uid == 0);
    let in_container = !facts.host.container_marks.is_empty();
    if is_root {
        return format!("even root is refused: start the container with --device=/{path}, which its device rules need");
    }
    if gid == NOBODY || gid == 0 {
        return format!(
            "group {gid} of /{path} is none that a user should be in: in a user namespace keep the host's groups (podman: \
             --group-add keep-groups); else see why udev did not give the node to its group (render)"
        );
    }
    if in_container {
        return format!(
            "start the container with --group-add {gid}: that is the host's group of /{path}, whatever it is called here"
        );
    }
    format!(
        "usermod -aG {gid} YOUR_USER as root ({gid} is the group of /{path}, most often called render), then log in anew"
    )
}
