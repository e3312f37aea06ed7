// SPDX-License-Identifier: GPL-2.0-only

//! Archives that somebody made to do harm, or that broke on the way: one sentence and status 2, nothing else.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made ends the test")]

mod support;

use std::{fs, io::Write, path::Path, process::Command};

use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{run, two_cards};
use tar::{EntryType, Header};
use tp2_verify::{
    archive::{ArchiveError, EXPANDED_LIMIT, MEMBER_LIMIT, unpack},
    collect::{Root, collect, runtime::Options},
};

/// One member, with any name and kind.
fn member(name: &str, kind: EntryType, link: &str, bytes: &[u8]) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(kind);
    header.set_size(bytes.len().try_into().unwrap());
    header.set_mode(0o644);
    header.set_cksum();
    let mut out = header.as_bytes().to_vec();
    out.extend(bytes);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

fn file(name: &str, bytes: &[u8]) -> Vec<u8> {
    member(name, EntryType::Regular, "", bytes)
}

fn manifest_of(entries: &Value) -> Vec<u8> {
    let manifest = json!({"format": "tp2-report/1", "tool": "0.1.0", "live": false, "answers": {}, "entries": entries});
    file("tp2-report/manifest.json", manifest.to_string().as_bytes())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    gzip(&[members.concat(), vec![0; 1024]].concat())
}

/// What the tool says of a file with these bytes.
fn refuses(bytes: &[u8], words: &str) {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("r.tar.gz");
    fs::write(&path, bytes).unwrap();
    let run = run(&["replay", path.to_str().unwrap()]);
    assert_eq!((run.exit, run.stdout.as_str(), run.stderr.lines().count()), (2, "", 1), "{words}: {}", run.stderr);
    assert!(run.stderr.contains(words), "{words:?} is missing in {}", run.stderr);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is unpacked");
}

fn good() -> Vec<u8> {
    let tree = two_cards("8086:6f00");
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("r.tar.gz");
    assert_eq!(tree.run(&["report", "-o", path.to_str().unwrap()]).exit, 0);
    fs::read(path).unwrap()
}

#[test]
fn paths_that_lead_out() {
    let content = json!([{"path": "proc/version", "seen": "file", "content": {"Ok": null}}]);
    for path in ["tp2-report/../../etc/passwd", "/etc/passwd", "tp2-report//x", "tp2-report/./x", "../x"] {
        refuses(&archive(&[manifest_of(&content), file(path, b"x")]), "does not stay inside");
    }
    refuses(&archive(&[manifest_of(&content), file("elsewhere/x", b"x")]), "is not below tp2-report");
    for path in ["../etc/passwd", "/etc/passwd", "a/../b", "", "a//b", "a\u{0}b"] {
        let entries = json!([{"path": path, "seen": "file", "content": {"Ok": null}}]);
        refuses(&archive(&[manifest_of(&entries)]), "does not stay inside");
    }
    let entries = json!([{"path": "proc", "seen": "directory", "names": {"Ok": ["../etc"]}}]);
    refuses(&archive(&[manifest_of(&entries)]), "is not a file name");
}

#[test]
fn links_and_devices() {
    for (kind, words) in [
        (EntryType::Symlink, "a link"),
        (EntryType::Link, "a link"),
        (EntryType::Char, "a device"),
        (EntryType::Block, "a device"),
        (EntryType::Fifo, "a FIFO"),
        (EntryType::Directory, "a directory"),
        (EntryType::Continuous, "something else"),
    ] {
        refuses(&archive(&[manifest_of(&json!([])), member("tp2-report/x", kind, "/etc/passwd", b"")]), words);
        refuses(&archive(&[member("tp2-report/manifest.json", kind, "/etc/passwd", b"")]), words);
    }
    // A sparse file of eight gigabytes without a byte in the archive.
    let mut sparse = member("tp2-report/x", EntryType::GNUSparse, "", b"");
    let mut header = Header::from_byte_slice(&sparse[..512]).clone();
    header.as_gnu_mut().unwrap().realsize = *b"77777777777\0";
    header.set_cksum();
    sparse[..512].copy_from_slice(header.as_bytes());
    refuses(&archive(&[manifest_of(&json!([])), sparse]), "");
}

