// SPDX-License-Identifier: GPL-2.0-only
//! Any properties of a KFD node and its link: what is printed again reads the same, and a link has what it says.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tp2_fuzz::{machine, plant};
use tp2_verify::collect::{
    Root,
    kfd::{self, parse_properties},
};

const NODE: &str = "sys/class/kfd/kfd/topology/nodes/1/properties";
const LINK: &str = "sys/class/kfd/kfd/topology/nodes/1/io_links/0/properties";

fuzz_target!(init: plant(&seeds()), |input: &[u8]| {
    let root = Root::replay(machine::of_files(&[(NODE, input), (LINK, input)]));
    let Ok(text) = root.text(NODE) else {
        return;
    };
    let values = parse_properties(&text);
    assert!(values.len() <= text.lines().count());
    let printed: String = values.iter().map(|(name, value)| format!("{name} {value}\n")).collect();
    assert_eq!(parse_properties(&printed), values);

    let nodes = kfd::read(&root).expect("the directory is there");
    let [node] = &*nodes else {
        panic!("one node was made of {} entries", nodes.len());
    };
    let needed = ["type", "node_from", "node_to"].map(|name| values.get(name).copied());
    match &node.io_links {
        Ok(links) => {
            let [link] = links.as_slice() else {
                panic!("one link was made of {} entries", links.len());
            };
            assert_eq!([link.kind, link.from, link.to].map(Some), needed);
        }
        Err(_) => assert!(needed.contains(&None)),
    }
});

fn seeds() -> [Vec<u8>; 2] {
    [
        b"cpu_cores_count 0\nsimd_count 192\nlocation_id 1280\ndomain 0\nhive_id 0\n".to_vec(),
        b"type 2\nnode_from 1\nnode_to 0\nweight 40\nmax_bandwidth 8000\nflags 3\n".to_vec(),
    ]
}
