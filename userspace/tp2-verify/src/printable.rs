// SPDX-License-Identifier: GPL-2.0-only

//! What may be printed. Files, names and archives may hold anything, and a terminal, a log or an issue would take some of
//! it for commands, or show what follows in another order.

/// Whether a character is obeyed and not shown: control characters (C0, DEL, C1), ends of lines and paragraphs, marks and
/// overrides of the direction, and characters without width, behind which text hides.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text in one line, with a question mark for each character that is not shown.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|character| if is_hidden(character) { '?' } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_obey_is_not_printed() {
        for hidden in [
            '\0', '\t', '\n', '\r', '\u{1b}', '\u{7f}', '\u{80}', '\u{85}', '\u{9b}', '\u{9d}', '\u{9f}', '\u{200e}',
            '\u{200f}', '\u{2028}', '\u{2029}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{feff}',
        ] {
            assert_eq!(printable(&format!("a{hidden}b")), "a?b", "{hidden:?}");
        }
        let plain = "Größe: 内核（见说明），“x” – 8 GT/s…";
        assert_eq!(printable(plain), plain);
    }
}
