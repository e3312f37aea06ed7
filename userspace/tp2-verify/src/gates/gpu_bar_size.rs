// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.bar-size`: whether all of the GPU's memory can be seen through its BAR. amdgpu lets peers in only if visible
//! and real memory are of one size (`amdgpu_device_is_peer_accessible()`, Linux 6.12 to 7.3). That is what counts, not
//! whether the card or the firmware has Resizable BAR: some cards come with a BAR of full size (case A45).

use crate::{
    facts::{Bar, Facts, GpuMemory},
    finding::{Finding, Scope, Status},
    view::{self, Gpu},
};

pub(super) const ID: &str = "gpu.bar-size";
const FOUR_GIB: u64 = 1 << 32;

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    view::cards(facts).iter().filter_map(|gpu| judge_gpu(facts, gpu)).collect()
}

fn judge_gpu(facts: &Facts, gpu: &Gpu<'_>) -> Option<Finding> {
    let device = gpu.device;
    let scope = Scope::Gpu(device.bdf);
    let memory = device.memory.as_ref()?;
    if !view::has_amdgpu(device) {
        return Some(Finding::new(
            ID,
            scope,
            Status::Skip,
            "without amdgpu nobody tells the size of this GPU's memory",
        ));
    }
    let (vram, visible) = match (&memory.vram, &memory.visible_vram) {
        (Ok(vram), Ok(visible)) => (*vram, *visible),
        (Err(error), _) | (_, Err(error)) => {
            let peers = view::peers(facts, gpu);
            let linked = |peer: &Gpu<'_>| view::are_linked(facts, device.bdf, peer.device.bdf);
            if !peers.is_empty() && peers.iter().all(linked) {
                let summary = "KFD has links with every peer, which it makes only where all memory can be seen";
                return Some(Finding::new(ID, scope, Status::Pass, summary).failed_reading(error));
            }
            return Some(Finding::unreadable(ID, scope, "how much of this GPU's memory can be seen", error));
        }
    };
    let finding = |status, summary: String| {
        let finding = Finding::new(ID, scope, status, summary)
            .evidence(format!("/{}/mem_info_vram_total", device.path), vram.to_string())
            .evidence(format!("/{}/mem_info_vis_vram_total", device.path), visible.to_string());
        with_bar(finding, &device.path, memory)
    };
    if vram == visible && vram > 0 {
        let summary = format!("all of its memory, {}, can be seen through its BAR", mebibytes(vram));
        return Some(finding(Status::Pass, summary));
    }
    let status = if view::peers(facts, gpu).is_empty() { Status::Warn } else { Status::Fail };
    let seen = format!("only {} of its {} can be seen through its BAR", mebibytes(visible), mebibytes(vram));
    let bar = memory.bar.as_ref().ok().copied().flatten();
    Some(match bar {
        Some(Bar { start, .. }) if start < FOUR_GIB => finding(
            status,
            format!("{seen}, so peers cannot reach it: the firmware placed the BAR below 4 GiB, where there is no room"),
        )
        .remedy(
            "switch on Above 4G Decoding in the firmware, switch off CSM, update the firmware; if the BAR stays below 4 GiB, \
             the kernel parameter pci=nocrs has helped, at the risk of address conflicts",
        ),
        _ => finding(status, format!("{seen}, so peers cannot reach it")).remedy(
            "switch on Resizable BAR in the firmware; if it is on, read the kernel log for BAR 0 of this address: another \
             card below the same bridge may leave no room, or this slot's firmware window may be too small",
        ),
    })
}

fn with_bar(finding: Finding, path: &str, memory: &GpuMemory) -> Finding {
    let source = format!("/{path}/resource");
    match &memory.bar {
        Ok(Some(bar)) => finding.evidence(source, format!("BAR 0 at {:#x}, size {}", bar.start, mebibytes(bar.size()))),
        Ok(None) => finding.evidence(source, "BAR 0 has no address"),
        Err(error) => finding.failed_reading(error),
    }
}

/// Whole MiB.
fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
