// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.kfd`: whether KFD knows the GPU (`kfd_topology.c`: `domain` and `location_id` are its PCI address). A GPU that
//! has no driver, or another one, cannot be there: that is named first.

use crate::{
    facts::{Bdf, Facts},
    finding::{Finding, Remedy, Scope, Status},
    text,
    text::Text,
    view::{self, Gpu, GpuKind, NoNode},
};

pub(super) const ID: &str = "gpu.kfd";
const NODES: &str = "/sys/class/kfd/kfd/topology/nodes";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    if let Err(error) = &facts.pci {
        return vec![Finding::unreadable(ID, Scope::Host, text!("gpu-kfd-what-devices"), error)];
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
            Some(error) => Finding::unreadable(ID, scope, text!("gpu-kfd-what-gpu"), error),
            None => Finding::new(ID, scope, Status::Unknown, text!("gpu-kfd-doubtful")),
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
    Some(
        Finding::new(ID, Scope::Host, Status::Warn, text!("gpu-kfd-twins", nodes = numbers(&twins)))
            .evidence(NODES.to_owned(), text!("gpu-kfd-same-place"))
            .remedy(text!("gpu-kfd-twins-remedy")),
    )
}

fn numbers(nodes: &[u32]) -> Text {
    Text::List(nodes.iter().copied().map(Text::from).collect(), "comma")
}

/// One finding for all entries that make no sense: a badly copied tree has nothing else.
fn skipped(facts: &Facts) -> Option<Finding> {
    let (first, more) = facts.pci_skipped.split_first()?;
    let what = text!("gpu-kfd-what-skipped", count = facts.pci_skipped.len());
    let mut finding = Finding::unreadable(ID, Scope::Host, what, first);
    for error in more {
        finding = finding.failed_reading(error);
    }
    Some(finding.remedy(text!("gpu-kfd-skipped-remedy")))
}

fn judge_gpu(facts: &Facts, gpu: &Gpu<'_>) -> Finding {
    let device = gpu.device;
    let bdf = device.bdf;
    let finding = |status, summary: Text| Finding::new(ID, Scope::Gpu(bdf), status, summary);
    let missing = match view::kfd_node(facts, bdf) {
        Ok(node) => {
            let pass = finding(Status::Pass, text!("gpu-kfd-pass", gpu = bdf, node = node.id));
            return pass.evidence(format!("/{}/properties", node.path), text!("gpu-kfd-own-place"));
        }
        Err(missing) => missing,
    };
    let driver = format!("/{}/driver", device.path);
    match &device.driver {
        Ok(None) => {
            return finding(Status::Fail, text!("gpu-kfd-no-driver", gpu = bdf))
                .evidence(driver, text!("gpu-kfd-no-driver-link"))
                .remedy(
                    Remedy::from(text!("gpu-kfd-no-driver-remedy", gpu = bdf))
                        .command("sudo modprobe amdgpu", &[])
                        .command(format!("sudo dmesg | grep -e amdgpu -e {bdf}"), &[]),
                );
        }
        Ok(Some(name)) if name != "amdgpu" => {
            return finding(Status::Fail, text!("gpu-kfd-other-driver", gpu = bdf, driver = name))
                .evidence(driver, name.clone())
                .remedy(text!("gpu-kfd-other-driver-remedy"));
        }
        _ => {}
    }
    without_node(missing, bdf)
}

/// The device is well; what of KFD?
fn without_node(missing: NoNode, bdf: Bdf) -> Finding {
    let scope = Scope::Gpu(bdf);
    let finding = |status, summary: Text| Finding::new(ID, scope, status, summary);
    match missing {
        NoNode::NoKfd(error) if error.is_absent() => {
            finding(Status::Fail, text!("gpu-kfd-absent")).failed_reading(&error).remedy(text!("gpu-kfd-absent-remedy"))
        }
        NoNode::NoKfd(error) => Finding::unreadable(ID, scope, text!("gpu-kfd-what-topology"), &error),
        NoNode::NotListed(None) => finding(Status::Fail, text!("gpu-kfd-no-node"))
            .evidence(NODES.to_owned(), text!("gpu-kfd-no-node-place"))
            .remedy(text!("gpu-kfd-no-node-remedy", gpu = bdf)),
        NoNode::NotListed(Some(error)) => Finding::unreadable(ID, scope, text!("gpu-kfd-what-known"), &error),
        NoNode::Ambiguous(ids) => finding(Status::Unknown, text!("gpu-kfd-ambiguous", nodes = numbers(&ids)))
            .evidence(NODES.to_owned(), text!("gpu-kfd-same-place"))
            .remedy(text!("gpu-kfd-ambiguous-remedy")),
    }
}
