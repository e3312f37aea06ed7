// SPDX-License-Identifier: GPL-2.0-only

//! Names of the machine and of the people on it, as far as the machine knows them.

use super::{pseudonyms::Kind, text::Names};
use crate::collect::Root;

/// Words that name nobody, and that are in paths and values which the tool looks for.
const COMMON: [&str; 48] = [
    "admin",
    "amd",
    "amdgpu",
    "arch",
    "boot",
    "build",
    "builtin",
    "bus",
    "class",
    "config",
    "debian",
    "default",
    "dev",
    "devices",
    "dkms",
    "driver",
    "fedora",
    "generic",
    "gpu",
    "home",
    "host",
    "intel",
    "kernel",
    "kfd",
    "lib",
    "linux",
    "localhost",
    "module",
    "modules",
    "nodes",
    "none",
    "pci",
    "proc",
    "properties",
    "root",
    "server",
    "source",
    "sys",
    "system",
    "test",
    "topology",
    "ubuntu",
    "user",
    "usr",
    "var",
    "version",
    "vendor",
    "updates",
];

/// Files that hold names of the host.
const HOST_FILES: [&str; 4] =
    ["proc/sys/kernel/hostname", "etc/hostname", "proc/sys/kernel/domainname", "etc/mailname"];

/// Variables that hold names, of the running machine.
const VARIABLES: [(Kind, &str); 4] =
    [(Kind::User, "USER"), (Kind::User, "LOGNAME"), (Kind::User, "SUDO_USER"), (Kind::Host, "HOSTNAME")];

/// Accounts of people (`login.defs`).
const FIRST_USER: u32 = 1000;
const NOBODY: u32 = 65534;

/// Reads names; `root` must not be recording, since a report has no use for these files.
pub(super) fn read(root: &Root) -> Names {
    let mut names = Vec::new();
    for text in HOST_FILES.iter().filter_map(|path| root.text(path).ok()) {
        add(&mut names, Kind::Host, &text);
        // The first part of a full name, and the domain.
        if let Some((host, domain)) = text.split_once('.') {
            add(&mut names, Kind::Host, host);
            add(&mut names, Kind::Host, domain);
        }
    }
    for line in root.text("etc/passwd").unwrap_or_default().lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let [user, _, id, _, person, ..] = fields.as_slice() else {
            continue;
        };
        if id.parse::<u32>().is_ok_and(|id| id >= FIRST_USER && id != NOBODY) {
            add(&mut names, Kind::User, user);
            add(&mut names, Kind::User, person.split(',').next().unwrap_or_default());
        }
    }
    for user in root.names("home").unwrap_or_default() {
        add(&mut names, Kind::User, &user);
    }
    if root.is_live() {
        for (kind, variable) in VARIABLES {
            add(&mut names, kind, &std::env::var(variable).unwrap_or_default());
        }
    }
    Names::new(names)
}

/// Adds a name that can be replaced without changing what the tool reads: short ones and numbers are in everything.
fn add(names: &mut Vec<(Kind, String)>, kind: Kind, name: &str) {
    let name = name.trim();
    let is_common = COMMON.iter().any(|word| word.eq_ignore_ascii_case(name)) || name.starts_with("localhost.");
    let is_number = name.chars().all(|c| c.is_ascii_digit());
    let is_name = name.chars().count() >= 2 && !name.contains(['/', '\n', '(']);
    if is_name && !is_common && !is_number {
        names.push((kind, name.to_owned()));
    }
}
