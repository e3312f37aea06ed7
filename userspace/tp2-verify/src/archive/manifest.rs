// SPDX-License-Identifier: GPL-2.0-only

//! The manifest: a record without the contents of files, which are members of their own.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ArchiveError, FORMAT, MANIFEST, MEMBERS_LIMIT, Member, PATH_LIMIT};
use crate::{
    collect::record::{Entry, Failure, Owner, Record, Seen},
    facts::{ReadError, Reading},
    plain::{brief, quoted},
};

/// Where contents are.
const FILES: &str = "files";
/// Where that is which was made of larger files.
const DERIVED: &str = "derived";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    format: String,
    /// Version of the tool that wrote it.
    tool: String,
    live: bool,
    answers: BTreeMap<String, Reading<String>>,
    entries: Vec<Item>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    path: String,
    seen: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    names: Option<Result<Vec<String>, Failure>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<Owner>,
    /// `Ok(())`: a member has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Result<(), Failure>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    derived: Option<Result<(), ReadError>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    File,
    Directory,
    Link,
    Other,
    Failed,
}

/// The manifest and the files that it tells of.
pub(super) fn members(record: &Record) -> Result<Vec<Member>, ArchiveError> {
    let mut files = Vec::new();
    let mut entries = Vec::new();
    for (path, entry) in &record.entries {
        entries.push(item(path, entry));
        if let Some(Ok(bytes)) = &entry.content {
            files.push(Member { name: content_name(path), bytes: bytes.clone() });
        }
        if let Some(Ok(value)) = &entry.derived {
            files.push(Member { name: derived_name(path), bytes: json(value)? });
        }
    }
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        live: record.live,
        answers: record.answers.clone(),
        entries,
    };
    let mut members = vec![Member { name: MANIFEST.to_owned(), bytes: json(&manifest)? }];
    members.extend(files);
    Ok(members)
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, ArchiveError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| ArchiveError::TooMuch(error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn content_name(path: &str) -> String {
    format!("{FILES}/{path}")
}

fn derived_name(path: &str) -> String {
    format!("{DERIVED}/{path}.json")
}

fn item(path: &str, entry: &Entry) -> Item {
    let (seen, target, failure) = match &entry.seen {
        Ok(Seen::File) => (Kind::File, None, None),
        Ok(Seen::Directory) => (Kind::Directory, None, None),
        Ok(Seen::Link(target)) => (Kind::Link, Some(target.clone()), None),
        Ok(Seen::Other) => (Kind::Other, None, None),
        Err(failure) => (Kind::Failed, None, Some(failure.clone())),
    };
    Item {
        path: path.to_owned(),
        seen,
        target,
        failure,
        names: entry.names.clone(),
        owner: entry.owner,
        content: entry.content.as_ref().map(|content| content.as_ref().map(drop).map_err(Clone::clone)),
        derived: entry.derived.as_ref().map(|derived| derived.as_ref().map(drop).map_err(Clone::clone)),
    }
}

impl Manifest {
    /// Format of a manifest of any version.
    pub(super) fn format(bytes: &[u8]) -> Option<String> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        value.get("format")?.as_str().map(str::to_owned)
    }

    /// Takes a manifest that may be anything.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let manifest: Self = serde_json::from_slice(bytes)
            .map_err(|error| format!("has a manifest that makes no sense ({})", brief(&error.to_string())))?;
        if manifest.entries.len() > MEMBERS_LIMIT {
            return Err(format!("tells of more than {MEMBERS_LIMIT} paths"));
        }
        let mut paths = BTreeSet::new();
        for item in &manifest.entries {
            check_path(&item.path)?;
            if !paths.insert(&item.path) {
                return Err(format!("tells twice of {}", quoted(&item.path)));
            }
            let names = item.names.as_ref().and_then(|names| names.as_ref().ok());
            if let Some(name) = names.into_iter().flatten().find(|name| !is_name(name)) {
                return Err(format!("lists {}, which is not a file name, in {}", quoted(name), quoted(&item.path)));
            }
            if item.target.as_ref().is_some_and(|target| target.len() > PATH_LIMIT) {
                return Err(format!("has a link {} with too long a target", quoted(&item.path)));
            }
        }
        Ok(manifest)
    }

    /// Names of the members that it tells of.
    pub(super) fn wanted(&self) -> BTreeSet<String> {
        let content = self.entries.iter().filter(|item| matches!(item.content, Some(Ok(()))));
        let derived = self.entries.iter().filter(|item| matches!(item.derived, Some(Ok(()))));
        let names = content.map(|item| content_name(&item.path));
        names.chain(derived.map(|item| derived_name(&item.path))).collect()
    }

    /// The record; `members` holds what was [`wanted`](Self::wanted).
    pub(super) fn into_record(self, mut members: BTreeMap<String, Vec<u8>>) -> Result<Record, String> {
        let mut entries = BTreeMap::new();
        for item in self.entries {
            let mut take = |name: String| members.remove(&name).ok_or_else(|| format!("lacks {}", quoted(&name)));
            let content = match item.content {
                Some(Ok(())) => Some(Ok(take(content_name(&item.path))?)),
                Some(Err(failure)) => Some(Err(failure)),
                None => None,
            };
            let derived = match item.derived {
                Some(Ok(())) => {
                    let bytes = take(derived_name(&item.path))?;
                    let no_json = |error: serde_json::Error| {
                        format!("has no JSON for {} ({})", quoted(&item.path), brief(&error.to_string()))
                    };
                    Some(Ok(serde_json::from_slice(&bytes).map_err(no_json)?))
                }
                Some(Err(error)) => Some(Err(error)),
                None => None,
            };
            let seen = match (item.seen, item.target, item.failure) {
                (Kind::File, None, None) => Ok(Seen::File),
                (Kind::Directory, None, None) => Ok(Seen::Directory),
                (Kind::Other, None, None) => Ok(Seen::Other),
                (Kind::Link, Some(target), None) => Ok(Seen::Link(target)),
                (Kind::Failed, None, Some(failure)) => Err(failure),
                _ => return Err(format!("contradicts itself about {}", quoted(&item.path))),
            };
            entries.insert(item.path, Entry { seen, names: item.names, content, owner: item.owner, derived });
        }
        Ok(Record { live: self.live, entries, answers: self.answers })
    }
}

/// A path that stays where it is put.
pub(super) fn check_path(path: &str) -> Result<(), String> {
    if path.len() > PATH_LIMIT || !path.split('/').all(is_name) {
        return Err(format!("has the path {}, which does not stay inside a directory", quoted(path)));
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    !(name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']))
}
