// SPDX-License-Identifier: GPL-2.0-only

//! Names of the machine and of the people on it, as far as the machine knows them.

use super::{pseudonyms::Kind, text::Names, words::is_common};
use crate::collect::Root;

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
        let [user, _, id, _, person, home, ..] = fields.as_slice() else {
            continue;
        };
        // Older systems counted people from 500, and a home below /home is nobody else's.
        let is_person = |id: u32| (id >= FIRST_USER && id != NOBODY) || home.starts_with("/home/");
        if id.parse().is_ok_and(is_person) {
            add(&mut names, Kind::User, user);
            add(&mut names, Kind::User, person.split(',').next().unwrap_or_default());
        }
    }
    for user in root.names("home").unwrap_or_default() {
        add(&mut names, Kind::User, &user);
        // Where a directory service has the accounts, those of a domain are in a directory of its own.
        let inner = user.contains('.').then(|| root.names(&format!("home/{user}"))).and_then(Result::ok);
        for user in inner.unwrap_or_default() {
            add(&mut names, Kind::User, &user);
        }
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
    let is_common = is_common(name) || name.starts_with("localhost.");
    let is_number = name.chars().all(|c| c.is_ascii_digit());
    let is_name = name.chars().count() >= 2 && !name.contains(['/', '\n', '(']);
    if is_name && !is_common && !is_number {
        names.push((kind, name.to_owned()));
    }
}
