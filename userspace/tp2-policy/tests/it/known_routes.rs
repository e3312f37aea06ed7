// SPDX-License-Identifier: GPL-2.0-only

//! Machines whose answer is known from reports or follows from the kernel's code at a glance.

use tp2_policy::{
    policy::BridgeId,
    route::{
        AcsControl, Answer, Cpu, HostBridgeDevice, HostBridgeTest, Machine, NotAllowed, Path, Prediction, Reason,
        UnknownHostBridge, predict,
    },
};

use crate::support::{
    HASWELL_E, ROCKET_LAKE, SKYLAKE_E, X99, address, amd, chain, intel, kernel, machine, switch_pair, under, with_acs,
    x99_pair,
};

fn not_listed(bridge: BridgeId) -> HostBridgeTest {
    HostBridgeTest::Refused(NotAllowed::NotListed { bridge, extrapolated: false })
}

const LISTED: HostBridgeTest = HostBridgeTest::Listed { extrapolated: false };

#[test]
fn x99_with_a_switch_on_each_card_is_refused() {
    let (a, b) = x99_pair();
    let expected = Prediction {
        answer: Answer::Refused,
        hop_count: 8,
        path: Path::ThroughHostBridge,
        reason: Reason::HostBridge(not_listed(X99)),
    };
    for version in ["6.1.176", "6.12.117", "7.2.12", "7.3.4+deb13-amd64"] {
        assert_eq!(predict(&a, &b, &machine(intel(), version)), expected, "{version}");
    }
    assert_eq!(expected.kernel_answer(), Some(-1));
}

#[test]
fn amd_is_allowed_from_zen_on() {
    let (a, b) = x99_pair();
    let not_zen = [
        amd(0x16),
        amd(0x15),
        intel(),
        Cpu { vendor: "HygonGenuine".to_owned(), family: 0x18 },
        Cpu { vendor: "GenuineIntel".to_owned(), family: 0x19 },
        Cpu { vendor: String::new(), family: 0 },
    ];
    for cpu in not_zen {
        let prediction = predict(&a, &b, &machine(cpu.clone(), "7.3"));
        assert_eq!(prediction.answer, Answer::Refused, "{cpu:?}");
    }
    for family in [0x17, 0x19, 0x1a] {
        let prediction = predict(&a, &b, &machine(amd(family), "7.3"));
        assert_eq!(prediction.answer, Answer::Distance(8), "{family:#x}");
        assert_eq!(prediction.reason, Reason::HostBridge(HostBridgeTest::CpuSupported));
        // Then neither kernel nor host bridge matters.
        let unknown = Machine { cpu: Some(amd(family)), kernel: None };
        let mut b = b.clone();
        b.host_bridge = HostBridgeDevice::Unreadable;
        assert_eq!(predict(&a, &b, &unknown).answer, Answer::Distance(8));
    }
}

#[test]
fn listed_bridges_may_want_both_under_one_host_bridge() {
    let relisted = |id: BridgeId, bus: u8| {
        let (mut a, mut b) = x99_pair();
        a.host_bridge = HostBridgeDevice::Found(id);
        b.host_bridge = HostBridgeDevice::Found(id);
        predict(&a, &under(b, bus), &machine(intel(), "7.3.4"))
    };
    let same = relisted(HASWELL_E, 0);
    assert_eq!((same.answer, same.path), (Answer::Distance(8), Path::ThroughHostBridge));
    assert_eq!(same.reason, Reason::HostBridge(LISTED));
    let across = relisted(HASWELL_E, 0x80);
    assert_eq!((across.answer, across.path), (Answer::Refused, Path::AcrossHostBridges));
    let why = NotAllowed::NeedsSameHostBridge { bridge: HASWELL_E, extrapolated: false };
    assert_eq!(across.reason, Reason::HostBridge(HostBridgeTest::Refused(why)));
    assert_eq!(relisted(SKYLAKE_E, 0x80).answer, Answer::Distance(8));
}

