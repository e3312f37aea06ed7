// SPDX-License-Identifier: GPL-2.0-only

//! Finding private values in text by their form, or because they are known.

use std::{
    collections::HashMap,
    net::{Ipv4Addr, Ipv6Addr},
};

use super::pseudonyms::{Kind, Pseudonyms};

/// Longest `user@host` that is looked for, in bytes.
const ACCOUNT_LIMIT: usize = 320;

/// Longest run of letters, digits and signs that may be an IP address, in bytes.
const ADDRESS_LIMIT: usize = 64;
/// Longest escape sequence of a terminal, in bytes.
const ESCAPE_LIMIT: usize = 64;
/// From this length on a name is found in `x_name`, `name_x` and `name2`, too. Shorter ones are in everything.
const LONG_NAME: usize = 4;

/// Kinds of values that all have one length, in bytes. `01-` before a MAC address is the kind of network (`BOOTIF`).
const FIXED: [(Kind, usize); 5] =
    [(Kind::Uuid, 36), (Kind::Mac, 20), (Kind::Mac, 17), (Kind::Id, 32), (Kind::Mac, BARE_MAC)];
/// A MAC address without signs in between: only in text for people, since addresses of memory look alike.
const BARE_MAC: usize = 12;

/// Names to replace, the longest first, by their first letter.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(HashMap<char, Vec<Name>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    kind: Kind,
    text: String,
    /// Whether it may be a hexadecimal number.
    is_number: bool,
}

impl Names {
    pub(super) fn new(mut names: Vec<(Kind, String)>) -> Self {
        names.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.1.cmp(&b.1)));
        names.dedup_by(|a, b| a.1.eq_ignore_ascii_case(&b.1));
        let mut all: HashMap<char, Vec<Name>> = HashMap::new();
        for (kind, text) in names {
            let is_number = text.chars().all(|c| c.is_ascii_hexdigit());
            let first = first_letter(&text);
            all.entry(first).or_default().push(Name { kind, text, is_number });
        }
        Self(all)
    }

    /// All names, sorted.
    pub(super) fn all(&self) -> Vec<String> {
        let mut all: Vec<String> = self.0.values().flatten().map(|name| name.text.clone()).collect();
        all.sort();
        all
    }

    /// All but one.
    pub(super) fn without(mut self, text: &str) -> Self {
        self.0.values_mut().for_each(|names| names.retain(|name| name.text != text));
        self
    }

    /// The name at the very start; `before` is what stands before it.
    fn at(&self, text: &str, before: Option<char>, form: Form) -> Option<&Name> {
        let names = self.0.get(&first_letter(text))?;
        names.iter().find(|name| name.is_at(text, before) && (form == Form::Free || !name.is_number))
    }
}

fn first_letter(text: &str) -> char {
    text.chars().next().unwrap_or_default().to_ascii_lowercase()
}

impl Name {
    fn is_at(&self, text: &str, before: Option<char>) -> bool {
        let length = self.text.len();
        if !text.get(..length).is_some_and(|start| start.eq_ignore_ascii_case(&self.text)) {
            return false;
        }
        if length < LONG_NAME || self.is_number {
            return !before.is_some_and(is_word) && ends(text, length);
        }
        // Two digits in a row are one number.
        let joins = |a: Option<char>, b: Option<char>| {
            a.zip(b).is_some_and(|(a, b)| a.is_alphabetic() || (a.is_numeric() && b.is_numeric()))
        };
        let after = text.get(length..).and_then(|after| after.chars().next());
        !joins(before, self.text.chars().next()) && !joins(after, self.text.chars().last())
    }
}

/// What kind of text it is, which says what may be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Paths, which the tool has to find again: UUIDs in them may be well known (EFI variables), `@` is a part of names.
    /// Addresses of PCI functions look like names of hexadecimal digits.
    Path,
    /// Text that programs read: likewise, and versions look like IP addresses.
    Machine,
    /// The same with the account that built something.
    Build,
    /// Text for people.
    Free,
}

/// Replaces what is private. A value is only looked for where a word begins, a name also inside `x_name`.
pub(super) fn scrub(text: &str, form: Form, names: &Names, pseudonyms: &mut Pseudonyms) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        if let Some(length) = escape(rest) {
            let (sequence, after) = rest.split_at(length);
            out.push_str(sequence);
            // Its last letter is no part of what follows.
            before = None;
            rest = after;
            continue;
        }
        let hit = if is_word(first) { find(rest, before, form, names, pseudonyms) } else { None };
        let length = if let Some((length, replacement)) = hit {
            out.push_str(&replacement);
            length
        } else {
            out.push(first);
            first.len_utf8()
        };
        let (done, after) = rest.split_at(length);
        before = done.chars().last();
        rest = after;
    }
    out
}

