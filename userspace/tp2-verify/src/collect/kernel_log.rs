// SPDX-License-Identifier: GPL-2.0-only

//! The kernel log of this boot, as far as a gate goes by it: routes that the kernel refused when amdgpu asked, and why the
//! module could not set its hook. Nothing else of the log is kept.
//!
//! Of a captured tree what `dmesg` printed is read, `tp2/kernel-log`.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use super::{Root, pci, record::Failure, source::failure};
use crate::facts::{Bdf, KernelLog, Reading, RefusedRoute};

/// The log in a captured tree.
pub const CAPTURED: &str = "tp2/kernel-log";
/// Name under which the answer is recorded, and the device.
const DEVICE: &str = "dev/kmsg";
/// The ring buffer has 128 KiB to 2 MiB; a captured log may have been kept longer.
const LIMIT: u64 = 16 * 1024 * 1024;
/// More than one record (`CONSOLE_EXT_LOG_MAX` and `PRINTKRB_RECORD_MAX`, Linux 6.12 to 7.3).
const RECORD: usize = 8192;
/// Routes kept: all between as many GPUs as are judged.
const ROUTES_LIMIT: usize = pci::GPU_LIMIT * pci::GPU_LIMIT;
/// Letters kept of a line that is kept as it is.
const LINE_LIMIT: usize = 200;

/// `amdgpu_device_is_peer_accessible()` says this (`amdgpu_device.c`, Linux 6.1 to 7.3).
const FROM_PEER: &str = ": PCIe P2P access from peer device ";
const NOT_SUPPORTED: &str = " is not supported by the chipset";

/// The module says this where it cannot set its hook, and then does not load (`rust-kmod/c/probe.c`, and its like in Rust).
const CANNOT_HOOK: &str = "tp2_p2pdma: cannot hook ";

/// Reads what the log tells.
pub(super) fn read(root: &Root) -> Reading<KernelLog> {
    if !root.is_live() {
        return root.text_excerpt(CAPTURED, LIMIT, lines).map(|text| parse(&text));
    }
    let text = root.ask(DEVICE, || {
        let text = all_records(&Path::new("/").join(DEVICE)).map_err(|failure| failure.at(DEVICE))?;
        Ok(lines(&text))
    })?;
    Ok(parse(&text))
}

/// The lines that a gate goes by.
fn lines(text: &str) -> String {
    let log = parse(text);
    let lines: Vec<&str> =
        log.refused.iter().map(|route| route.line.as_str()).chain(log.hook_failure.as_deref()).collect();
    lines.join("\n")
}

/// Each read gives one record; at the end, and where records were overwritten meanwhile, an error.
fn all_records(path: &Path) -> Result<String, Failure> {
    let open = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let mut file = open.map_err(|error| failure(&error))?;
    let mut text = String::new();
    let mut record = [0; RECORD];
    while u64::try_from(text.len()).is_ok_and(|length| length < LIMIT) {
        match file.read(&mut record) {
            Ok(0) => break,
            Ok(length) => text.push_str(&String::from_utf8_lossy(record.get(..length).unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(failure(&error)),
        }
    }
    Ok(text)
}

/// What a log tells: each route once. Lines are without what is before the driver's name.
#[must_use]
pub fn parse(text: &str) -> KernelLog {
    let mut known = HashSet::new();
    let routes = text.lines().filter_map(refused).filter(|route| known.insert((route.provider, route.client)));
    let routes: Vec<RefusedRoute> = routes.take(ROUTES_LIMIT).collect();
    let hook = text.lines().rev().find_map(|line| line.find(CANNOT_HOOK).and_then(|at| line.get(at..)));
    KernelLog { refused: routes.into(), hook_failure: hook.map(|line| line.chars().take(LINE_LIMIT).collect()) }
}

fn refused(line: &str) -> Option<RefusedRoute> {
    let (before, rest) = line.split_once(FROM_PEER)?;
    let client: Bdf = rest.split_once(NOT_SUPPORTED)?.0.parse().ok()?;
    let (_, address) = before.rsplit_once("amdgpu ")?;
    let provider: Bdf = address.parse().ok()?;
    Some(RefusedRoute { provider, client, line: format!("amdgpu {provider}{FROM_PEER}{client}{NOT_SUPPORTED}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        "amdgpu 0000:05:00.0: PCIe P2P access from peer device 0000:08:00.0 is not supported by the chipset";

    #[test]
    fn refusals_are_found_in_either_form_and_once() {
        let log =
            format!("6,917,4218300,-;{LINE}\n SUBSYSTEM=pci\n[    4.2] {LINE}\n[ 4.3] amdgpu 0000:05:00.0: fine\n");
        let routes = parse(&log).refused;
        assert_eq!(routes.len(), 1, "{routes:?}");
        assert_eq!(routes[0].line, LINE);
        assert_eq!(
            (routes[0].provider.to_string(), routes[0].client.to_string()),
            ("0000:05:00.0".into(), "0000:08:00.0".into())
        );
    }

    #[test]
    fn a_log_of_too_many_routes_is_cut() {
        let line = |number: usize| {
            let client = LINE.replace("0000:08", &format!("{:04x}:{:02x}", number / 256, number % 256));
            format!("{client}\n{client}\n")
        };
        let log: String = (0..=ROUTES_LIMIT).map(line).collect();
        let routes = parse(&log).refused;
        assert_eq!(routes.len(), ROUTES_LIMIT);
        assert_eq!(routes[ROUTES_LIMIT - 1].client.to_string(), "00ff:ff:00.0");
    }

    #[test]
    fn last_words_of_the_module_are_kept_without_what_is_before_them() {
        let log =
            "[ 3.1] tp2_p2pdma: cannot hook f: first, error -2\n3,1,2,-;tp2_p2pdma: cannot hook f: last, error -22\n";
        assert_eq!(parse(log).hook_failure.as_deref(), Some("tp2_p2pdma: cannot hook f: last, error -22"));
        assert_eq!(lines(log), "tp2_p2pdma: cannot hook f: last, error -22");
        assert_eq!(
            parse(&format!("{CANNOT_HOOK}{}", "x".repeat(9000))).hook_failure.map(|line| line.len()),
            Some(LINE_LIMIT)
        );
    }

    #[test]
    fn other_words_are_no_refusal() {
        for line in
            ["amdgpu x: PCIe P2P access from peer device 0000:08:00.0 is not supported by the chipset", FROM_PEER, ""]
        {
            assert!(parse(line).refused.is_empty(), "{line}");
        }
    }
}
