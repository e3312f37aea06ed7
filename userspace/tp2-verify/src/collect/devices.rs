// SPDX-License-Identifier: GPL-2.0-only

//! Opens the device files that a GPU runtime opens, to tell apart what it calls "no device" alike.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::Path,
    str::FromStr,
};

use super::Root;
use crate::{
    facts::{
        Bdf, ReadError, Reading,
        devices::{DeviceAccess, DeviceFile, Opened, Owner},
    },
    view::AMD,
};

/// Name under which the answer is recorded.
const QUESTION: &str = "device-access";
const DRM: &str = "sys/class/drm";
/// All of the ID space, as `/proc/self/uid_map` has it outside user namespaces.
const ALL_IDS: &str = "4294967295";

/// Opens them on a live machine, or tells what was recorded.
pub(super) fn read(root: &Root) -> Reading<DeviceAccess> {
    // Before asking: a root that records is locked while it asks.
    let nodes = render_nodes(root);
    let text = root.ask(QUESTION, || {
        let access = open_all(Path::new("/"), &nodes);
        serde_json::to_string(&access).map_err(|error| ReadError::malformed(QUESTION, error.to_string()))
    })?;
    let other = |_| ReadError::malformed(QUESTION, "was recorded in a form that this version does not know");
    serde_json::from_str(&text).map_err(other)
}

/// Render nodes of AMD GPUs: name and PCI address.
fn render_nodes(root: &Root) -> Vec<(String, Bdf)> {
    let names = root.names_where(DRM, |name| name.starts_with("renderD")).unwrap_or_default();
    let amd = format!("0x{AMD:04x}");
    let node = |name: String| {
        let device = format!("{DRM}/{name}/device");
        let bdf = Bdf::from_str(&root.link_name(&device).ok()?).ok()?;
        (root.text(&format!("{device}/vendor")).ok()? == amd).then_some((name, bdf))
    };
    names.into_iter().filter_map(node).collect()
}

/// Opens `dev/kfd` and the given render nodes below `base`.
#[must_use]
pub fn open_all(base: &Path, nodes: &[(String, Bdf)]) -> DeviceAccess {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ids = |key: &str| -> Vec<u32> {
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        line.split_whitespace().filter_map(|text| text.parse().ok()).collect()
    };
    // Real, effective, saved and file system ID.
    let effective = |key: &str| ids(key).get(1).copied();
    let mut gids: Vec<u32> = effective("Gid:").into_iter().chain(ids("Groups:")).collect();
    gids.sort_unstable();
    gids.dedup();
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let render = nodes.iter().map(|(name, bdf)| open(base, &format!("dev/dri/{name}"), Some(*bdf)));
    DeviceAccess {
        kfd: open(base, "dev/kfd", None),
        render: render.collect(),
        uid: effective("Uid:"),
        gids,
        user_namespace: !map.is_empty() && map.split_whitespace().nth(2) != Some(ALL_IDS),
    }
}

fn open(base: &Path, path: &str, bdf: Option<Bdf>) -> DeviceFile {
    let full = base.join(path);
    let data = fs::metadata(&full);
    let opened = match &data {
        Ok(data) if !data.file_type().is_char_device() => Opened::NotDevice,
        Ok(_) => {
            File::options().read(true).write(true).open(&full).map_or_else(|error| failed(&error), |_| Opened::Yes)
        }
        Err(error) => failed(error),
    };
    let owner = data.ok().map(|data| Owner {
        uid: data.uid(),
        gid: data.gid(),
        group: group_name(data.gid()),
        mode: data.mode() & 0o7777,
    });
    DeviceFile { path: path.to_owned(), bdf, opened, owner }
}

/// By number: the standard library has no kinds for some of them, and puts EPERM and EACCES together.
fn failed(error: &io::Error) -> Opened {
    match error.raw_os_error() {
        Some(1) => Opened::Forbidden,
        Some(2) => Opened::Absent,
        Some(6 | 19) => Opened::NoDriver,
        Some(13) => Opened::Denied,
        _ => Opened::Failed(error.to_string()),
    }
}

/// Not through the root: a report has no use for the rest of that file.
fn group_name(gid: u32) -> Option<String> {
    let text = fs::read_to_string("/etc/group").ok()?;
    let lines = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let wanted = gid.to_string();
    lines.into_iter().find_map(|fields| match fields.as_slice() {
        [name, _, id, ..] if *id == wanted => Some((*name).to_owned()),
        _ => None,
    })
}
