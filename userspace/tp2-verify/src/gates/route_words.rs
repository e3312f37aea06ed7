// SPDX-License-Identifier: GPL-2.0-only

//! Words of `pair.route` for what the kernel's answer follows from.

use tp2_policy::{
    Address,
    chipset::{WritesOnly, writes_only},
    policy::BridgeId,
    route::{HostBridgeDevice, HostBridgeTest, NotAllowed, Reason, UnknownHostBridge},
    whitelist::SOURCES,
};

use crate::{
    route::{Direction, bridge_word},
    text,
    text::Text,
};

/// That the kernel refuses, as the beginning of a sentence.
pub(super) fn refusal_words(way: &Direction<'_>) -> Text {
    let seen = way.measured.is_some() || way.logged.is_some();
    if seen { text!("pair-route-refused") } else { text!("pair-route-refused-predicted") }
}

/// What lets a route pass.
pub(super) fn allowed_by(way: &Direction<'_>) -> Text {
    let bridges = way.bridge_words();
    match &way.prediction.reason {
        Reason::BusAddress => text!("pair-route-by-common-bridge"),
        Reason::HostBridge(_) => text!("pair-route-by-host-bridge", bridges = bridges),
        Reason::AcsRedirect { .. } => text!("pair-route-by-redirect", bridges = bridges),
        Reason::AcsUnreadable { .. } => text!("pair-route-by-either", bridges = bridges),
    }
}

/// What in the host-bridge test refuses a route. A list older than the kernel is named.
pub(super) fn refused_by(way: &Direction<'_>) -> Text {
    let not_allowed = match host_bridge_test(way) {
        Some(HostBridgeTest::Refused(not_allowed)) => *not_allowed,
        _ => return text!("pair-route-by-test", bridges = way.bridge_words()),
    };
    let newest = |extrapolated: bool| SOURCES.last().filter(|_| extrapolated).map(ToString::to_string);
    match not_allowed {
        NotAllowed::NotListed { bridge, extrapolated } => match newest(extrapolated) {
            Some(newest) => text!("pair-route-not-listed-newer", bridge = id(bridge), newest = newest),
            None => text!("pair-route-not-listed", bridge = id(bridge)),
        },
        NotAllowed::NeedsSameHostBridge { bridge, extrapolated } => match newest(extrapolated) {
            Some(newest) => text!("pair-route-listed-for-one-newer", bridge = id(bridge), newest = newest),
            None => text!("pair-route-listed-for-one", bridge = id(bridge)),
        },
        NotAllowed::NoDevice => text!("pair-route-no-bridge-device"),
    }
}

/// What is said of such chips, to follow a sentence.
pub(super) fn writes_only_hint(way: &Direction<'_>) -> Option<Text> {
    let mut ids = way.bridges.iter().filter_map(|bridge| bridge.id());
    ids.find_map(writes_only).map(|kind| match kind {
        WritesOnly::IntelClient => text!("pair-route-hint-intel"),
        WritesOnly::AmdBeforeZen => text!("pair-route-hint-amd"),
    })
}

/// What is not known of a route.
pub(super) fn unknown_words(way: &Direction<'_>) -> Text {
    if let Reason::AcsUnreadable { ports, .. } = &way.prediction.reason {
        return text!("pair-route-unknown-acs", ports = address_list(ports, " "));
    }
    match host_bridge_test(way) {
        Some(HostBridgeTest::Unknown(list)) => Text::List(list.iter().map(one_unknown).collect(), "semicolon"),
        _ => one_unknown(&UnknownHostBridge::Device),
    }
}

fn one_unknown(what: &UnknownHostBridge) -> Text {
    match what {
        UnknownHostBridge::Cpu => text!("pair-route-unknown-cpu"),
        UnknownHostBridge::Device => text!("pair-route-unknown-device"),
        UnknownHostBridge::KernelVersion { bridge } => text!("pair-route-unknown-version", bridge = id(*bridge)),
        UnknownHostBridge::Between { bridge, last_absent, first_seen } => text!(
            "pair-route-unknown-between",
            absent = last_absent.to_string(),
            bridge = id(*bridge),
            seen = first_seen.to_string()
        ),
        UnknownHostBridge::TooOld { bridge, oldest } => {
            text!("pair-route-unknown-old", bridge = id(*bridge), oldest = oldest.to_string())
        }
    }
}

/// What would make it known.
pub(super) fn unknown_remedy(way: &Direction<'_>) -> Text {
    if matches!(way.prediction.reason, Reason::AcsUnreadable { .. }) {
        return text!("pair-route-remedy-unknown-acs");
    }
    let first = match host_bridge_test(way) {
        Some(HostBridgeTest::Unknown(list)) => list.first(),
        _ => None,
    };
    match first {
        Some(UnknownHostBridge::Cpu) => text!("pair-route-remedy-unknown-cpu"),
        Some(UnknownHostBridge::KernelVersion { .. }) => text!("pair-route-remedy-unknown-version"),
        Some(UnknownHostBridge::Between { .. } | UnknownHostBridge::TooOld { .. }) => {
            text!("pair-route-remedy-unknown-list")
        }
        Some(UnknownHostBridge::Device) | None => text!("pair-route-remedy-unknown-device"),
    }
}

/// By address, so that both directions read alike.
pub(super) fn address_list(addresses: &[Address], separator: &str) -> String {
    let mut sorted = addresses.to_vec();
    sorted.sort_unstable();
    let words: Vec<String> = sorted.iter().map(ToString::to_string).collect();
    words.join(separator)
}

/// The test behind an answer, if one is.
fn host_bridge_test<'a>(way: &'a Direction<'_>) -> Option<&'a HostBridgeTest> {
    match &way.prediction.reason {
        Reason::BusAddress => None,
        Reason::HostBridge(test)
        | Reason::AcsRedirect { host_bridge: test, .. }
        | Reason::AcsUnreadable { host_bridge: test, .. } => Some(test),
    }
}

fn id(bridge: BridgeId) -> Text {
    bridge_word(HostBridgeDevice::Found(bridge))
}
