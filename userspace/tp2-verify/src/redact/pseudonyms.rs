// SPDX-License-Identifier: GPL-2.0-only

//! Stand-ins for private values: the same value gets the same one throughout a report.

use std::collections::HashMap;

/// Kinds of private values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Host,
    User,
    Serial,
    Uuid,
    Mac,
    Ipv4,
    Ipv6,
    /// 32 hexadecimal digits, as machine IDs have.
    Id,
}

/// What stands for what; numbered in the order of first use, from 1.
#[derive(Debug, Default)]
pub(super) struct Pseudonyms {
    numbers: HashMap<(Kind, String), u64>,
    counts: HashMap<Kind, u64>,
}

impl Pseudonyms {
    /// The number that stands for a value.
    pub(super) fn number(&mut self, kind: Kind, value: &str) -> u64 {
        let key = (kind, value.to_ascii_lowercase());
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let count = self.counts.entry(kind).or_default();
        *count = count.saturating_add(1);
        self.numbers.insert(key, *count);
        *count
    }

    /// The text that stands for a value; of the same form where programs read it.
    pub(super) fn text(&mut self, kind: Kind, value: &str) -> String {
        let number = self.number(kind, value);
        match kind {
            Kind::Host => format!("host{number}"),
            Kind::User => format!("user{number}"),
            Kind::Serial => format!("serial{number}"),
            Kind::Uuid => format!("00000000-0000-4000-8000-{number:012x}"),
            // Locally administered.
            Kind::Mac => format!("02:00:00:00:{:02x}:{:02x}", (number >> 8) & 0xff, number & 0xff),
            // RFC 5737 and RFC 3849: for documentation.
            Kind::Ipv4 => format!("192.0.2.{number}"),
            Kind::Ipv6 => format!("2001:db8::{number:x}"),
            Kind::Id => format!("{number:032x}"),
        }
    }

    /// The number that stands for a 64-bit serial number; zero, which means none, stays.
    pub(super) fn serial(&mut self, value: u64) -> u64 {
        if value == 0 { 0 } else { self.number(Kind::Serial, &format!("{value:x}")) }
    }
}