#[test]
fn across_host_bridges_both_have_to_be_listed() {
    let (mut a, b) = x99_pair();
    a.host_bridge = HostBridgeDevice::Found(SKYLAKE_E);
    let b = under(b, 0x80);
    for (p, c) in [(&a, &b), (&b, &a)] {
        let prediction = predict(p, c, &machine(intel(), "7.3.4"));
        assert_eq!(prediction.reason, Reason::HostBridge(not_listed(X99)));
    }
    let mut no_device = b.clone();
    no_device.host_bridge = HostBridgeDevice::Absent;
    let prediction = predict(&a, &no_device, &machine(intel(), "7.3.4"));
    assert_eq!(prediction.reason, Reason::HostBridge(HostBridgeTest::Refused(NotAllowed::NoDevice)));
}

#[test]
fn below_one_switch_bus_addresses_are_used() {
    let (a, b) = switch_pair();
    let prediction = predict(&a, &b, &Machine::default());
    let bridge = address("0000:01:00.0");
    let expected = Prediction {
        answer: Answer::Distance(4),
        hop_count: 4,
        path: Path::SharedUpstream { bridge },
        reason: Reason::BusAddress,
    };
    assert_eq!(prediction, expected);
}

#[test]
fn two_functions_of_one_device_are_two_hops_apart() {
    let gpu = chain(&["0000:03:00.0", "0000:02:00.0", "0000:00:01.0"], X99);
    let audio = chain(&["0000:03:00.1", "0000:02:00.0", "0000:00:01.0"], X99);
    let prediction = predict(&gpu, &audio, &machine(intel(), "7.3"));
    assert_eq!((prediction.answer, prediction.reason), (Answer::Distance(2), Reason::BusAddress));
    // On the root bus itself there is no bridge to share.
    let (one, two) = (chain(&["0000:00:02.0"], X99), chain(&["0000:00:02.1"], X99));
    let prediction = predict(&one, &two, &machine(intel(), "7.3"));
    assert_eq!((prediction.answer, prediction.hop_count), (Answer::Refused, 2));
    assert_eq!(prediction.path, Path::ThroughHostBridge);
}

#[test]
fn a_function_is_no_hops_from_itself() {
    let (a, _) = x99_pair();
    let prediction = predict(&a, &a, &machine(intel(), "7.3"));
    assert_eq!((prediction.answer, prediction.path), (Answer::Distance(0), Path::SameFunction));
    // The kernel looks at the function's own ACS word even then.
    let a = with_acs(a, "0000:05:00.0", AcsControl::Word(0x04));
    assert_eq!(predict(&a, &a, &machine(intel(), "7.3")).answer, Answer::Refused);
}

#[test]
fn redirect_anywhere_up_to_the_common_bridge_counts() {
    let counting = [
        ("0000:03:00.0", true),
        ("0000:02:08.0", true),
        ("0000:01:00.0", true),
        ("0000:04:00.0", true),
        ("0000:02:09.0", true),
        ("0000:00:01.0", false),
    ];
    for (at, counts) in counting {
        let (a, b) = switch_pair();
        let word = AcsControl::Word(0x0c);
        let (a, b) = (with_acs(a, at, word), with_acs(b, at, word));
        for (p, c) in [(&a, &b), (&b, &a)] {
            let prediction = predict(p, c, &machine(intel(), "7.3"));
            let redirect =
                Reason::AcsRedirect { ports: vec![address(at)], unreadable: Vec::new(), host_bridge: not_listed(X99) };
            let (answer, reason) =
                if counts { (Answer::Refused, redirect) } else { (Answer::Distance(4), Reason::BusAddress) };
            assert_eq!((prediction.answer, prediction.reason, prediction.hop_count), (answer, reason, 4), "{at}");
        }
    }
}

