// SPDX-License-Identifier: GPL-2.0-only

//! The runtime's answers against KFD and the kernel. Trees and runtime are simulated.

#![allow(clippy::unwrap_used, reason = "JSON of another form ends the test")]

mod support;

use serde_json::Value;
use support::{
    Tree, ZEN, failing,
    runtime::{BOTH, CARDS, NONE, ask, facts, judge, last},
    status, two_cards, two_cards_overridden,
};
use tp2_verify::facts::{
    Facts,
    devices::{DeviceAccess, DeviceFile, Opened},
    runtime::{Outcome, PassedOver, Runtime},
};

const GATE: &str = "pair.runtime";

fn judged(tree: &Tree, variables: &[(&str, &str)]) -> Value {
    judge(&facts(tree, ask(variables)))
}

/// A machine whose kernel allows the pair, and whose KFD made these links.
fn zen(links: &[(u32, u32)]) -> Tree {
    let tree = two_cards("1022:14d8");
    tree.file("proc/cpuinfo", ZEN);
    for (from, to) in links {
        tree.p2p_link(*from, *to);
    }
    tree
}

fn summary(report: &Value) -> &str {
    last(report, GATE)["summary"].as_str().unwrap()
}

#[test]
fn all_agree() {
    let report = judged(&two_cards_overridden("8086:6f00"), &[CARDS, BOTH]);
    assert_eq!((report["verdict"].as_str(), failing(&report)), (Some("ready"), vec![]));
    assert_eq!(last(&report, GATE)["status"], "pass");
    assert_eq!(last(&report, GATE)["scope"], "pair:0000:05:00.0+0000:08:00.0");
    assert_eq!(judged(&zen(&[(1, 2), (2, 1)]), &[CARDS, BOTH])["verdict"], "module-not-needed");
}

#[test]
fn no_follows_no_links() {
    let report = judged(&two_cards("8086:6f00"), &[CARDS, NONE]);
    assert_eq!(report["verdict"], "module-will-help");
    assert_eq!(last(&report, GATE)["status"], "skip");
    assert!(!failing(&report).contains(&GATE));
}

#[test]
fn no_in_spite_of_links_blocks() {
    let report = judged(&two_cards_overridden("8086:6f00"), &[CARDS, NONE]);
    assert_eq!((report["verdict"].as_str(), failing(&report)), (Some("blocked"), vec![GATE]));
    assert!(last(&report, GATE)["remedy"].as_str().unwrap().contains("gpu.bar-size"));
    // One way is enough.
    let report = judged(&two_cards_overridden("8086:6f00"), &[CARDS, ("TP2_MOCK_PEERS", "01,00")]);
    assert_eq!((report["verdict"].as_str(), failing(&report)), (Some("blocked"), vec![GATE]));
}

/// A11: a kernel without links, a runtime that announces peer access all the same.
#[test]
fn yes_without_a_link_is_the_alarm() {
    for tree in [two_cards("8086:6f00"), zen(&[]), zen(&[(1, 2)]), zen(&[(2, 1)])] {
        let report = judged(&tree, &[CARDS, BOTH]);
        assert_eq!((report["verdict"].as_str(), report["exit"].as_i64()), (Some("unsafe"), Some(3)));
        assert!(summary(&report).starts_with("CONTRADICTION: the runtime says that 0000:0"), "{}", summary(&report));
        assert!(summary(&report).contains("KFD has no link for it"));
    }
    let report = judged(&zen(&[(1, 2)]), &[CARDS, BOTH]);
    assert!(summary(&report).contains("0000:08:00.0 can reach 0000:05:00.0"), "{}", summary(&report));
}

#[test]
fn yes_over_a_route_that_was_seen_refused_is_the_alarm() {
    let tree = two_cards_overridden("8086:6f00");
    tree.module_says("parameters/mode", "observe")
        .table("0000:05:00.0 0000:08:00.0 3 -1 -1 7:observe\n0000:08:00.0 0000:05:00.0 3 -1 -1 7:observe");
    let report = judged(&tree, &[CARDS, BOTH]);
    assert_eq!(report["verdict"], "unsafe");
    assert!(summary(&report).contains("the kernel refuses that route"), "{}", summary(&report));
}

#[test]
fn yes_over_a_route_that_is_predicted_refused_is_the_alarm_where_links_are_unknown() {
    let tree = two_cards("8086:6f00");
    tree.file("sys/devices/virtual/kfd/kfd/topology/nodes/1/p2p_links", "not a directory");
    let report = judged(&tree, &[CARDS, BOTH]);
    assert_eq!(report["verdict"], "unsafe");
    assert!(summary(&report).contains("predicted to refuse"), "{}", summary(&report));
}

