// SPDX-License-Identifier: GPL-2.0-only

//! Predicts what `pci_p2pdma_distance()` answers for a provider and one client, and what the module makes of it.
//!
//! Follows `calc_map_type_and_dist()` and `host_bridge_whitelist()` of `drivers/pci/p2pdma.c`, which are the same in
//! Linux 6.1, 6.12, 7.2 and 7.3. A fact that could not be read makes the answer unknown only if it could change it.

mod host_bridge;
mod module;
mod types;

pub use host_bridge::{HostBridgeTest, NotAllowed, UnknownHostBridge};
pub use module::{ModuleDecision, module_call, module_decision};
pub use types::{AcsControl, Answer, Chain, Cpu, HostBridgeDevice, Machine, Node, Path, Prediction, Reason, RootBus};

use crate::policy::Address;

/// Predicts the answer of the kernel for memory of `provider` that `client` is to reach.
#[must_use]
pub fn predict(provider: &Chain, client: &Chain, machine: &Machine) -> Prediction {
    let Some(walk) = walk_to_common(provider, client) else {
        return without_common(provider, client, machine);
    };
    let hop_count = walk.hop_count;
    let path = if provider.function.address == client.function.address {
        Path::SameFunction
    } else {
        Path::SharedUpstream { bridge: walk.common }
    };
    // With redirect the kernel consults the CPU and the host-bridge table as it does without a common bridge.
    let (answer, reason) = with_common(&walk, || host_bridge::test(provider, client, machine));
    Prediction { answer, hop_count, path, reason }
}

/// Some node is upstream of both: ACS redirect on the way decides whether the host bridge does.
fn with_common(walk: &Walk<'_>, test: impl FnOnce() -> HostBridgeTest) -> (Answer, Reason) {
    let hop_count = walk.hop_count;
    let addresses = |redirects: Option<bool>| -> Vec<Address> {
        let of_kind = walk.visited.iter().filter(|node| node.acs_ctrl.redirects() == redirects);
        of_kind.map(|node| node.address).collect()
    };
    let redirecting = addresses(Some(true));
    let unreadable = addresses(None);
    if redirecting.is_empty() && unreadable.is_empty() {
        return (Answer::Distance(hop_count), Reason::BusAddress);
    }
    let host_bridge = test();
    if redirecting.is_empty() {
        // Without redirect the answer would be the distance, so only a sure "yes" settles it.
        let answer = match host_bridge.verdict() {
            Some(true) => Answer::Distance(hop_count),
            _ => Answer::Unknown,
        };
        let reason = Reason::AcsUnreadable { ports: unreadable, host_bridge };
        return (answer, reason);
    }
    let answer = answer_through_host_bridge(&host_bridge, hop_count);
    let reason = Reason::AcsRedirect { ports: redirecting, unreadable, host_bridge };
    (answer, reason)
}

/// No bridge is upstream of both: the host bridge decides, and no ACS word matters.
fn without_common(provider: &Chain, client: &Chain, machine: &Machine) -> Prediction {
    let hop_count = hops_apart(provider, client);
    let path = if provider.root_bus == client.root_bus { Path::ThroughHostBridge } else { Path::AcrossHostBridges };
    let host_bridge = host_bridge::test(provider, client, machine);
    let answer = answer_through_host_bridge(&host_bridge, hop_count);
    Prediction { answer, hop_count, path, reason: Reason::HostBridge(host_bridge) }
}

/// The kernel's answer once it depends on the CPU and the host bridges alone.
fn answer_through_host_bridge(test: &HostBridgeTest, hop_count: i32) -> Answer {
    match test.verdict() {
        Some(true) => Answer::Distance(hop_count),
        Some(false) => Answer::Refused,
        None => Answer::Unknown,
    }
}

/// How the kernel gets from both functions to the first node that they have in common.
struct Walk<'a> {
    common: Address,
    hop_count: i32,
    /// The nodes whose ACS words count: the provider's up to the common one inclusive, the client's below it.
    visited: Vec<&'a Node>,
}

/// Walks up from the provider to the first node that is also the client or upstream of it.
fn walk_to_common<'a>(provider: &'a Chain, client: &'a Chain) -> Option<Walk<'a>> {
    for (up, node) in provider.nodes().enumerate() {
        let common = node.address;
        let Some(down) = client.nodes().position(|other| other.address == common) else {
            continue;
        };
        let provider_side = provider.nodes().take(up.saturating_add(1));
        let visited = provider_side.chain(client.nodes().take(down)).collect();
        let hop_count = count(up.saturating_add(down));
        return Some(Walk { common, hop_count, visited });
    }
    None
}

/// The kernel's hop count for two chains without a common bridge.
fn hops_apart(provider: &Chain, client: &Chain) -> i32 {
    depth(provider).saturating_add(depth(client))
}

/// Number of functions from the chain's own to the one on the root bus, both included.
fn depth(chain: &Chain) -> i32 {
    count(chain.bridges.len()).saturating_add(1)
}

/// A count in the kernel's type; chains are never that long.
fn count(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}
