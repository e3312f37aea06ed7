// SPDX-License-Identifier: GPL-2.0-only

//! What several gates derive from facts: GPUs, pairs, KFD nodes, the driver's build, whether the module acts.

pub use crate::facts::AMD;

use tp2_policy::Address;

use crate::{
    facts::{Bdf, Facts, Indexed, KfdNode, PciDevice, ReadError, Reading},
    text,
    text::Text,
};

/// AMD as a maker of CPUs: its functions sit beside an integrated GPU.
const AMD_CPU: u16 = 0x1022;

/// An AMD GPU.
#[derive(Clone, Debug)]
pub struct Gpu<'a> {
    /// Its function.
    pub device: &'a PciDevice,
    /// Card or part of the CPU.
    pub kind: GpuKind,
}

/// Card or part of the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuKind {
    /// A card.
    Discrete,
    /// Part of the CPU, and why that is believed.
    Integrated(Text),
    /// Cannot be told, and why.
    Unknown(Text),
}

impl GpuKind {
    /// The word for it.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated(_) => "integrated",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// The AMD GPUs, by address.
#[must_use]
pub fn gpus(facts: &Facts) -> Vec<Gpu<'_>> {
    let devices = facts.pci.as_deref().unwrap_or_default();
    let amd = devices.iter().filter(|device| device.vendor == Ok(AMD) && device.is_gpu() == Some(true));
    amd.map(|device| Gpu { device, kind: kind(facts, device) }).collect()
}

/// Whether there may be GPUs that nobody saw: the list, or some entry of it, could not be read.
#[must_use]
pub fn gpus_may_hide(facts: &Facts) -> bool {
    facts.pci.is_err() || !facts.pci_skipped.is_empty()
}

/// All unordered pairs of AMD GPUs.
#[must_use]
pub fn pairs(facts: &Facts) -> Vec<(Gpu<'_>, Gpu<'_>)> {
    let gpus = gpus(facts);
    let mut pairs = Vec::new();
    for (index, a) in gpus.iter().enumerate() {
        for b in gpus.iter().skip(index + 1) {
            pairs.push((a.clone(), b.clone()));
        }
    }
    pairs
}

/// Whether a pair is one to judge: no GPU is integrated, and no XGMI link joins the two.
#[must_use]
pub fn is_judged(facts: &Facts, a: &Gpu<'_>, b: &Gpu<'_>) -> bool {
    let integrated = |gpu: &Gpu<'_>| matches!(gpu.kind, GpuKind::Integrated(_));
    !integrated(a) && !integrated(b) && !are_joined_by_xgmi(facts, a.device.bdf, b.device.bdf)
}

/// The GPUs that a GPU forms pairs with that are judged.
#[must_use]
pub fn peers<'a>(facts: &'a Facts, gpu: &Gpu<'_>) -> Vec<Gpu<'a>> {
    let others = gpus(facts).into_iter().filter(|other| other.device.bdf != gpu.device.bdf);
    others.filter(|other| is_judged(facts, gpu, other)).collect()
}

/// The AMD GPUs that are no part of a CPU.
#[must_use]
pub fn cards(facts: &Facts) -> Vec<Gpu<'_>> {
    gpus(facts).into_iter().filter(|gpu| !matches!(gpu.kind, GpuKind::Integrated(_))).collect()
}

/// Whether amdgpu drives the device, as far as that can be read.
#[must_use]
pub fn has_amdgpu(device: &PciDevice) -> bool {
    matches!(&device.driver, Ok(Some(name)) if name == "amdgpu")
}

/// Whether KFD has links both ways between the two.
#[must_use]
pub fn are_linked(facts: &Facts, a: Bdf, b: Bdf) -> bool {
    p2p_links(facts, a, b) == [true; 2]
}

/// Tells a card from a GPU in the CPU.
fn kind(facts: &Facts, device: &PciDevice) -> GpuKind {
    let bdf = device.bdf;
    if let Ok(node) = kfd_node(facts, bdf) {
        let cores = node.properties.as_ref().ok().and_then(|p| p.get("cpu_cores_count"));
        if cores.is_some_and(|count| *count > 0) {
            return GpuKind::Integrated(text!("pair-kind-has-cores", node = node.id));
        }
    }
    let function = |number| Bdf(Address::new(bdf.0.domain, bdf.0.bus, bdf.0.device(), number));
    let mut slot = facts.pci.iter().flat_map(|devices| devices.within(function(0)..=function(7)));
    if let Some(other) = slot.find(|other| other.vendor == Ok(AMD_CPU)) {
        return GpuKind::Integrated(text!("pair-kind-beside-cpu", function = other.bdf));
    }
    if !device.upstream.is_empty() {
        return GpuKind::Discrete;
    }
    match facts.host.cpu.as_ref().map(|cpu| cpu.hypervisor) {
        Ok(false) => GpuKind::Integrated(text!("pair-kind-on-root-bus")),
        _ => GpuKind::Unknown(text!("pair-kind-on-root-bus-of-guest")),
    }
}