#[test]
fn links_that_nothing_explains_stay_unexplained() {
    let tree = two_cards("8086:6f00");
    tree.p2p_link(1, 2).p2p_link(2, 1);
    let report = judged(&tree, &[CARDS, BOTH]);
    assert_eq!(
        (report["verdict"].as_str(), last(&report, GATE)["status"].as_str()),
        (Some("inconclusive"), Some("warn"))
    );
}

/// Drivers from outside the kernel can have their links among `io_links`.
#[test]
fn an_io_link_between_gpus_is_a_link() {
    let tree = zen(&[]);
    for (from, to) in [(1, 2), (2, 1)] {
        let path = format!("sys/devices/virtual/kfd/kfd/topology/nodes/{from}/io_links/{to}/properties");
        tree.file(&path, &format!("type 2\nnode_from {from}\nnode_to {to}\nflags 0"));
    }
    assert_eq!(last(&judged(&tree, &[CARDS, BOTH]), GATE)["status"], "pass");
}

/// `ROCr` leaves out a link with both flags.
#[test]
fn a_link_that_is_not_for_peers_is_none() {
    let tree = zen(&[]);
    for (from, to) in [(1, 2), (2, 1)] {
        let path = format!("sys/devices/virtual/kfd/kfd/topology/nodes/{from}/p2p_links/{to}/properties");
        tree.file(&path, &format!("type 2\nnode_from {from}\nnode_to {to}\nflags 17"));
    }
    assert_eq!(last(&judged(&tree, &[CARDS, NONE]), GATE)["status"], "skip");
    assert_eq!(judged(&tree, &[CARDS, BOTH])["verdict"], "unsafe");
}

/// The runtime's order is its own, and so is its spelling.
#[test]
fn devices_are_matched_by_address() {
    let reversed = ("TP2_MOCK_DEVICES", "0000:08:00.0,0000:03:00.0,0000:05:00.0");
    // 08 reaches 05, and not the other way.
    let report = judged(&zen(&[(2, 1)]), &[reversed, ("TP2_MOCK_PEERS", "001,000,000")]);
    assert_eq!(last(&report, GATE)["status"], "skip", "{report:#}");
    let report = judged(&zen(&[(1, 2)]), &[reversed, ("TP2_MOCK_PEERS", "001,000,000")]);
    assert_eq!((report["verdict"].as_str(), failing(&report)), (Some("blocked"), vec!["pair.kfd-link", GATE]));
    assert!(summary(&report).contains("the other way only"));
    let report = judged(&zen(&[]), &[reversed, ("TP2_MOCK_PEERS", "001,000,000")]);
    assert_eq!(report["verdict"], "unsafe");
    assert!(summary(&report).contains("0000:08:00.0 can reach 0000:05:00.0"), "{}", summary(&report));
}

#[test]
fn a_device_that_is_not_listed() {
    let one = [("TP2_MOCK_DEVICES", "0000:05:00.0"), ("TP2_MOCK_PEERS", "0")];
    let report = judged(&two_cards_overridden("8086:6f00"), &one);
    assert_eq!((report["verdict"].as_str(), failing(&report)), (Some("blocked"), vec![GATE]));
    assert!(summary(&report).contains("does not list 0000:08:00.0"));
    let mut runtime = ask(&one);
    runtime.environment.insert("HIP_VISIBLE_DEVICES".to_owned(), "0".to_owned());
    let report = judge(&facts(&two_cards_overridden("8086:6f00"), runtime));
    assert!(last(&report, GATE)["remedy"].as_str().unwrap().contains("HIP_VISIBLE_DEVICES=\"0\" may hide it"));
    // What KFD does not know either is KFD's matter.
    let tree = two_cards_overridden("8086:6f00");
    tree.remove("sys/devices/virtual/kfd/kfd/topology/nodes/2");
    let report = judged(&tree, &one);
    assert_eq!((failing(&report), last(&report, GATE)["status"].as_str()), (vec!["gpu.kfd"], Some("skip")));
}

#[test]
fn addresses_that_are_none() {
    for device in ["garbage", "0000:08:20.0"] {
        let devices = format!("0000:05:00.0,{device}");
        let report = judged(&two_cards_overridden("8086:6f00"), &[("TP2_MOCK_DEVICES", &devices), BOTH]);
        assert_eq!((report["verdict"].as_str(), failing(&report)), (Some("inconclusive"), vec![]));
        assert!(report.to_string().contains(device));
    }
}