#[test]
fn links_of_the_manifest_stay_in_the_record() {
    // Were they followed on this machine, the kernel's name would be read from a directory made for this test.
    let outside = tempfile::TempDir::new().unwrap();
    fs::write(outside.path().join("version"), "Linux version 5.15 microsoft").unwrap();
    for target in [outside.path().join("version").display().to_string(), "../../../../../../proc/version".to_owned()] {
        let entries = json!([
            {"path": "proc", "seen": "directory"},
            {"path": "proc/version", "seen": "link", "target": target},
        ]);
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("r");
        fs::write(&path, archive(&[manifest_of(&entries)])).unwrap();
        let answer = run(&["replay", path.to_str().unwrap(), "-v"]);
        assert!(!answer.stdout.contains("WSL") && !answer.stdout.contains("Linux version"), "{}", answer.stdout);
    }
}

#[test]
fn what_the_manifest_does_not_tell() {
    let good = manifest_of(&json!([{"path": "proc/x", "seen": "file", "content": {"Ok": null}}]));
    let content = file("tp2-report/files/proc/x", b"1");
    refuses(&archive(std::slice::from_ref(&good)), "lacks \"files/proc/x\"");
    refuses(&archive(&[good.clone(), content.clone(), content.clone()]), "twice");
    refuses(&archive(&[good.clone(), content.clone(), file("tp2-report/files/y", b"1")]), "does not tell");
    refuses(&archive(&[content]), "not with its manifest");
    let twice = json!([{"path": "a", "seen": "file"}, {"path": "a", "seen": "file"}]);
    refuses(&archive(&[manifest_of(&twice)]), "tells twice");
    refuses(&archive(&[manifest_of(&json!([{"path": "a", "seen": "link"}]))]), "contradicts itself");
    refuses(&archive(&[manifest_of(&json!([{"path": "a", "seen": "file", "more": 1}]))]), "makes no sense");
    refuses(&archive(&[file("tp2-report/manifest.json", b"{}")]), "makes no sense");
    refuses(&archive(&[file("tp2-report/manifest.json", "[".repeat(100_000).as_bytes())]), "makes no sense");
    let newer = file("tp2-report/manifest.json", br#"{"format":"tp2-report/9","new":1}"#);
    refuses(&archive(&[newer]), "open it with a newer tp2-verify");
}

#[test]
fn bombs() {
    // 200 MiB of zeros in 200 KiB.
    let zeros = vec![0; usize::try_from(MEMBER_LIMIT).unwrap() + 1];
    let names = ["a", "b", "c", "d"];
    let entries: Vec<Value> =
        names.iter().map(|name| json!({"path": name, "seen": "file", "content": {"Ok": null}})).collect();
    let one = file("tp2-report/files/a", &zeros);
    refuses(&archive(&[manifest_of(&json!(entries)), one]), "is larger than");
    let whole = &zeros[..zeros.len() - 1];
    let mut members = vec![manifest_of(&json!(entries))];
    members.extend(names.map(|name| file(&format!("tp2-report/files/{name}"), whole)));
    refuses(&archive(&members), "holds more than");
    // After the end of the tar, where only gzip's checksum is looked for.
    let mut tail = archive(&[manifest_of(&json!([]))]);
    tail = gzip(&[gunzip(&tail), vec![0; usize::try_from(EXPANDED_LIMIT).unwrap()]].concat());
    refuses(&tail, "holds more than");
    // A long name, which the tar format has no limit for.
    let long = member("././@LongLink", EntryType::GNULongName, "", &vec![b'a'; 1 << 20]);
    refuses(&archive(&[manifest_of(&json!([])), long, file("x", b"")]), "does not stay inside");
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes), &mut out).unwrap();
    out
}

