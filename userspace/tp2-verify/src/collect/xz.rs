// SPDX-License-Identifier: GPL-2.0-only

//! The frame of an xz stream (the `.xz` file format 1.2.0; LZMA2 chunks as in `lib/xz/xz_dec_lzma2.c`).
//!
//! The library that decompresses keeps a block in memory whole, without a limit. Chunks tell their sizes, and the
//! library holds them to that, so a look at the frame says how much it will be, and where the stream ends.

const MAGIC: &[u8] = b"\xfd7zXZ\0";
/// Stream header and footer.
const FRAME: usize = 12;
/// LZMA2, the only filter that is decompressed.
const FILTER_LZMA2: u8 = 0x21;
/// Bytes of each kind of integrity check.
const CHECKS: [usize; 16] = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64];

/// What a stream is going to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Bytes from magic to footer.
    pub length: usize,
    /// Bytes of the largest block after decompression.
    pub largest_block: usize,
    /// Bytes of all blocks after decompression.
    pub expanded: usize,
}

/// Measures the stream at the start.
pub fn measure(input: &[u8]) -> Result<Measured, &'static str> {
    if !input.starts_with(MAGIC) {
        return Err("it does not begin as xz");
    }
    let check = input.get(7).and_then(|kind| CHECKS.get(usize::from(kind & 0xf))).ok_or(SHORT)?;
    let mut at = FRAME;
    let mut measured = Measured { length: 0, largest_block: 0, expanded: 0 };
    while *input.get(at).ok_or(SHORT)? != 0 {
        let (end, expanded) = block(input, at)?;
        at = end.checked_add(*check).ok_or(SHORT)?;
        measured.largest_block = measured.largest_block.max(expanded);
        measured.expanded = measured.expanded.checked_add(expanded).ok_or(SHORT)?;
    }
    at = index(input, at)?;
    measured.length = at.checked_add(FRAME).filter(|end| *end <= input.len()).ok_or(SHORT)?;
    Ok(measured)
}

const SHORT: &str = "it is cut short";

/// End of a block without its check, and its size after decompression.
fn block(input: &[u8], start: usize) -> Result<(usize, usize), &'static str> {
    let header = input.get(start..).ok_or(SHORT)?;
    let [size, flags, rest @ ..] = header else {
        return Err(SHORT);
    };
    let mut field = rest;
    // Compressed and uncompressed size, where they are given.
    for bit in [0x40, 0x80] {
        if flags & bit != 0 {
            number(&mut field).ok_or(SHORT)?;
        }
    }
    if flags & 3 != 0 || field.first() != Some(&FILTER_LZMA2) {
        return Err("it uses a filter other than LZMA2, which is not read");
    }
    let header_length = (usize::from(*size) + 1) * 4;
    let chunks_at = start.checked_add(header_length).ok_or(SHORT)?;
    let mut at = chunks_at;
    let mut expanded = 0usize;
    loop {
        let chunk = input.get(at..).ok_or(SHORT)?;
        let (length, more) = match chunk {
            [0, ..] => break,
            [1 | 2, a, b, ..] => {
                let size = usize::from(u16::from_be_bytes([*a, *b])) + 1;
                (size + 3, size)
            }
            [control @ 0x80..=0xff, a, b, c, d, ..] => {
                let high = usize::from(control & 0x1f) << 16;
                let size = high + usize::from(u16::from_be_bytes([*a, *b])) + 1;
                let has_properties = usize::from(*control >= 0xc0);
                (usize::from(u16::from_be_bytes([*c, *d])) + 1 + 5 + has_properties, size)
            }
            _ => return Err("it is damaged or cut short"),
        };
        at = at.checked_add(length).ok_or(SHORT)?;
        expanded = expanded.checked_add(more).ok_or(SHORT)?;
    }
    let length = (at - chunks_at + 1).next_multiple_of(4);
    Ok((chunks_at + length, expanded))
}

/// End of the index.
fn index(input: &[u8], start: usize) -> Result<usize, &'static str> {
    let whole = input.get(start.saturating_add(1)..).ok_or(SHORT)?;
    let mut rest = whole;
    let records = number(&mut rest).ok_or(SHORT)?;
    for _ in 0..records.saturating_mul(2) {
        number(&mut rest).ok_or(SHORT)?;
    }
    let length = (whole.len() - rest.len() + 1).next_multiple_of(4);
    // Its checksum.
    start.checked_add(length + 4).ok_or(SHORT)
}

/// A number of seven bits a byte, the lowest first.
fn number(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = input.split_first()?;
        *input = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
