// SPDX-License-Identifier: GPL-2.0-only

//! Decompression of xz, in pieces that nobody keeps.

use std::io::Write;

use xz4rust::{XzDecoder, XzError};

/// Largest dictionary, which is in memory whole: that of `xz -9`.
const DICTIONARY_LIMIT: usize = 64 * 1024 * 1024;
/// Bytes that are decompressed at a time.
const PIECE: usize = 64 * 1024;

/// Decompresses the stream at the start of `input`; returns what follows it.
pub fn decompress<'a>(input: &'a [u8], out: &mut dyn Write) -> Result<&'a [u8], String> {
    let mut decoder = XzDecoder::in_heap_with_alloc_dict_size(0, DICTIONARY_LIMIT);
    let mut piece = vec![0; PIECE];
    let mut rest = input;
    loop {
        let step = decoder.decode(rest, &mut piece).map_err(|error| words(&error))?;
        rest = rest.get(step.input_consumed()..).unwrap_or_default();
        let produced = piece.get(..step.output_produced()).unwrap_or_default();
        out.write_all(produced).map_err(|error| error.to_string())?;
        if step.is_end_of_stream() {
            return Ok(rest);
        }
    }
}

/// The library's own words are names of its errors.
fn words(error: &XzError) -> String {
    match error {
        XzError::NeedsLargerInputBuffer => "it ends too early".to_owned(),
        XzError::DictionaryTooLarge(_) => format!("it needs a dictionary of more than {DICTIONARY_LIMIT} bytes"),
        _ => error.to_string(),
    }
}
