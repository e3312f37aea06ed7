// SPDX-License-Identifier: GPL-2.0-only
//! A machine as text that a fuzzer changes: entries, each with its kind and path in a line and its contents behind.

use serde_json::Value;
use tp2_verify::collect::record::{Entry, Failure, Owner, Record, Seen};
use tp2_verify::collect::{Root, collect, runtime::Options};
use tp2_verify::facts::{Facts, ReadErrorKind};

/// Between entries.
pub const SEPARATOR: &[u8] = b"\n==\n";

/// The parts of an input.
pub fn parts(mut input: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    while let Some(at) = input.windows(SEPARATOR.len()).position(|window| window == SEPARATOR) {
        parts.push(&input[..at]);
        input = &input[at + SEPARATOR.len()..];
    }
    parts.push(input);
    parts
}

/// The first line of a part, and what is behind it.
pub fn head(part: &[u8]) -> Option<(&str, &[u8])> {
    let at = part.iter().position(|byte| *byte == b'\n')?;
    Some((std::str::from_utf8(&part[..at]).ok()?, &part[at + 1..]))
}

/// A record of files in their directories.
pub fn of_files(files: &[(&str, &[u8])]) -> Record {
    let mut record = Record::default();
    for (path, bytes) in files {
        add(&mut record, path, file(bytes));
    }
    record
}

/// The record that an input describes; what makes no sense is left out. Of kind `?` is an answer of a live machine.
pub fn record(input: &[u8]) -> Record {
    record_of(input, is_path)
}

/// Likewise, with paths that no machine has and no archive may hold.
pub fn hostile_record(input: &[u8]) -> Record {
    record_of(input, |_| true)
}

fn record_of(input: &[u8], takes: impl Fn(&str) -> bool) -> Record {
    let mut record = Record::default();
    for (line, content) in parts(input).into_iter().filter_map(head) {
        let Some((kind, path)) = line.split_at_checked(1) else {
            continue;
        };
        if kind == "?" {
            record.live = true;
            let answer = String::from_utf8_lossy(content).into_owned();
            record.answers.insert(path.to_owned(), Ok(answer));
        } else if let Some(entry) = entry(kind, content).filter(|_| takes(path)) {
            add(&mut record, path, entry);
        }
    }
    record
}

/// An entry by its kind: `f`ile, `l`ink, what was `d`erived of a file (JSON), device `n`ode, `e`rror.
fn entry(kind: &str, content: &[u8]) -> Option<Entry> {
    let text = || std::str::from_utf8(content).ok();
    Some(match kind {
        "f" => file(content),
        "l" => Entry::new(Ok(Seen::Link(text().filter(|target| target.len() <= 4096)?.to_owned()))),
        "d" => {
            let value: Value = serde_json::from_slice(content).ok()?;
            Entry { derived: Some(Ok(value)), ..Entry::new(Ok(Seen::File)) }
        }
        "n" => {
            let [mode, gid, ..] = content else {
                return None;
            };
            let owner = Owner { is_character_device: true, mode: (*mode).into(), uid: 0, gid: (*gid).into() };
            Entry { owner: Some(owner), ..Entry::new(Ok(Seen::Other)) }
        }
        "e" => Entry::new(Err(Failure { kind: ReadErrorKind::Denied, reason: text()?.to_owned() })),
        _ => return None,
    })
}

fn file(bytes: &[u8]) -> Entry {
    Entry { content: Some(Ok(bytes.to_vec())), ..Entry::new(Ok(Seen::File)) }
}

/// Adds an entry and the directories that it is in; the first of a path stays.
fn add(record: &mut Record, path: &str, entry: Entry) {
    let mut above = path;
    while let Some((directory, name)) = above.rsplit_once('/') {
        let list = record.entries.entry(directory.to_owned()).or_insert_with(|| Entry::new(Ok(Seen::Directory)));
        if let Ok(names) = list.names.get_or_insert_with(|| Ok(Vec::new())) {
            names.push(name.to_owned());
            names.sort();
            names.dedup();
        }
        above = directory;
    }
    record.entries.entry(path.to_owned()).or_insert(entry);
}

fn is_path(path: &str) -> bool {
    let is_name = |name: &str| !(name.is_empty() || name == "." || name == ".." || name.contains('\0'));
    path.len() <= 4096 && path.split('/').all(is_name)
}

/// What collectors see of a record.
pub fn facts(record: Record) -> Facts {
    collect(&Root::replay(record), &Options::off())
}

/// What is wrong with the path of an entry that came out of an archive, if anything is.
pub fn leads_out(record: &Record) -> Option<&str> {
    record.entries.keys().map(String::as_str).find(|path| !is_path(path))
}
