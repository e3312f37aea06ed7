// SPDX-License-Identifier: GPL-2.0-only

//! Device nodes and who may open them. Nothing is opened here.
//!
//! A device node cannot travel in an archive, and a copy has the rights of who made it. So of a captured tree a list is
//! read, `tp2/device-nodes`, one node a line: `dev/kfd c 660 0 109`, and perhaps what opening gave: `fine`, `absent`,
//! `denied`, `no-device`.

use super::Root;
use crate::facts::{Access, DeviceNode, Opened, ReadError, Reading, User};

/// The list in a captured tree.
pub const LIST: &str = "tp2/device-nodes";
const KFD: &str = "dev/kfd";
const DRI: &str = "dev/dri";
const STATUS: &str = "proc/self/status";

/// Reads nodes, user and groups.
pub(super) fn read(root: &Root) -> Access {
    let user = root.text(STATUS).and_then(|text| {
        parse_user(&text).ok_or_else(|| ReadError::malformed(STATUS, "does not tell user and groups"))
    });
    Access {
        nodes: if root.is_live() { live(root) } else { captured(root) },
        user,
        has_dxg: root.exists("dev/dxg") == Ok(true),
    }
}

fn live(root: &Root) -> Reading<Vec<DeviceNode>> {
    let mut paths = vec![KFD.to_owned()];
    match root.names(DRI) {
        Ok(names) => {
            let render = names.into_iter().filter(|name| name.starts_with("renderD"));
            paths.extend(render.map(|name| format!("{DRI}/{name}")));
        }
        Err(error) if error.is_absent() => {}
        Err(error) => return Err(error),
    }
    Ok(paths.iter().filter_map(|path| root.node(path)).collect())
}

fn captured(root: &Root) -> Reading<Vec<DeviceNode>> {
    let text = root.text(LIST)?;
    text.lines()
        .map(|line| parse_node(line).ok_or_else(|| ReadError::malformed(LIST, format!("{line:?} describes no node"))))
        .collect()
}

/// A line of the list.
#[must_use]
pub fn parse_node(line: &str) -> Option<DeviceNode> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (path, kind, mode, uid, gid, opened) = match fields.as_slice() {
        [path, kind, mode, uid, gid] => (path, kind, mode, uid, gid, None),
        [path, kind, mode, uid, gid, opened] => (path, kind, mode, uid, gid, Some(parse_opened(opened)?)),
        _ => return None,
    };
    Some(DeviceNode {
        path: (*path).to_owned(),
        is_device: *kind == "c",
        mode: u32::from_str_radix(mode, 8).ok()?,
        uid: uid.parse().ok()?,
        gid: gid.parse().ok()?,
        opened,
    })
}

fn parse_opened(word: &str) -> Option<Opened> {
    match word {
        "fine" => Some(Opened::Fine),
        "absent" => Some(Opened::Absent),
        "denied" => Some(Opened::Denied),
        "no-device" => Some(Opened::NoDevice),
        _ => None,
    }
}

/// Effective user and all groups of a `/proc/PID/status`.
#[must_use]
pub fn parse_user(text: &str) -> Option<User> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    // Real, effective, saved, file system.
    let effective = |name: &str| field(name)?.split_whitespace().nth(1)?.parse().ok();
    let mut groups: Vec<u32> = vec![effective("Gid:")?];
    let more = field("Groups:").unwrap_or_default().split_whitespace();
    groups.extend(more.filter_map(|group| group.parse::<u32>().ok()));
    groups.sort_unstable();
    groups.dedup();
    Some(User { uid: effective("Uid:")?, groups })
}