/// Why a GPU has no KFD node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoNode {
    /// There is no KFD topology.
    NoKfd(ReadError),
    /// None of the readable nodes is this GPU; the reading that failed, if one did.
    NotListed(Option<ReadError>),
    /// Several claim the same place, this GPU's or another, so one of them may be this GPU.
    Ambiguous(Vec<u32>),
}

/// The KFD node of a GPU, by PCI address.
pub fn kfd_node(facts: &Facts, bdf: Bdf) -> Result<&KfdNode, NoNode> {
    let nodes = facts.kfd.as_ref().map_err(|error| NoNode::NoKfd(error.clone()))?;
    let mut found = nodes.all(place(bdf));
    match (found.next(), found.next()) {
        (Some(node), None) => Ok(node),
        (Some(first), Some(second)) => {
            let mut ids = vec![first.id, second.id];
            ids.extend(found.map(|node| node.id));
            Err(NoNode::Ambiguous(ids))
        }
        (None, _) => {
            let twins = claiming_one_place(nodes);
            if !twins.is_empty() {
                return Err(NoNode::Ambiguous(twins));
            }
            let failed = nodes.iter().find_map(|node| node.properties.as_ref().err());
            Err(NoNode::NotListed(failed.cloned()))
        }
    }
}

/// Whether amdgpu drives a GPU that KFD has left out: a matter of the device before one of any pair.
#[must_use]
pub fn is_missing_from_kfd(facts: &Facts, device: &PciDevice) -> bool {
    has_amdgpu(device) && kfd_node(facts, device.bdf) == Err(NoNode::NotListed(None))
}

/// KFD nodes that claim the place of another.
#[must_use]
pub fn kfd_twins(facts: &Facts) -> Vec<u32> {
    facts.kfd.as_ref().map(claiming_one_place).unwrap_or_default()
}

/// GPU nodes whose PCI address another GPU node has, too.
fn claiming_one_place(nodes: &Indexed<KfdNode>) -> Vec<u32> {
    nodes.sharing().map(|node| node.id).collect()
}

/// The key of a KFD node: `location_id` is bus and devfn; `domain` came with Linux 5.3 and was 0 on most machines before.
fn place(bdf: Bdf) -> (u64, u64) {
    (u64::from(bdf.0.domain), (u64::from(bdf.0.bus) << 8) | u64::from(bdf.0.devfn))
}

/// `CRAT_IOLINK_TYPE_XGMI`.
const LINK_XGMI: u64 = 11;

/// Whether XGMI joins the two: a direct link, or the same hive.
#[must_use]
pub fn are_joined_by_xgmi(facts: &Facts, a: Bdf, b: Bdf) -> bool {
    let (Ok(a), Ok(b)) = (kfd_node(facts, a), kfd_node(facts, b)) else {
        return false;
    };
    let hive = |node: &KfdNode| -> Option<u64> {
        let id = node.properties.as_ref().ok()?.get("hive_id").copied();
        id.filter(|id| *id != 0)
    };
    if hive(a).is_some() && hive(a) == hive(b) {
        return true;
    }
    let one_way = |from: &KfdNode, to: &KfdNode| {
        let links = from.io_links.as_deref().unwrap_or_default();
        links.iter().any(|link| link.kind == LINK_XGMI && link.to == u64::from(to.id))
    };
    one_way(a, b) || one_way(b, a)
}

/// Why it cannot be told whether XGMI joins the two, if so.
#[must_use]
pub fn xgmi_unreadable(facts: &Facts, a: Bdf, b: Bdf) -> Option<&ReadError> {
    let nodes = [kfd_node(facts, a).ok()?, kfd_node(facts, b).ok()?];
    nodes.into_iter().find_map(|node| node.io_links.as_ref().err())
}

/// Which of the two directions KFD has a `p2p_link` for.
fn p2p_links(facts: &Facts, a: Bdf, b: Bdf) -> [bool; 2] {
    let (Ok(a), Ok(b)) = (kfd_node(facts, a), kfd_node(facts, b)) else {
        return [false; 2];
    };
    let one_way = |from: &KfdNode, to: &KfdNode| {
        let links = from.p2p_links.as_deref().unwrap_or_default();
        links.iter().any(|link| link.to == u64::from(to.id))
    };
    [one_way(a, b), one_way(b, a)]
}

/// Whether KFD has a `p2p_link` between the two, in any direction.
#[must_use]
pub fn has_p2p_link(facts: &Facts, a: Bdf, b: Bdf) -> bool {
    p2p_links(facts, a, b).contains(&true)
}

/// Whether every pair that is judged has its links, both ways.
#[must_use]
pub fn all_pairs_linked(facts: &Facts) -> bool {
    let pairs = pairs(facts);
    let mut judged = pairs.iter().filter(|(a, b)| is_judged(facts, a, b)).peekable();
    judged.peek().is_some() && judged.all(|(a, b)| are_linked(facts, a.device.bdf, b.device.bdf))
}