#[test]
fn redirect_on_a_common_root_port_asks_the_table() {
    let below = |function: &str, port: &str, id: BridgeId| {
        let chain = chain(&[function, port, "0000:00:01.0"], id);
        with_acs(chain, "0000:00:01.0", AcsControl::Word(0x1d))
    };
    let on = |id: BridgeId| {
        let (a, b) = (below("0000:02:00.0", "0000:01:00.0", id), below("0000:03:00.0", "0000:01:01.0", id));
        predict(&a, &b, &machine(intel(), "7.3"))
    };
    assert_eq!(on(ROCKET_LAKE).answer, Answer::Refused);
    let listed = on(HASWELL_E);
    let ports = vec![address("0000:00:01.0")];
    let reason = Reason::AcsRedirect { ports, unreadable: Vec::new(), host_bridge: LISTED };
    assert_eq!((listed.answer, listed.reason), (Answer::Distance(4), reason));
}

#[test]
fn only_three_acs_bits_redirect() {
    for bit in 0..16 {
        let (a, b) = switch_pair();
        let a = with_acs(a, "0000:02:08.0", AcsControl::Word(1 << bit));
        let refused = predict(&a, &b, &machine(intel(), "7.3")).answer == Answer::Refused;
        assert_eq!(refused, [2, 3, 5].contains(&bit), "bit {bit}");
    }
}

#[test]
fn unreadable_acs_matters_only_below_a_common_bridge() {
    let hidden = |at: &str, (a, b)| (with_acs(a, at, AcsControl::Unreadable), with_acs(b, at, AcsControl::Unreadable));
    let (a, b) = hidden("0000:02:08.0", switch_pair());
    let prediction = predict(&a, &b, &machine(intel(), "7.3"));
    let ports = vec![address("0000:02:08.0")];
    let reason = Reason::AcsUnreadable { ports: ports.clone(), host_bridge: not_listed(X99) };
    assert_eq!((prediction.answer, prediction.reason), (Answer::Unknown, reason));
    assert_eq!(predict(&a, &b, &machine(amd(0x17), "7.3")).answer, Answer::Distance(4));
    // A port that surely redirects settles it.
    let b = with_acs(b, "0000:02:09.0", AcsControl::Word(0x04));
    let prediction = predict(&a, &b, &machine(intel(), "7.3"));
    let reason =
        Reason::AcsRedirect { ports: vec![address("0000:02:09.0")], unreadable: ports, host_bridge: not_listed(X99) };
    assert_eq!((prediction.answer, prediction.reason), (Answer::Refused, reason));
    let (a, b) = hidden("0000:00:02.0", x99_pair());
    assert_eq!(predict(&a, &b, &machine(intel(), "7.3")).answer, Answer::Refused);
}

#[test]
fn what_is_not_known_is_named() {
    let (a, b) = x99_pair();
    let unknown = |cpu: Option<Cpu>, version: Option<&str>, host_bridge: HostBridgeDevice| {
        let (mut a, mut b) = (a.clone(), b.clone());
        a.host_bridge = host_bridge;
        b.host_bridge = host_bridge;
        let prediction = predict(&a, &b, &Machine { cpu, kernel: version.map(kernel) });
        match prediction.reason {
            Reason::HostBridge(HostBridgeTest::Unknown(what)) => what,
            other => panic!("{other:?}"),
        }
    };
    let found = HostBridgeDevice::Found;
    let dsa = (0x8086, 0x0b25);
    assert_eq!(unknown(None, Some("7.3"), found(X99)), [UnknownHostBridge::Cpu]);
    assert_eq!(unknown(Some(intel()), None, found(X99)), [UnknownHostBridge::KernelVersion { bridge: X99 }]);
    let device = unknown(Some(intel()), Some("7.3"), HostBridgeDevice::Unreadable);
    assert_eq!(device, [UnknownHostBridge::Device]);
    let (last_absent, first_seen) = (kernel("6.12.117"), kernel("7.2.12"));
    let between = UnknownHostBridge::Between { bridge: dsa, last_absent, first_seen };
    assert_eq!(unknown(Some(intel()), Some("6.18"), found(dsa)), [between]);
    assert_eq!(unknown(None, Some("6.18"), found(dsa)), [UnknownHostBridge::Cpu, between]);
    let too_old = UnknownHostBridge::TooOld { bridge: X99, oldest: kernel("6.1.176") };
    assert_eq!(unknown(Some(intel()), Some("5.10"), found(X99)), [too_old]);
}
