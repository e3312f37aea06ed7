// SPDX-License-Identifier: GPL-2.0-only

//! Reads the facts of a pair from the PCI tree, the way the kernel does.

#![forbid(unsafe_code)]

use crate::{
    policy::{
        BridgeId,
        Call, //
    },
    probe::{
        Device,
        HostBridge,
        PciFunction, //
    },
};
use core::iter;

/// The PCI function that a device belongs to.
///
/// A client may be any child of a PCI function. Same walk as `find_parent_pci_dev()` in
/// `drivers/pci/p2pdma.c` (Linux 7.3), without the references, whose release can sleep.
pub(crate) fn parent_function(device: Device<'_>) -> Option<PciFunction<'_>> {
    iter::successors(Some(device), |device| device.parent())
        .find_map(|device| device.as_pci_function())
}

/// A function and the bridges above it, up to the root bus.
fn chain(function: PciFunction<'_>) -> impl Iterator<Item = PciFunction<'_>> {
    iter::successors(Some(function), |function| function.upstream_bridge())
}

/// Number of functions from this one to its root bus, both ends included.
///
/// That is how `calc_map_type_and_dist()` (Linux 7.3) counts a chain that meets no other.
fn chain_length(function: PciFunction<'_>) -> i32 {
    chain(function).fold(0, |length: i32, _| length.saturating_add(1))
}

/// Whether any function of one chain appears in the other.
///
/// That is the test of `calc_map_type_and_dist()` (Linux 7.3) that keeps traffic below the host
/// bridge.
fn chains_meet(a: PciFunction<'_>, b: PciFunction<'_>) -> bool {
    chain(a).any(|above_a| chain(b).any(|above_b| above_a == above_b))
}

/// The device that stands for a host bridge.
///
/// As `pci_host_bridge_dev()` in `drivers/pci/p2pdma.c` (Linux 7.3) finds it: the first one on the
/// root bus, if it is devfn 00.0 or a root port.
fn bridge_id(host: HostBridge<'_>) -> Option<BridgeId> {
    let root = host.first_function()?;
    if root.devfn() != 0 && !root.is_root_port() {
        return None;
    }
    Some((root.vendor(), root.device()))
}

/// Reads what the rule book needs to know of a call with one client. Never sleeps.
pub(crate) fn read_call(
    provider: PciFunction<'_>,
    client: PciFunction<'_>,
    kernel_answer: i32,
) -> Call {
    let provider_host = provider.host_bridge();
    let client_host = client.host_bridge();

    Call {
        kernel_answer,
        num_clients: 1,
        provider: provider.read(),
        client: client.read(),
        shares_upstream: chains_meet(provider, client),
        same_host_bridge: provider_host == client_host,
        provider_host_bridge: provider_host.and_then(bridge_id),
        client_host_bridge: client_host.and_then(bridge_id),
        hop_count: chain_length(provider).saturating_add(chain_length(client)),
    }
}
