// SPDX-License-Identifier: GPL-2.0-only
//! docs/kernel-support.md, made from what was run.

use std::fmt::Write as _;
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

Written by `make test-full` from what it ran; do not edit. Every kernel went through the real package: installed by apt, built
by DKMS, which chose the implementation and gave the reason in the table. Where a kernel has two rows, the second is what DKMS
built after the metadata were taken away (or, where they are part of the headers, after `TP2_IMPL=c`), and both were compared
in the same guest: sysfs files, pair table, kernel log and answers were the same. The machines are QEMU's.

| kernel | what it is | implementation | DKMS's reason | VM scenarios |
|---|---|---|---|---|
";

const TAIL: &str = "
Not run: kernels as Ubuntu, Fedora and Arch build them (their header layouts are those of the rows above), kernels built with
clang, arm64 (compiled in `make check`), and any machine with real AMD GPUs.
";

fn render(rows: &[Row]) -> String {
    let mut page = HEAD.to_owned();
    for row in rows {
        let passed = row.scenarios - row.failed.len();
        let failed = if row.failed.is_empty() { String::new() } else { format!(", failed: {}", row.failed.join(" ")) };
        // Writing into a String cannot fail.
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {passed} of {} passed{failed} |",
            row.kernel, row.about, row.implementation, row.reason, row.scenarios
        );
    }
    page + TAIL
}

/// Writes the page, whole or not at all.
pub(super) fn write(rows: &[Row]) -> Result<()> {
    let path = workspace::root().join("docs/kernel-support.md");
    let half = path.with_extension("md.new");
    fs::write(&half, render(rows))
        .and_then(|()| fs::rename(&half, &path))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_scenario_is_named_in_its_row() {
        let row = |failed| Row {
            kernel: "7.3.4".to_owned(),
            about: "stock".to_owned(),
            implementation: Implementation::Rust,
            reason: "Rust implementation: allowed.".to_owned(),
            scenarios: 26,
            failed,
        };
        let page = render(&[row(Vec::new()), row(vec!["x99"])]);
        assert!(page.contains("| 7.3.4 | stock | rust | Rust implementation: allowed. | 26 of 26 passed |\n"));
        assert!(page.contains("25 of 26 passed, failed: x99 |\n"));
    }
}
