// SPDX-License-Identifier: GPL-2.0-only
//! Any xz stream: no more comes of it than its chunks tell, and what another decoder says.

#![no_main]

use flate2::Crc;
use libfuzzer_sys::fuzz_target;
use tp2_fuzz::{packing, plant, tagged};
use tp2_verify::collect::xz::decompress;

/// The header of a stream whose blocks have no integrity check.
const HEADER: &[u8] = b"\xfd7zXZ\0\0\0\xff\x12\xd9\x41";

fuzz_target!(init: plant(&seeds()), |input: &[u8]| {
    match input.split_first() {
        Some((0, stream)) => check(stream, usize::MAX),
        // Checksums keep changes out of the frame, so chunks get one that is good.
        Some((_, chunks)) => {
            let (length, size) = told(chunks);
            // What is behind their end could be another block.
            check(&framed(&chunks[..length]), size);
        }
        None => {}
    }
});

fn check(stream: &[u8], most: usize) {
    let mut out = Vec::new();
    let result = decompress(stream, &mut out);
    assert!(out.len() <= most, "{most} bytes were told, {} came", out.len());
    if let Ok(rest) = result {
        let mut other = Vec::new();
        let whole = &stream[..stream.len() - rest.len()];
        // It knows fewer kinds of blocks.
        if lzma_rs::xz_decompress(&mut { whole }, &mut other).is_ok() {
            assert!(out == other, "another decoder makes something else of it");
        }
    }
}

/// A stream with one block of these chunks, and an index as if it were a good one.
fn framed(chunks: &[u8]) -> Vec<u8> {
    let block_header = with_checksum(&[2, 0, 0x21, 1, 0x10, 0, 0, 0]);
    let mut block = [block_header.as_slice(), chunks].concat();
    let unpadded = block.len();
    block.resize(unpadded.next_multiple_of(4), 0);
    let mut index = vec![0, 1];
    for size in [unpadded, told(chunks).1] {
        put_number(&mut index, size);
    }
    index.resize(index.len().next_multiple_of(4), 0);
    let backward_size = u32::try_from(index.len() / 4).expect("a short index");
    let footer = [&backward_size.to_le_bytes(), &HEADER[6..8]].concat();
    [HEADER, &block, &with_checksum(&index), &checksum(&footer), &footer, b"YZ"].concat()
}

/// Bytes that whole chunks take with their end, and that come of them by what they say (the `.xz` file format, LZMA2).
/// A chunk that is cut short would go on in what follows, so it does not count.
fn told(chunks: &[u8]) -> (usize, usize) {
    let (mut at, mut sum) = (0, 0);
    while let Some(rest) = chunks.get(at..).filter(|rest| !rest.is_empty()) {
        if rest[0] == 0 {
            return (at + 1, sum);
        }
        let Some((length, size)) = chunk(rest).filter(|(length, _)| *length <= rest.len()) else {
            break;
        };
        at += length;
        sum += size;
    }
    (at, sum)
}

/// Length of the chunk at the start, and the bytes that come of it, if its header is whole.
fn chunk(bytes: &[u8]) -> Option<(usize, usize)> {
    let control = *bytes.first()?;
    let word = |at: usize| Some(usize::from(*bytes.get(at)?) << 8 | usize::from(*bytes.get(at + 1)?));
    match control {
        0x80.. => {
            let high = usize::from(control & 0x1f) << 16;
            Some((5 + usize::from(control >= 0xc0) + word(3)? + 1, high + word(1)? + 1))
        }
        _ => Some((3 + word(1)? + 1, word(1)? + 1)),
    }
}

fn checksum(bytes: &[u8]) -> [u8; 4] {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum().to_le_bytes()
}

fn with_checksum(bytes: &[u8]) -> Vec<u8> {
    [bytes, &checksum(bytes)].concat()
}

/// Seven bits a byte, the lowest first.
fn put_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn seeds() -> Vec<Vec<u8>> {
    let text = b"a text of which there are no other copies".repeat(3);
    let mut stored = vec![1, 0, u8::try_from(text.len() - 1).expect("a short text")];
    stored.extend(&text);
    let chunk = compressed(&text);
    let both = [chunk.as_slice(), stored.as_slice(), chunk.as_slice(), &[0]].concat();
    // Bits that are all 0 are bytes that are all 0.
    let zeros = b"\xe0\0\x3f\0\x05\x5d\0\0\0\0\0\0\0".to_vec();
    vec![
        tagged(0, &packing::xz(&text)),
        tagged(0, &framed(&both)),
        tagged(1, &both),
        tagged(1, &stored),
        tagged(1, &zeros),
    ]
}

/// A chunk that resets everything, made of what follows the header of an LZMA file.
fn compressed(mut text: &[u8]) -> Vec<u8> {
    let size = u16::try_from(text.len() - 1).expect("a short text").to_be_bytes();
    let unpacked_size = lzma_rs::compress::UnpackedSize::WriteToHeader(Some(text.len() as u64));
    let options = lzma_rs::compress::Options { unpacked_size };
    let mut file = Vec::new();
    lzma_rs::lzma_compress_with_options(&mut text, &mut file, &options).expect("memory takes anything");
    let data = &file[13..];
    let packed = u16::try_from(data.len() - 1).expect("a short text").to_be_bytes();
    [&[0xe0], size.as_slice(), packed.as_slice(), &[file[0]], data].concat()
}
