// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.bar-address`: whether each peer can form the address of this GPU's memory. A GPU has a limited number of address
//! bits (its DMA mask: 44 for most, 40 for old ones); firmware may place the BAR beyond. amdgpu then lets a peer in only
//! if an IOMMU translates for that peer, which gives it other, lower addresses (`amdgpu_device_is_peer_accessible()` and
//! `amdgpu_device_check_iommu_remap()`, Linux 6.12 to 7.3). So `iommu=pt` is right on some machines and breaks others.

use tp2_policy::KernelVersion;

use crate::{
    facts::{Bar, Bdf, Facts, PciDevice, ReadError},
    finding::{Finding, Scope, Status},
    text,
    text::Text,
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
    /// Cannot be told, since amdgpu has not set the DMA mask: its path.
    NotSet(String),
}

/// What the IOMMU does for a device that it does not translate for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Untranslated {
    Absent,
    PassThrough,
    /// The driver does not go by it.
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
        return vec![Finding::new(ID, scope, Status::Na, text!("gpu-bar-address-no-peer"))];
    }
    let bar = match &memory.bar {
        Ok(Some(bar)) => *bar,
        Ok(None) => {
            let failure = Finding::new(ID, scope, Status::Fail, text!("gpu-bar-address-no-bar"));
            return vec![
                failure
                    .evidence(format!("/{}/resource", device.path), text!("gpu-bar-address-no-bar-line"))
                    .remedy(text!("gpu-bar-address-no-bar-remedy", gpu = device.bdf)),
            ];
        }
        Err(error) => return vec![Finding::unreadable(ID, scope, text!("gpu-bar-address-what-address"), error)],
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
        Ok(_) => return Reach::NotSet(format!("/{}/dma_mask_bits", peer.path)),
        Err(error) => return Reach::Unknown(error.clone()),
    };
    if bar.bits() <= bits {
        return Reach::Fits(bits);
    }
    // Such a driver compares addresses and masks alone, whatever the IOMMU does (case A08).
    if matches!(view::driver_p2p(facts), DriverP2p::OffOutside(..)) {
        return Reach::Beyond(bits, Untranslated::Unused);
    }
    match &peer.iommu_type {
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
    let (start, end) = (format!("{:#x}", bar.start), format!("{:#x}", bar.end));
    let place = text!("gpu-bar-address-place", end = &end, bits = bar.bits());
    let finding = |status, summary: Text, (peer, reach): &(Bdf, Reach)| {
        let range = text!("gpu-bar-address-range", start = &start, end = &end);
        Finding::new(ID, scope, status, summary)
            .evidence(format!("/{}/resource", device.path), range)
            .evidence(text!("gpu-bar-address-peer", peer = peer), reach_words(reach))
    };
    let find = |wanted: fn(&Reach) -> bool| reaches.iter().find(|(_, reach)| wanted(reach));
    if let Some(found @ (peer, Reach::Beyond(bits, why))) = find(|reach| matches!(reach, Reach::Beyond(..))) {
        if view::are_linked(facts, device.bdf, *peer) {
            let summary = text!("gpu-bar-address-beyond-linked", place = place, bits = *bits, peer = peer);
            return finding(Status::Warn, summary, found);
        }
        let summary = if *why == Untranslated::Unused {
            text!("gpu-bar-address-beyond-unused", place = place, bits = *bits, peer = peer)
        } else {
            text!("gpu-bar-address-beyond", place = place, bits = *bits, peer = peer)
        };
        return finding(Status::Fail, summary, found).remedy(remedy(facts, *why));
    }
    let all_linked = || reaches.iter().all(|(peer, _)| view::are_linked(facts, device.bdf, *peer));
    if let Some(unknown) = reaches.iter().find_map(|(_, reach)| unknown(scope, reach, all_linked)) {
        return unknown;
    }
    if let Some(found @ (peer, _)) = find(|reach| matches!(reach, Reach::OldKernel)) {
        let version = GOES_BY_TRANSLATION.to_string();
        let summary = text!("gpu-bar-address-old-kernel", place = place, peer = peer, version = version);
        return finding(Status::Unknown, summary, found).remedy(text!("gpu-bar-address-old-kernel-remedy"));
    }
    if let Some(found @ (peer, _)) = find(|reach| matches!(reach, Reach::Translated(_))) {
        let summary = text!("gpu-bar-address-translated", place = place, peer = peer);
        return finding(Status::Pass, summary, found);
    }
    match reaches.first() {
        Some(first) => finding(Status::Pass, text!("gpu-bar-address-pass", place = place), first),
        None => Finding::new(ID, scope, Status::Na, text!("gpu-bar-address-no-peer")),
    }
}

