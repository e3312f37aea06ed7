// SPDX-License-Identifier: GPL-2.0-only

//! The segments of an initramfs image, decompressed in pieces that nobody keeps.

use std::io::{self, BufRead, Read, Write};

use flate2::bufread::GzDecoder;

use super::{
    cpio::{MAGICS, Walker},
    xz,
};

/// Bytes of a whole image after decompression.
const EXPANDED_LIMIT: u64 = 1024 * 1024 * 1024;
/// Segments of an image, and archives in all of them: real images have up to ten. Each segment takes a decompressor of
/// its own, however few bytes it has.
pub(super) const SEGMENTS_LIMIT: usize = 256;
/// Bytes of a block of `lz4 -l` after decompression (`LZ4_DEFAULT_UNCOMPRESSED_CHUNK_SIZE` in `lib/decompress_unlz4.c`).
const LZ4_BLOCK: usize = 8 * 1024 * 1024;
const LZ4_MAGIC: u32 = 0x184c_2102;

/// Walks over all segments and calls `on_name` with each name in them; returns how they are compressed, repetitions left
/// out, `cpio` where they are not.
pub(super) fn segments(
    image: &[u8],
    on_name: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<Vec<&'static str>, String> {
    let mut kinds = Vec::new();
    let mut rest = image;
    let mut sink = Sink { walker: Walker::new(on_name), left: EXPANDED_LIMIT, error: None };
    let mut block = Vec::new();
    let mut count = 0usize;
    loop {
        let zeros = rest.iter().take_while(|byte| **byte == 0).count();
        rest = rest.get(zeros..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(kinds);
        }
        let compression = compression(rest)?;
        count = count.saturating_add(1);
        if count > SEGMENTS_LIMIT {
            return Err(format!("has more than {SEGMENTS_LIMIT} segments"));
        }
        let result = match compression {
            "cpio" => sink.walker.feed(rest).map(|taken| rest.get(taken..).unwrap_or_default()),
            _ => expand(compression, rest, &mut sink, &mut block),
        };
        // What the walk objects to is the cause of a decompressor's error.
        if let Some(error) = sink.error.take() {
            return Err(error);
        }
        rest = result?;
        if !sink.walker.is_between() {
            return Err(format!("is cut short (in a segment of kind {compression})"));
        }
        if kinds.last() != Some(&compression) {
            kinds.push(compression);
        }
    }
}

/// How the segment at the start is compressed, by its magic (`lib/decompress.c`).
fn compression(bytes: &[u8]) -> Result<&'static str, String> {
    if MAGICS.iter().any(|magic| bytes.starts_with(magic)) {
        return Ok("cpio");
    }
    Ok(match bytes {
        [0x1f, 0x8b, ..] => "gzip",
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "xz",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd",
        [0x02, 0x21, 0x4c, 0x18, ..] => "lz4",
        [b'B', b'Z', b'h', ..] => return Err("is compressed with bzip2, which is not read".to_owned()),
        [0x89, b'L', b'Z', b'O', ..] => return Err("is compressed with lzo, which is not read".to_owned()),
        [0x5d, 0, 0, ..] => return Err("is compressed with lzma, which is not read".to_owned()),
        _ => return Err("has a segment of a kind that is not known".to_owned()),
    })
}

/// Decompresses the segment at the start, with a buffer for blocks that all segments share; returns what follows it.
fn expand<'a>(
    compression: &str,
    bytes: &'a [u8],
    sink: &mut Sink<'_>,
    block: &mut Vec<u8>,
) -> Result<&'a [u8], String> {
    let broken = |words: String| format!("cannot be decompressed ({compression}: {words}); it may be cut short");
    let io_words = |error: io::Error| broken(error.to_string());
    match compression {
        "gzip" => {
            let mut decoder = GzDecoder::new(bytes);
            io::copy(&mut decoder, sink).map_err(io_words)?;
            Ok(decoder.into_inner())
        }
        "zstd" => {
            let mut rest = bytes;
            let mut decoder =
                ruzstd::decoding::StreamingDecoder::new(&mut rest).map_err(|error| broken(error.to_string()))?;
            io::copy(&mut decoder, sink).map_err(|error| broken(super::module_file::brief(&error)))?;
            drop(decoder);
            Ok(rest)
        }
        "xz" => xz::decompress(bytes, sink).map_err(broken),
        _ => lz4(bytes, sink, block).map_err(io_words),
    }
}

/// The format of `lz4 -l`, which is what the kernel reads: blocks with their sizes, up to what is none.
fn lz4<'a>(bytes: &'a [u8], sink: &mut Sink<'_>, block: &mut Vec<u8>) -> io::Result<&'a [u8]> {
    let mut rest = bytes;
    block.resize(LZ4_BLOCK, 0);
    rest.consume(4);
    loop {
        let mut size = [0; 4];
        let after = rest;
        if rest.len() < 4 || rest.iter().take(4).all(|byte| *byte == 0) {
            return Ok(after);
        }
        rest.read_exact(&mut size)?;
        let size = u32::from_le_bytes(size);
        // Archives may follow each other.
        if size == LZ4_MAGIC {
            continue;
        }
        let length = usize::try_from(size).unwrap_or(usize::MAX);
        let Some(compressed) = rest.get(..length) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let count = lz4_flex::block::decompress_into(compressed, block).map_err(io::Error::other)?;
        sink.write_all(block.get(..count).unwrap_or_default())?;
        rest.consume(length);
    }
}

/// Walks over what is written to it.
struct Sink<'a> {
    walker: Walker<'a>,
    /// Bytes that are still accepted.
    left: u64,
    error: Option<String>,
}

impl Sink<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let left = self.left.checked_sub(length);
        self.left = left.ok_or_else(|| format!("holds more than {EXPANDED_LIMIT} bytes"))?;
        let mut rest = bytes;
        loop {
            let taken = self.walker.feed(rest)?;
            rest = rest.get(taken..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(());
            }
        }
    }
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.take(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                self.error = Some(error);
                Err(io::Error::other("refused"))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
