// SPDX-License-Identifier: GPL-2.0-only

//! Takes private values out of a record, so that it can be shown to others.
//!
//! Replaced throughout, in contents, paths, links and listings: names of the host and of users, user@host, home
//! directories, UUIDs, MAC addresses, machine IDs; in text for people also IP addresses. Serial numbers are replaced
//! where they are known to be: the PCI capability, attributes of sysfs that are named so, KFD's `unique_id` and
//! `hive_id`, keys of certificates. Of a process, its ids and the variables of GPU runtimes are kept. Of the kernel's
//! command line most values are removed. Of other configuration and of logs collectors record no more than they use. A
//! file that is not text and of no known form is not kept.

mod cmdline;
mod process;
mod pseudonyms;
mod secrets;
mod serials;
mod text;
mod words;

use std::io::{Read, Write};

use flate2::{Compression, GzBuilder, read::MultiGzDecoder};
use serde_json::Value;

use crate::{
    collect::{
        NOT_TEXT, Root,
        record::{Entry, Failure, Record, Seen},
    },
    facts::ReadError,
};
use pseudonyms::{Kind, Pseudonyms};
use text::{Form, Names, scrub};

/// Fields that hold serial numbers of certificates, in hex.
const KEY_FIELDS: [&str; 2] = ["key_id", "serial"];
/// Fields that hold names of who signed, in words for people.
const NAME_FIELDS: [&str; 2] = ["signer", "subject"];
/// What Ubuntu puts behind the host's name in the name of the key that it makes for DKMS.
const HOST_KEY: &str = " Secure Boot Module Signature key";
/// Names that are tried, each of which takes as long as a report.
const CULPRITS: usize = 64;
/// As collectors read a compressed kernel configuration.
const CONFIG_LIMIT: u64 = 8 * 1024 * 1024;

/// The record of a root without private values. `root` is where names are looked up.
#[must_use]
pub fn redact(record: &Record, root: &Root) -> Record {
    with_names(record, secrets::read(root))
}

/// The name but for which a record without private values would be `fine`, if it is a single one.
#[must_use]
pub fn culprit(record: &Record, root: &Root, fine: impl Fn(&Record) -> bool) -> Option<String> {
    let names = secrets::read(root);
    let all = names.all().into_iter().take(CULPRITS);
    all.into_iter().find(|name| fine(&with_names(record, names.clone().without(name))))
}

fn with_names(record: &Record, names: Names) -> Record {
    let mut redactor = Redactor { names, pseudonyms: Pseudonyms::default() };
    let mut clean = Record { live: record.live, ..Record::default() };
    for (path, entry) in &record.entries {
        let entry = redactor.entry(path, entry);
        clean.entries.insert(redactor.path(path), entry);
    }
    for (question, answer) in &record.answers {
        let answer = match answer {
            Ok(text) => Ok(redactor.answer(text)),
            Err(error) => Err(redactor.error(error)),
        };
        clean.answers.insert(redactor.path(question), answer);
    }
    clean
}

struct Redactor {
    names: Names,
    pseudonyms: Pseudonyms,
}

impl Redactor {
    fn path(&mut self, text: &str) -> String {
        scrub(text, Form::Path, &self.names, &mut self.pseudonyms)
    }

    fn machine(&mut self, text: &str) -> String {
        scrub(text, Form::Machine, &self.names, &mut self.pseudonyms)
    }

    fn free(&mut self, text: &str) -> String {
        scrub(text, Form::Free, &self.names, &mut self.pseudonyms)
    }

    /// Most answers are JSON, where `\n` before a word is a letter of it: so the strings are looked at, not the text.
    fn answer(&mut self, text: &str) -> String {
        match serde_json::from_str(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => self.strings(&value).to_string(),
            _ => self.free(text),
        }
    }

