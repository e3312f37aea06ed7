// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.bar-address`: whether each peer can form the address of this GPU's memory. A GPU has a limited number of address
//! bits (its DMA mask: 44 for most, 40 for old ones); firmware may place the BAR beyond. amdgpu then lets a peer in only
//! if an IOMMU translates for that peer, which gives it other, lower addresses (`amdgpu_device_is_peer_accessible()` and
//! `amdgpu_device_check_iommu_remap()`, Linux 6.12 to 7.3). So `iommu=pt` is right on some machines and breaks others.

use tp2_policy::KernelVersion;

use crate::{
    facts::{Bar, Bdf, Facts, PciDevice, ReadError},
    finding::{Finding, Scope, Status},
    view::{self, DriverP2p, Gpu},
};

pub(super) const ID: &str = "gpu.bar-address";

/// The fewest bits that amdgpu sets (`gmc_v6_0.c` to `gmc_v8_0.c`, Linux 6.12 to 7.3).
const FEWEST_BITS: u32 = 40;
/// The oldest kernel whose amdgpu is known here to go by the IOMMU's translation.
const GOES_BY_TRANSLATION: KernelVersion = KernelVersion::new(6, 12, 0);
/// `CONFIG_HSA_AMD_P2P` came with Linux 6.0. Before, peers got addresses that no IOMMU had been told of (case A15).
const MAPS_FOR_IOMMU: KernelVersion = KernelVersion::new(6, 0, 0);

/// How one peer fares.
enum Reach {
    /// The address fits.
    Fits(u32),
    /// It does not fit, and the IOMMU translates.
    Translated(String),
    /// It does not fit, and nothing translates: bits, and what the IOMMU does.
    Beyond(u32, Untranslated),
    /// It does not fit and is translated, which this kernel may not know.
    OldKernel,
    /// Cannot be told.
    Unknown(ReadError),
}

/// What the IOMMU does for a device that it does not translate for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Untranslated {
    Absent,
    PassThrough,
    /// It translates, but the driver does not go by that (case A08).
    Unused,
    Other,
}

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    view::cards(facts).iter().flat_map(|gpu| judge_gpu(facts, gpu)).collect()
}

fn judge_gpu(facts: &Facts, gpu: &Gpu<'_>) -> Vec<Finding> {
    let device = gpu.device;
    let scope = Scope::Gpu(device.bdf);
    let Some(memory) = &device.memory else {
        return Vec::new();
    };
    let peers = view::peers(facts, gpu);
    if peers.is_empty() {
        return vec![Finding::new(ID, scope, Status::Na, "there is no peer that would have to reach this GPU")];
    }
    let bar = match &memory.bar {
        Ok(Some(bar)) => *bar,
        Ok(None) => {
            let summary = "BAR 0, through which peers reach this GPU's memory, has no address";
            let failure = Finding::new(ID, scope, Status::Fail, summary);
            return vec![
                failure.evidence(format!("/{}/resource", device.path), "first line: no address range").remedy(
                    "switch on Above 4G Decoding in the firmware; read the kernel log for BAR 0 of this address",
                ),
            ];
        }
        Err(error) => return vec![Finding::unreadable(ID, scope, "the address of this GPU's memory", error)],
    };
    let reaches: Vec<(Bdf, Reach)> =
        peers.iter().map(|peer| (peer.device.bdf, reach(facts, bar, peer.device))).collect();
    let mut findings = vec![words(facts, device, bar, &reaches)];
    findings.extend(old_stack(facts, device, &peers));
    findings
}

