// SPDX-License-Identifier: GPL-2.0-only

//! `gpu.bar-size`: whether all of the GPU's memory can be seen through its BAR. amdgpu lets peers in only if visible
//! and real memory are of one size (`amdgpu_device_is_peer_accessible()`, Linux 6.12 to 7.3). That is what counts, not
//! whether the card or the firmware has Resizable BAR: some cards come with a BAR of full size (case A45).

use crate::{
    facts::{Bar, Facts, GpuMemory},
    finding::{Finding, Scope, Status},
    text,
    text::Text,
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
        return Some(Finding::new(ID, scope, Status::Skip, text!("gpu-bar-size-no-amdgpu")));
    }
    let (vram, visible) = match (&memory.vram, &memory.visible_vram) {
        (Ok(vram), Ok(visible)) => (*vram, *visible),
        (Err(error), _) | (_, Err(error)) => {
            let peers = view::peers(facts, gpu);
            let linked = |peer: &Gpu<'_>| view::are_linked(facts, device.bdf, peer.device.bdf);
            if !peers.is_empty() && peers.iter().all(linked) {
                let pass = Finding::new(ID, scope, Status::Pass, text!("gpu-bar-size-linked"));
                return Some(pass.failed_reading(error));
            }
            return Some(Finding::unreadable(ID, scope, text!("gpu-bar-size-what-visible"), error));
        }
    };
    let finding = |status, summary: Text| {
        let finding = Finding::new(ID, scope, status, summary)
            .evidence(format!("/{}/mem_info_vram_total", device.path), vram.to_string())
            .evidence(format!("/{}/mem_info_vis_vram_total", device.path), visible.to_string());
        with_bar(finding, &device.path, memory)
    };
    if vram == visible && vram > 0 {
        return Some(finding(Status::Pass, text!("gpu-bar-size-pass", memory = mebibytes(vram))));
    }
    let status = if view::peers(facts, gpu).is_empty() { Status::Warn } else { Status::Fail };
    let (seen, real) = (mebibytes(visible), mebibytes(vram));
    let bar = memory.bar.as_ref().ok().copied().flatten();
    Some(match bar {
        Some(Bar { start, .. }) if start < FOUR_GIB => {
            finding(status, text!("gpu-bar-size-low", visible = seen, memory = real))
                .remedy(text!("gpu-bar-size-low-remedy"))
        }
        _ => finding(status, text!("gpu-bar-size-hidden", visible = seen, memory = real))
            .remedy(text!("gpu-bar-size-hidden-remedy", gpu = device.bdf)),
    })
}

fn with_bar(finding: Finding, path: &str, memory: &GpuMemory) -> Finding {
    let source = format!("/{path}/resource");
    match &memory.bar {
        Ok(Some(bar)) => {
            let start = format!("{:#x}", bar.start);
            finding.evidence(source, text!("gpu-bar-size-bar", start = start, size = mebibytes(bar.size())))
        }
        Ok(None) => finding.evidence(source, text!("gpu-bar-size-no-bar")),
        Err(error) => finding.failed_reading(error),
    }
}

/// Whole MiB.
fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
