// SPDX-License-Identifier: GPL-2.0-only
//! Any configuration space: a part of it tells what the whole does, or that it is cut short.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tp2_fuzz::plant;
use tp2_verify::collect::pci_config::{Lookup, acs_control, express, port_type};

/// Bytes of an extended configuration space.
const WHOLE: usize = 4096;
/// Bytes without what is extended.
const STANDARD: usize = 256;

fuzz_target!(init: plant(&seeds()), |input: &[u8]| {
    // Where the reader's rights end.
    let Some((cut, config)) = input.split_at_checked(2) else {
        return;
    };
    let config = &config[..config.len().min(WHOLE)];
    let cut = usize::from(u16::from_le_bytes([cut[0], cut[1]])).min(config.len());
    let part = &config[..cut];

    agree(port_type(part), port_type(config));
    agree(express(part), express(config));
    // A machine without extended access: there is none for the kernel.
    if cut != STANDARD {
        agree(acs_control(part), acs_control(config));
    }

    match port_type(config) {
        Lookup::Found(kind) => assert!(kind < 16),
        _ => assert!(!matches!((express(config), acs_control(config)), (Lookup::Found(_), _) | (_, Lookup::Found(_)))),
    }
    if let Lookup::Found(express) = express(config) {
        assert!((128..=16384).contains(&express.max_payload()));
    }
    if config.len() <= STANDARD {
        assert!(!matches!(acs_control(config), Lookup::Found(_)));
    }
});

fn agree<T: PartialEq + std::fmt::Debug>(part: Lookup<T>, whole: Lookup<T>) {
    assert!(part == Lookup::CutShort || part == whole, "a part says {part:?}, the whole says {whole:?}");
}

/// A port with ACS behind another capability of each kind, whole and as it is seen without root.
fn seeds() -> [Vec<u8>; 2] {
    let mut config = vec![0; WHOLE];
    let mut put = |at: usize, bytes: &[u8]| config[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &[0x86, 0x80, 0x08, 0x6f]);
    put(0x06, &[0x10]);
    put(0x34, &[0x40]);
    // Power management, then PCI Express of version 2, a root port.
    put(0x40, &[0x01, 0x50]);
    put(0x50, &[0x10, 0x00, 0x42, 0x01]);
    put(0x58, &[0x20, 0x00]);
    put(0x74, &[0xc0, 0x01]);
    // AER, then ACS.
    put(0x100, &[0x01, 0x00, 0x02, 0x15]);
    put(0x150, &[0x0d, 0x00, 0x01, 0x00, 0x7f, 0x00, 0x1d, 0x00]);
    let seed = |cut: usize| [&u16::try_from(cut).expect("a cut is inside").to_le_bytes(), config.as_slice()].concat();
    [seed(WHOLE), seed(64)]
}
