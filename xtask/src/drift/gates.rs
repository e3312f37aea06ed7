// SPDX-License-Identifier: GPL-2.0-only
//! How amdgpu, amdkfd and xe reach the memory of a peer: they ask for the distance and map by themselves.
//!
//! If one of them began to ask for the map type, or to map through the dma-buf core, the distance alone would no longer
//! be the gate that the module opens.

use std::collections::BTreeMap;

use super::assumed::{GATE_WORDS, GateWord};
use super::c::{self, Kind, Token};
use super::tree::Tree;

/// Drivers that are looked through.
pub(super) const DIRECTORIES: [&str; 2] = ["drivers/gpu/drm/amd", "drivers/gpu/drm/xe"];

/// Files without any of these have no such word.
pub(super) const STEMS: [&str; 6] = ["p2pdma", "P2PDMA", "dma_buf_", "dma_map_", "dma_iova_", "phys_vec"];

/// Whether a name tells how the memory of a peer is reached or mapped.
fn tells(word: &str) -> bool {
    let buffer = word.starts_with("dma_buf_") && ["map", "sgt", "pin"].iter().any(|part| word.contains(part));
    let mapping = ["dma_map_resource", "dma_map_phys", "dma_map_sg", "dma_iova_"];
    let peer = ["p2pdma", "P2PDMA", "phys_vec"];
    // The option only says whether there is any of it.
    let option = word == "CONFIG_PCI_P2PDMA";
    !option
        && (buffer
            || mapping.iter().any(|start| word.starts_with(start))
            || peer.iter().any(|part| word.contains(part)))
}

/// Compares the words that the drivers use with those that are known.
pub(super) fn check(tree: &Tree) -> Vec<String> {
    check_against(tree, GATE_WORDS)
}

fn check_against(tree: &Tree, known: &[GateWord]) -> Vec<String> {
    let series = tree.version.series();
    let mut differences = Vec::new();
    let mut found = BTreeMap::new();
    for (path, text) in tree.c_files(&STEMS).filter(|(path, _)| DIRECTORIES.iter().any(|dir| path.starts_with(dir))) {
        for (word, line) in words(&c::tokens(text)) {
            found.entry((path, word)).or_insert(line);
        }
    }
    let known: Vec<&GateWord> = known.iter().filter(|known| known.seen.holds(series)).collect();
    for ((path, word), line) in &found {
        if !known.iter().any(|known| known.file == *path && known.word == word) {
            differences.push(format!("{path}:{line}: uses {word}, which is not known of this file"));
        }
    }
    for known in known {
        if !found.contains_key(&(known.file, known.word.to_owned())) {
            differences.push(format!("{}: no longer uses {}", known.file, known.word));
        }
    }
    differences
}

/// The telling words of a file and their lines; what it includes tells nothing.
fn words(tokens: &[Token]) -> Vec<(String, usize)> {
    let mut words = Vec::new();
    for token in tokens {
        let line = match token.kind {
            Kind::Directive if token.text.starts_with("#include") => continue,
            Kind::Directive => c::tokens_of_line(&token.text[1..]),
            _ => vec![token.clone()],
        };
        let telling = line.into_iter().filter(|word| word.kind == Kind::Word && tells(&word.text));
        words.extend(telling.map(|word| (word.text, token.line)));
    }
    words
}

#[cfg(test)]
mod tests {
    use tp2_policy::KernelVersion;

    use super::*;
    use crate::drift::assumed::Seen;

    const FILE: &str = "drivers/gpu/drm/xe/xe_vram.c";
    const KNOWN: [GateWord; 1] = [GateWord { file: FILE, word: "dma_map_resource", seen: Seen::since(6, 12) }];

    fn differences(code: &str) -> Vec<String> {
        check_against(
            &Tree::of(KernelVersion::new(7, 3, 4), &[(FILE, code), ("drivers/nvme/a.c", "dma_iova_x();")]),
            &KNOWN,
        )
    }

    #[test]
    fn known_words_includes_and_comments_pass() {
        let code = "#include <linux/pci-p2pdma.h>\n/* pci_p2pdma_map_type() */\n#ifdef CONFIG_PCI_P2PDMA\n\
            a = dma_map_resource(b);\n#endif\n";
        assert_eq!(differences(code), [""; 0]);
    }

    #[test]
    fn a_new_gate_is_named_with_file_and_line() {
        let found =
            differences("a = dma_map_resource(b);\nb = pci_p2pdma_map_type(c);\n#define M dma_buf_phys_vec_to_sgt\n");
        let expected = [
            format!("{FILE}:3: uses dma_buf_phys_vec_to_sgt, which is not known of this file"),
            format!("{FILE}:2: uses pci_p2pdma_map_type, which is not known of this file"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_word_that_went_is_named() {
        assert_eq!(differences("int dma_buf_;"), [format!("{FILE}: no longer uses dma_map_resource")]);
    }
}