/// Whether amdgpu was built with `CONFIG_HSA_AMD_P2P`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverP2p {
    /// It was: where that was seen, and what.
    On(String, Text),
    /// It was not, and it is the kernel's own: it makes no links.
    Off(String, Text),
    /// It was not, and it was built outside the kernel: such drivers can have an older way, with a test of DMA masks and
    /// none of the chipset.
    OffOutside(String, Text),
    /// Cannot be told, and why.
    Unknown(Text),
}

/// The parameter that amdgpu has only with `CONFIG_HSA_AMD_P2P` (`amdgpu_drv.c`, Linux 6.1 to 7.3).
pub const P2P_PARAMETER: &str = "pcie_p2p";

/// Finds out how amdgpu was built. The driver itself is better proof than the kernel's configuration.
#[must_use]
pub fn driver_p2p(facts: &Facts) -> DriverP2p {
    let path = facts.amdgpu.file.as_ref();
    let outside = path.is_ok_and(|path| !is_in_tree(path)) && facts.amdgpu.builtin != Ok(true);
    match by_driver(facts) {
        DriverP2p::Off(path, value) if outside => DriverP2p::OffOutside(path, value),
        other => other,
    }
}

fn by_driver(facts: &Facts) -> DriverP2p {
    let amdgpu = &facts.amdgpu;
    if amdgpu.is_loaded() && amdgpu.has_parameters == Ok(true) {
        let path = format!("/sys/module/amdgpu/parameters/{P2P_PARAMETER}");
        match &amdgpu.pcie_p2p {
            Ok(value) => return DriverP2p::On(path, value.into()),
            Err(error) if error.is_absent() => {
                return DriverP2p::Off(path, text!("amdgpu-driver-no-such-parameter"));
            }
            Err(_) => {}
        }
    }
    if let Ok(info) = &amdgpu.info {
        let path = format!("/{}", info.path);
        let parameter = P2P_PARAMETER.to_owned();
        return if info.parameters.contains(&parameter) {
            DriverP2p::On(path, text!("amdgpu-driver-has-parameter", parameter = parameter))
        } else {
            DriverP2p::Off(path, text!("amdgpu-driver-has-no-parameter", parameter = parameter))
        };
    }
    by_config(facts)
}

/// The kernel's configuration speaks for the amdgpu of the kernel only.
fn by_config(facts: &Facts) -> DriverP2p {
    let amdgpu = &facts.amdgpu;
    let builtin = amdgpu.builtin == Ok(true);
    let in_tree = amdgpu.file.as_ref().is_ok_and(|path| is_in_tree(path));
    if let (Ok(path), false) = (&amdgpu.file, in_tree || builtin) {
        return DriverP2p::Unknown(text!("amdgpu-driver-outside", path = format!("/{path}")));
    }
    match &facts.kernel.config {
        Ok(config) if config.is_on("CONFIG_HSA_AMD_P2P") => {
            DriverP2p::On(format!("/{}", config.path), Text::AsRead("CONFIG_HSA_AMD_P2P=y".to_owned()))
        }
        Ok(config) => DriverP2p::Off(format!("/{}", config.path), text!("amdgpu-driver-not-configured")),
        Err(error) => DriverP2p::Unknown(text!("amdgpu-driver-unreadable", error = error)),
    }
}

/// Whether a module file is one that came with the kernel.
#[must_use]
pub fn is_in_tree(path: &str) -> bool {
    let mut parts = path.split('/').skip_while(|part| *part != "modules").skip(2);
    parts.next() == Some("kernel")
}

/// Whether a reading is this text.
fn reads(reading: Option<&Reading<String>>, wanted: &str) -> bool {
    matches!(reading, Some(Ok(text)) if text == wanted)
}

/// Whether the loaded module's hook was seen to work, just now.
#[must_use]
pub fn hook_is_proven(facts: &Facts) -> bool {
    let module = &facts.module;
    module.is_loaded() && reads(module.state.get("self_test"), "pass")
}

/// Whether the loaded module acts: initialised, its hook proven, and told to.
#[must_use]
pub fn module_acts(facts: &Facts) -> bool {
    let module = &facts.module;
    hook_is_proven(facts) && reads(Some(&module.initstate), "live") && reads(module.parameters.get("mode"), "force")
}

/// Why the module could not set its hook on this boot, and so is not loaded.
#[must_use]
pub fn hook_failure(facts: &Facts) -> Option<&str> {
    let log = facts.kernel_log.as_ref().ok()?;
    log.hook_failure.as_deref().filter(|_| facts.module.loaded == Ok(false))
}

/// Whether `CONFIG_PCI_P2PDMA` is known to be off.
#[must_use]
pub fn p2pdma_is_off(facts: &Facts) -> bool {
    matches!(&facts.kernel.config, Ok(config) if !config.is_on("CONFIG_PCI_P2PDMA"))
}

/// Whether the override cannot help on this kernel whatever the route: nothing to hook, or a driver that never asks.
#[must_use]
pub fn override_is_useless(facts: &Facts) -> bool {
    p2pdma_is_off(facts) || matches!(driver_p2p(facts), DriverP2p::Off(..) | DriverP2p::OffOutside(..))
}
