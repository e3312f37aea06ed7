// SPDX-License-Identifier: GPL-2.0-only
//! Writes the table of `tp2-policy` anew, with what was read from one more source.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, bail};
use tp2_policy::{KernelVersion, whitelist::SOURCES};

use super::tree::Tree;
use super::whitelist::{self, Row};
use crate::workspace;

const PATH: &str = "userspace/tp2-policy/src/whitelist/table.rs";

const HEAD: &str = "\
// SPDX-License-Identifier: GPL-2.0-only

//! The rows, written by `cargo xtask drift --source KERNEL --write`: change that, or the kernel's sources, not this.

use super::{Entry, row};
use crate::KernelVersion;

";

/// A release and its rows.
type Source = (KernelVersion, Vec<Row>);

/// Rewrites the table: these trees take the place of the sources of their series, or are added.
pub(super) fn write(trees: &[Tree]) -> Result<()> {
    let mut sources = known();
    for tree in trees {
        let rows = whitelist::read(tree).map_err(anyhow::Error::msg)?;
        sources.retain(|(version, _)| version.series() != tree.version.series());
        sources.push((tree.version, rows));
    }
    let path = workspace::root().join(PATH);
    fs::write(&path, render(sources)?).with_context(|| format!("cannot write {}", path.display()))
}

/// What the table says of each source.
fn known() -> Vec<Source> {
    SOURCES.iter().map(|version| (*version, whitelist::known(*version))).collect()
}

fn render(mut sources: Vec<Source>) -> Result<String> {
    sources.sort_by_key(|(version, _)| *version);
    let Some((newest, rows)) = sources.last() else { bail!("there is no source to write a table from") };
    for (version, older) in &sources {
        let mut rest = rows.iter();
        if let Some(row) = older.iter().find(|row| !rest.any(|newer| newer == *row)) {
            bail!("{row} of Linux {version} is gone or in another place in {newest}: the table has no way to say that");
        }
    }
    let name = |version: KernelVersion| format!("V{}_{}", version.major, version.minor);
    let mut text = HEAD.to_owned();
    for (version, _) in &sources {
        let KernelVersion { major, minor, patch } = version;
        let _ =
            writeln!(text, "const {}: KernelVersion = KernelVersion::new({major}, {minor}, {patch});", name(*version));
    }
    let names: Vec<String> = sources.iter().map(|(version, _)| name(*version)).collect();
    let _ = writeln!(text, "\n/// The sources that were read, oldest first.");
    let _ = writeln!(text, "pub const SOURCES: [KernelVersion; {}] = [{}];", names.len(), names.join(", "));
    let _ = writeln!(
        text,
        "\n/// The kernel's rows in the kernel's order: the first that matches decides.\n#[rustfmt::skip]"
    );
    let _ = writeln!(text, "pub const TABLE: [Entry; {}] = [", rows.len());
    for row in rows {
        // The rows of a source are all in the newer ones, so this parts the sources in two.
        let without = sources.iter().take_while(|(_, rows)| !rows.contains(row)).count();
        let device = row.device.map_or("None".to_owned(), |device| format!("Some({device:#06x})"));
        let absent = without.checked_sub(1).map_or("None".to_owned(), |last| format!("Some({})", names[last]));
        let Row { name, vendor, same_host_bridge, .. } = row;
        let first = &names[without];
        let _ = writeln!(text, "    row({name:?}, {vendor:#06x}, {device}, {same_host_bridge}, {first}, {absent}),");
    }
    text.push_str("];\n");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = include_str!("../../../userspace/tp2-policy/src/whitelist/table.rs");

    fn next(change: impl FnOnce(&mut Vec<Row>)) -> Result<String> {
        let mut sources = known();
        let mut rows = sources.last().unwrap().1.clone();
        change(&mut rows);
        sources.push((KernelVersion::new(7, 9, 1), rows));
        render(sources)
    }

    #[test]
    fn the_table_is_as_it_would_be_written() {
        assert_eq!(render(known()).unwrap(), NOW);
    }

    #[test]
    fn a_row_of_a_new_release_is_added_with_the_releases_around_it() {
        let row = Row { name: "X99".to_owned(), vendor: 0x8086, device: Some(0x6f00), same_host_bridge: true };
        let text = next(|rows| rows.insert(4, row)).unwrap();
        assert!(text.contains("const V7_9: KernelVersion = KernelVersion::new(7, 9, 1);\n"));
        assert!(text.contains("    row(\"X99\", 0x8086, Some(0x6f00), true, V7_9, Some(V7_3)),\n"), "{text}");
    }

    #[test]
    fn a_row_that_went_is_refused() {
        let error = next(|rows| drop(rows.remove(0))).unwrap_err().to_string();
        assert!(error.starts_with("8086:3c00 ") && error.contains("gone or in another place in 7.9.1"), "{error}");
    }
}
