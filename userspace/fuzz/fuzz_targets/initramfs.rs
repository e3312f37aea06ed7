// SPDX-License-Identifier: GPL-2.0-only
//! Any initramfs image: what is found in an archive is found in it compressed as well, and nothing more.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tp2_fuzz::{packing, plant, tagged};
use tp2_verify::collect::initramfs::look;
use tp2_verify::facts::Initramfs;

const RELEASE: &str = "7.0.0-38-generic";
/// What [`look`] calls the ways to compress.
const KINDS: [&str; 4] = ["gzip", "zstd", "xz", "lz4"];

fuzz_target!(init: plant(&seeds()), |input: &[u8]| {
    let Some((way, image)) = input.split_first() else {
        return;
    };
    let plain = look("x", RELEASE, image);
    if let Ok(found) = &plain {
        check(found, image);
    }
    let Some(way) = usize::from(*way).checked_sub(1).filter(|way| *way < KINDS.len()) else {
        return;
    };
    let packed = look("x", RELEASE, &pack(way, image));
    // Segments of other kinds cannot be inside a compressed one.
    if plain.as_ref().is_ok_and(|found| found.segments == ["cpio"]) || packed.is_ok() {
        let expected = plain.map(|found| Initramfs { segments: vec![KINDS[way].to_owned()], ..found });
        assert_eq!(packed, expected);
    }
});

fn pack(way: usize, bytes: &[u8]) -> Vec<u8> {
    packing::ALL.get(way).map_or_else(|| packing::lz4(bytes), |pack| pack(bytes))
}

/// What is found without decompressing anything is in the image.
fn check(found: &Initramfs, image: &[u8]) {
    assert!(!found.segments.is_empty() && found.segments.iter().all(|kind| kind == "cpio" || is_kind(kind)));
    assert!(found.segments.windows(2).all(|two| two[0] != two[1]));
    if found.segments == ["cpio"] {
        let holds = |word: &[u8]| image.windows(word.len()).any(|window| window == word);
        assert!(!found.has_amdgpu || holds(b"amdgpu") && holds(RELEASE.as_bytes()));
        assert!(!found.has_override || holds(b"p2pdma") && holds(RELEASE.as_bytes()));
        assert!(!found.has_modprobe_conf || holds(b"modprobe.d/tp2_p2pdma.conf"));
    }
}

fn is_kind(kind: &str) -> bool {
    KINDS.contains(&kind)
}

fn seeds() -> Vec<Vec<u8>> {
    let microcode = cpio(&["kernel/x86/microcode/GenuineIntel.bin"]);
    let modules = format!("usr/lib/modules/{RELEASE}");
    let main = cpio(&[
        "init",
        "scripts/functions",
        &format!("{modules}/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst"),
        &format!("{modules}/updates/dkms/tp2_p2pdma.ko"),
        "usr/lib/modprobe.d/tp2_p2pdma.conf",
    ]);
    let mut seeds: Vec<Vec<u8>> = (0..5).map(|way| tagged(way, &main)).collect();
    seeds.extend((0..4).map(|way| tagged(0, &[microcode.as_slice(), &[0; 8], &pack(way, &main)].concat())));
    seeds
}

/// An archive of files with a few bytes each.
fn cpio(names: &[&str]) -> Vec<u8> {
    let files = names.iter().map(|name| entry(name, b"contents"));
    files.chain([entry("TRAILER!!!", b"")]).flatten().collect()
}

/// Header, name and contents, each filled up to four bytes.
fn entry(name: &str, content: &[u8]) -> Vec<u8> {
    let fill = |out: &mut Vec<u8>| out.resize(out.len().next_multiple_of(4), 0);
    let (before, between) = ("00000000".repeat(6), "00000000".repeat(4));
    let header = format!("070701{before}{:08X}{between}{:08X}00000000{name}\0", content.len(), name.len() + 1);
    let mut out = header.into_bytes();
    fill(&mut out);
    out.extend(content);
    fill(&mut out);
    out
}
