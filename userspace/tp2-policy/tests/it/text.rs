// SPDX-License-Identifier: GPL-2.0-only

//! Addresses and kernel versions as text.

use proptest::prelude::*;
use tp2_policy::{Address, KernelVersion};

use crate::support::address;

#[test]
fn addresses_print_as_the_kernel_prints_them() {
    assert_eq!(Address::new(0, 5, 0, 0).to_string(), "0000:05:00.0");
    assert_eq!(Address::new(0x1_0000, 0xe1, 0x1f, 7).to_string(), "10000:e1:1f.7");
    assert_eq!(format!("[{:14}]", Address::new(0, 5, 0, 0)), "[0000:05:00.0  ]");
    let parsed = address("10000:E1:1f.7");
    assert_eq!((parsed.domain, parsed.bus, parsed.device(), parsed.function()), (0x1_0000, 0xe1, 0x1f, 7));
}

#[test]
fn addresses_order_by_domain_bus_device_function() {
    let sorted = ["0000:00:02.0", "0000:00:02.1", "0000:00:03.0", "0000:01:00.0", "10000:00:00.0"];
    assert!(sorted.map(address).is_sorted());
}

#[test]
fn malformed_addresses_are_refused() {
    let malformed = [
        "",
        "05:00.0",
        "000:05:00.0",
        "123456789:05:00.0",
        "0000:5:00.0",
        "0000:005:00.0",
        "0000:05:0.0",
        "0000:05:20.0",
        "0000:05:00.8",
        "0000:05:00.00",
        "0000:05:00",
        "0000:05:00.",
        "+000:05:00.0",
        "0x00:05:00.0",
        " 0000:05:00.0",
        "0000:05:00.0 ",
        "0000:05:00.0\n",
        "000g:05:00.0",
        "0000:05:00:0",
        "0000.05.00.0",
        "0000:05:00.0.0",
        "０000:05:00.0",
    ];
    for text in malformed {
        let error = text.parse::<Address>().unwrap_err();
        assert_eq!(error.text, text);
    }
}

#[test]
fn kernel_versions_are_read_from_release_strings() {
    let cases = [
        ("7.3.4+deb13-amd64", (7, 3, 4)),
        ("6.1.0-50-amd64", (6, 1, 0)),
        ("7.3", (7, 3, 0)),
        ("7.4-rc1", (7, 4, 0)),
        ("7.4.0-rc1+", (7, 4, 0)),
        ("6.8.0-49-generic\n", (6, 8, 0)),
        ("4.9.337", (4, 9, 337)),
    ];
    for (text, (major, minor, patch)) in cases {
        assert_eq!(text.parse(), Ok(KernelVersion::new(major, minor, patch)), "{text}");
    }
    for text in ["", "7", "7.", "v7.3", "7.x", "7.3.", "7.3.y", "99999.1.1", "Linux 7.3"] {
        assert!(text.parse::<KernelVersion>().is_err(), "{text}");
    }
}

#[test]
fn kernel_versions_order_by_number() {
    let sorted = [(5, 10, 0), (6, 1, 176), (6, 12, 0), (6, 12, 117), (7, 2, 12), (7, 10, 0)];
    assert!(sorted.map(|(a, b, c)| KernelVersion::new(a, b, c)).is_sorted());
}

proptest! {
    #[test]
    fn addresses_survive_printing(domain: u32, bus: u8, devfn: u8) {
        let address = Address { domain, bus, devfn };
        prop_assert_eq!(address.to_string().parse(), Ok(address));
        prop_assert_eq!(Address::new(domain, bus, address.device(), address.function()), address);
    }

    #[test]
    fn no_text_makes_the_parsers_panic(text in "\\PC*", shaped in "[0-9a-g:. ]{0,16}") {
        for text in [text, shaped] {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert_eq!(address.to_string().parse(), Ok(address));
            }
            let _ = text.parse::<KernelVersion>();
        }
    }

    #[test]
    fn kernel_versions_survive_printing(major: u16, minor: u16, patch: u16) {
        let version = KernelVersion::new(major, minor, patch);
        prop_assert_eq!(version.to_string().parse(), Ok(version));
    }
}
