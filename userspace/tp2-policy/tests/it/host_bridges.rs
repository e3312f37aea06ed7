// SPDX-License-Identifier: GPL-2.0-only

//! The host-bridge table and its versions.

use tp2_policy::{
    KernelVersion,
    whitelist::{Listing, SOURCES, TABLE, UnknownListing, lookup},
};

use crate::support::kernel;

const LISTED: Listing = Listing::Listed { require_same_host_bridge: false, extrapolated: false };
const LISTED_SAME: Listing = Listing::Listed { require_same_host_bridge: true, extrapolated: false };
const NOT_LISTED: Listing = Listing::NotListed { extrapolated: false };

fn at(version: &str, vendor: u16, device: u16) -> Listing {
    lookup(kernel(version), vendor, device)
}

#[test]
fn the_table_has_as_many_rows_as_each_source() {
    let rows = |source: KernelVersion| {
        let has = |id: &(u16, u16)| matches!(lookup(source, id.0, id.1), Listing::Listed { .. });
        TABLE.iter().map(|row| (row.vendor, row.device.unwrap_or(1))).filter(has).count()
    };
    assert_eq!(SOURCES.map(rows), [10, 10, 21, 25]);
    assert_eq!(SOURCES.map(KernelVersion::series), [(6, 1), (6, 12), (7, 2), (7, 3)]);
    assert!(SOURCES.is_sorted());
}

#[test]
fn no_row_shadows_another() {
    for (n, row) in TABLE.iter().enumerate() {
        let clash = |other: &&tp2_policy::whitelist::Entry| {
            let any = other.device.is_none() || row.device.is_none() || other.device == row.device;
            other.vendor == row.vendor && any
        };
        assert_eq!(TABLE.iter().skip(n + 1).find(clash), None, "{row:?}");
        assert!(row.last_absent.is_none_or(|absent| absent.series() < row.first_seen.series()));
    }
}

#[test]
fn old_rows_are_known_from_6_1_on() {
    for version in ["6.1.0-50-amd64", "6.8.0", "6.12.117", "7.0.1", "7.3.4+deb13-amd64"] {
        assert_eq!(at(version, 0x8086, 0x2f00), LISTED_SAME, "{version}");
        assert_eq!(at(version, 0x8086, 0x2030), LISTED, "{version}");
        assert_eq!(at(version, 0x8086, 0x6f00), NOT_LISTED, "{version}");
        assert_eq!(at(version, 0x8086, 0x4c43), NOT_LISTED, "{version}");
        // The same device ID of another vendor is another device.
        assert_eq!(at(version, 0x1022, 0x2030), NOT_LISTED, "{version}");
    }
}

#[test]
fn newer_rows_are_unknown_between_their_sources() {
    let between = |last_absent: &str, first_seen: &str| {
        let (last_absent, first_seen) = (kernel(last_absent), kernel(first_seen));
        Listing::Unknown(UnknownListing::Between { last_absent, first_seen })
    };
    let unknown = between("6.12.117", "7.2.12");
    let cases = [("6.1", NOT_LISTED), ("6.12.200", NOT_LISTED), ("6.13", unknown), ("7.1.9", unknown), ("7.2", LISTED)];
    for (version, expected) in cases {
        // Sapphire Rapids DSA, a QAT, and any Google device.
        for (vendor, device) in [(0x8086, 0x0b25), (0x8086, 0x4948), (0x1ae0, 0x0001), (0x1ae0, 0xffff)] {
            assert_eq!(at(version, vendor, device), expected, "{version} {vendor:04x}:{device:04x}");
        }
    }
    // Between 7.2 and 7.3 there is no series, so the rows of 7.3 are never unknown.
    assert_eq!(at("6.13", 0x10de, 0x2f95), NOT_LISTED);
    assert_eq!(at("7.2.12", 0x10de, 0x2f95), NOT_LISTED);
    assert_eq!(at("7.3.0", 0x10de, 0x2f95), LISTED);
    assert_eq!(at("7.3.0", 0x10de, 0x2f94), NOT_LISTED);
}

#[test]
fn kernels_older_than_the_sources_are_unknown() {
    for version in ["5.10.0", "6.0.19", "4.9"] {
        for device in [0x2030, 0x6f00] {
            let oldest = kernel("6.1.176");
            let expected = Listing::Unknown(UnknownListing::TooOld { oldest });
            assert_eq!(at(version, 0x8086, device), expected, "{version}");
        }
    }
}

#[test]
fn kernels_newer_than_the_sources_are_extrapolated() {
    for version in ["7.4-rc1", "7.10.2", "8.0"] {
        let listed = Listing::Listed { require_same_host_bridge: true, extrapolated: true };
        assert_eq!(at(version, 0x8086, 0x2f00), listed, "{version}");
        assert_eq!(at(version, 0x8086, 0x6f00), Listing::NotListed { extrapolated: true }, "{version}");
    }
}

#[test]
fn chips_that_are_said_to_route_writes_only() {
    use tp2_policy::chipset::{WritesOnly, writes_only};
    for client in [0x7d04, 0x4c43, 0x29c0] {
        assert_eq!(writes_only((0x8086, client)), Some(WritesOnly::IntelClient));
    }
    for server in [0x6f00, 0x2f00, 0x3c00, 0x2020, 0x09a2] {
        assert_eq!(writes_only((0x8086, server)), None);
    }
    for old in [(0x1022, 0x1422), (0x1002, 0x5a14)] {
        assert_eq!(writes_only(old), Some(WritesOnly::AmdBeforeZen));
    }
    assert_eq!(writes_only((0x10de, 0x2f95)), None);
}
