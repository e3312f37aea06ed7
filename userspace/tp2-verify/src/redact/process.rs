// SPDX-License-Identifier: GPL-2.0-only

//! What the kernel tells of the tool's own process: most of it is nobody's business.

use crate::collect::environment;

/// Lines of `status` that say what the process may do.
const STATUS_LINES: [&str; 4] = ["Uid:", "Gid:", "Groups:", "CapEff:"];

/// What is kept of a file of `/proc/PID`; `None` for files elsewhere.
pub(super) fn kept(path: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let file = file(path)?;
    Some(match file {
        "status" => {
            let text = String::from_utf8_lossy(bytes);
            let lines = text.lines().filter(|line| STATUS_LINES.iter().any(|start| line.starts_with(start)));
            lines.fold(String::new(), |all, line| all + line + "\n").into_bytes()
        }
        "environ" => environment::kept(bytes),
        // Nobody reads others yet.
        _ => Vec::new(),
    })
}

/// Whether it is a file of `/proc/PID`.
pub(super) fn is_own(path: &str) -> bool {
    file(path).is_some()
}

fn file(path: &str) -> Option<&str> {
    let (process, file) = path.strip_prefix("proc/")?.split_once('/')?;
    // `self` is a link on a machine, and may be a directory in a captured tree.
    (process == "self" || process.chars().all(|c| c.is_ascii_digit())).then_some(file)
}
