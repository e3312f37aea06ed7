// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's table of host bridges against that of `tp2-policy`.

use std::fmt;

use tp2_policy::{
    KernelVersion,
    whitelist::{Entry, TABLE},
};

use super::c::{self, Kind, Token};
use super::tree::Tree;

const P2PDMA: &str = "drivers/pci/p2pdma.c";
const PCI_IDS: &str = "include/linux/pci_ids.h";
/// Files that are read.
pub(super) const FILES: [&str; 2] = [P2PDMA, PCI_IDS];

/// One row, whatever release it is of.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) vendor: u16,
    pub(super) device: Option<u16>,
    pub(super) same_host_bridge: bool,
}

impl PartialEq for Row {
    /// The name is for people.
    fn eq(&self, other: &Self) -> bool {
        let facts = |row: &Self| (row.vendor, row.device, row.same_host_bridge);
        facts(self) == facts(other)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, vendor, device, same_host_bridge } = self;
        let device = device.map_or("any device".to_owned(), |device| format!("{device:04x}"));
        let condition = if *same_host_bridge { " under one host bridge only" } else { "" };
        write!(f, "{vendor:04x}:{device} ({name}){condition}")
    }
}

impl From<&Entry> for Row {
    fn from(entry: &Entry) -> Self {
        Self {
            name: entry.name.to_owned(),
            vendor: entry.vendor,
            device: entry.device,
            same_host_bridge: entry.require_same_host_bridge,
        }
    }
}

/// Compares the table of a tree with what `tp2-policy` has for its series.
pub(super) fn check(tree: &Tree) -> Vec<String> {
    match read(tree) {
        Ok(rows) => differences(tree.version, &rows),
        Err(error) => vec![error],
    }
}

/// The rows that `tp2-policy` has for a release; of those that came between two sources, those of the newer are left out.
pub(super) fn known(version: KernelVersion) -> Vec<Row> {
    TABLE.iter().filter(|entry| entry.first_seen.series() <= version.series()).map(Row::from).collect()
}

fn differences(version: KernelVersion, found: &[Row]) -> Vec<String> {
    let known = known(version);
    let told = |row: &Row, what: &str| {
        format!(
            "{P2PDMA}: pci_p2pdma_whitelist[] of Linux {version} {what} {row}: run `cargo xtask drift` with --write"
        )
    };
    let new = found.iter().filter(|row| !known.contains(row)).map(|row| told(row, "has a row that is not known:"));
    let gone = known.iter().filter(|row| !found.contains(row)).map(|row| told(row, "lacks a row:"));
    let mut differences: Vec<String> = new.chain(gone).collect();
    if differences.is_empty() && *found != known {
        differences.push(format!("{P2PDMA}: pci_p2pdma_whitelist[] of Linux {version} has its rows in another order"));
    }
    differences
}

/// Reads the table of a tree.
pub(super) fn read(tree: &Tree) -> Result<Vec<Row>, String> {
    let missing = |path: &str| format!("{path}: there is no such file, so the host-bridge table cannot be read");
    let text = tree.text(P2PDMA).ok_or_else(|| missing(P2PDMA))?;
    let ids = tree.tokens(PCI_IDS).ok_or_else(|| missing(PCI_IDS))?;
    parse(text, &ids).map_err(|error| format!("{P2PDMA}: pci_p2pdma_whitelist[]: {error}"))
}

fn parse(text: &str, ids: &[Token]) -> Result<Vec<Row>, String> {
    let tokens = c::tokens_and_comments(text);
    let is_table = |window: &[Token]| {
        let texts = ["pci_p2pdma_whitelist", "[", "]", "=", "{"];
        window.iter().zip(texts).all(|(token, text)| token.text == text)
    };
    let start = tokens.windows(5).position(is_table).ok_or("there is no such table")? + 5;
    let mut rows = Vec::new();
    let (mut comment, mut row, mut depth) = (String::new(), Vec::new(), 1);
    for token in &tokens[start..] {
        match (token.kind, token.text.as_str()) {
            (Kind::Comment, text) => text.trim_end_matches('.').clone_into(&mut comment),
            (Kind::Directive, text) => return Err(format!("it has the line `{text}`, which is not understood")),
            (_, "{") => depth += 1,
            (_, "}") if depth == 1 => return Ok(rows),
            (_, "}") => {
                depth -= 1;
                rows.extend(parse_row(&row, &comment, ids)?);
                row.clear();
            }
            (_, ",") if depth == 1 => {}
            _ => row.push(token.clone()),
        }
    }
    Err("it does not end".to_owned())
}

