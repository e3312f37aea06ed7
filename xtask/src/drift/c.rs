// SPDX-License-Identifier: GPL-2.0-only
//! As much of C as the kernel's style needs: tokens, functions by name, and one way to write a statement.
//!
//! No preprocessor: both arms of an `#if` are read, directives are tokens of their own. Functions are found by the
//! kernel's style, in which the brace that ends one stands at the start of a line.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Name, keyword or number.
    Word,
    /// Operator or other sign, string or character.
    Other,
    /// A whole preprocessor line.
    Directive,
    /// A comment, without its marks.
    Comment,
}

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// Its text; of directives and comments with single spaces.
    pub(super) text: String,
    pub(super) kind: Kind,
    /// Line, counted from 1.
    pub(super) line: usize,
    /// Whether it stands at the start of its line.
    pub(super) first_column: bool,
}

/// Operators of more than one sign, the longer ones first.
const OPERATORS: [&str; 23] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "##",
];

/// Words that stand before a parenthesis and are no functions.
const KEYWORDS: [&str; 6] = ["if", "while", "for", "switch", "return", "case"];

/// All tokens of a file but its comments.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = tokens_and_comments(text);
    tokens.retain(|token| token.kind != Kind::Comment);
    tokens
}

/// All tokens of a file.
pub(super) fn tokens_and_comments(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let (mut at, mut line, mut line_start) = (0, 1, 0);
    while let Some(c) = text[at..].chars().next() {
        if c == '\n' {
            (line, line_start) = (line + 1, at + 1);
        }
        if c.is_whitespace() || c == '\\' {
            at += c.len_utf8();
            continue;
        }
        let starts_line = text[line_start..at].trim().is_empty();
        let (kind, len) = measure(&text[at..], c, starts_line);
        let raw = &text[at..at + len];
        let text_of_token = match kind {
            Kind::Comment => plain_comment(raw),
            Kind::Directive => format!("#{}", write(&tokens_of_line(&raw[1..]))),
            Kind::Word | Kind::Other => raw.to_owned(),
        };
        tokens.push(Token { text: text_of_token, kind, line, first_column: at == line_start });
        line += raw.matches('\n').count();
        if let Some(last) = raw.rfind('\n') {
            line_start = at + last + 1;
        }
        at += len;
    }
    tokens
}

/// The tokens of a directive's text.
pub(super) fn tokens_of_line(text: &str) -> Vec<Token> {
    // A sign that a directive does not begin with keeps `#` of macros from being taken for one.
    let mut tokens = tokens(&format!(";{text}"));
    tokens.remove(0);
    tokens
}

/// Kind and length of the token that `rest` begins with; `c` is its first character.
fn measure(rest: &str, c: char, starts_line: bool) -> (Kind, usize) {
    let to = |end: &str| rest[2..].find(end).map_or(rest.len(), |n| n + 2 + end.len());
    if rest.starts_with("/*") {
        return (Kind::Comment, to("*/"));
    }
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if c == '#' && starts_line {
        return (Kind::Directive, directive_len(rest));
    }
    if c == '"' || c == '\'' {
        return (Kind::Other, literal_len(rest, c));
    }
    if is_word(c) {
        return (Kind::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
    }
    let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
    (Kind::Other, operator.map_or(c.len_utf8(), |operator| operator.len()))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A directive ends with its line, unless the line break is escaped or within a comment.
fn directive_len(rest: &str) -> usize {
    let mut at = 0;
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            at += here.find("*/").map_or(here.len(), |n| n + 2);
        } else if here.starts_with("\\\n") {
            at += 2;
        } else if here.starts_with('\n') {
            break;
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// A string or character with its quotes.
fn literal_len(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if c == '\n' || (c == quote && !escaped) {
            return at + usize::from(c == quote);
        }
        escaped = c == '\\' && !escaped;
    }
    rest.len()
}

fn plain_comment(raw: &str) -> String {
    let inner = raw.trim_start_matches(['/', '*']).trim_end_matches(['/', '*']);
    inner.split_whitespace().filter(|word| *word != "*").collect::<Vec<_>>().join(" ")
}

/// Tokens in the one way in which they are written here.
pub(super) fn write(tokens: &[Token]) -> String {
    let mut text = String::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(2).and_then(|n| tokens.get(n));
        let space = at.checked_sub(1).is_some_and(|n| space_between(before, &tokens[n], token));
        text.extend(space.then_some(' '));
        text.push_str(&token.text);
    }
    text
}

/// Whether two tokens are written with a space between them; `before` is the one before both.
fn space_between(before: Option<&Token>, last: &Token, next: &Token) -> bool {
    const TIGHT_AFTER: [&str; 6] = ["(", "[", "!", "->", ".", "~"];
    const TIGHT_BEFORE: [&str; 9] = [")", "]", ",", ";", "->", ".", "[", "++", "--"];
    const MAY_BE_UNARY: [&str; 4] = ["&", "*", "-", "+"];
    let call = next.text == "(" && last.kind == Kind::Word && !KEYWORDS.contains(&last.text.as_str());
    let operand = |token: &Token| match token.kind {
        Kind::Word => !KEYWORDS.contains(&token.text.as_str()),
        _ => token.text == ")" || token.text == "]",
    };
    let unary = MAY_BE_UNARY.contains(&last.text.as_str()) && !before.is_some_and(operand);
    let tight_after = unary || TIGHT_AFTER.contains(&last.text.as_str());
    !(call || tight_after || TIGHT_BEFORE.contains(&next.text.as_str()))
}

/// Tokens cut into statements, block marks, labels and directives, each written on its own.
pub(super) fn statements(tokens: &[Token]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        let text = token.text.as_str();
        match text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let label = text == ":" && at == start + 1 && tokens[start].kind == Kind::Word;
        let single = token.kind == Kind::Directive || text == "}";
        if single && start < at {
            lines.push(write(&tokens[start..at]));
            start = at;
        }
        if single || label || text == "{" || (text == ";" && depth == 0) {
            match lines.last_mut() {
                Some(last) if text == ";" && start == at => last.push(';'),
                _ => lines.push(write(&tokens[start..=at])),
            }
            start = at + 1;
        }
    }
    if start < tokens.len() {
        lines.push(write(&tokens[start..]));
    }
    lines
}

