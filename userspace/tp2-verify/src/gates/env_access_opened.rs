// SPDX-License-Identifier: GPL-2.0-only

//! `env.access` on the running machine: whether this user can open what a GPU runtime opens: `/dev/kfd` and the GPUs' render nodes, for reading
//! and writing. HIP says "no device" to all failures alike, so they are told apart here: no file, no permission and whose
//! it would be, a container's device rules, no driver behind the file (`open(2)`: ENOENT, EACCES, EPERM, ENXIO).

use super::env_access::ID;
use crate::{
    facts::{
        Facts,
        devices::{DeviceAccess, DeviceFile, Opened, Owner},
    },
    finding::{Finding, Scope, Status},
    view,
};

/// What the kernel shows in the place of an ID that a user namespace does not map (`/proc/sys/kernel/overflowgid`).
const UNMAPPED: u32 = 65534;

/// Judges what opening them gave.
pub(super) fn judge(facts: &Facts, access: &DeviceAccess) -> Vec<Finding> {
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    if !view::gpus(facts).iter().any(|gpu| matches!(&gpu.device.driver, Ok(Some(name)) if name == "amdgpu")) {
        return vec![finding(Status::Na, "no GPU here belongs to amdgpu, so there is nothing to open")];
    }
    let closed: Vec<&DeviceFile> = files(access).filter(|file| file.opened != Opened::Yes).collect();
    let Some(first) = closed.first() else {
        let pass = finding(Status::Pass, "this user can open /dev/kfd and the GPUs' render nodes");
        return vec![files(access).fold(pass, |finding, file| finding.evidence(name(file), words(file)))];
    };
    let summary = format!("{} {}, so programs of this user cannot use the GPUs", name(first), cause(first));
    let failure =
        closed.iter().fold(finding(Status::Fail, &summary), |finding, file| finding.evidence(name(file), words(file)));
    let groups: Vec<String> = access.gids.iter().map(u32::to_string).collect();
    vec![failure.evidence("/proc/self/status", format!("groups {}", groups.join(" "))).remedy(remedy(access, first))]
}

fn files(access: &DeviceAccess) -> impl Iterator<Item = &DeviceFile> {
    std::iter::once(&access.kfd).chain(&access.render)
}

fn name(file: &DeviceFile) -> String {
    match file.bdf {
        Some(bdf) => format!("/{} of {bdf}", file.path),
        None => format!("/{}", file.path),
    }
}

const fn cause(file: &DeviceFile) -> &'static str {
    match &file.opened {
        Opened::Yes => "opens",
        Opened::Absent => "is not there",
        Opened::Denied => "may not be opened by this user",
        Opened::Forbidden => "is forbidden here whoever asks",
        Opened::NoDriver => "has no driver behind it",
        Opened::NotDevice => "is no device file",
        Opened::Failed(_) => "cannot be opened",
    }
}

/// Evidence: what came of it, and whose it is.
fn words(file: &DeviceFile) -> String {
    let what = match &file.opened {
        Opened::Yes => "opened for reading and writing",
        Opened::Absent => "ENOENT",
        Opened::Denied => "EACCES",
        Opened::Forbidden => "EPERM",
        Opened::NoDriver => "ENXIO",
        Opened::NotDevice => "not a character device",
        Opened::Failed(words) => words,
    };
    match &file.owner {
        Some(owner) => format!("{what}; mode {:04o}, user {}, group {}", owner.mode, owner.uid, group(owner)),
        None => what.to_owned(),
    }
}

fn group(owner: &Owner) -> String {
    owner.group.as_ref().map_or_else(|| owner.gid.to_string(), |name| format!("{name} ({})", owner.gid))
}

fn remedy(access: &DeviceAccess, file: &DeviceFile) -> String {
    let path = &file.path;
    match (&file.opened, &file.owner) {
        (Opened::Denied, Some(owner)) if owner.gid == UNMAPPED && access.user_namespace => format!(
            "this is a user namespace that does not map the group of /{path}: start the container with that group kept \
             (podman: --group-add keep-groups), or run it outside"
        ),
        // The bit for writing by the group.
        (Opened::Denied, Some(owner)) if owner.mode & 0o060 == 0o060 && !access.gids.contains(&owner.gid) => {
            let group = owner.group.clone().unwrap_or_else(|| format!("with ID {}", owner.gid));
            format!(
                "join the group that owns /{path}: group {group}, then log in anew; a container needs the number: \
                 --group-add {}",
                owner.gid
            )
        }
        (Opened::Denied, _) => {
            format!("let a group that this user is in read and write /{path} (udev rule of ROCm or systemd)")
        }
        (Opened::Absent, _) => {
            format!(
                "if this is a container, start it with --device=/{path}; else look whether udev runs and amdgpu is loaded"
            )
        }
        (Opened::Forbidden, _) => {
            format!("start the container with --device=/{path}, which adds the rule that is missing")
        }
        (Opened::NoDriver | Opened::NotDevice, _) => {
            format!("remove /{path}, which somebody made by hand, and load amdgpu, which makes it anew")
        }
        (Opened::Yes | Opened::Failed(_), _) => format!("read the kernel log for amdgpu and kfd about /{path}"),
    }
}
