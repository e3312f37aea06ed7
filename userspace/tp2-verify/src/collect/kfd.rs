// SPDX-License-Identifier: GPL-2.0-only

//! The KFD topology (`drivers/gpu/drm/amd/amdkfd/kfd_topology.c`).

use std::collections::BTreeMap;

use super::Root;
use crate::facts::{Indexed, KfdLink, KfdNode, ReadError, Reading};

const NODES: &str = "sys/class/kfd/kfd/topology/nodes";
/// Nodes, and links of one: more than the GPUs that are judged and their CPUs. They are looked through for every pair.
const LIMIT: usize = 512;

/// Reads all nodes.
pub fn read(root: &Root) -> Reading<Indexed<KfdNode>> {
    let mut nodes = Vec::new();
    for name in few(root, NODES)? {
        let Ok(id) = name.parse() else {
            continue;
        };
        let path = format!("{NODES}/{name}");
        nodes.push(KfdNode {
            id,
            properties: properties(root, &format!("{path}/properties")),
            io_links: links(root, &format!("{path}/io_links")),
            p2p_links: links(root, &format!("{path}/p2p_links")),
            path,
        });
    }
    nodes.sort_by_key(|node| node.id);
    Ok(nodes.into())
}

/// Names in a directory that is not too full.
fn few(root: &Root, path: &str) -> Reading<Vec<String>> {
    let names = root.names(path)?;
    if names.len() > LIMIT {
        return Err(ReadError::malformed(path, format!("has more than {LIMIT} entries")));
    }
    Ok(names)
}

/// An empty file is what KFD gives to a user whose cgroup may not see the node.
fn properties(root: &Root, path: &str) -> Reading<BTreeMap<String, u64>> {
    let values = parse_properties(&root.text(path)?);
    if values.is_empty() {
        return Err(ReadError::malformed(path, "has no properties"));
    }
    Ok(values)
}

/// Lines `name value`; others are not properties that a gate reads.
#[must_use]
pub fn parse_properties(text: &str) -> BTreeMap<String, u64> {
    let pairs = text.lines().filter_map(|line| {
        let (name, value) = line.trim().split_once(' ')?;
        Some((name.to_owned(), value.trim().parse().ok()?))
    });
    pairs.collect()
}

/// Reads the links of a directory. Kernels before 6.0 have no `p2p_links`: no directory, no links.
fn links(root: &Root, path: &str) -> Reading<Vec<KfdLink>> {
    let names = match few(root, path) {
        Ok(names) => names,
        Err(error) if error.is_absent() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    names.iter().map(|name| link(root, &format!("{path}/{name}/properties"))).collect()
}

fn link(root: &Root, path: &str) -> Reading<KfdLink> {
    let values = properties(root, path)?;
    let get = |name: &str| values.get(name).copied();
    let need = |name: &str| get(name).ok_or_else(|| ReadError::malformed(path, format!("has no number for {name}")));
    Ok(KfdLink {
        path: path.to_owned(),
        kind: need("type")?,
        from: need("node_from")?,
        to: need("node_to")?,
        weight: get("weight").unwrap_or(0),
        max_bandwidth: get("max_bandwidth").unwrap_or(0),
        flags: get("flags").unwrap_or(0),
    })
}
