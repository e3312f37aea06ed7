// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.atomics`: whether the GPU may send atomic operations to the CPU. The root port has to complete those of 32 and of
//! 64 bits, each switch port between has to route them, and no upstream port may block them
//! (`pci_enable_atomic_ops_to_root()`, `drivers/pci/pci.c`, Linux 7.3). Whether the root port itself routes does not
//! matter. Old GPUs (gfx8) need atomics for KFD at all; newer ones need them for RCCL and for GPU kernels that call
//! back to the host.

use crate::{
    collect::pci_config::{PORT_DOWNSTREAM, PORT_ROOT, PORT_UPSTREAM},
    facts::{Express, Facts, PciDevice, ReadError},
    finding::{Finding, Scope, Status},
    text,
    text::Text,
    view::{self, Gpu, NoNode},
    way_up,
};

pub(super) const ID: &str = "gpu.atomics";

/// `CRAT_IOLINK_FLAGS_NO_ATOMICS_32_BIT` and `_64_BIT` (`kfd_crat.h`).
const FLAGS_NO_ATOMICS: u64 = (1 << 2) | (1 << 3);

/// What the bridges say.
enum Way<'a> {
    /// All is well.
    Open(&'a PciDevice, Express),
    /// The first that is in the way, nearest to the GPU: what is wrong with it.
    Closed(&'a PciDevice, Express, Text),
    /// There is no root port above the GPU.
    NoRootPort,
    /// Cannot be told.
    Unknown(ReadError),
}

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    view::cards(facts).iter().map(|gpu| judge_gpu(facts, gpu)).collect()
}

fn judge_gpu(facts: &Facts, gpu: &Gpu<'_>) -> Finding {
    let scope = Scope::Gpu(gpu.device.bdf);
    let chain = way_up::chain(facts, gpu.device);
    let way = way_up::lost_bridge(facts, gpu.device).map_or_else(|| walk(&chain), Way::Unknown);
    let driver = driver_says(facts, gpu);
    match (&driver, way) {
        (_, Way::Closed(port, express, why)) => {
            let what = text!("gpu-atomics-closed", gpu = gpu.device.bdf, why = why);
            let finding = closed(facts, gpu, what).evidence(format!("/{}/config", port.path), express.atomics_words());
            with_driver(finding, driver.as_ref()).remedy(remedy(facts, &chain))
        }
        (Some((false, path)), _) => closed(facts, gpu, text!("gpu-atomics-closed-driver", gpu = gpu.device.bdf))
            .evidence(path, text!("gpu-atomics-flags-none"))
            .remedy(remedy(facts, &chain)),
        (None, Way::NoRootPort) => closed(facts, gpu, text!("gpu-atomics-no-root-port", gpu = gpu.device.bdf))
            .evidence(format!("/{}", gpu.device.path), text!("gpu-atomics-no-root-port-way"))
            .remedy(remedy(facts, &chain)),
        (driver, Way::Open(root, express)) => {
            let pass = Finding::new(ID, scope, Status::Pass, text!("gpu-atomics-pass"))
                .evidence(format!("/{}/config", root.path), express.atomics_words());
            with_driver(pass, driver.as_ref())
        }
        (Some((true, path)), _) => Finding::new(ID, scope, Status::Pass, text!("gpu-atomics-pass-driver"))
            .evidence(path, text!("gpu-atomics-flags")),
        (None, Way::Unknown(error)) => Finding::unreadable(ID, scope, text!("gpu-atomics-what-ports"), &error),
    }
}

/// Walks as the kernel does.
fn walk<'a>(chain: &[&'a PciDevice]) -> Way<'a> {
    let mut unknown = None;
    for device in chain.iter().skip(1) {
        let more = device.on_path.as_ref();
        let (kind, express) = match (&device.port_type, more.map(|more| &more.express)) {
            (Ok(Some(kind)), Some(Ok(Some(express)))) => (*kind, *express),
            // A bridge that is not PCI Express: the kernel's walk goes on above it.
            (Ok(None), _) => continue,
            (Err(error), _) | (_, Some(Err(error))) => {
                unknown = unknown.or_else(|| Some(error.clone()));
                continue;
            }
            _ => continue,
        };
        let bdf = device.bdf;
        match kind {
            PORT_UPSTREAM if express.blocks_atomics() => {
                return Way::Closed(device, express, text!("gpu-atomics-closed-blocked", port = bdf));
            }
            PORT_UPSTREAM | PORT_DOWNSTREAM if !express.routes_atomics() => {
                return Way::Closed(device, express, text!("gpu-atomics-closed-not-routed", port = bdf));
            }
            PORT_ROOT if !(express.completes_32() && express.completes_64()) => {
                return Way::Closed(device, express, text!("gpu-atomics-closed-not-completed", port = bdf));
            }
            PORT_ROOT => return unknown.map_or(Way::Open(device, express), Way::Unknown),
            _ => {}
        }
    }
    unknown.map_or(Way::NoRootPort, Way::Unknown)
}

/// What the driver found, as KFD marks it at the GPU's links to CPUs (`kfd_set_iolink_no_atomics()`, Linux 7.3).
fn driver_says(facts: &Facts, gpu: &Gpu<'_>) -> Option<(bool, String)> {
    let node = view::kfd_node(facts, gpu.device.bdf).ok()?;
    let nodes = facts.kfd.as_deref().unwrap_or_default();
    let is_cpu = |id: u64| {
        let other = nodes.iter().find(|other| u64::from(other.id) == id)?;
        Some(*other.properties.as_ref().ok()?.get("cpu_cores_count")? > 0)
    };
    let links = node.io_links.as_deref().unwrap_or_default();
    let link = links.iter().find(|link| is_cpu(link.to) == Some(true))?;
    Some((link.flags & FLAGS_NO_ATOMICS == 0, format!("/{}", link.path)))
}

fn with_driver(finding: Finding, driver: Option<&(bool, String)>) -> Finding {
    match driver {
        Some((true, path)) => finding.evidence(path, text!("gpu-atomics-flags")),
        Some((false, path)) => finding.evidence(path, text!("gpu-atomics-flags-none")),
        None => finding,
    }
}

/// No atomics: what that means here.
fn closed(facts: &Facts, gpu: &Gpu<'_>, what: Text) -> Finding {
    let scope = Scope::Gpu(gpu.device.bdf);
    let no_node = matches!(view::kfd_node(facts, gpu.device.bdf), Err(NoNode::NotListed(None)));
    if no_node && view::has_amdgpu(gpu.device) {
        return Finding::new(ID, scope, Status::Fail, text!("gpu-atomics-needed", what = what));
    }
    let status = if view::peers(facts, gpu).is_empty() { Status::Warn } else { Status::Fail };
    Finding::new(ID, scope, status, text!("gpu-atomics-missed", what = what))
}

fn remedy(facts: &Facts, chain: &[&PciDevice]) -> Text {
    if facts.host.cpu.as_ref().is_ok_and(|cpu| cpu.hypervisor) {
        return text!("gpu-atomics-remedy-guest");
    }
    match way_up::chipset(chain) {
        Some(why) => text!("gpu-atomics-remedy-chipset", why = why),
        None => text!("gpu-atomics-remedy"),
    }
}