fn reach(facts: &Facts, bar: Bar, peer: &PciDevice) -> Reach {
    let Some(memory) = &peer.memory else {
        return Reach::Unknown(ReadError::absent(&format!("{}/dma_mask_bits", peer.path)));
    };
    if bar.bits() <= FEWEST_BITS {
        return Reach::Fits(FEWEST_BITS);
    }
    let bits = match &memory.dma_mask_bits {
        // Before a driver sets it, it is 32.
        Ok(bits) if view::has_amdgpu(peer) => *bits,
        Ok(_) => {
            let path = format!("{}/dma_mask_bits", peer.path);
            return Reach::Unknown(ReadError::malformed(&path, "amdgpu has not set it"));
        }
        Err(error) => return Reach::Unknown(error.clone()),
    };
    if bar.bits() <= bits {
        return Reach::Fits(bits);
    }
    match &peer.iommu_type {
        Ok(kind) if translates(kind) && matches!(view::driver_p2p(facts), DriverP2p::OffOutside(..)) => {
            Reach::Beyond(bits, Untranslated::Unused)
        }
        Ok(kind) if translates(kind) && is_older(facts, GOES_BY_TRANSLATION) => Reach::OldKernel,
        Ok(kind) if translates(kind) => Reach::Translated(kind.clone()),
        Ok(kind) if kind == "identity" => Reach::Beyond(bits, Untranslated::PassThrough),
        Ok(_) => Reach::Beyond(bits, Untranslated::Other),
        Err(error) if error.is_absent() && facts.iommu_groups_listed => Reach::Beyond(bits, Untranslated::Absent),
        Err(error) => Reach::Unknown(error.clone()),
    }
}

/// `IOMMU_DOMAIN_DMA` and `IOMMU_DOMAIN_DMA_FQ` (`drivers/iommu/iommu.c`, Linux 7.3).
fn translates(kind: &str) -> bool {
    kind == "DMA" || kind == "DMA-FQ"
}

fn is_older(facts: &Facts, than: KernelVersion) -> bool {
    let release = facts.kernel.release.as_ref().ok().and_then(|text| text.parse::<KernelVersion>().ok());
    release.is_some_and(|release| release < than)
}

/// The worst peer decides.
fn words(facts: &Facts, device: &PciDevice, bar: Bar, reaches: &[(Bdf, Reach)]) -> Finding {
    let scope = Scope::Gpu(device.bdf);
    let place = format!("its memory ends at {:#x} and needs {} address bits", bar.end, bar.bits());
    let finding = |status, summary: String, (peer, reach): &(Bdf, Reach)| {
        Finding::new(ID, scope, status, summary)
            .evidence(format!("/{}/resource", device.path), format!("BAR 0 from {:#x} to {:#x}", bar.start, bar.end))
            .evidence(format!("peer {peer}"), reach_words(reach))
    };
    let find = |wanted: fn(&Reach) -> bool| reaches.iter().find(|(_, reach)| wanted(reach));
    if let Some(found @ (peer, Reach::Beyond(bits, why))) = find(|reach| matches!(reach, Reach::Beyond(..))) {
        if view::are_linked(facts, device.bdf, *peer) {
            let summary =
                format!("{place}, more than the {bits} of {peer}, yet KFD has links: one of the two is read wrongly");
            return finding(Status::Warn, summary, found);
        }
        let summary = format!(
            "{place}, more than the {bits} of {peer}, and {}",
            if *why == Untranslated::Unused {
                "this amdgpu does not go by the IOMMU"
            } else {
                "no IOMMU translates for that peer"
            }
        );
        return finding(Status::Fail, summary, found).remedy(remedy(*why));
    }
    if let Some((_, Reach::Unknown(error))) = find(|reach| matches!(reach, Reach::Unknown(_))) {
        if reaches.iter().all(|(peer, _)| view::are_linked(facts, device.bdf, *peer)) {
            let summary = "KFD has links with every peer, which it makes only where each can form the address";
            return Finding::new(ID, scope, Status::Pass, summary).failed_reading(error);
        }
        return Finding::unreadable(ID, scope, "whether every peer can form this GPU's addresses", error);
    }
    if let Some(found @ (peer, _)) = find(|reach| matches!(reach, Reach::OldKernel)) {
        let summary = format!(
            "{place}, more than {peer} has; an IOMMU translates for that peer, but whether the amdgpu of a kernel before \
             {GOES_BY_TRANSLATION} goes by that is not known"
        );
        return finding(Status::Unknown, summary, found)
            .remedy("boot a newer kernel, or lower the MMIO base in the firmware");
    }
    if let Some(found @ (peer, _)) = find(|reach| matches!(reach, Reach::Translated(_))) {
        let summary = format!(
            "{place}, more than {peer} has, but an IOMMU translates for that peer: leave it so, since iommu=pt would \
             cut this pair"
        );
        return finding(Status::Pass, summary, found);
    }
    let summary = format!("{place}, which every peer has");
    match reaches.first() {
        Some(first) => finding(Status::Pass, summary, first),
        None => Finding::new(ID, scope, Status::Na, "there is no peer that would have to reach this GPU"),
    }
}