    fn strings(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.free(text)),
            Value::Array(items) => items.iter().map(|item| self.strings(item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(name, item)| (name.clone(), self.strings(item))).collect())
            }
            other => other.clone(),
        }
    }

    /// A name that somebody gave a key: often that of a host, of a person, or an address.
    fn name(&mut self, text: &str) -> String {
        match text.split_once(HOST_KEY) {
            Some((host, rest)) => format!("{}{HOST_KEY}{}", self.pseudonyms.text(Kind::Host, host), self.free(rest)),
            None => self.free(text),
        }
    }

    fn failure(&mut self, failure: &Failure) -> Failure {
        Failure { kind: failure.kind, reason: self.free(&failure.reason) }
    }

    fn error(&mut self, error: &ReadError) -> ReadError {
        ReadError { path: self.path(&error.path), kind: error.kind, reason: self.free(&error.reason) }
    }

    fn entry(&mut self, path: &str, entry: &Entry) -> Entry {
        let seen = match &entry.seen {
            Ok(Seen::Link(target)) => Ok(Seen::Link(self.path(target))),
            Ok(other) => Ok(other.clone()),
            Err(failure) => Err(self.failure(failure)),
        };
        let names = entry.names.as_ref().map(|names| match names {
            Ok(names) => Ok(names.iter().map(|name| self.path(name)).collect()),
            Err(failure) => Err(self.failure(failure)),
        });
        let content = entry.content.as_ref().map(|content| match content {
            Ok(bytes) => Ok(self.content(path, bytes)),
            Err(failure) => Err(self.failure(failure)),
        });
        let derived = entry.derived.as_ref().map(|derived| match derived {
            Ok(value) => Ok(self.value("", value)),
            Err(error) => Err(self.error(error)),
        });
        Entry { seen, names, content, owner: entry.owner, derived }
    }

    fn content(&mut self, path: &str, bytes: &[u8]) -> Vec<u8> {
        if path.starts_with("sys/devices/") && path.contains("/pci") && path.ends_with("/config") {
            return serials::config_space(bytes, &mut self.pseudonyms);
        }
        if path == "proc/config.gz" {
            return self.compressed(bytes).unwrap_or_else(|| NOT_TEXT.to_vec());
        }
        // Not as text: one variable that is none would take all others with it.
        let kept = process::kept(path, bytes);
        let Ok(text) = std::str::from_utf8(kept.as_deref().unwrap_or(bytes)) else {
            return NOT_TEXT.to_vec();
        };
        self.text(path, text).into_bytes()
    }

    fn text(&mut self, path: &str, text: &str) -> String {
        if path == "proc/cmdline" {
            return cmdline::scrub(text, |word| self.free(word));
        }
        if process::is_own(path) {
            return self.free(text);
        }
        if path == "proc/version" {
            return scrub(text, Form::Build, &self.names, &mut self.pseudonyms);
        }
        if let Some(clean) = serials::attribute(path, text, &mut self.pseudonyms) {
            return clean;
        }
        // Versions of four numbers look like IP addresses.
        let for_machines = ["sys/", "boot/", "lib/modules/", "usr/lib/modules/", "var/lib/dkms/", "proc/"];
        let is_log = path.contains("dmesg") || path.contains("kmsg");
        if for_machines.iter().any(|start| path.starts_with(start)) && !is_log {
            self.machine(text)
        } else {
            self.free(text)
        }
    }

    /// A compressed configuration, compressed again.
    fn compressed(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut text = String::new();
        MultiGzDecoder::new(bytes).take(CONFIG_LIMIT).read_to_string(&mut text).ok()?;
        let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
        encoder.write_all(self.machine(&text).as_bytes()).ok()?;
        encoder.finish().ok()
    }

    /// What was made of a file. Signers of modules may be named after their host.
    fn value(&mut self, field: &str, value: &Value) -> Value {
        match value {
            Value::String(text) if KEY_FIELDS.contains(&field) => {
                let number = self.pseudonyms.number(Kind::Serial, text);
                Value::String(format!("{number:0width$x}", width = text.len()))
            }
            Value::String(text) if NAME_FIELDS.contains(&field) => Value::String(self.name(text)),
            Value::String(text) => Value::String(self.machine(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(field, item)).collect()),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(name, item)| (name.clone(), self.value(name, item))).collect())
            }
            other => other.clone(),
        }
    }
}
