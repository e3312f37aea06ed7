// SPDX-License-Identifier: GPL-2.0-only

//! `calc_map_type_and_dist()` and what it calls, statement by statement from `drivers/pci/p2pdma.c`, on a tree of
//! devices with parent links. Everything is known here; it is the yardstick for the prediction.

use proptest::{prelude::*, sample::select};
use tp2_policy::{
    Address, KernelVersion,
    policy::BridgeId,
    route::{AcsControl, Chain, HostBridgeDevice, Node, RootBus},
};

use crate::support::{HASWELL_E, SKYLAKE_E, X99};

/// A device: the bridge above it, and its ACS word (`None`: no capability).
#[derive(Clone, Debug)]
pub(crate) struct Device {
    upstream: Option<usize>,
    host: usize,
    acs: Option<u16>,
}

/// A machine with up to two host bridges.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    devices: Vec<Device>,
    hosts: [Option<BridgeId>; 2],
    pub(crate) cpu_supports: bool,
    pub(crate) kernel: KernelVersion,
}

/// The tables of the four sources, as rows that are new in each: Intel devices unless said otherwise.
fn host_bridge_listed(kernel: KernelVersion, id: BridgeId, same: bool) -> bool {
    let intel = |list: &[u16]| id.0 == 0x8086 && list.contains(&id.1);
    let v6_1_same = intel(&[0x3c00, 0x3c01, 0x2f00, 0x2f01]);
    let v6_1 = intel(&[0x2030, 0x2031, 0x2032, 0x2033, 0x2020, 0x09a2]);
    let v7_2 =
        id.0 == 0x1ae0 || intel(&[0x0b25, 0x0cfe, 0x11fb, 0x1212, 0x1216, 0x4940, 0x4942, 0x4944, 0x4946, 0x4948]);
    let v7_3 = id.0 == 0x10de && (0x2f95..=0x2f98).contains(&id.1);
    match (kernel.major, kernel.minor) {
        (6, 1 | 12) => v6_1 || (v6_1_same && same),
        (7, 2) => v6_1 || v7_2 || (v6_1_same && same),
        (7, 3) => v6_1 || v7_2 || v7_3 || (v6_1_same && same),
        other => panic!("no source for {other:?}"),
    }
}

impl Tree {
    fn acs_redir(&self, dev: usize) -> bool {
        self.devices[dev].acs.is_some_and(|ctrl| ctrl & (0x04 | 0x08 | 0x20) != 0)
    }

    fn host_bridge_whitelist(&self, a: usize, b: usize) -> bool {
        let listed = |dev: usize, same: bool| {
            self.hosts[self.devices[dev].host].is_some_and(|id| host_bridge_listed(self.kernel, id, same))
        };
        if self.devices[a].host == self.devices[b].host {
            return listed(a, true);
        }
        listed(a, false) && listed(b, false)
    }

    /// The kernel's answer, and the distance that it computes in any case.
    pub(crate) fn distance(&self, provider: usize, client: usize) -> (Option<i32>, i32) {
        let mut a = Some(provider);
        let (mut dist_a, mut dist_b, mut acs_cnt) = (0, 0, 0);
        let mut common = None;
        'walk: while let Some(dev) = a {
            dist_b = 0;
            if self.acs_redir(dev) {
                acs_cnt += 1;
            }
            let mut bb = Some(client);
            while let Some(other) = bb {
                if dev == other {
                    common = Some(dev);
                    break 'walk;
                }
                bb = self.devices[other].upstream;
                dist_b += 1;
            }
            a = self.devices[dev].upstream;
            dist_a += 1;
        }
        let dist = dist_a + dist_b;
        if common.is_some() {
            let mut bb = Some(client);
            while let Some(other) = bb {
                if bb == common {
                    break;
                }
                if self.acs_redir(other) {
                    acs_cnt += 1;
                }
                bb = self.devices[other].upstream;
            }
            if acs_cnt == 0 {
                return (Some(dist), dist);
            }
        }
        if !self.cpu_supports && !self.host_bridge_whitelist(provider, client) {
            return (None, dist);
        }
        (Some(dist), dist)
    }

    fn node(&self, dev: usize) -> Node {
        let bus = u8::try_from(dev).expect("small trees");
        let acs_ctrl = self.devices[dev].acs.map_or(AcsControl::NoCapability, AcsControl::Word);
        let address = Address::new(0, bus, 0, 0);
        Node { address, vendor: 0x1002, device: 0x7550, class: 0x03_0000, acs_ctrl }
    }

    /// The chain from a device upwards.
    pub(crate) fn chain(&self, dev: usize) -> Chain {
        let up = |dev: &usize| self.devices[*dev].upstream;
        let bridges = core::iter::successors(up(&dev), up).map(|bridge| self.node(bridge)).collect();
        let host = self.devices[dev].host;
        Chain {
            function: self.node(dev),
            bridges,
            root_bus: RootBus { domain: 0, bus: if host == 0 { 0 } else { 0x80 } },
            host_bridge: self.hosts[host].map_or(HostBridgeDevice::Absent, HostBridgeDevice::Found),
        }
    }
}

/// One device as raw material: which earlier device it is below (if that index exists), or which host bridge.
fn some_device() -> impl Strategy<Value = (usize, usize, Option<u16>)> {
    let acs = prop_oneof![
        8 => Just(None),
        4 => Just(Some(0)),
        1 => select(vec![Some(0x01), Some(0x04), Some(0x08), Some(0x10), Some(0x1d), Some(0x20), Some(0x40)]),
    ];
    (0_usize..14, 0_usize..2, acs)
}

fn some_host() -> impl Strategy<Value = Option<BridgeId>> {
    select(vec![
        None,
        Some(X99),
        Some(HASWELL_E),
        Some(SKYLAKE_E),
        Some((0x8086, 0x0b25)),
        Some((0x1ae0, 0x1234)),
        Some((0x10de, 0x2f96)),
        Some((0x10de, 0x2f94)),
    ])
}

/// A tree and two of its devices.
pub(crate) fn some_tree() -> impl Strategy<Value = (Tree, usize, usize)> {
    let devices = prop::collection::vec(some_device(), 2..12);
    let versions = [(6, 1, 176), (6, 12, 117), (7, 2, 12), (7, 3, 4)];
    let kernel = select(versions.map(|(a, b, c)| KernelVersion::new(a, b, c)).to_vec());
    let picks = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let facts = (some_host(), some_host(), prop::bool::weighted(0.2), kernel);
    (devices, facts, picks).prop_map(|(raw, (host_a, host_b, cpu_supports, kernel), (p, c))| {
        let mut devices: Vec<Device> = Vec::new();
        for (below, host, acs) in raw {
            let upstream = Some(below).filter(|below| *below < devices.len());
            let host = upstream.map_or(host, |up| devices[up].host);
            devices.push(Device { upstream, host, acs });
        }
        let (p, c) = (p.index(devices.len()), c.index(devices.len()));
        (Tree { devices, hosts: [host_a, host_b], cpu_supports, kernel }, p, c)
    })
}
