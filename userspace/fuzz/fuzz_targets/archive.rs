// SPDX-License-Identifier: GPL-2.0-only
//! Any report archive: what is accepted stays inside, and packed again it is the same.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use tar::{Builder, EntryType, Header};
use tp2_fuzz::{machine, packing, plant, reference, tagged};
use tp2_verify::archive::{self, ArchiveError, Package};

fuzz_target!(init: plant(&seeds()), |input: &[u8]| {
    match input.split_first() {
        Some((0, archive)) => check(archive),
        Some((1, tar)) => check(&packing::gzip(tar)),
        // Checksums keep changes out of headers, so members get good ones.
        Some((_, members)) => check(&packing::gzip(&tar_of(members))),
        None => {}
    }
});

fn check(bytes: &[u8]) {
    let record = match archive::unpack("x", bytes) {
        Ok(record) => record,
        Err(ArchiveError::Bad { .. } | ArchiveError::Format { .. }) => return,
        Err(other) => panic!("{other}"),
    };
    assert_eq!(machine::leads_out(&record), None);
    let package = Package::new(&record, Vec::new()).expect("what was read can be written");
    let again = archive::pack(&package).expect("what was accepted is not too much");
    assert_eq!(archive::unpack("x", &again).expect("what was written can be read"), record);
    assert!(!package.listing().chars().any(|c| c.is_control() && c != '\n'));
}

/// A tar of members, each with its kind and path in a line and its contents behind.
fn tar_of(members: &[u8]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (line, content) in machine::parts(members).into_iter().filter_map(machine::head) {
        let (Some(kind), Some(path)) = (line.bytes().next(), line.get(1..)) else {
            continue;
        };
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

fn seeds() -> Vec<Vec<u8>> {
    let record = machine::record(&reference::machine());
    let package = Package::new(&record, Vec::new()).expect("a good record");
    let small = machine::of_files(&[("proc/version", b"Linux"), ("sys/x", b"1")]);
    let small = Package::new(&small, Vec::new()).expect("a good record");
    let member = |member: &archive::Member| {
        let name = Path::new(archive::TOP).join(&member.name);
        [format!("0{}\n", name.display()).as_bytes(), &member.bytes].concat()
    };
    let members = |package: &Package| {
        let members: Vec<Vec<u8>> = package.members.iter().map(member).collect();
        members.join(machine::SEPARATOR)
    };
    let long = b"L././@LongLink\ntp2-report/files/a-long-name\n==\n0x\ncontents";
    vec![
        tagged(0, &archive::pack(&package).expect("a good record")),
        tagged(1, &tar_of(&members(&small))),
        tagged(2, &members(&small)),
        tagged(2, &members(&package)),
        tagged(2, &[members(&small).as_slice(), machine::SEPARATOR, long].concat()),
    ]
}
