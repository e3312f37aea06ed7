// SPDX-License-Identifier: GPL-2.0-only

//! What gates are about: for a terminal, and as docs/gates.md.

use std::io::{self, Write};

use super::wrap::wrap;
use crate::{
    gates::{GATES, Gate},
    language::Language,
    text,
    text::Text,
};

/// Where sentences are broken at the latest.
const WIDEST: usize = 100;
const INDENT: usize = 2;
/// Columns of a page.
const PAGE: usize = 120;

/// Writes one gate, or all of them in the order in which they bite.
pub fn write(out: &mut dyn Write, gate: Option<&Gate>, language: Language, width: Option<usize>) -> io::Result<()> {
    let width = width.unwrap_or(WIDEST).min(WIDEST).saturating_sub(INDENT);
    for gate in GATES.iter().filter(|other| gate.is_none_or(|gate| gate.id == other.id)) {
        writeln!(out, "{}", gate.id)?;
        // Marks of Markdown are for other readers.
        for text in [gate.explanation(language).replace('`', ""), weight(gate).words(language)] {
            for line in wrap(&text, width) {
                writeln!(out, "{:INDENT$}{line}", "")?;
            }
        }
    }
    Ok(())
}

/// Writes the page of a language: docs/gates.md, docs/gates.zh-CN.md.
pub fn write_page(out: &mut dyn Write, language: Language) -> io::Result<()> {
    let lines = |out: &mut dyn Write, text: &str| wrap(text, PAGE).iter().try_for_each(|line| writeln!(out, "{line}"));
    writeln!(out, "# {}\n", text!("page-title").words(language))?;
    lines(out, &text!("page-introduction").words(language))?;
    for gate in &GATES {
        writeln!(out, "\n## {}\n", gate.id)?;
        let text = Text::List(vec![gate.explanation(language).into(), weight(gate)], "between-sentences");
        lines(out, &text.words(language))?;
    }
    Ok(())
}

fn weight(gate: &Gate) -> Text {
    if gate.decides { text!("explain-decides") } else { text!("explain-does-not-decide") }
}
