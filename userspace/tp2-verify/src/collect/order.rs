// SPDX-License-Identifier: GPL-2.0-only

//! modprobe's configuration, as far as it orders the override and amdgpu (modprobe.d(5)).

use std::collections::BTreeMap;

use super::{Root, modules::NAME};
use crate::facts::{ConfigLine, Order};

/// In order of precedence: a file hides those of the same name in later directories.
const DIRECTORIES: [&str; 5] =
    ["etc/modprobe.d", "run/modprobe.d", "usr/local/lib/modprobe.d", "usr/lib/modprobe.d", "lib/modprobe.d"];
/// Larger than any such file.
const LIMIT: u64 = 256 * 1024;

/// Reads all files that modprobe would.
pub(super) fn read(root: &Root) -> Order {
    let mut order = Order { searched: Vec::new(), softdeps: Vec::new(), blocked: Vec::new(), unreadable: Vec::new() };
    // By name, and of one name the first directory's.
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for directory in DIRECTORIES {
        match root.names_where(directory, is_configuration) {
            Ok(names) => {
                order.searched.push(directory.to_owned());
                for name in names {
                    let path = format!("{directory}/{name}");
                    files.entry(name).or_insert(path);
                }
            }
            Err(error) if error.is_absent() => {}
            Err(error) => order.unreadable.push(error),
        }
    }
    for path in files.values() {
        match root.text_excerpt(path, LIMIT, kept) {
            Ok(text) => add_lines(&mut order, path, &text),
            Err(error) => order.unreadable.push(error),
        }
    }
    order
}

/// Whether a file of a configuration directory is read: those that end in `.conf`, in this case only.
pub(super) fn is_configuration(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && ending == "conf")
}

/// Lines about the two modules; what else an administrator wrote is nobody's business.
fn kept(text: &str) -> String {
    let is_kept = |line: &String| {
        let words: Vec<&str> = line.split(' ').collect();
        let module = words.get(1).map(|name| name.replace('-', "_"));
        // Of what else is installed in place of amdgpu nobody reads the command.
        matches!(
            (words.first().copied(), module.as_deref()),
            (Some("softdep" | "blacklist" | "options"), Some("amdgpu" | NAME)) | (Some("install"), Some(NAME))
        )
    };
    parse_lines(text).into_iter().filter(is_kept).fold(String::new(), |all, line| all + &line + "\n")
}

fn add_lines(order: &mut Order, path: &str, text: &str) {
    for line in parse_lines(text) {
        let words: Vec<&str> = line.split(' ').collect();
        let module = words.get(1).map(|name| name.replace('-', "_"));
        let keep = ConfigLine { path: path.to_owned(), line: line.clone() };
        match (words.first().copied(), module.as_deref()) {
            (Some("softdep"), Some("amdgpu")) => order.softdeps.push(keep),
            (Some("blacklist" | "install"), Some(NAME)) => order.blocked.push(keep),
            _ => {}
        }
    }
}

/// Lines without comments, continued ones joined, with single spaces.
#[must_use]
pub fn parse_lines(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}
