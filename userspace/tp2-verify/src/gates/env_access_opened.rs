// SPDX-License-Identifier: GPL-2.0-only

//! `env.access` on the running machine: whether this user can open what a GPU runtime opens: `/dev/kfd` and the GPUs' render nodes, for reading
//! and writing. HIP says "no device" to all failures alike, so they are told apart here: no file, no permission and whose
//! it would be, a container's device rules, no driver behind the file (`open(2)`: ENOENT, EACCES, EPERM, ENXIO).

use super::commands::join_group;
use super::env_access::ID;
use crate::{
    facts::{
        Facts,
        devices::{DeviceAccess, DeviceFile, Opened, Owner},
    },
    finding::{Finding, Remedy, Scope, Status},
    text,
    text::Text,
    view,
};

/// What the kernel shows in the place of an ID that a user namespace does not map (`/proc/sys/kernel/overflowgid`).
const UNMAPPED: u32 = 65534;

/// Judges what opening them gave.
pub(super) fn judge(facts: &Facts, access: &DeviceAccess) -> Vec<Finding> {
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    if !view::gpus(facts).iter().any(|gpu| matches!(&gpu.device.driver, Ok(Some(name)) if name == "amdgpu")) {
        return vec![finding(Status::Na, text!("env-access-opened-none"))];
    }
    let closed: Vec<&DeviceFile> = files(access).filter(|file| file.opened != Opened::Yes).collect();
    let Some(first) = closed.first() else {
        let pass = finding(Status::Pass, text!("env-access-opened-pass"));
        return vec![files(access).fold(pass, |finding, file| finding.evidence(name(file), words(file)))];
    };
    let failure = finding(Status::Fail, text!("env-access-opened-closed", cause = cause(first)));
    let failure = closed.iter().fold(failure, |finding, file| finding.evidence(name(file), words(file)));
    let groups: Vec<String> = access.gids.iter().map(u32::to_string).collect();
    let groups = text!("env-access-opened-groups", groups = groups.join(" "));
    vec![failure.evidence("/proc/self/status".to_owned(), groups).remedy(remedy(facts, access, first))]
}

fn files(access: &DeviceAccess) -> impl Iterator<Item = &DeviceFile> {
    std::iter::once(&access.kfd).chain(&access.render)
}

fn name(file: &DeviceFile) -> Text {
    let path = format!("/{}", file.path);
    match file.bdf {
        Some(bdf) => text!("env-access-opened-file-of", path = path, gpu = bdf),
        None => path.into(),
    }
}

fn cause(file: &DeviceFile) -> Text {
    let name = name(file);
    match &file.opened {
        Opened::Yes => text!("env-access-opened-yes", file = name),
        Opened::Absent => text!("env-access-opened-absent", file = name),
        Opened::Denied => text!("env-access-opened-denied", file = name),
        Opened::Forbidden => text!("env-access-opened-forbidden", file = name),
        Opened::NoDriver => text!("env-access-opened-no-driver", file = name),
        Opened::NotDevice => text!("env-access-opened-not-device", file = name),
        Opened::Failed(_) => text!("env-access-opened-failed", file = name),
    }
}

/// Evidence: what came of it, and whose it is.
fn words(file: &DeviceFile) -> Text {
    let as_read = |error: &str| Text::AsRead(error.to_owned());
    let what = match &file.opened {
        Opened::Yes => text!("env-access-opened-both"),
        Opened::Absent => as_read("ENOENT"),
        Opened::Denied => as_read("EACCES"),
        Opened::Forbidden => as_read("EPERM"),
        Opened::NoDriver => as_read("ENXIO"),
        Opened::NotDevice => text!("env-access-opened-no-character-device"),
        Opened::Failed(words) => words.into(),
    };
    match &file.owner {
        Some(owner) => {
            let mode = format!("{:04o}", owner.mode);
            text!("env-access-opened-owner", what = what, mode = mode, uid = owner.uid, group = group(owner))
        }
        None => what,
    }
}

fn group(owner: &Owner) -> Text {
    match &owner.group {
        Some(name) => text!("env-access-opened-group", name = name, gid = owner.gid),
        None => owner.gid.into(),
    }
}

fn remedy(facts: &Facts, access: &DeviceAccess, file: &DeviceFile) -> Remedy {
    let path = format!("/{}", file.path);
    let words = match (&file.opened, &file.owner) {
        (Opened::Denied, Some(owner)) if owner.gid == UNMAPPED && access.user_namespace => {
            text!("env-access-opened-remedy-unmapped", path = path)
        }
        // The bit for writing by the group.
        (Opened::Denied, Some(owner)) if owner.mode & 0o060 == 0o060 && !access.gids.contains(&owner.gid) => {
            let words = match &owner.group {
                Some(name) => text!("env-access-opened-remedy-join", path = path, group = name, gid = owner.gid),
                None => text!("env-access-opened-remedy-join-unnamed", path = path, gid = owner.gid),
            };
            let in_container = access.user_namespace || !facts.host.container_marks.is_empty();
            return if in_container { words.into() } else { Remedy::from(words).command(join_group(owner.gid), &[]) };
        }
        (Opened::Denied, _) => text!("env-access-opened-remedy-denied", path = path),
        (Opened::Absent, _) => text!("env-access-opened-remedy-absent", path = path),
        (Opened::Forbidden, _) => text!("env-access-opened-remedy-forbidden", path = path),
        (Opened::NoDriver | Opened::NotDevice, _) => text!("env-access-opened-remedy-by-hand", path = path),
        (Opened::Yes | Opened::Failed(_), _) => text!("env-access-opened-remedy-failed", path = path),
    };
    words.into()
}
