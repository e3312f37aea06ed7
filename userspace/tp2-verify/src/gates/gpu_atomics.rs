// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.atomics`: whether the GPU may send atomic operations to the CPU. The root port has to complete those of 32 and of
//! 64 bits, each switch port between has to route them, and no upstream port may block them
//! (`pci_enable_atomic_ops_to_root()`, `drivers/pci/pci.c`, Linux 7.3). Whether the root port itself routes does not
//! matter. Old GPUs (gfx8) need atomics for KFD at all; newer ones need them for RCCL and for kernels that call the host.

use crate::{
    collect::pci_config::{PORT_DOWNSTREAM, PORT_ROOT, PORT_UPSTREAM},
    facts::{Express, Facts, PciDevice, ReadError},
    finding::{Finding, Scope, Status},
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
    Closed(&'a PciDevice, Express, String),
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
            let summary = format!("{} cannot use PCIe atomics: {why}", gpu.device.bdf);
            let finding =
                closed(facts, gpu, &summary).evidence(format!("/{}/config", port.path), express.atomics_words());
            with_driver(finding, driver.as_ref()).remedy(remedy(facts, &chain))
        }
        (Some((false, path)), _) => {
            let summary = format!("{} cannot use PCIe atomics: its driver did not get them", gpu.device.bdf);
            closed(facts, gpu, &summary).evidence(path.clone(), "flags: no atomics").remedy(remedy(facts, &chain))
        }
        (None, Way::NoRootPort) => {
            let summary = format!("{} has no root port above it, so its driver gets no PCIe atomics", gpu.device.bdf);
            closed(facts, gpu, &summary)
                .evidence(format!("/{}", gpu.device.path), "no root port on the way")
                .remedy(remedy(facts, &chain))
        }
        (driver, Way::Open(root, express)) => {
            let summary = "every port up to the CPU handles PCIe atomics";
            let pass = Finding::new(ID, scope, Status::Pass, summary)
                .evidence(format!("/{}/config", root.path), express.atomics_words());
            with_driver(pass, driver.as_ref())
        }
        (Some((true, path)), _) => Finding::new(ID, scope, Status::Pass, "amdgpu got PCIe atomics for this GPU")
            .evidence(path.clone(), "flags: atomics"),
        (None, Way::Unknown(error)) => {
            Finding::unreadable(ID, scope, "whether the ports above this GPU handle PCIe atomics", &error)
        }
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
                return Way::Closed(device, express, format!("switch port {bdf} blocks them (EgressBlck+)"));
            }
            PORT_UPSTREAM | PORT_DOWNSTREAM if !express.routes_atomics() => {
                return Way::Closed(device, express, format!("switch port {bdf} does not route them (Routing-)"));
            }
            PORT_ROOT if !(express.completes_32() && express.completes_64()) => {
                return Way::Closed(device, express, format!("root port {bdf} does not complete them"));
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
        Some((true, path)) => finding.evidence(path.clone(), "flags: atomics"),
        Some((false, path)) => finding.evidence(path.clone(), "flags: no atomics"),
        None => finding,
    }
}

/// No atomics: what that means here.
fn closed(facts: &Facts, gpu: &Gpu<'_>, what: &str) -> Finding {
    let scope = Scope::Gpu(gpu.device.bdf);
    let no_node = matches!(view::kfd_node(facts, gpu.device.bdf), Err(NoNode::NotListed(None)));
    if no_node && view::has_amdgpu(gpu.device) {
        let summary = format!("{what}, and KFD takes no GPU that needs them");
        return Finding::new(ID, scope, Status::Fail, summary);
    }
    let summary = format!(
        "{what}; plain copies may do without, but RCCL and kernels that call the host are refused (RCCL: \"operation cannot \
         be performed in the present state\")"
    );
    let status = if view::peers(facts, gpu).is_empty() { Status::Warn } else { Status::Fail };
    Finding::new(ID, scope, status, summary)
}

fn remedy(facts: &Facts, chain: &[&PciDevice]) -> String {
    if facts.host.cpu.as_ref().is_ok_and(|cpu| cpu.hypervisor) {
        return "in this guest the ports are the hypervisor's: give the guest a root port for each card and pass function .0 of \
                the card only, without its audio function (QEMU from 8.1 on offers atomics to single-function devices only)"
            .to_owned();
    }
    match way_up::chipset(chain) {
        Some(why) => format!("{why}, and many of those have no atomics: move the card to a slot of the CPU"),
        None => {
            "move the card to another slot of the CPU, without riser or adapter, and update the firmware".to_owned()
        }
    }
}