/// A function's definition.
pub(super) struct Function<'a> {
    /// What stands before the body: type, name, parameters.
    pub(super) head: &'a [Token],
    /// The body with its braces.
    pub(super) body: &'a [Token],
}

/// Finds the definition of a function.
pub(super) fn function<'a>(tokens: &'a [Token], name: &str) -> Option<Function<'a>> {
    let (_, place) = functions(tokens).find(|(found, _)| *found == name)?;
    let before = tokens[..place.start].iter().rposition(ends_declaration);
    Some(Function { head: &tokens[before.map_or(0, |n| n + 1)..place.start], body: &tokens[place] })
}

fn ends_declaration(token: &Token) -> bool {
    token.kind == Kind::Directive || token.text == ";" || token.text == "}"
}

/// Names and bodies of all functions that are defined.
pub(super) fn functions(tokens: &[Token]) -> impl Iterator<Item = (&str, Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < tokens.len() {
            let open = at + tokens[at..].iter().position(|token| token.text == "{")?;
            let head = tokens[..open].iter().rposition(ends_declaration).map_or(0, |n| n + 1);
            at = open + block_len(&tokens[open..]);
            if tokens[..open].last().is_some_and(|token| token.text == ")")
                && let Some(name) = name_in_head(&tokens[head..open])
            {
                return Some((name, open..at));
            }
        }
        None
    })
}

/// The word before the last parenthesis that is not within another.
fn name_in_head(head: &[Token]) -> Option<&str> {
    let (mut depth, mut name) = (0_usize, None);
    for pair in head.windows(2) {
        match pair[1].text.as_str() {
            "(" => {
                if depth == 0 && pair[0].kind == Kind::Word {
                    name = Some(pair[0].text.as_str());
                }
                depth += 1;
            }
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    name
}

/// Tokens of the block that `tokens` begins with. A closing brace at the start of a line ends it whatever was counted:
/// both arms of an `#if` may open a block that is closed once.
fn block_len(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" if token.first_column || depth <= 1 => return at + 1,
            "}" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "
/* a { brace */
#define TWICE(x) \\
	((x) * 2) /* two
lines */
static const char *text = \"} /* no comment */ \\\" {\";
struct entry { int a; } table[] = { { 1 }, };
static int __must_check
first(struct pci_dev *dev, int (*f)(int))
{
#ifdef A
	if (dev) {
#else
	if (!dev && f(1)) { // never
#endif
		return -1;
	}
done:
	for (i = 0; i < 3; i++)
		x+=y[i];
	return dev->a . b;
}
static inline int one_line(void) { return 0; }
";

    #[test]
    fn functions_are_found_whatever_surrounds_them() {
        let tokens = tokens(CODE);
        let names: Vec<&str> = functions(&tokens).map(|(name, _)| name).collect();
        assert_eq!(names, ["first", "one_line"]);
        let first = function(&tokens, "first").unwrap();
        assert_eq!(write(first.head), "static int __must_check first(struct pci_dev * dev, int(*f) (int))");
        assert!(function(&tokens, "entry").is_none());
    }

    #[test]
    fn a_body_is_written_in_one_way() {
        let tokens = tokens(CODE);
        let body = statements(function(&tokens, "first").unwrap().body);
        let expected = [
            "{",
            "#ifdef A",
            "if (dev) {",
            "#else",
            "if (!dev && f(1)) {",
            "#endif",
            "return -1;",
            "}",
            "done :",
            "for (i = 0; i < 3; i++) x += y[i];",
            "return dev->a.b;",
            "}",
        ];
        assert_eq!(body, expected);
        let reformatted = CODE.replace("\t\t", " ").replace("x+=y[i]", "x += /* sum */ y [ i ]");
        let reformatted = super::tokens(&reformatted);
        assert_eq!(statements(function(&reformatted, "first").unwrap().body), expected);
    }

    #[test]
    fn directives_are_one_token_without_comments() {
        let tokens = tokens(CODE);
        assert_eq!(tokens[0].text, "#define TWICE(x) ((x) * 2)");
        assert_eq!(tokens.iter().find(|token| token.text == "text").unwrap().line, 6);
    }
}
