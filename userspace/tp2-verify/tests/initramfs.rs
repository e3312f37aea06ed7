// SPDX-License-Identifier: GPL-2.0-only

//! Images with the framing of initramfs-tools, dracut and mkinitcpio, built here (simulated): a cpio archive with early
//! microcode, zeros, then the compressed rest. Real images of the tools were read by hand.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made ends the test")]

mod support;

use std::{
    io::Write,
    process::{Command, Stdio},
};

use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use support::{RELEASE, Tree, two_cards};
use tp2_verify::{
    collect::{self, Root, initramfs::look, runtime::Options, xz},
    facts::{Initramfs, ReadErrorKind, Reading},
};

/// A file as cpio has it: header, name, contents, each filled up to four bytes.
fn entry(name: &str, content: &[u8]) -> Vec<u8> {
    let mut numbers = [0u32; 13];
    numbers[1] = 0o100_644;
    numbers[6] = content.len().try_into().unwrap();
    numbers[11] = u32::try_from(name.len()).unwrap() + 1;
    let mut out = b"070701".to_vec();
    for number in numbers {
        out.extend(format!("{number:08X}").bytes());
    }
    out.extend(name.bytes());
    out.push(0);
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend(content);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

fn cpio(names: &[&str]) -> Vec<u8> {
    let mut out: Vec<u8> = names.iter().flat_map(|name| entry(name, &[b'x'; 1001])).collect();
    out.extend(entry("TRAILER!!!", b""));
    // As cpio fills up its last block.
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

type Compress = fn(&[u8]) -> Vec<u8>;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// What xz(1) makes of it, in blocks of 4 KiB and with the check that kernels want.
fn xz_of(bytes: &[u8]) -> Vec<u8> {
    let mut child = Command::new("xz")
        .args(["--check=crc32", "--block-size=4096", "--stdout", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap().stdout
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// The form of `lz4 -l`.
fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut out = 0x184c_2102_u32.to_le_bytes().to_vec();
    for chunk in bytes.chunks(3000) {
        let block = lz4_flex::block::compress(chunk);
        out.extend(u32::try_from(block.len()).unwrap().to_le_bytes());
        out.extend(block);
    }
    out
}

fn plain(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

const MICROCODE: [&str; 3] = ["kernel", "kernel/x86", "kernel/x86/microcode/GenuineIntel.bin"];

/// Files that all belong into an image, as initramfs-tools and dracut place them.
fn all() -> [String; 4] {
    let modules = format!("usr/lib/modules/{RELEASE}");
    [
        "init".to_owned(),
        format!("{modules}/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst"),
        format!("{modules}/updates/dkms/tp2_p2pdma.ko.zst"),
        "usr/lib/modprobe.d/tp2_p2pdma.conf".to_owned(),
    ]
}

fn main_part() -> Vec<u8> {
    let all = all();
    cpio(&all.each_ref().map(String::as_str))
}

fn looked(image: &[u8]) -> Initramfs {
    look("boot/i", RELEASE, image).unwrap()
}

fn refusal(image: &[u8]) -> String {
    let error = look("boot/i", RELEASE, image).unwrap_err();
    assert_eq!((error.path.as_str(), error.kind), ("boot/i", ReadErrorKind::Malformed));
    error.reason
}

#[test]
fn each_compression_after_microcode() {
    let kinds: [(&str, Compress); 5] = [("cpio", plain), ("gzip", gzip), ("xz", xz_of), ("zstd", zstd), ("lz4", lz4)];
    for (kind, compress) in kinds {
        let image = [cpio(&MICROCODE), vec![0; 1024], compress(&main_part()), vec![0; 3]].concat();
        let expected: &[&str] = if kind == "cpio" { &["cpio"] } else { &["cpio", kind] };
        let found = looked(&image);
        assert_eq!(found.segments, expected);
        assert_eq!((found.has_amdgpu, found.has_override, found.has_modprobe_conf), (true, true, true), "{kind}");
        // And more parts after it, as boot loaders add; lz4 has no mark of its end but zeros.
        let more = [image, vec![0; 4], compress(&cpio(&["etc/modprobe.d/x.conf"])), vec![0; 4], gzip(&cpio(&["last"]))]
            .concat();
        assert!(looked(&more).has_override, "{kind}");
    }
}

#[test]
fn only_what_is_for_this_kernel_counts() {
    for (name, [amdgpu, override_module, conf]) in [
        (format!("lib/modules/{RELEASE}/extra/amdgpu.ko"), [true, false, false]),
        (format!("./usr/lib/modules/{RELEASE}/updates/tp2-p2pdma.ko.xz"), [false, true, false]),
        ("etc/modprobe.d/tp2_p2pdma.conf".to_owned(), [false, false, true]),
        ("lib/modules/6.1.0-other/extra/amdgpu.ko".to_owned(), [false; 3]),
        (format!("lib/modules/{RELEASE}/extra/amdgpu_other.ko"), [false; 3]),
        ("usr/share/doc/tp2_p2pdma.conf".to_owned(), [false; 3]),
        ("lib/firmware/amdgpu/x.bin".to_owned(), [false; 3]),
    ] {
        let found = looked(&gzip(&cpio(&["init", &name])));
        assert_eq!([found.has_amdgpu, found.has_override, found.has_modprobe_conf], [amdgpu, override_module, conf]);
    }
}

#[test]
fn the_maker_is_known_by_its_files() {
    for (name, maker) in [
        ("scripts/functions", Some("initramfs-tools")),
        ("./usr/lib/dracut", Some("dracut")),
        ("buildconfig", Some("mkinitcpio")),
        ("usr/share/buildconfig", None),
    ] {
        assert_eq!(looked(&zstd(&cpio(&["init", name]))).maker.as_deref(), maker);
    }
}

#[test]
fn what_is_odd_is_said() {
    for (image, words) in [
        (b"".to_vec(), "holds no files"),
        (vec![0; 512], "holds no files"),
        (cpio(&[]), "holds no files"),
        (b"BZh91AY".to_vec(), "compressed with bzip2"),
        (b"\x89LZO\0".to_vec(), "compressed with lzo"),
        (b"\x5d\0\0\x80".to_vec(), "compressed with lzma"),
        (b"MZ rubbish".to_vec(), "of a kind that is not known"),
        ([main_part(), b"rubbish".to_vec()].concat(), "of a kind that is not known"),
        (gzip(b"no archive, but long enough to be looked at: ".repeat(9).as_slice()), "other than a cpio archive"),
        (gzip(&gzip(&main_part())), "other than a cpio archive"),
        (gzip(&main_part()[..700]), "cut short"),
        (main_part()[..700].to_vec(), "cut short"),
        (cpio(&["init", "squashfs-root.img"]), "keeps its files in squashfs-root.img"),
        (b"\xfd7zXZ\0\0\x01".repeat(3), "cut short"),
    ] {
        let reason = refusal(&image);
        assert!(reason.contains(words), "{words:?} is missing in {reason:?}");
    }
    let mut long = entry("x", b"");
    long[94..102].copy_from_slice(b"00001001");
    assert!(refusal(&long).contains("a name of 4097 bytes"));
    let mut digits = entry("x", b"");
    digits[60] = b'+';
    assert!(refusal(&digits).contains("other than hexadecimal digits"));
}

#[test]
fn cuts_are_noticed() {
    for compress in [gzip, xz_of, zstd, lz4] {
        let image = compress(&main_part());
        for length in (1..image.len()).step_by(7) {
            let result = look("x", RELEASE, &image[..length]);
            assert!(result.is_err(), "{length} of {}: {result:?}", image.len());
        }
    }
}

/// Each takes a decompressor, or a buffer, that is larger than the segment by far.
#[test]
fn segments_without_end_are_refused() {
    for (kind, compress) in [("cpio", plain as Compress), ("gzip", gzip), ("xz", xz_of), ("zstd", zstd), ("lz4", lz4)] {
        let segment = [compress(&cpio(&["init"])), vec![0; 4]].concat();
        assert_eq!(looked(&segment.repeat(256)).segments, [kind]);
        assert_eq!(refusal(&segment.repeat(257)), "has more than 256 segments", "{kind}");
    }
    assert_eq!(refusal(&b"\x02\x21\x4c\x18\0\0\0\0".repeat(1 << 10)), "has more than 256 segments");
    assert_eq!(refusal(&gzip(b"").repeat(1 << 10)), "has more than 256 segments");
    // Archives in one segment are no cheaper.
    assert_eq!(refusal(&gzip(&cpio(&["init"]).repeat(257))), "has more than 256 archives");
}

#[test]
fn bombs_are_refused() {
    // A gibibyte in blocks of zstd that repeat one byte 128 KiB long, after one with a header (RFC 8878, 3.1.1).
    let mut head = entry("x", b"");
    head[54..62].copy_from_slice(b"f0000000");
    let block = |kind: u32, size: u32| (kind << 1 | size << 3).to_le_bytes()[..3].to_vec();
    let mut bomb = b"\x28\xb5\x2f\xfd\0\x58".to_vec();
    bomb.extend(block(0, head.len().try_into().unwrap()));
    bomb.extend(head);
    // The decoder holds back a window of two megabytes.
    for _ in 0..(1 << 13) + 32 {
        bomb.extend(block(1, 1 << 17));
        bomb.push(0);
    }
    assert_eq!(refusal(&bomb), "holds more than 1073741824 bytes");
    // A dictionary of 96 MiB, in a header of a block with a good checksum.
    assert!(refusal(&xz_block(0x1d, b"\0")).contains("a dictionary of more than 67108864 bytes"));
}

/// The beginning of an xz stream: headers with this size of a dictionary (LZMA2's one property) and chunks.
fn xz_block(dictionary: u8, chunks: &[u8]) -> Vec<u8> {
    let header = [2, 0, 0x21, 1, dictionary, 0, 0, 0];
    let mut checksum = flate2::Crc::new();
    checksum.update(&header);
    let stream_header = b"\xfd7zXZ\0\0\x01\x69\x22\xde\x36";
    [stream_header, header.as_slice(), &checksum.sum().to_le_bytes(), chunks].concat()
}

#[test]
fn xz_streams_end_where_they_end() {
    let text: Vec<u8> = (0..20_000u32).flat_map(|number| number.to_string().into_bytes()).collect();
    let (mut stream, mut out) = (xz_of(&text), Vec::new());
    stream.extend(b"more");
    assert_eq!(xz::decompress(&stream, &mut out).unwrap(), b"more");
    assert_eq!(out, text);
}

#[test]
fn a_chunk_hides_no_others() {
    // One byte, in a chunk that says so and is longer than that takes: what a decoder leaves of it looks like a chunk.
    let chunk = b"\xe0\0\0\0\x17\x5d\0\0\0\0\0\0\x02\0\x05abcdef\0\0\0\0\0\0\0\0\0";
    let mut out = Vec::new();
    let error = xz::decompress(&xz_block(0x16, chunk), &mut out).unwrap_err();
    assert!(error.contains("Lzma") && out.len() <= 1, "{error}, {out:?}");
}

/// What collecting says of a tree's image.
fn of_tree(tree: &Tree) -> Reading<Initramfs> {
    collect::collect(&Root::open(tree.path()).unwrap(), &Options::off()).initramfs
}

#[test]
fn the_image_is_found_where_distributions_put_it() {
    let token = "0123456789abcdef0123456789abcdef";
    let image = gzip(&main_part());
    for (path, hint) in [
        (format!("boot/initrd.img-{RELEASE}"), None),
        (format!("boot/initramfs-{RELEASE}.img"), None),
        (format!("boot/initrd-{RELEASE}"), None),
        ("boot/initramfs-linux-lts.img".to_owned(), Some((format!("lib/modules/{RELEASE}/pkgbase"), "linux-lts"))),
        ("boot/initramfs-7.0-x86_64.img".to_owned(), Some((format!("lib/modules/{RELEASE}/kernelbase"), "7.0-x86_64"))),
        (format!("boot/{token}/{RELEASE}/initrd"), None),
        (format!("efi/{token}/{RELEASE}/initrd"), None),
        (format!("boot/efi/mine/{RELEASE}/initrd"), Some(("etc/kernel/entry-token".to_owned(), "mine"))),
    ] {
        let tree = two_cards("8086:6f00");
        tree.module().bytes(&path, &image);
        if let Some((file, text)) = hint {
            tree.file(&file, text);
        }
        let found = of_tree(&tree).unwrap();
        assert_eq!((found.path, found.has_override), (path, true));
    }
}

#[test]
fn no_image_and_no_need() {
    let path = format!("boot/initrd.img-{RELEASE}");
    let tree = two_cards("8086:6f00");
    tree.bytes(&path, &gzip(&main_part()));
    let unread = of_tree(&tree).unwrap_err();
    assert!(!unread.is_absent() && unread.reason.contains("not installed"), "{unread}");
    tree.module().remove(&path);
    assert!(of_tree(&tree).unwrap_err().is_absent());
    tree.fifo(&path);
    assert!(of_tree(&tree).unwrap_err().reason.contains("is a FIFO"));
    tree.file(&format!("lib/modules/{RELEASE}/pkgbase"), "../../etc/passwd").remove(&path);
    assert!(of_tree(&tree).unwrap_err().is_absent());
}

#[test]
fn a_report_keeps_what_is_inside_not_the_image() {
    let tree = two_cards("8086:6f00");
    tree.module().bytes(&format!("boot/initrd.img-{RELEASE}"), &zstd(&main_part()));
    let recording = Root::open(tree.path()).unwrap().recording();
    let before = collect::collect(&recording, &Options::off());
    let record = recording.record();
    let entry = &record.entries[&format!("boot/initrd.img-{RELEASE}")];
    assert!(entry.content.is_none() && entry.derived.is_some());
    assert!(before.initramfs.is_ok());
    assert_eq!(collect::collect(&Root::replay(record), &Options::off()), before);
}

proptest! {
    #[test]
    fn any_bytes_are_taken(
        start in prop::sample::select(vec![
            &b"070701"[..], b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0\0\x01\0\0\0\0", b"\x02\x21\x4c\x18", b"",
        ]),
        bytes in proptest::collection::vec(any::<u8>(), 1..600),
    ) {
        let _ = look("x", RELEASE, &[start, &bytes].concat());
    }

    #[test]
    fn any_change_is_taken(kind in 0..5usize, at in any::<prop::sample::Index>(), value in any::<u8>()) {
        thread_local!(static GOOD: [Vec<u8>; 5] = [plain, gzip, xz_of, zstd, lz4].map(|compress: Compress| {
            compress(&main_part())
        }));
        let mut image = GOOD.with(|good| good[kind].clone());
        *at.get_mut(&mut image) = value;
        let _ = look("x", RELEASE, &image);
    }
}
