// SPDX-License-Identifier: GPL-2.0-only
//! docs/kernel-support.md, made from what was run.

use std::fs;

use anyhow::{Context, Result};

use crate::guest::Implementation;
use crate::workspace;

/// One kernel with one implementation.
pub(super) struct Row {
    /// Release of the kernel.
    pub(super) kernel: String,
    /// What kind of kernel it is.
    pub(super) about: String,
    /// What was loaded.
    pub(super) implementation: Implementation,
    /// What `dkms-build` gave as the reason of its choice.
    pub(super) reason: String,
    /// How many scenarios ran.
    pub(super) scenarios: usize,
    /// Those that failed.
    pub(super) failed: Vec<&'static str>,
}

const HEAD: &str = "# Kernels and implementations

Written by `make test-full` from what it ran; do not edit. `cargo xtask test-full PIECE` runs a piece of it again and replaces
its rows. Every kernel went through the real package: installed by apt, built by DKMS, which chose the implementation and gave
the reason in the table. Where a kernel has two rows, the second is what DKMS built after the metadata were taken away (or,
where they are part of the headers, after `TP2_IMPL=c`), and both were compared in the same guest: sysfs files, pair table,
kernel log and answers were the same. The machines are QEMU's.

| kernel | what it is | implementation | DKMS's reason | VM scenarios |
|---|---|---|---|---|
";

const TAIL: &str = "
Not run: kernels as Ubuntu, Fedora and Arch build them (their header layouts are those of the rows above), arm64 (compiled in
`make check`), and any machine with real AMD GPUs.
";

/// The row's line in the table.
fn line(row: &Row) -> String {
    let passed = row.scenarios - row.failed.len();
    let failed = if row.failed.is_empty() { String::new() } else { format!(", failed: {}", row.failed.join(" ")) };
    let Row { kernel, about, implementation, reason, scenarios, .. } = row;
    format!("| {kernel} | {about} | {implementation} | {reason} | {passed} of {scenarios} passed{failed} |")
}

/// The page with these rows; rows of other kernels are those of the page as it was.
fn render(rows: &[Row], before: &str) -> String {
    let ours = |line: &str| rows.iter().any(|row| line.starts_with(&format!("| {} |", row.kernel)));
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| kernel |");
    let mut lines: Vec<String> = before.lines().filter(is_row).map(str::to_owned).collect();
    let place = lines.iter().position(|line| ours(line)).unwrap_or(lines.len());
    lines.retain(|line| !ours(line));
    let place = place.min(lines.len());
    lines.splice(place..place, rows.iter().map(line));
    format!("{HEAD}{}\n{TAIL}", lines.join("\n"))
}

/// Writes the page, whole or not at all; `partly`: what was not run stays as it is there.
pub(super) fn write(rows: &[Row], partly: bool) -> Result<()> {
    let path = workspace::root().join("docs/kernel-support.md");
    let before = if partly { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
    let half = path.with_extension("md.new");
    fs::write(&half, render(rows, &before))
        .and_then(|()| fs::rename(&half, &path))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kernel: &str, failed: Vec<&'static str>) -> Row {
        Row {
            kernel: kernel.to_owned(),
            about: "stock".to_owned(),
            implementation: Implementation::Rust,
            reason: "Rust implementation: allowed.".to_owned(),
            scenarios: 26,
            failed,
        }
    }

    #[test]
    fn a_failed_scenario_is_named_in_its_row() {
        let page = render(&[row("7.3.4", Vec::new()), row("7.3.4", vec!["x99"])], "");
        assert!(page.contains("| 7.3.4 | stock | rust | Rust implementation: allowed. | 26 of 26 passed |\n"));
        assert!(page.contains("25 of 26 passed, failed: x99 |\n"));
    }
    #[test]
    fn a_kernel_that_is_run_again_replaces_its_own_rows() {
        let first = render(&[row("7.3.4", vec!["x99"]), row("7.2.1", Vec::new()), row("7.3.4-tp2", Vec::new())], "");
        let again = render(&[row("7.3.4", Vec::new()), row("7.3.4", Vec::new())], &first);
        let kernels: Vec<&str> = again.lines().filter(|line| line.contains("| stock |")).collect();
        let starts: Vec<&str> = kernels.iter().map(|line| line.split(" | ").next().unwrap_or_default()).collect();
        assert_eq!(starts, ["| 7.3.4", "| 7.3.4", "| 7.2.1", "| 7.3.4-tp2"]);
        assert!(!again.contains("x99"));
    }
}
