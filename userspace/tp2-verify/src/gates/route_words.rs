// SPDX-License-Identifier: GPL-2.0-only

//! Words of `pair.route` for what the kernel's answer follows from.

use tp2_policy::{
    Address,
    chipset::{WritesOnly, writes_only},
    policy::BridgeId,
    route::{HostBridgeDevice, HostBridgeTest, NotAllowed, Reason, UnknownHostBridge},
    whitelist::SOURCES,
};

use crate::route::Direction;

/// What lets a route pass.
pub(super) fn allowed_by(way: &Direction<'_>) -> String {
    let bridges = way.bridge_words();
    match &way.prediction.reason {
        Reason::BusAddress => "through the common bridge, without ACS redirect".to_owned(),
        Reason::HostBridge(_) => format!("through the host bridge {bridges}"),
        Reason::AcsRedirect { .. } => {
            format!("redirected by ACS through the host bridge {bridges}")
        }
        Reason::AcsUnreadable { .. } => {
            format!("through the common bridge, or through the host bridge {bridges} if ACS redirects")
        }
    }
}

/// What in the host-bridge test refuses a route.
pub(super) fn refused_by(way: &Direction<'_>) -> String {
    let bridges = way.bridge_words();
    match host_bridge_test(way) {
        Some(HostBridgeTest::Refused(NotAllowed::NotListed { bridge, extrapolated })) => format!(
            "host bridge {} is not in its list of host bridges for peer-to-peer DMA{}",
            id(*bridge),
            by_which_list(*extrapolated)
        ),
        Some(HostBridgeTest::Refused(NotAllowed::NeedsSameHostBridge { bridge, extrapolated })) => format!(
            "host bridge {} is in its list of host bridges for peer-to-peer DMA for pairs under one host bridge only{}",
            id(*bridge),
            by_which_list(*extrapolated)
        ),
        Some(HostBridgeTest::Refused(NotAllowed::NoDevice)) => {
            "there is no device of a host bridge to look up in its list".to_owned()
        }
        _ => format!("host bridge {bridges} does not pass its test"),
    }
}

/// A list older than the kernel is named.
fn by_which_list(extrapolated: bool) -> String {
    match SOURCES.last() {
        Some(newest) if extrapolated => {
            format!(", going by the list of Linux {newest}, the newest known here, and this kernel is newer")
        }
        _ => String::new(),
    }
}

/// What is said of such chips, to be appended to a sentence.
pub(super) fn writes_only_hint(way: &Direction<'_>) -> &'static str {
    let mut ids = way.bridges.iter().filter_map(|bridge| bridge.id());
    match ids.find_map(writes_only) {
        Some(WritesOnly::IntelClient) => {
            "; this looks like an Intel client chip, and some of those route peer writes only"
        }
        Some(WritesOnly::AmdBeforeZen) => {
            "; this looks like an AMD chip before Zen, and those are said to route peer writes only"
        }
        None => "",
    }
}

/// What is not known of a route.
pub(super) fn unknown_words(way: &Direction<'_>) -> String {
    if let Reason::AcsUnreadable { ports, .. } = &way.prediction.reason {
        return format!("whether ACS redirects at {} could not be read, and that decides", address_list(ports, " "));
    }
    let words: Vec<String> = match host_bridge_test(way) {
        Some(HostBridgeTest::Unknown(list)) => list.iter().map(one_unknown).collect(),
        _ => vec![one_unknown(&UnknownHostBridge::Device)],
    };
    words.join("; ")
}

fn one_unknown(what: &UnknownHostBridge) -> String {
    match what {
        UnknownHostBridge::Cpu => "vendor and family of the CPU could not be read, and they decide".to_owned(),
        UnknownHostBridge::Device => {
            "which device stands for the host bridge could not be read, and that decides".to_owned()
        }
        UnknownHostBridge::KernelVersion { bridge } => {
            format!("which kernel this is could not be read, and so whether it lists host bridge {}", id(*bridge))
        }
        UnknownHostBridge::Between { bridge, last_absent, first_seen } => format!(
            "Linux {last_absent} does not list host bridge {} and {first_seen} does, and this kernel is between the two",
            id(*bridge)
        ),
        UnknownHostBridge::TooOld { bridge, oldest } => format!(
            "whether this kernel lists host bridge {} is not known: it is older than {oldest}, the oldest known here",
            id(*bridge)
        ),
    }
}

/// What would make it known.
pub(super) fn unknown_remedy(way: &Direction<'_>) -> &'static str {
    if matches!(way.prediction.reason, Reason::AcsUnreadable { .. }) {
        return "run it as root: the ACS words are beyond the first 64 bytes of configuration space";
    }
    let first = match host_bridge_test(way) {
        Some(HostBridgeTest::Unknown(list)) => list.first(),
        _ => None,
    };
    match first {
        Some(UnknownHostBridge::Cpu) => "make /proc/cpuinfo readable, or capture it too",
        Some(UnknownHostBridge::KernelVersion { .. }) => "make /proc/sys/kernel/osrelease readable, or capture it too",
        Some(UnknownHostBridge::Between { .. } | UnknownHostBridge::TooOld { .. }) => {
            "look for `is not supported by the chipset` in the kernel log, which is how amdgpu says that the kernel refuses"
        }
        Some(UnknownHostBridge::Device) | None => {
            "run it as root; for a captured tree, capture all of /sys/bus/pci/devices and /sys/devices"
        }
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

fn id((vendor, device): BridgeId) -> String {
    crate::route::bridge_word(HostBridgeDevice::Found((vendor, device)))
}