#[test]
fn several_devices_at_one_address() {
    let devices = ("TP2_MOCK_DEVICES", "0000:05:00.0,0000:05:00.0,0000:08:00.0");
    let report = judged(&two_cards_overridden("8086:6f00"), &[devices, ("TP2_MOCK_PEERS", "011,101,110")]);
    assert_eq!(report["verdict"], "inconclusive");
    assert!(summary(&report).contains("several devices at 0000:05:00.0"));
}

#[test]
fn answers_that_are_none() {
    for (fault, words) in [
        ("hipDeviceCanAccessPeer=101", "hipErrorInvalidDevice (101)"),
        ("hipDeviceCanAccessPeer=silent", "success, and no answer"),
        ("hipDeviceCanAccessPeer=value:7", "the value 7"),
    ] {
        let report = judged(&two_cards_overridden("8086:6f00"), &[CARDS, BOTH, ("TP2_MOCK_FAULT", fault)]);
        assert_eq!(report["verdict"], "inconclusive", "{words}");
        assert!(summary(&report).contains(words), "{}", summary(&report));
    }
}

#[test]
fn a_runtime_in_trouble_is_in_the_way() {
    for (fault, verdict, words) in [
        ("hipInit=segv", "blocked", "signal 11 (SIGSEGV), during hipInit"),
        ("hipInit=999", "blocked", "hipInit returned hipErrorUnknown (999)"),
        ("hipGetDeviceCount=257", "blocked", "hipGetDeviceCount returned error 257"),
        ("hipGetDeviceCount=value:257", "inconclusive", "claims to have 257 devices"),
        ("hipInit=exit", "inconclusive", "makes no sense"),
    ] {
        let report = judged(&two_cards_overridden("8086:6f00"), &[CARDS, BOTH, ("TP2_MOCK_FAULT", fault)]);
        assert_eq!(report["verdict"], verdict, "{fault}");
        assert!(summary(&report).contains(words), "{}", summary(&report));
    }
    let mut runtime = Runtime::ended(Outcome::NoneFits);
    let reason = "does not have hipDeviceCanAccessPeer".to_owned();
    runtime.passed_over.push(PassedOver { path: "/usr/lib/libamdhip64.so.4".to_owned(), reason });
    let report = judge(&facts(&two_cards_overridden("8086:6f00"), runtime));
    assert_eq!((report["verdict"].as_str(), status(&report, GATE)), (Some("ready"), "warn"));
    assert!(summary(&report).ends_with("/usr/lib/libamdhip64.so.4 does not have hipDeviceCanAccessPeer"));
    let report = judged(&two_cards_overridden("8086:6f00"), &[CARDS, BOTH, ("TP2_MOCK_FAULT", "exit=abort")]);
    assert_eq!((report["verdict"].as_str(), status(&report, GATE)), (Some("ready"), "warn"));
}

fn opened(mut facts: Facts, kfd: Opened) -> Value {
    let file = |path: &str, opened| DeviceFile { path: path.to_owned(), bdf: None, opened, owner: None };
    let render = vec![file("dev/dri/renderD128", Opened::Yes)];
    let kfd = file("dev/kfd", kfd);
    facts.device_access = Ok(DeviceAccess { kfd, render, uid: Some(1000), gids: vec![1000], user_namespace: false });
    judge(&facts)
}

#[test]
fn no_device_though_kfd_knows_some() {
    let tree = two_cards_overridden("8086:6f00");
    for variables in [
        &[][..],
        &[CARDS, ("TP2_MOCK_FAULT", "hipInit=101")],
        &[CARDS, ("TP2_MOCK_FAULT", "hipGetDeviceCount=value:0")],
    ] {
        let report = judged(&tree, variables);
        assert_eq!((report["verdict"].as_str(), failing(&report)), (Some("blocked"), vec![GATE]));
        assert!(summary(&report).contains("though KFD knows 2"));
    }
    let report = opened(facts(&tree, ask(&[])), Opened::Denied);
    assert_eq!((failing(&report), last(&report, GATE)["status"].as_str()), (vec!["env.access"], Some("skip")));
    let report = opened(facts(&tree, ask(&[])), Opened::Yes);
    assert_eq!((failing(&report), status(&report, "env.access")), (vec![GATE], "pass"));
    assert_eq!(status(&judged(&Tree::new(), &[]), GATE), "na");
}