/// Reads `VENDOR, DEVICE, FLAGS`; `None` for the empty row that ends the table.
fn parse_row(row: &[Token], comment: &str, ids: &[Token]) -> Result<Option<Row>, String> {
    if row.is_empty() {
        return Ok(None);
    }
    let written = c::write(row);
    let fields: Vec<String> = row.split(|token| token.text == ",").map(c::write).collect();
    let not_understood = || format!("the row `{written}` is not understood");
    let [vendor, device, flags] = fields.as_slice() else { return Err(not_understood()) };
    let same_host_bridge = match flags.as_str() {
        "0" => false,
        "REQ_SAME_HOST_BRIDGE" => true,
        _ => return Err(not_understood()),
    };
    let id = |text: &str| number(text).or_else(|| defined(ids, text)).ok_or_else(not_understood);
    let device_id = if device == "PCI_ANY_ID" { None } else { Some(id(device)?) };
    let is_macro = device_id.is_some() && number(device).is_none();
    let name = if is_macro || comment.is_empty() { device } else { comment };
    Ok(Some(Row { name: name.to_owned(), vendor: id(vendor)?, device: device_id, same_host_bridge }))
}

fn number(text: &str) -> Option<u16> {
    match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The value that `pci_ids.h` gives a name.
fn defined(ids: &[Token], name: &str) -> Option<u16> {
    ids.iter().find_map(|token| {
        let (defined, value) = token.text.strip_prefix("#define ")?.split_once(' ')?;
        (defined == name).then(|| number(value))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE_7_3: &str = include_str!("fixtures/whitelist-7.3.c");
    const IDS: &str = "#define PCI_VENDOR_ID_INTEL\t\t0x8086\n#define PCI_VENDOR_ID_GOOGLE 0x1ae0 /* LLC */\n\
        #define PCI_VENDOR_ID_NVIDIA 0x10de\n#define PCI_DEVICE_ID_INTEL_DSA_SPR0 0x0b25\n\
        #define PCI_DEVICE_ID_INTEL_QAT_4XXX 0x4940\n";
    const V7_3: KernelVersion = KernelVersion::new(7, 3, 4);

    fn tree(table: &str) -> Tree {
        Tree::of(V7_3, &[(P2PDMA, table), (PCI_IDS, IDS)])
    }

    #[test]
    fn names_are_resolved_and_flags_read() {
        let rows = read(&tree(TABLE_7_3)).unwrap();
        let written: Vec<String> = rows.iter().map(Row::to_string).collect();
        let expected = [
            "8086:3c00 (Intel Xeon E5/Core i7) under one host bridge only",
            "8086:2030 (Intel Skylake-E)",
            "8086:0b25 (PCI_DEVICE_ID_INTEL_DSA_SPR0)",
            "8086:4940 (PCI_DEVICE_ID_INTEL_QAT_4XXX)",
            "1ae0:any device (Google SoCs)",
            "10de:2f95 (Nvidia CPUs)",
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn a_row_that_came_changed_or_went_is_named() {
        let rows = known(V7_3);
        assert_eq!(differences(V7_3, &rows), [""; 0]);
        let mut more = rows.clone();
        more.push(Row { name: "Broadwell".to_owned(), vendor: 0x8086, device: Some(0x6f00), same_host_bridge: true });
        let found = differences(V7_3, &more);
        assert!(found[0].contains("not known: 8086:6f00 (Broadwell) under one host bridge only"), "{found:?}");
        let mut changed = rows.clone();
        changed[0].same_host_bridge = false;
        let found = differences(V7_3, &changed);
        assert!(found[0].contains("not known: 8086:3c00") && found[1].contains("lacks a row: 8086:3c00"), "{found:?}");
        let mut swapped = rows;
        swapped.swap(0, 1);
        assert!(differences(V7_3, &swapped)[0].ends_with("in another order"));
    }

    #[test]
    fn what_is_not_understood_is_told_and_not_guessed() {
        let other = [
            ("0x3c00, REQ_SAME_HOST_BRIDGE", "0x3c00, REQ_OTHER"),
            ("0x3c00, REQ_SAME_HOST_BRIDGE", "0x3c00"),
            ("PCI_DEVICE_ID_INTEL_DSA_SPR0", "PCI_DEVICE_ID_INTEL_NONE"),
            ("/* Intel Skylake-E */", "#ifdef X"),
            ("pci_p2pdma_whitelist[]", "whitelist[]"),
        ];
        for (old, new) in other {
            let changed = TABLE_7_3.replace(old, new);
            assert_ne!(changed, TABLE_7_3);
            assert_eq!(check(&tree(&changed)).len(), 1, "{new}");
        }
    }
}
