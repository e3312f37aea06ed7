// SPDX-License-Identifier: GPL-2.0-only

//! Breaking sentences into lines.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes on a terminal: two for a Chinese character.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// Breaks text at spaces and between Chinese characters, so that no line has more than `width` columns but for words
/// that are longer.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (space, piece) in pieces(text) {
        let more = columns(piece);
        let gap = usize::from(space && used > 0);
        match lines.last_mut() {
            Some(line) if used == 0 || used + gap + more <= width => {
                line.extend((gap > 0).then_some(' '));
                line.push_str(piece);
                used += gap + more;
            }
            _ => {
                lines.push(piece.to_owned());
                used = more;
            }
        }
    }
    lines
}

/// What must stay together, and whether there is a space before it.
fn pieces(text: &str) -> Vec<(bool, &str)> {
    let mut pieces = Vec::new();
    for word in text.split(' ') {
        let (mut start, mut space) = (0, true);
        let mut letters = word.char_indices().peekable();
        while let Some((_, letter)) = letters.next() {
            let Some(&(next, following)) = letters.peek() else { break };
            if may_part(letter, following) {
                pieces.push((space, &word[start..next]));
                (start, space) = (next, false);
            }
        }
        pieces.push((space, &word[start..]));
    }
    pieces
}

/// Beside a wide character, but no punctuation begins a line that ought to end one, or the other way round.
fn may_part(before: char, after: char) -> bool {
    const CLOSING: &str = "，。；：、？！）》”’】";
    const OPENING: &str = "（《“‘【";
    let wide = |letter: char| letter.width() == Some(2) || CLOSING.contains(letter) || OPENING.contains(letter);
    (wide(before) || wide(after)) && !CLOSING.contains(after) && !OPENING.contains(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_in_english() {
        assert_eq!(wrap("look at /sys/module/amdgpu now", 10), ["look at", "/sys/module/amdgpu", "now"]);
    }

    #[test]
    fn chinese_breaks_between_characters_and_keeps_punctuation() {
        assert_eq!(wrap("内核拒绝，请重启", 8), ["内核拒", "绝，请重", "启"]);
        assert_eq!(wrap("内核 7.3.4 拒绝", 10), ["内核 7.3.4", "拒绝"]);
        assert!(wrap("主机桥 8086:6f00 不在内核名单里（见说明）", 12).iter().all(|line| columns(line) <= 12));
    }
}
