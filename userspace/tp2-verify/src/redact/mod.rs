// SPDX-License-Identifier: GPL-2.0-only

//! Takes private values out of a record, so that it can be shown to others.
//!
//! Replaced throughout, in contents, paths, links and listings: names of the host and of users, user@host, home
//! directories, UUIDs, MAC addresses, machine IDs; in text for people also IP addresses. Serial numbers are replaced
//! where they are known to be: the PCI capability, attributes of sysfs that are named so, KFD's `unique_id` and
//! `hive_id`, keys of certificates. Of a process, its ids and the variables of GPU runtimes are kept. Of the kernel's command line most values are removed. A file that is not text
//! and of no known form is not kept.

mod cmdline;
mod process;
mod pseudonyms;
mod secrets;
mod serials;
mod text;

use std::io::{Read, Write};

use flate2::{Compression, GzBuilder, read::MultiGzDecoder};
use serde_json::Value;

use crate::{
    collect::{
        Root,
        record::{Entry, Failure, Record, Seen},
    },
    facts::ReadError,
};
use pseudonyms::{Kind, Pseudonyms};
use text::{Form, Names, scrub};

/// In place of what is not text: it still is none.
const NOT_TEXT: [u8; 1] = [0xff];
/// Fields that hold serial numbers of certificates, in hex.
const KEY_FIELDS: [&str; 2] = ["key_id", "serial"];
/// As collectors read a compressed kernel configuration.
const CONFIG_LIMIT: u64 = 8 * 1024 * 1024;

/// The record of a root without private values. `root` is where names are looked up.
#[must_use]
pub fn redact(record: &Record, root: &Root) -> Record {
    let mut redactor = Redactor { names: secrets::read(root), pseudonyms: Pseudonyms::default() };
    let mut clean = Record { live: record.live, ..Record::default() };
    for (path, entry) in &record.entries {
        let entry = redactor.entry(path, entry);
        clean.entries.insert(redactor.path(path), entry);
    }
    for (question, answer) in &record.answers {
        let answer = match answer {
            Ok(text) => Ok(redactor.free(text)),
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
        let Ok(text) = std::str::from_utf8(bytes) else {
            return NOT_TEXT.to_vec();
        };
        self.text(path, text).into_bytes()
    }

    fn text(&mut self, path: &str, text: &str) -> String {
        if path == "proc/cmdline" {
            return cmdline::scrub(text, |word| self.free(word));
        }
        if let Some(kept) = process::kept(path, text) {
            return self.free(&kept);
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
            Value::String(text) => Value::String(self.machine(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(field, item)).collect()),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(name, item)| (name.clone(), self.value(name, item))).collect())
            }
            other => other.clone(),
        }
    }
}