/// Length of a terminal's escape sequence (`ESC [ parameters letter`) at the start.
fn escape(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.bytes().take(ESCAPE_LIMIT).position(|byte| !(0x20..0x40).contains(&byte))?;
    parameters.as_bytes().get(end).is_some_and(u8::is_ascii).then_some(end + "\u{1b}[x".len())
}

/// A private value at the very start: its length and what to put there.
fn find(
    rest: &str,
    before: Option<char>,
    form: Form,
    names: &Names,
    pseudonyms: &mut Pseudonyms,
) -> Option<(usize, String)> {
    let is_start = !before.is_some_and(is_word);
    // The form first: looking for an account at each word of an index of modules took seconds.
    if is_start
        && matches!(form, Form::Build | Form::Free)
        && let Some(length) = account(rest)
    {
        return Some((length, "user@host".to_owned()));
    }
    if let Some(name) = names.at(rest, before, form) {
        return Some((name.text.len(), pseudonyms.text(name.kind, &name.text)));
    }
    if !is_start {
        return None;
    }
    if let Some(hit) = home(rest, pseudonyms) {
        return Some(hit);
    }
    for (kind, length) in FIXED {
        let is_sought = match form {
            Form::Path => kind == Kind::Id,
            Form::Machine | Form::Build => length != BARE_MAC,
            Form::Free => true,
        };
        if is_sought && let Some(value) = rest.get(..length).filter(|_| ends(rest, length)).filter(|v| is_of(kind, v)) {
            return Some((length, fixed(kind, value, pseudonyms)));
        }
    }
    if form == Form::Free { address(rest, before, pseudonyms) } else { None }
}

/// `home/NAME`, and `home/DOMAIN/NAME` where a directory service has the accounts.
fn home(rest: &str, pseudonyms: &mut Pseudonyms) -> Option<(usize, String)> {
    let is_end = |c: char| c == '/' || c.is_whitespace() || c.is_control() || "\"':,;".contains(c);
    let after = rest.strip_prefix("home/")?;
    let user = after.split(is_end).next().filter(|user| !user.is_empty())?;
    let mut length = "home/".len() + user.len();
    let mut clean = format!("home/{}", pseudonyms.text(Kind::User, user));
    let inner = after.get(user.len()..).and_then(|after| after.strip_prefix('/')).filter(|_| user.contains('.'));
    if let Some(inner) = inner.and_then(|inner| inner.split(is_end).next()).filter(|inner| !inner.is_empty()) {
        length += 1 + inner.len();
        clean = format!("{clean}/{}", pseudonyms.text(Kind::User, inner));
    }
    Some((length, clean))
}

/// A stand-in of the same form. However a MAC address is written, it is the same one.
fn fixed(kind: Kind, value: &str, pseudonyms: &mut Pseudonyms) -> String {
    if kind != Kind::Mac {
        return pseudonyms.text(kind, value);
    }
    let digits: String = value.chars().filter(char::is_ascii_hexdigit).collect();
    let (network, digits) = digits.split_at(digits.len().saturating_sub(BARE_MAC));
    let clean = pseudonyms.text(kind, digits);
    match value.len() {
        BARE_MAC => clean.replace(':', ""),
        _ if network.is_empty() => clean,
        _ => format!("{network}-{}", clean.replace(':', "-")),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a word ends there.
fn ends(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|after| !after.chars().next().is_some_and(is_word))
}

/// Length of `user@host` at the start; letters of any language.
fn account(text: &str) -> Option<usize> {
    let in_name = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c) || (!c.is_ascii() && !c.is_whitespace());
    let mut near = text.char_indices().take_while(|(at, _)| *at <= ACCOUNT_LIMIT);
    let (at, _) = near.find(|(_, c)| !in_name(*c)).filter(|(_, c)| *c == '@')?;
    let host = text.get(at.saturating_add(1)..)?.split(|c: char| !in_name(c)).next()?.trim_end_matches('.');
    (!host.is_empty()).then(|| at + 1 + host.len())
}

/// Whether a text of the right length has the form of a kind.
fn is_of(kind: Kind, text: &str) -> bool {
    let is_hex = |part: &str| part.chars().all(|c| c.is_ascii_hexdigit());
    let is_parts = |separator, lengths: &[usize]| {
        let parts: Vec<&str> = text.split(separator).collect();
        parts.iter().map(|part| part.len()).eq(lengths.iter().copied()) && parts.iter().all(|part| is_hex(part))
    };
    match kind {
        Kind::Uuid => is_parts('-', &[8, 4, 4, 4, 12]),
        Kind::Mac if text.len() == BARE_MAC => is_hex(text),
        Kind::Mac => is_parts(':', &[2; 6]) || is_parts('-', &[2; 6]) || is_parts('-', &[2; 7]),
        Kind::Id => is_hex(text),
        Kind::Host | Kind::User | Kind::Serial | Kind::Ipv4 | Kind::Ipv6 => false,
    }
}

