// SPDX-License-Identifier: GPL-2.0-only

//! Where the tool runs: CPU, firmware, container, rights.

use super::Root;
use crate::facts::{Cpu, Host, ReadError, Reading};

/// Paths that only containers have.
const CONTAINER_MARKS: [&str; 4] =
    [".dockerenv", "run/.containerenv", "run/systemd/container", "run/secrets/kubernetes.io"];
/// Larger than any `os-release`.
const OS_RELEASE_LIMIT: u64 = 64 * 1024;
/// `/proc/cpuinfo` of a machine with some thousand CPUs.
const CPUINFO_LIMIT: u64 = 16 * 1024 * 1024;
/// Fields that `/proc/cpuinfo` has on arm64, riscv, powerpc and loongarch, but not on x86.
const OTHER_ARCHITECTURES: [&str; 4] = ["CPU implementer", "isa", "cpu", "CPU Family"];

/// Reads the host.
pub(super) fn read(root: &Root) -> Host {
    let marks = CONTAINER_MARKS.iter().filter(|path| root.exists(path) == Ok(true));
    Host {
        root: root.is_live().then(|| is_root(root)).flatten(),
        live: root.is_live(),
        cpu: cpu(root),
        version: root.text("proc/version"),
        dmi_vendor: root.text("sys/class/dmi/id/sys_vendor"),
        dmi_product: root.text("sys/class/dmi/id/product_name"),
        container_marks: marks.map(|path| (*path).to_owned()).collect(),
        cmdline: root.text("proc/cmdline"),
        distribution: distribution(root),
    }
}

/// The fields that are read.
fn kept(text: &str) -> String {
    let is_kept = |line: &&str| line.starts_with("ID=") || line.starts_with("ID_LIKE=");
    text.lines().filter(is_kept).fold(String::new(), |all, line| all + line + "\n")
}

/// From the first of the two files that is there (os-release(5)).
fn distribution(root: &Root) -> Vec<String> {
    let text = ["etc/os-release", "usr/lib/os-release"]
        .iter()
        .find_map(|path| root.text_excerpt(path, OS_RELEASE_LIMIT, kept).ok());
    let text = text.unwrap_or_default();
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let words =
        [value("ID"), value("ID_LIKE")].into_iter().flatten().flat_map(|value| value.trim_matches('"').split(' '));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn cpu(root: &Root) -> Reading<Cpu> {
    let path = "proc/cpuinfo";
    let text = root.text_up_to(path, CPUINFO_LIMIT)?;
    let cpu = parse_cpuinfo(&text);
    // Without a vendor it has to be another architecture, for which the kernel's test of the CPU is always "no".
    let other = |line: &str| {
        let key = line.split(':').next().unwrap_or_default().trim();
        OTHER_ARCHITECTURES.contains(&key)
    };
    if cpu.vendor.is_empty() && !text.lines().any(other) {
        return Err(ReadError::malformed(path, "does not describe a CPU"));
    }
    Ok(cpu)
}

/// The first processor of a `cpuinfo`.
#[must_use]
pub fn parse_cpuinfo(text: &str) -> Cpu {
    let first: Vec<(&str, &str)> = text
        .lines()
        .take_while(|line| !line.trim().is_empty())
        .filter_map(|line| line.split_once(':'))
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect();
    let get = |name: &str| first.iter().find(|(key, _)| *key == name).map(|(_, v)| *v);
    Cpu {
        vendor: get("vendor_id").unwrap_or_default().to_owned(),
        family: get("cpu family").and_then(|text| text.parse().ok()),
        model: get("model").and_then(|text| text.parse().ok()),
        name: get("model name").unwrap_or_default().to_owned(),
        hypervisor: get("flags").is_some_and(|flags| flags.split(' ').any(|f| f == "hypervisor")),
    }
}

/// Whether the effective user is root, as the kernel tells the process about itself.
fn is_root(root: &Root) -> Option<bool> {
    // Not through the root: a report has no use for the rest of that file.
    let answer = root.ask("process/root", || {
        let unreadable = |error: std::io::Error| ReadError::malformed("proc/self/status", error.to_string());
        let status = std::fs::read_to_string("/proc/self/status").map_err(unreadable)?;
        let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        let effective = ids.and_then(|ids| ids.split_whitespace().nth(1));
        let id = effective.ok_or_else(|| ReadError::malformed("proc/self/status", "has no effective user"))?;
        Ok(if id == "0" { "yes" } else { "no" }.to_owned())
    });
    answer.ok().map(|text| text == "yes")
}
