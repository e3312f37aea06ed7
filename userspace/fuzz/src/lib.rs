// SPDX-License-Identifier: GPL-2.0-only
//! What the fuzz targets share: seeds, inputs that are compressed before a parser gets them, and machines as text.

pub mod machine;
pub mod module;
pub mod packing;
pub mod reference;

use std::{env, fs, path::PathBuf};

/// Puts inputs that parsers accept into the corpus that libFuzzer is about to read: the last argument, where that is a
/// directory.
pub fn plant(seeds: &[Vec<u8>]) {
    let Some(corpus) = env::args_os().skip(1).last().map(PathBuf::from).filter(|path| path.is_dir()) else {
        return;
    };
    for (number, bytes) in seeds.iter().enumerate() {
        fs::write(corpus.join(format!("seed-{number}")), bytes).expect("a corpus can be written to");
    }
}

/// A seed whose first byte says what is to be done with the rest.
pub fn tagged(tag: u8, bytes: &[u8]) -> Vec<u8> {
    [&[tag], bytes].concat()
}