/// What is said of a peer that cannot be told, unless KFD's links tell of all.
fn unknown(scope: Scope, reach: &Reach, all_linked: impl Fn() -> bool) -> Option<Finding> {
    let pass = || Finding::new(ID, scope, Status::Pass, text!("gpu-bar-address-linked"));
    let what = text!("gpu-bar-address-what-reach");
    match reach {
        Reach::Unknown(error) if all_linked() => Some(pass().failed_reading(error)),
        Reach::Unknown(error) => Some(Finding::unreadable(ID, scope, what, error)),
        Reach::NotSet(path) if all_linked() => Some(pass().evidence(path, text!("gpu-bar-address-mask-not-set"))),
        Reach::NotSet(path) => Some(
            Finding::new(ID, scope, Status::Unknown, text!("unreadable", what = what, error = reach_words(reach)))
                .evidence(path, text!("gpu-bar-address-mask-not-set"))
                .remedy(text!("unreadable-other-remedy", path = path)),
        ),
        _ => None,
    }
}

fn reach_words(reach: &Reach) -> Text {
    match reach {
        Reach::Fits(bits) => text!("gpu-bar-address-peer-fits", bits = *bits),
        Reach::Translated(kind) => text!("gpu-bar-address-peer-translated", kind = kind),
        Reach::Beyond(bits, Untranslated::Absent) => text!("gpu-bar-address-peer-absent", bits = *bits),
        Reach::Beyond(bits, Untranslated::PassThrough) => text!("gpu-bar-address-peer-pass-through", bits = *bits),
        Reach::Beyond(bits, Untranslated::Unused) => text!("gpu-bar-address-peer-unused", bits = *bits),
        Reach::Beyond(bits, Untranslated::Other) => text!("gpu-bar-address-peer-other", bits = *bits),
        Reach::OldKernel => text!("gpu-bar-address-peer-old-kernel"),
        Reach::Unknown(error) => error.into(),
        Reach::NotSet(path) => text!("read-error", path = path, reason = text!("gpu-bar-address-mask-not-set")),
    }
}

fn remedy(facts: &Facts, why: Untranslated) -> Text {
    match why {
        // To make the IOMMU translate would not help there, and before 6.0 it would harm (case A15).
        Untranslated::PassThrough | Untranslated::Absent if is_older(facts, GOES_BY_TRANSLATION) => {
            text!("gpu-bar-address-remedy-old-kernel", version = GOES_BY_TRANSLATION.to_string())
        }
        Untranslated::PassThrough => text!("gpu-bar-address-remedy-pass-through"),
        Untranslated::Absent => text!("gpu-bar-address-remedy-absent"),
        Untranslated::Unused => text!("gpu-bar-address-remedy-unused"),
        Untranslated::Other => text!("gpu-bar-address-remedy-other"),
    }
}

/// Kernels before 6.0 gave peers bus addresses that a translating IOMMU does not know.
fn old_stack(facts: &Facts, device: &PciDevice, peers: &[Gpu<'_>]) -> Option<Finding> {
    let translated = peers.iter().find(|peer| peer.device.iommu_type.as_deref().is_ok_and(translates))?;
    if !is_older(facts, MAPS_FOR_IOMMU) {
        return None;
    }
    let peer = translated.device.bdf;
    let summary = text!("gpu-bar-address-old-stack", peer = peer, version = MAPS_FOR_IOMMU.to_string());
    let kind = translated.device.iommu_type.clone().unwrap_or_default();
    let release = facts.kernel.release.clone().unwrap_or_default();
    Some(
        Finding::new(ID, Scope::Gpu(device.bdf), Status::Fail, summary)
            .evidence(text!("gpu-bar-address-old-stack-group", peer = peer), kind)
            .evidence("/proc/sys/kernel/osrelease".to_owned(), release)
            .remedy(text!("gpu-bar-address-old-stack-remedy")),
    )
}
