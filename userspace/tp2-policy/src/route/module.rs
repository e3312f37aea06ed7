// SPDX-License-Identifier: GPL-2.0-only

//! What the module would make of the kernel's answer (`docs/architecture.md`, "The module's contract").

use super::{
    hops_apart,
    types::{Chain, HostBridgeDevice, Node},
    walk_to_common,
};
use crate::policy::{Call, Decision, Function, Rule, Settings, decide};

/// What the module is predicted to do with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModuleDecision {
    /// `mode=off`.
    Inert,
    /// It decides so.
    Decided(Decision),
    /// The host bridge decides (rule 6), and the reader could not tell which it is.
    Unknown,
}

/// The facts that the module would see if the kernel answered so for one client.
///
/// A host bridge that the reader could not identify becomes one that the module cannot: see [`module_decision`].
#[must_use]
pub fn module_call(provider: &Chain, client: &Chain, kernel_answer: i32) -> Call {
    let walk = walk_to_common(provider, client);
    Call {
        kernel_answer,
        num_clients: 1,
        provider: function(&provider.function),
        client: function(&client.function),
        shares_upstream: walk.is_some(),
        same_host_bridge: provider.root_bus == client.root_bus,
        provider_host_bridge: provider.host_bridge.id(),
        client_host_bridge: client.host_bridge.id(),
        hop_count: walk.map_or_else(|| hops_apart(provider, client), |walk| walk.hop_count),
    }
}

/// What the module decides if the kernel answered so for one client.
#[must_use]
pub fn module_decision(
    provider: &Chain,
    client: &Chain,
    kernel_answer: i32,
    settings: &Settings<'_>,
) -> ModuleDecision {
    let Some(decision) = decide(&module_call(provider, client, kernel_answer), settings) else {
        return ModuleDecision::Inert;
    };
    let bridges = [provider.host_bridge, client.host_bridge];
    let not_sure = bridges.contains(&HostBridgeDevice::Unreadable) && !bridges.contains(&HostBridgeDevice::Absent);
    if decision.rule == Rule::UnknownBridge && not_sure {
        return ModuleDecision::Unknown;
    }
    ModuleDecision::Decided(decision)
}

/// A node as the rules see it.
fn function(node: &Node) -> Function {
    Function { address: node.address, vendor: node.vendor, class: node.class }
}
