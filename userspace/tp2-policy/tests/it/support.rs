// SPDX-License-Identifier: GPL-2.0-only

//! Short ways to write down machines and calls.

use tp2_policy::{
    Address, KernelVersion,
    policy::{BridgeId, Call, Function},
    route::{AcsControl, Chain, Cpu, HostBridgeDevice, Machine, Node, RootBus},
};

pub(crate) const X99: BridgeId = (0x8086, 0x6f00);
pub(crate) const HASWELL_E: BridgeId = (0x8086, 0x2f00);
pub(crate) const SKYLAKE_E: BridgeId = (0x8086, 0x2030);
pub(crate) const ROCKET_LAKE: BridgeId = (0x8086, 0x4c43);

pub(crate) fn address(text: &str) -> Address {
    text.parse().expect("test addresses are well formed")
}

/// A node without ACS capability; bridges and GPUs differ only in what the rules read.
pub(crate) fn node(text: &str, class: u32) -> Node {
    let (vendor, device) = if class >> 16 == 3 { (0x1002, 0x7550) } else { (0x10b5, 0x8747) };
    Node { address: address(text), vendor, device, class, acs_ctrl: AcsControl::NoCapability }
}

/// A chain written downwards-up: the GPU first, the port on the root bus last; root bus 0000:00.
pub(crate) fn chain(nodes: &[&str], host_bridge: BridgeId) -> Chain {
    let (function, bridges) = nodes.split_first().expect("a chain has a function");
    Chain {
        function: node(function, 0x03_0000),
        bridges: bridges.iter().map(|text| node(text, 0x06_0400)).collect(),
        root_bus: RootBus { domain: 0, bus: 0 },
        host_bridge: HostBridgeDevice::Found(host_bridge),
    }
}

/// The same chain with this ACS word at that node.
pub(crate) fn with_acs(mut chain: Chain, at: &str, acs_ctrl: AcsControl) -> Chain {
    let at = address(at);
    let nodes = core::iter::once(&mut chain.function).chain(&mut chain.bridges);
    for node in nodes.filter(|node| node.address == at) {
        node.acs_ctrl = acs_ctrl;
    }
    chain
}

/// The same chain under another root bus.
pub(crate) fn under(mut chain: Chain, bus: u8) -> Chain {
    chain.root_bus.bus = bus;
    chain
}

pub(crate) fn intel() -> Cpu {
    Cpu { vendor: "GenuineIntel".to_owned(), family: 6 }
}

pub(crate) fn amd(family: u32) -> Cpu {
    Cpu { vendor: "AuthenticAMD".to_owned(), family }
}

pub(crate) fn kernel(text: &str) -> KernelVersion {
    text.parse().expect("test versions are well formed")
}

pub(crate) fn machine(cpu: Cpu, version: &str) -> Machine {
    Machine { cpu: Some(cpu), kernel: Some(kernel(version)) }
}

/// The X99 machine that started this: two cards with a switch each, on two CPU root ports.
pub(crate) fn x99_pair() -> (Chain, Chain) {
    let first = chain(&["0000:05:00.0", "0000:04:00.0", "0000:03:00.0", "0000:00:02.0"], X99);
    let second = chain(&["0000:08:00.0", "0000:07:00.0", "0000:06:00.0", "0000:00:03.0"], X99);
    (first, second)
}

/// Two cards below one switch, two hops each.
pub(crate) fn switch_pair() -> (Chain, Chain) {
    let first = chain(&["0000:03:00.0", "0000:02:08.0", "0000:01:00.0", "0000:00:01.0"], X99);
    let second = chain(&["0000:04:00.0", "0000:02:09.0", "0000:01:00.0", "0000:00:01.0"], X99);
    (first, second)
}

pub(crate) fn gpu(text: &str) -> Function {
    Function { address: address(text), vendor: 0x1002, class: 0x03_0000 }
}

/// A call that all rules let pass with default settings.
pub(crate) fn refused_call() -> Call {
    Call {
        kernel_answer: -1,
        num_clients: 1,
        provider: gpu("0000:05:00.0"),
        client: gpu("0000:08:00.0"),
        shares_upstream: false,
        same_host_bridge: true,
        provider_host_bridge: Some(X99),
        client_host_bridge: Some(X99),
        hop_count: 8,
    }
}
