// SPDX-License-Identifier: GPL-2.0-only
//! Any module file, compressed or not, and any signature on a good one: no more is said of it than it holds, and
//! compression changes nothing.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tp2_fuzz::{module, packing, plant, tagged};
use tp2_verify::collect::{module_file::describe, signing::parse_signature_lists};
use tp2_verify::facts::ModuleFile;

/// A good file and a good signature.
static PARTS: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(module::parts);

fuzz_target!(init: plant(&seeds()), |input: &[u8]| {
    match input.split_first() {
        Some((0, file)) => {
            if let Ok(described) = describe("x", file) {
                check(&described, file.len());
            }
        }
        Some((way @ 1..=3, file)) => compressed(usize::from(*way) - 1, file),
        Some((4, message)) => {
            let file = module::signed(&PARTS.0, message);
            let described = describe("x", &file).expect("the file itself is good");
            check(&described, file.len());
            assert!(described.signature.is_some() != described.signature_error.is_some());
        }
        Some((_, lists)) => {
            if let Some(certificates) = parse_signature_lists(lists) {
                assert!(certificates.len() <= lists.len().min(256));
            }
        }
        None => {}
    }
});

fn compressed(way: usize, file: &[u8]) {
    let packed = describe("x", &packing::ALL[way](file));
    if let Ok(described) = &packed {
        check(described, file.len());
    }
    // What is compressed already would be so twice.
    if file.starts_with(b"\x7fELF") {
        assert_eq!(packed, describe("x", file));
    }
}

/// Nothing comes from elsewhere: strings are parts of the file, of which three bytes stand for one that is no text.
/// Symbols may share a name's bytes, so each of the lists is looked at by its longest.
fn check(file: &ModuleFile, size: usize) {
    for list in [&file.depends, &file.parameters, &file.needed] {
        assert!(list.len() <= size && list.iter().all(|name| name.len() <= 3 * size));
    }
    for sorted in [&file.parameters, &file.needed] {
        assert!(sorted.is_sorted_by(|a, b| a < b), "not in order, or twice");
    }
    let Some(signature) = &file.signature else {
        return;
    };
    let length = usize::try_from(signature.size).expect("a size of 32 bits");
    assert!(length <= size && file.signature_error.is_none());
    assert!(signature.key_id.as_ref().is_none_or(|key| key.len() <= 2 * length));
    assert!(signature.signer.as_ref().is_none_or(|name| name.len() <= 3 * length));
}

fn seeds() -> Vec<Vec<u8>> {
    let (file, message) = &*PARTS;
    let mut seeds: Vec<Vec<u8>> = (0..4).map(|way| tagged(way, file)).collect();
    seeds.push(tagged(0, &module::signed(file, message)));
    seeds.extend(packing::ALL.iter().map(|pack| tagged(0, &pack(file))));
    seeds.push(tagged(4, message));
    seeds.push(tagged(5, &module::signature_lists()));
    seeds
}