#[test]
fn a_bomb_does_not_eat_memory() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("r");
    let zeros = vec![0; usize::try_from(EXPANDED_LIMIT).unwrap()];
    // A long name is the one thing that the tar reader itself keeps in memory.
    fs::write(&path, archive(&[member("././@LongLink", EntryType::GNULongName, "", &zeros)])).unwrap();
    // 512 MiB of address space.
    let script = format!("ulimit -v 524288; exec {} replay {}", env!("CARGO_BIN_EXE_tp2-verify"), path.display());
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("holds more than"), "{words}");
}

#[test]
fn broken_on_the_way() {
    let good = good();
    refuses(b"", "is not a report");
    refuses(b"PK\x03\x04", "not gzip-compressed");
    refuses(&gzip(b""), "is empty");
    refuses(&gzip(&[0x55; 2048]), "is not a whole report");
    for part in [20, good.len() / 2, good.len() - 9, good.len() - 1] {
        refuses(&good[..part], "is not a whole report");
    }
    let mut checksum = good.clone();
    let at = checksum.len() - 6;
    checksum[at] ^= 1;
    refuses(&checksum, "is not a whole report");
    refuses(&[good.clone(), b"more".to_vec()].concat(), "after its end");
    let unpacked = gunzip(&good);
    refuses(&gzip(&unpacked[..unpacked.len() / 3 * 2]), "");
    let directory = tempfile::TempDir::new().unwrap();
    for (path, words) in [(directory.path(), "is a directory"), (Path::new("/nonexistent"), "no such file")] {
        let run = run(&["replay", path.to_str().unwrap()]);
        assert_eq!((run.exit, run.stderr.lines().count()), (2, 1));
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
}

/// Where the next sentence would begin in another line, or turn the direction of writing.
#[test]
fn words_of_others_are_short_and_plain() {
    let evil = format!("\u{1b}[2J\u{9b}\u{202e}\u{2066}\n{}", "long".repeat(10_000));
    let format = json!({"format": evil}).to_string();
    let field = json!({"format": "tp2-report/1", &evil: 1}).to_string();
    let kind = manifest_of(&json!([{"path": "a", "seen": evil}]));
    let path = manifest_of(&json!([{"path": format!("../{evil}"), "seen": "file"}]));
    let answer = file("tp2-report/manifest.json", format.as_bytes());
    for bytes in [answer, file("tp2-report/manifest.json", field.as_bytes()), kind, path] {
        let directory = tempfile::TempDir::new().unwrap();
        let name = directory.path().join("r\u{202e}\u{1b}[2J.tar.gz");
        fs::write(&name, archive(&[bytes])).unwrap();
        let run = run(&["replay", name.to_str().unwrap()]);
        assert_eq!((run.exit, run.stderr.lines().count()), (2, 1), "{}", run.stderr);
        assert!(run.stderr.len() < 1000, "{} bytes", run.stderr.len());
        let is_bad = |c: char| c.is_control() && c != '\n' || "\u{202e}\u{2066}".contains(c);
        assert!(!run.stderr.contains(is_bad), "{:?}", run.stderr);
    }
}

#[test]
fn more_after_the_last_file() {
    let unpacked = gunzip(&good());
    // Zeros are padding, as some programs write it.
    assert!(unpack("x", &gzip(&[unpacked.clone(), vec![0; 10240]].concat())).is_ok());
    refuses(&gzip(&[unpacked, b"secret".to_vec()].concat()), "holds more after its last file");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_change_is_an_error_or_harmless(at in 0..4096usize, value in any::<u8>()) {
        thread_local!(static GOOD: Vec<u8> = gunzip(&good()));
        let mut bytes = GOOD.with(Clone::clone);
        let place = at * 97 % bytes.len();
        bytes[place] = value;
        match unpack("x", &gzip(&bytes)) {
            Ok(record) => drop(collect(&Root::replay(record), &Options::off())),
            Err(ArchiveError::Bad { .. } | ArchiveError::Format { .. }) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
