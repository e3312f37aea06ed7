// SPDX-License-Identifier: GPL-2.0-only

//! A machine with as many cards as one likes, for measuring how work grows with them.

use super::{Acs, Tree};

/// Cards below one host bridge.
const CARDS_A_BRIDGE: u8 = 8;
/// Bus numbers for each host bridge: its own, and three for each card.
const BUSES_A_BRIDGE: u8 = 32;
/// As many pairs as the module's table holds.
const ROWS: usize = 1024;

/// Where card `index` is: its host bridge's bus, and the first of its own.
fn place(index: u8) -> (u8, u8) {
    let bridge = index / CARDS_A_BRIDGE * BUSES_A_BRIDGE;
    (bridge, bridge + 1 + index % CARDS_A_BRIDGE * 3)
}

/// Up to 64 cards, eight below each host bridge, on a machine where the kernel refuses every pair.
pub(crate) fn many_cards(cards: u8) -> Tree {
    let tree = Tree::new();
    tree.kfd();
    for index in 0..cards {
        let (bridge, bus) = place(index);
        let root = format!("pci0000:{bridge:02x}");
        let slot = index % CARDS_A_BRIDGE;
        if slot == 0 {
            tree.host_bridge(&root, "8086:6f00");
        }
        let port = format!("{root}/0000:{bridge:02x}:{:02x}.0", slot + 1);
        tree.card(&port, bus, Acs::None).kfd_gpu(u32::from(index) + 1, bus + 2);
    }
    tree
}

/// The same with the override, told to cross host bridges: all pairs linked, and the table of pairs full.
pub(crate) fn many_cards_overridden(cards: u8) -> Tree {
    let tree = many_cards(cards);
    tree.module().module_says("parameters/cross_host_bridge", "1");
    let mut rows = Vec::new();
    for from in 0..cards {
        for to in (0..cards).filter(|to| *to != from) {
            tree.p2p_link(u32::from(from) + 1, u32::from(to) + 1);
            let gpu = |index| format!("0000:{:02x}:00.0", place(index).1 + 2);
            rows.push(format!("{} {} 3 -1 8 override", gpu(from), gpu(to)));
        }
    }
    let beyond = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    if beyond > 0 {
        rows.push(format!("# {} calls of pairs beyond the table", beyond * 3));
    }
    tree.table(&rows.join("\n"));
    tree
}
