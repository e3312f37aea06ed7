// SPDX-License-Identifier: GPL-2.0-only

//! Parsers must take anything.

use proptest::prelude::*;
use tp2_verify::collect::{
    host::parse_cpuinfo,
    kernel::parse_config,
    kfd::parse_properties,
    module_file::describe,
    modules::parse_pairs,
    pci_config::{Lookup, acs_control, express, port_type},
    pci_device::{parse_bar, parse_counters, parse_speed},
};

proptest! {
    #[test]
    fn text_parsers_take_any_text(text in "\\PC*|[a-zA-Z0-9_=: .\n#-]{0,400}") {
        let _ = parse_cpuinfo(&text);
        let _ = parse_config("x", &text);
        let _ = parse_properties(&text);
        let _ = parse_pairs(&text);
        let _ = parse_counters(&text);
        let _ = parse_speed(&text);
        let _ = parse_bar(&text);
    }

    #[test]
    fn config_space_takes_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..4097)) {
        let _ = port_type(&bytes);
        let _ = acs_control(&bytes);
        if let Lookup::Found(express) = express(&bytes) {
            prop_assert!(express.max_payload() >= 128);
        }
    }

    #[test]
    fn sixty_four_bytes_never_tell_of_acs(bytes in proptest::collection::vec(any::<u8>(), 64)) {
        prop_assert!(!matches!(acs_control(&bytes), Lookup::Found(_)));
    }

    #[test]
    fn module_file_takes_any_bytes(
        magic in prop::sample::select(vec![
            &b"\x7fELF\x02\x01\x01"[..], b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"",
        ]),
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        prop_assert!(describe("x", &[magic, &bytes].concat()).is_err());
    }

    #[test]
    fn pair_rows_come_back(calls in any::<u64>(), kernel in any::<i32>(), answer in any::<i32>()) {
        let text = format!("head\n0000:05:00.0 0000:08:00.0 {calls} {kernel} {answer} override\n");
        let table = parse_pairs(&text);
        prop_assert_eq!((table.rows[0].calls, table.rows[0].kernel_answer, table.rows[0].answer), (calls, kernel, answer));
    }
}
