// SPDX-License-Identifier: GPL-2.0-only

//! What gates are about: for a terminal, and as docs/gates.md.

use std::io::{self, Write};

use super::wrap::wrap;
use crate::gates::{GATES, Gate};

/// Where sentences are broken at the latest.
const WIDEST: usize = 100;
const INDENT: usize = 2;

/// Writes one gate, or all of them in the order in which they bite.
pub fn write(out: &mut dyn Write, gate: Option<&Gate>, width: Option<usize>) -> io::Result<()> {
    let width = width.unwrap_or(WIDEST).min(WIDEST).saturating_sub(INDENT);
    for gate in GATES.iter().filter(|other| gate.is_none_or(|gate| gate.id == other.id)) {
        writeln!(out, "{}", gate.id)?;
        // Marks of Markdown are for other readers.
        for text in [gate.explanation().replace('`', ""), weight(gate).to_owned()] {
            for line in wrap(&text, width) {
                writeln!(out, "{:INDENT$}{line}", "")?;
            }
        }
    }
    Ok(())
}

/// Writes the page docs/gates.md.
pub fn write_page(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# Gates\n")?;
    writeln!(
        out,
        "What `tp2-verify` looks at, in the order in which gates bite; `tp2-verify explain GATE` prints the same. Made"
    )?;
    writeln!(out, "from the sources by `TP2_WRITE=1 cargo test -p tp2-verify --test explain`; do not edit.")?;
    for gate in &GATES {
        writeln!(out, "\n## {}\n", gate.id)?;
        for line in wrap(&format!("{} {}", gate.explanation(), weight(gate)), 120) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

fn weight(gate: &Gate) -> &'static str {
    if gate.decides {
        "Where it cannot be read, the verdict is inconclusive."
    } else {
        "Where it cannot be read, the verdict does not wait for it."
    }
}
