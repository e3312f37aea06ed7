// SPDX-License-Identifier: GPL-2.0-only

//! Finding private values in text by their form, or because they are known.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::pseudonyms::{Kind, Pseudonyms};

/// Longest `user@host` that is looked for, in bytes.
const ACCOUNT_LIMIT: usize = 320;

/// Kinds of values that all have one length, in bytes.
const FIXED: [(Kind, usize); 3] = [(Kind::Uuid, 36), (Kind::Mac, 17), (Kind::Id, 32)];

/// Names to replace, the longest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Vec<(Kind, String)>);

impl Names {
    pub(super) fn new(mut names: Vec<(Kind, String)>) -> Self {
        names.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.1.cmp(&b.1)));
        names.dedup_by(|a, b| a.1.eq_ignore_ascii_case(&b.1));
        Self(names)
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

/// Replaces what is private. A value is only looked for where a word begins.
pub(super) fn scrub(text: &str, form: Form, names: &Names, pseudonyms: &mut Pseudonyms) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        let hit = if is_word(first) && !before.is_some_and(is_word) {
            find(rest, before, form, names, pseudonyms)
        } else {
            None
        };
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

/// A private value at the very start: its length and what to put there.
fn find(
    rest: &str,
    before: Option<char>,
    form: Form,
    names: &Names,
    pseudonyms: &mut Pseudonyms,
) -> Option<(usize, String)> {
    if let Some(length) = account(rest).filter(|_| matches!(form, Form::Build | Form::Free)) {
        return Some((length, "user@host".to_owned()));
    }
    for (kind, name) in &names.0 {
        let is_number = name.chars().all(|c| c.is_ascii_hexdigit());
        if is_at(rest, name) && (form == Form::Free || !is_number) {
            return Some((name.len(), pseudonyms.text(*kind, name)));
        }
    }
    if let Some(user) = rest.strip_prefix("home/") {
        let user =
            user.split(|c: char| c == '/' || c.is_whitespace() || c.is_control() || "\"':,;".contains(c)).next()?;
        if !user.is_empty() {
            return Some(("home/".len() + user.len(), format!("home/{}", pseudonyms.text(Kind::User, user))));
        }
    }
    for (kind, length) in FIXED {
        if form == Form::Path && kind != Kind::Id {
            continue;
        }
        if let Some(value) = rest.get(..length).filter(|value| ends(rest, value.len()) && is_of(kind, value)) {
            return Some((length, pseudonyms.text(kind, value)));
        }
    }
    if form == Form::Free { address(rest, before, pseudonyms) } else { None }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a word ends there.
fn ends(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|after| !after.chars().next().is_some_and(is_word))
}

fn is_at(text: &str, name: &str) -> bool {
    text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) && ends(text, name.len())
}

/// Length of `user@host` at the start.
fn account(text: &str) -> Option<usize> {
    let in_name = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    let (user, host) = text.split_once('@')?;
    if user.len() > ACCOUNT_LIMIT || !user.chars().all(in_name) {
        return None;
    }
    let host: &str = host.split(|c: char| !in_name(c)).next()?;
    let host = host.trim_end_matches('.');
    (!host.is_empty()).then(|| user.len() + 1 + host.len())
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
        Kind::Mac => is_parts(':', &[2; 6]) || is_parts('-', &[2; 6]),
        Kind::Id => is_hex(text),
        Kind::Host | Kind::User | Kind::Serial | Kind::Ipv4 | Kind::Ipv6 => false,
    }
}

/// An IP address at the start. Inside `a.b.c.d.e` there is none.
fn address(rest: &str, before: Option<char>, pseudonyms: &mut Pseudonyms) -> Option<(usize, String)> {
    let run = rest.split(|c: char| !(c.is_ascii_hexdigit() || c == ':' || c == '.')).next()?;
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
            ("(bob.b@mail.example) end", "(user@host) end"),
            ("/home/alice/x and /home/alice", "/home/user1/x and /home/user1"),
            ("HOME=/home/alice\0A=1\0", "HOME=/home/user1\0A=1\0"),
            ("0123456789abcdef0123456789abcdef", "00000000000000000000000000000001"),
            ("cafe", "user1"),
        ] {
            assert_eq!(scrubbed(text, Form::Free), expected);
        }
    }

    #[test]
    fn what_machines_read_stays() {
        for text in ["0000:ca:fe.0 1002:cafe", "6.12.12.1 13.2.0.1", "0xcafe", "amdgpu 0000:05:00.0: ring", ""] {
            assert_eq!(scrubbed(text, Form::Machine), text);
        }
        let path = "devicetree/pci@1f00/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
        assert_eq!(scrubbed(path, Form::Path), path);
        assert_eq!(scrubbed("0000:05:00.0: 1.2.3.4.5 at 12:30:01", Form::Free), "0000:05:00.0: 1.2.3.4.5 at 12:30:01");
    }
}
