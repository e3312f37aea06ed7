// SPDX-License-Identifier: GPL-2.0-only
//! Compression of inputs, so that a change of one byte is one byte behind the decompressor too.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// A way to compress.
pub type Pack = fn(&[u8]) -> Vec<u8>;

/// Those that all parsers know.
pub const ALL: [Pack; 3] = [gzip, zstd, xz];

/// Without making it smaller, which would only take time.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes anything")
}

/// Likewise.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Uncompressed)
}

/// Likewise.
pub fn xz(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    lzma_rs::xz_compress(&mut bytes, &mut out).expect("memory takes anything");
    out
}

/// The form of `lz4 -l`, in blocks that are smaller than what is seen of most inputs.
pub fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut out = 0x184c_2102_u32.to_le_bytes().to_vec();
    for chunk in bytes.chunks(500) {
        let block = lz4_flex::block::compress(chunk);
        out.extend(u32::try_from(block.len()).expect("small blocks stay small").to_le_bytes());
        out.extend(block);
    }
    out
}
