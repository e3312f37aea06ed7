// SPDX-License-Identifier: GPL-2.0-only

//! Opens the device files that a GPU runtime opens, to tell apart what it calls "no device" alike. Another process opens
//! them: with a driver that hangs, opening does, too.

use std::{
    collections::VecDeque,
    fs,
    os::unix::{
        fs::{FileTypeExt, MetadataExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
    str::FromStr,
    time::Duration,
};

use super::{Root, process, source::failure};
use crate::{
    device_files::{self, SUBCOMMAND},
    facts::{
        Bdf, ReadError, Reading,
        devices::{DeviceAccess, DeviceFile, Opened, Owner},
    },
    view::AMD,
};

/// Name under which the answer is recorded.
const QUESTION: &str = "device-access";
const DRM: &str = "sys/class/drm";
/// Opening may wake a GPU, which takes a second or two.
const OPEN_LIMIT: Duration = Duration::from_secs(15);
/// A word for each file.
const OUT_LIMIT: usize = 64 * 1024;
/// All of the ID space, as `/proc/self/uid_map` has it outside user namespaces.
const ALL_IDS: &str = "4294967295";

/// Opens them on a live machine, or tells what was recorded.
pub(super) fn read(root: &Root, program: &Path) -> Reading<DeviceAccess> {
    // Before asking: a root that records is locked while it asks.
    let nodes = render_nodes(root);
    let text = root.ask(QUESTION, || {
        let access = open_all(Path::new("/"), &nodes, &|files| open_elsewhere(program, files, OPEN_LIMIT));
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

/// Opens `dev/kfd` and the given render nodes below `base`; `open` opens those that are character devices.
#[must_use]
pub fn open_all(base: &Path, nodes: &[(String, Bdf)], open: &dyn Fn(&[PathBuf]) -> Vec<Opened>) -> DeviceAccess {
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
    let mut kfd = look(base, "dev/kfd", None);
    let mut render: Vec<Look> =
        nodes.iter().map(|(name, bdf)| look(base, &format!("dev/dri/{name}"), Some(*bdf))).collect();
    let devices = std::iter::once(&mut kfd).chain(&mut render).filter(|look| look.is_device);
    let waiting: Vec<&mut DeviceFile> = devices.map(|look| &mut look.file).collect();
    let paths: Vec<PathBuf> = waiting.iter().map(|file| base.join(&file.path)).collect();
    let opened = if paths.is_empty() { Vec::new() } else { open(&paths) };
    for (file, opened) in waiting.into_iter().zip(opened) {
        file.opened = opened;
    }
    DeviceAccess {
        kfd: kfd.file,
        render: render.into_iter().map(|look| look.file).collect(),
        uid: effective("Uid:"),
        gids,
        user_namespace: !map.is_empty() && map.split_whitespace().nth(2) != Some(ALL_IDS),
    }
}

/// What can be seen of a device file without opening it.
struct Look {
    file: DeviceFile,
    is_device: bool,
}

fn look(base: &Path, path: &str, bdf: Option<Bdf>) -> Look {
    let data = fs::metadata(base.join(path));
    let is_device = data.as_ref().is_ok_and(|data| data.file_type().is_char_device());
    let opened = match &data {
        Ok(_) if is_device => Opened::Failed("it was not opened".to_owned()),
        Ok(_) => Opened::NotDevice,
        Err(error) => device_files::failed(error),
    };
    let owner = data.ok().map(|data| Owner {
        uid: data.uid(),
        gid: data.gid(),
        group: group_name(data.gid()),
        mode: data.mode() & 0o7777,
    });
    Look { file: DeviceFile { path: path.to_owned(), bdf, opened, owner }, is_device }
}

/// Has `program` open the files, and gives one answer for each.
#[must_use]
pub fn open_elsewhere(program: &Path, files: &[PathBuf], limit: Duration) -> Vec<Opened> {
    let mut command = Command::new(program);
    command.arg0("tp2-verify").arg(SUBCOMMAND).args(files);
    let (mut answers, reason): (VecDeque<Opened>, String) = match process::run(&mut command, limit, OUT_LIMIT) {
        Ok(ended) => {
            let text = String::from_utf8_lossy(&ended.out.bytes);
            let answers = text.lines().map_while(|line| serde_json::from_str(line).ok()).collect();
            let reason = match ended.end {
                process::End::Killed { seconds, .. } => format!("opening it did not end within {seconds} seconds"),
                process::End::Itself(status) => format!("the process that opens it ended early ({status})"),
            };
            (answers, reason)
        }
        Err(error) => (VecDeque::new(), format!("no process to open it could be started: {}", failure(&error).reason)),
    };
    files.iter().map(|_| answers.pop_front().unwrap_or_else(|| Opened::Failed(reason.clone()))).collect()
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
