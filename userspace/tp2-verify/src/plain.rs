// SPDX-License-Identifier: GPL-2.0-only

//! Words of others in sentences of the tool: a terminal gets what can be printed, and not too much of it.

use crate::printable::printable;

/// Characters of a foreign word that a sentence quotes.
const LIMIT: usize = 200;

/// The beginning of it, if it is long.
#[must_use]
pub fn brief(text: &str) -> String {
    let mut start: String = text.chars().take(LIMIT).collect();
    if start.len() < text.len() {
        start.push_str("...");
    }
    printable(&start)
}

/// The same in quotes.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("{:?}", brief(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys() {
        assert_eq!(brief("a\x1b[2J\n\u{9b}\u{202e}\u{2066}\u{2029}\u{e9}"), "a?[2J?????\u{e9}");
        assert_eq!(quoted(&"\u{e9}".repeat(201)), format!("\"{}...\"", "\u{e9}".repeat(200)));
        assert_eq!(brief("as it is"), "as it is");
    }
}
