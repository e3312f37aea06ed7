// SPDX-License-Identifier: GPL-2.0-only
//! Any report archive: what is accepted stays inside, and packed again it is the same.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use tar::{Builder, EntryType, Header};
use tp2_fuzz::{machine, packing, plant, tagged};
use tp2_verify::archive::{self, ArchiveError, Package};
use tp2_verify::collect::record::Record;

/// Types of members that nothing but a regular file has (POSIX ustar): links, devices, directories, FIFOs.
const NOT_FILES: &[u8] = b"123456";

fuzz_target!(init: plant(&seeds()), |input: &[u8]| {
    match input.split_first() {
        Some((0, archive)) => drop(check(archive)),
        Some((1, tar)) => drop(check(&packing::gzip(tar))),
        // Checksums keep changes out of headers, so members get good ones.
        Some((2, members)) => {
            let accepted = check(&packing::gzip(&tar_of(members)));
            assert!(accepted.is_none() || !heads(members).any(|(line, _)| NOT_FILES.contains(&line.as_bytes()[0])));
        }
        Some((_, machine)) => packed(&machine::hostile_record(machine)),
        None => {}
    }
});

/// What is accepted is the same when it is packed again.
fn check(bytes: &[u8]) -> Option<Record> {
    let record = accepted(bytes)?;
    let package = Package::new(&record, Vec::new()).expect("what was read can be written");
    let again = archive::pack(&package).expect("what was accepted is not too much");
    assert_eq!(archive::unpack("x", &again).expect("what was written can be read"), record);
    assert!(!package.listing().chars().any(|c| c.is_control() && c != '\n'));
    Some(record)
}

/// What is accepted stays inside.
fn accepted(bytes: &[u8]) -> Option<Record> {
    match archive::unpack("x", bytes) {
        Ok(record) => {
            assert_eq!(machine::leads_out(&record), None);
            Some(record)
        }
        Err(ArchiveError::Bad { .. } | ArchiveError::Format { .. }) => None,
        Err(other) => panic!("{other}"),
    }
}

/// A record that someone put anything into: what comes back of it is the whole of it, and stays inside.
fn packed(record: &Record) {
    let package = Package::new(record, Vec::new()).expect("a record can be told");
    let Ok(bytes) = archive::pack(&package) else {
        return;
    };
    match accepted(&bytes) {
        Some(accepted) => assert_eq!(accepted, *record),
        None => assert!(machine::leads_out(record).is_some()),
    }
}

/// The parts whose first line begins with a type.
fn heads(members: &[u8]) -> impl Iterator<Item = (&str, &[u8])> {
    let lines = machine::parts(members).into_iter().filter_map(machine::head);
    lines.filter(|(line, _)| line.as_bytes().first().is_some_and(u8::is_ascii))
}

/// A tar of members, each with its kind and path in a line and its contents behind.
fn tar_of(members: &[u8]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (line, content) in heads(members) {
        let (kind, path) = (line.as_bytes()[0], &line[1..]);
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::new(kind));
        header.set_size(content.len() as u64);
        // As it is: the library's own way to set it refuses what a reader has to refuse.
        let name = &mut header.as_old_mut().name;
        let length = path.len().min(name.len());
        name[..length].copy_from_slice(&path.as_bytes()[..length]);
        header.set_cksum();
        builder.append(&header, content).expect("memory takes anything");
    }
    builder.into_inner().expect("memory takes anything")
}

/// One of every kind of entry, and an answer; small, because time goes with the size.
const MACHINE: &[u8] = b"fproc/version\nLinux\n==\nlsys/x/driver\n../../drivers/y\n==\nndev/kfd\n\x42\x69\n==\n\
    esys/kernel/debug\ndenied\n==\ndboot/initrd.img\n{\"maker\":\"dracut\"}\n==\n?runtime\n{}";

fn seeds() -> Vec<Vec<u8>> {
    let package = Package::new(&machine::record(MACHINE), Vec::new()).expect("a good record");
    let told = |kind: char, member: &archive::Member| {
        let path = Path::new(archive::TOP).join(&member.name);
        [format!("{kind}{}\n", path.display()).as_bytes(), &member.bytes].concat()
    };
    let members: Vec<Vec<u8>> = package.members.iter().map(|member| told('0', member)).collect();
    let (last, others) = package.members.split_last().expect("a manifest at least");
    let link = others.iter().map(|member| told('0', member)).chain([told('2', last)]);
    let link = link.collect::<Vec<_>>().join(machine::SEPARATOR);
    let members = members.join(machine::SEPARATOR);
    let long = b"L././@LongLink\ntp2-report/files/a-long-name\n==\n0x\ncontents";
    vec![
        tagged(0, &archive::pack(&package).expect("a good record")),
        tagged(1, &tar_of(&members)),
        tagged(2, &members),
        tagged(2, &[members.as_slice(), machine::SEPARATOR, long].concat()),
        tagged(2, &link),
        tagged(3, MACHINE),
    ]
}