fn reach_words(reach: &Reach) -> String {
    match reach {
        Reach::Fits(bits) => format!("has at least {bits} address bits"),
        Reach::Translated(kind) => format!("IOMMU domain {kind}: translates"),
        Reach::Beyond(bits, Untranslated::Absent) => format!("{bits} address bits, no IOMMU"),
        Reach::Beyond(bits, Untranslated::PassThrough) => format!("{bits} address bits, IOMMU domain identity"),
        Reach::Beyond(bits, Untranslated::Unused) => {
            format!("{bits} address bits; an IOMMU translates, but this amdgpu goes by the bits alone")
        }
        Reach::Beyond(bits, Untranslated::Other) => format!("{bits} address bits, IOMMU domain of another type"),
        Reach::OldKernel => "an IOMMU translates".to_owned(),
        Reach::Unknown(error) => error.to_string(),
    }
}

fn remedy(why: Untranslated) -> &'static str {
    match why {
        Untranslated::PassThrough => {
            "on this machine the IOMMU has to translate: remove iommu=pt (or iommu.passthrough=1) from the kernel command \
             line and reboot; or place the BARs lower in the firmware (MMIO High Base, MMIOH Base, at most 16 TiB for 44 bits)"
        }
        Untranslated::Absent => {
            "switch on the IOMMU in the firmware (VT-d, AMD-Vi) and, on Intel, boot with intel_iommu=on and without iommu=pt; \
             or place the BARs lower in the firmware (MMIO High Base, MMIOH Base, at most 16 TiB for 44 bits)"
        }
        Untranslated::Unused => {
            "use an amdgpu with HSA_AMD_P2P (see kernel.hsa-amd-p2p), which goes by the IOMMU's translation; or place the BARs lower \
             in the firmware (MMIO High Base, MMIOH Base)"
        }
        Untranslated::Other => {
            "give this GPU back to the host; or place the BARs lower in the firmware (MMIO High Base, MMIOH Base)"
        }
    }
}

/// Kernels before 6.0 gave peers bus addresses that a translating IOMMU does not know.
fn old_stack(facts: &Facts, device: &PciDevice, peers: &[Gpu<'_>]) -> Option<Finding> {
    let translated = peers.iter().find(|peer| peer.device.iommu_type.as_deref().is_ok_and(translates))?;
    if !is_older(facts, MAPS_FOR_IOMMU) {
        return None;
    }
    let peer = translated.device.bdf;
    let summary =
        format!("an IOMMU translates for {peer}, and kernels before {MAPS_FOR_IOMMU} do not tell it of peers' memory");
    let kind = translated.device.iommu_type.as_deref().unwrap_or_default();
    Some(
        Finding::new(ID, Scope::Gpu(device.bdf), Status::Fail, summary)
            .evidence(format!("IOMMU group of {peer}"), kind)
            .evidence("/proc/sys/kernel/osrelease", facts.kernel.release.as_deref().unwrap_or_default())
            .remedy("on this kernel boot with iommu=pt, or use a newer kernel, where it is not needed"),
    )
}
