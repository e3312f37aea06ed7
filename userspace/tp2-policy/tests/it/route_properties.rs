// SPDX-License-Identifier: GPL-2.0-only

//! The prediction against the transcript of the kernel's code, and against all ways to fill in what is not known.

use proptest::prelude::*;
use tp2_policy::{
    KernelVersion,
    policy::BridgeId,
    route::{AcsControl, Answer, Chain, HostBridgeDevice, Machine, Path, Reason, module_call, predict},
};

use crate::{
    support::{HASWELL_E, SKYLAKE_E, X99, amd, intel},
    transcript::{Tree, some_tree},
};

fn machine_of(tree: &Tree) -> Machine {
    let cpu = if tree.cpu_supports { amd(0x19) } else { intel() };
    Machine { cpu: Some(cpu), kernel: Some(tree.kernel) }
}

/// Hides the facts that the bits name: 0 CPU, 1 kernel, 2 and 3 the host bridges, from 4 on one for each node in turn.
fn hide(provider: &mut Chain, client: &mut Chain, machine: &mut Machine, bits: u32) {
    if bits & 1 != 0 {
        machine.cpu = None;
    }
    if bits & 2 != 0 {
        machine.kernel = None;
    }
    let same = provider.root_bus == client.root_bus;
    if bits & 4 != 0 {
        provider.host_bridge = HostBridgeDevice::Unreadable;
    }
    if bits & (if same { 4 } else { 8 }) != 0 {
        client.host_bridge = HostBridgeDevice::Unreadable;
    }
    for chain in [provider, client] {
        for node in core::iter::once(&mut chain.function).chain(&mut chain.bridges) {
            // A node that both chains have has to look the same in both.
            if bits >> (4 + node.address.bus) & 1 != 0 {
                node.acs_ctrl = AcsControl::Unreadable;
            }
        }
    }
}

/// Both chains with every unreadable ACS word set to `word`, and unreadable host bridges to `host`.
fn fill(chain: &Chain, word: u16, host: Option<BridgeId>) -> Chain {
    let mut chain = chain.clone();
    if chain.host_bridge == HostBridgeDevice::Unreadable {
        chain.host_bridge = host.map_or(HostBridgeDevice::Absent, HostBridgeDevice::Found);
    }
    for node in core::iter::once(&mut chain.function).chain(&mut chain.bridges) {
        if node.acs_ctrl == AcsControl::Unreadable {
            node.acs_ctrl = AcsControl::Word(word);
        }
    }
    chain
}

/// The answers of all ways to fill in what is not known. All words clear or all redirecting are the two extremes.
fn possible_answers(provider: &Chain, client: &Chain, machine: &Machine) -> Vec<Answer> {
    let cpus = machine.cpu.clone().map_or(vec![intel(), amd(0x17)], |cpu| vec![cpu]);
    let versions = [(5, 10, 0), (6, 1, 0), (6, 12, 0), (7, 2, 0), (7, 3, 0)];
    let any_version = versions.map(|(a, b, c)| KernelVersion::new(a, b, c)).to_vec();
    let kernels = machine.kernel.map_or(any_version, |kernel| vec![kernel]);
    let hosts = [None, Some(X99), Some(HASWELL_E), Some(SKYLAKE_E)];
    let same = provider.root_bus == client.root_bus;
    let mut answers = Vec::new();
    for cpu in &cpus {
        for kernel in &kernels {
            let machine = Machine { cpu: Some(cpu.clone()), kernel: Some(*kernel) };
            for word in [0, 0x1d] {
                for host_a in hosts {
                    for host_b in hosts.into_iter().filter(|host_b| !same || *host_b == host_a) {
                        let (a, b) = (fill(provider, word, host_a), fill(client, word, host_b));
                        answers.push(predict(&a, &b, &machine).answer);
                    }
                }
            }
        }
    }
    answers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn predicts_what_the_kernel_code_does((tree, p, c) in some_tree()) {
        let prediction = predict(&tree.chain(p), &tree.chain(c), &machine_of(&tree));
        let (answer, hops) = tree.distance(p, c);
        prop_assert_eq!(prediction.hop_count, hops);
        prop_assert_eq!(prediction.answer, answer.map_or(Answer::Refused, Answer::Distance));
        prop_assert_eq!(prediction.kernel_answer(), Some(answer.unwrap_or(-1)));
    }

    #[test]
    fn the_answer_is_symmetric((tree, p, c) in some_tree(), bits: u32) {
        let (mut a, mut b, mut machine) = (tree.chain(p), tree.chain(c), machine_of(&tree));
        hide(&mut a, &mut b, &mut machine, bits);
        let (there, back) = (predict(&a, &b, &machine), predict(&b, &a, &machine));
        prop_assert_eq!(there.answer, back.answer);
        prop_assert_eq!(there.hop_count, back.hop_count);
        prop_assert_eq!(there.path, back.path);
    }

    #[test]
    fn unknown_exactly_where_it_matters((tree, p, c) in some_tree(), bits: u32) {
        let (mut a, mut b, mut machine) = (tree.chain(p), tree.chain(c), machine_of(&tree));
        hide(&mut a, &mut b, &mut machine, bits & bits.rotate_left(11));
        let answers = possible_answers(&a, &b, &machine);
        let first = answers[0];
        let expected = if answers.iter().all(|answer| *answer == first) { first } else { Answer::Unknown };
        let prediction = predict(&a, &b, &machine);
        prop_assert_eq!(prediction.answer, expected, "{:?}", prediction.reason);
    }

    #[test]
    fn without_a_common_bridge_hops_are_the_sum_of_depths((tree, p, c) in some_tree()) {
        let (a, b) = (tree.chain(p), tree.chain(c));
        let prediction = predict(&a, &b, &machine_of(&tree));
        if matches!(prediction.path, Path::ThroughHostBridge | Path::AcrossHostBridges) {
            let depths = a.nodes().count() + b.nodes().count();
            prop_assert_eq!(usize::try_from(prediction.hop_count), Ok(depths));
            prop_assert!(matches!(prediction.reason, Reason::HostBridge(_)));
        }
        let across = prediction.path == Path::AcrossHostBridges;
        prop_assert_eq!(across, a.root_bus != b.root_bus);
    }

    #[test]
    fn the_module_sees_the_way_that_is_predicted((tree, p, c) in some_tree()) {
        let (a, b) = (tree.chain(p), tree.chain(c));
        let (call, prediction) = (module_call(&a, &b, -1), predict(&a, &b, &machine_of(&tree)));
        let shared = matches!(prediction.path, Path::SameFunction | Path::SharedUpstream { .. });
        prop_assert_eq!((call.shares_upstream, call.hop_count), (shared, prediction.hop_count));
    }
}
