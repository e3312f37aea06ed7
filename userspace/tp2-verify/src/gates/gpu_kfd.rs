// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.kfd`: whether KFD knows the GPU (`kfd_topology.c`: `domain` and `location_id` are its PCI address). A GPU that
//! has no driver, or another one, cannot be there: that is named first.

use crate::{
    facts::Facts,
    finding::{Finding, Scope, Status},
    view::{self, Gpu, GpuKind, NoNode},
};

pub(super) const ID: &str = "gpu.kfd";
const NODES: &str = "/sys/class/kfd/kfd/topology/nodes";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    if let Err(error) = &facts.pci {
        return vec![Finding::unreadable(ID, Scope::Host, "the list of PCI devices", error)];
    }
    let gpus = view::gpus(facts).into_iter().filter(|gpu| !matches!(gpu.kind, GpuKind::Integrated(_)));
    let mut findings: Vec<Finding> = gpus.map(|gpu| judge_gpu(facts, &gpu)).collect();
    findings.extend(twins(facts, &findings));
    findings.extend(skipped(facts));
    let devices = facts.pci.as_deref().unwrap_or_default();
    let doubtful = devices.iter().filter(|device| {
        let vendor = device.vendor.as_ref().map(|vendor| *vendor == view::AMD);
        vendor.is_err() || (vendor == Ok(true) && device.class.is_err())
    });
    findings.extend(doubtful.map(|device| {
        let error = device.vendor.as_ref().err().or(device.class.as_ref().err());
        let scope = Scope::Gpu(device.bdf);
        match error {
            Some(error) => Finding::unreadable(ID, scope, "whether this is a GPU", error),
            None => Finding::new(ID, scope, Status::Unknown, "whether this is a GPU is not known"),
        }
    }));
    findings
}

/// Several nodes at one place, where that makes no card's own node doubtful (case A49).
fn twins(facts: &Facts, findings: &[Finding]) -> Option<Finding> {
    let twins = view::kfd_twins(facts);
    if twins.is_empty() || findings.iter().any(|finding| finding.status == Status::Unknown) {
        return None;
    }
    let ids: Vec<String> = twins.iter().map(u32::to_string).collect();
    let summary =
        format!("KFD lists one GPU several times (nodes {}): go by PCI addresses, not by node numbers", ids.join(", "));
    Some(
        Finding::new(ID, Scope::Host, Status::Warn, summary)
            .evidence(NODES, "same domain and location_id")
            .remedy("update the firmware, whose tables may list the CPU's GPU twice"),
    )
}

/// One finding for all entries that make no sense: a badly copied tree has nothing else.
fn skipped(facts: &Facts) -> Option<Finding> {
    let (first, more) = facts.pci_skipped.split_first()?;
    let what = match more.len() {
        0 => "a PCI device".to_owned(),
        count => format!("{} PCI devices", count.saturating_add(1)),
    };
    let mut finding = Finding::unreadable(ID, Scope::Host, &what, first);
    for error in more {
        finding = finding.failed_reading(error);
    }
    Some(finding.remedy(
        "run it again if devices came or went; a captured tree needs /sys/devices besides /sys/bus/pci/devices",
    ))
}

fn judge_gpu(facts: &Facts, gpu: &Gpu<'_>) -> Finding {
    let device = gpu.device;
    let bdf = device.bdf;
    let finding = |status, summary: String| Finding::new(ID, Scope::Gpu(bdf), status, summary);
    let missing = match view::kfd_node(facts, bdf) {
        Ok(node) => {
            let pass = finding(Status::Pass, format!("KFD knows {bdf} as node {}", node.id));
            return pass.evidence(format!("/{}/properties", node.path), "domain and location_id are this GPU's");
        }
        Err(missing) => missing,
    };
    let driver = format!("/{}/driver", device.path);
    match &device.driver {
        Ok(None) => {
            return finding(Status::Fail, format!("{bdf} has no driver, so KFD cannot know it"))
                .evidence(driver, "no such link")
                .remedy(format!("read the kernel log for amdgpu and {bdf}; modprobe amdgpu if it is not loaded"));
        }
        Ok(Some(name)) if name != "amdgpu" => {
            return finding(Status::Fail, format!("{bdf} belongs to the driver {name}, so KFD cannot know it"))
                .evidence(driver, name.clone())
                .remedy("give the device back to amdgpu");
        }
        _ => {}
    }
    without_node(missing, Scope::Gpu(bdf))
}

/// The device is well; what of KFD?
fn without_node(missing: NoNode, scope: Scope) -> Finding {
    let finding = |status, summary: String| Finding::new(ID, scope, status, summary);
    match missing {
        NoNode::NoKfd(error) if error.is_absent() => finding(Status::Fail, "there is no KFD".to_owned())
            .failed_reading(&error)
            .remedy("boot a kernel whose amdgpu has CONFIG_HSA_AMD=y"),
        NoNode::NoKfd(error) => Finding::unreadable(ID, scope, "KFD's topology", &error),
        NoNode::NotListed(None) => finding(Status::Fail, "amdgpu drives this GPU, but KFD has no node for it".to_owned())
            .evidence(NODES, "no node with this domain and location_id")
            .remedy("read the kernel log for kfd and this address: `PCI rejects atomics` means another slot, one at the CPU; else the chip or \
                     its firmware may be unsupported"),
        NoNode::NotListed(Some(error)) => Finding::unreadable(ID, scope, "whether KFD knows this GPU", &error),
        NoNode::Ambiguous(ids) => {
            let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
            let summary = format!("KFD nodes {} claim the same PCI address, so which GPU is which node is not known", ids.join(", "));
            finding(Status::Unknown, summary)
                .evidence(NODES, "same domain and location_id")
                .remedy("use a kernel from 5.3 on; if the GPU is partitioned, run it without partitions; else report it with these nodes' properties")
        }
    }
}