/// An IP address at the start. Inside `a.b.c.d.e` there is none.
fn address(rest: &str, before: Option<char>, pseudonyms: &mut Pseudonyms) -> Option<(usize, String)> {
    // Not to the end of it: a run of a megabyte would be read at each of its words.
    let in_run = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
    let length = rest.bytes().take(ADDRESS_LIMIT).take_while(in_run).count();
    let run = rest.get(..length)?;
    let four = run.split(':').next().unwrap_or_default().trim_end_matches('.');
    if before != Some('.') && ends(rest, four.len()) && four.parse::<Ipv4Addr>().is_ok() {
        return Some((four.len(), pseudonyms.text(Kind::Ipv4, four)));
    }
    let six = run.trim_end_matches([':', '.']);
    if before != Some(':') && ends(rest, six.len()) && six.parse::<Ipv6Addr>().is_ok() {
        return Some((six.len(), pseudonyms.text(Kind::Ipv6, six)));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubbed(text: &str, form: Form) -> String {
        let names = Names::new(vec![
            (Kind::Host, "box".to_owned()),
            (Kind::Host, "box.example.org".to_owned()),
            (Kind::User, "cafe".to_owned()),
        ]);
        scrub(text, form, &names, &mut Pseudonyms::default())
    }

    #[test]
    fn values_are_replaced_where_they_are_words() {
        for (text, expected) in [
            ("Box box.example.org, boxes x_box", "host1 host2, boxes x_box"),
            ("from 10.0.0.7:80 to 10.0.0.7", "from 192.0.2.1:80 to 192.0.2.1"),
            ("ip=10.0.0.2::10.0.0.1:255.255.255.0:", "ip=192.0.2.1::192.0.2.2:192.0.2.3:"),
            ("fe80::1:2%eth0 and 1:2:3", "2001:db8::1%eth0 and 1:2:3"),
            ("eth0: 52:54:00:12:34:56 up", "eth0: 02:00:00:00:00:01 up"),
            (
                "luks-0f3a2b1c-1111-4222-8333-0123456789ab 0f3a2b1c-1111-4222-8333-0123456789AB",
                "luks-00000000-0000-4000-8000-000000000001 00000000-0000-4000-8000-000000000001",
            ),
            ("pxe 01-52-54-00-12-34-56 or 525400123456", "pxe 01-02-00-00-00-00-01 or 020000000001"),
            ("525400123456 52:54:00:12:34:56 5254001234567", "020000000001 02:00:00:00:00:01 5254001234567"),
            ("0x525400abcdef", "0x525400abcdef"),
            ("(j\u{f6}rg.m\u{fc}ller@mail.example) andre\u{301}@m.example", "(user@host) user@host"),
            ("/home/corp.example/bob/x", "/home/user1/user2/x"),
            ("a\u{1b}[1;31mbox\u{1b}[0m", "a\u{1b}[1;31mhost1\u{1b}[0m"),
            ("(bob.b@mail.example) end", "(user@host) end"),
            ("/home/alice/x and /home/alice", "/home/user1/x and /home/user1"),
            ("HOME=/home/alice\0A=1\0", "HOME=/home/user1\0A=1\0"),
            ("0123456789abcdef0123456789abcdef", "00000000000000000000000000000001"),
            ("cafe", "user1"),
        ] {
            assert_eq!(scrubbed(text, Form::Free), expected);
        }
    }

    /// Reading on to the end at each word took seconds for an index of modules.
    #[test]
    fn no_more_is_looked_through_than_an_account_is_long() {
        let longest = "a".repeat(ACCOUNT_LIMIT);
        assert_eq!(account(&format!("{longest}@b")), Some(ACCOUNT_LIMIT + 2));
        assert_eq!(account(&format!("{longest}a@b")), None);
        assert_eq!(scrubbed("bob.b@mail.example", Form::Machine), "bob.b@mail.example");
    }

    #[test]
    fn what_machines_read_stays() {
        for text in
            ["0000:ca:fe.0 1002:cafe", "6.12.12.1 13.2.0.1", "0xcafe", "amdgpu 0000:05:00.0: ring", "525400abcdef", ""]
        {
            assert_eq!(scrubbed(text, Form::Machine), text);
        }
        let path = "devicetree/pci@1f00/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
        assert_eq!(scrubbed(path, Form::Path), path);
        assert_eq!(scrubbed("0000:05:00.0: 1.2.3.4.5 at 12:30:01", Form::Free), "0000:05:00.0: 1.2.3.4.5 at 12:30:01");
    }
}
