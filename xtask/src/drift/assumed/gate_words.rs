// SPDX-License-Identifier: GPL-2.0-only
//! How amdgpu, amdkfd and xe reach and map peer memory, read from Linux 6.1.176, 6.12.117, 7.2.12 and 7.3.4.

use super::{GateWord, Seen};

const fn word(file: &'static str, word: &'static str, seen: Seen) -> GateWord {
    GateWord { file, word, seen }
}

/// All such names, by file.
pub(in crate::drift) const GATE_WORDS: &[GateWord] = &[
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_amdkfd_gpuvm.c", "dma_map_resource", Seen::since(6, 1)),
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_amdkfd_gpuvm.c", "dma_map_sgtable", Seen::since(6, 1)),
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_device.c", "pci_p2pdma_distance", Seen::since(6, 1)),
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_dma_buf.c", "dma_map_sgtable", Seen::since(6, 1)),
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_dma_buf.c", "pci_p2pdma_distance", Seen::since(6, 1)),
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_object.c", "dma_buf_invalidate_mappings", Seen::since(7, 2)),
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_object.c", "dma_buf_pin", Seen::since(6, 1)),
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_object.c", "dma_buf_unpin", Seen::since(6, 1)),
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_ttm.c", "dma_buf_map_attachment", Seen::since(6, 1)),
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_ttm.c", "dma_buf_unmap_attachment", Seen::since(6, 1)),
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_ttm.c", "dma_map_resource", Seen::since(7, 2)),
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_ttm.c", "dma_map_sgtable", Seen::since(6, 1)),
    word("drivers/gpu/drm/amd/amdgpu/amdgpu_vram_mgr.c", "dma_map_resource", Seen::since(6, 1)),
    word("drivers/gpu/drm/xe/tests/xe_dma_buf.c", "dma_buf_pin", Seen::since(7, 2)),
    word("drivers/gpu/drm/xe/tests/xe_dma_buf.c", "dma_buf_unpin", Seen::since(7, 2)),
    word("drivers/gpu/drm/xe/xe_bo.c", "dma_buf_invalidate_mappings", Seen::since(7, 2)),
    word("drivers/gpu/drm/xe/xe_bo.c", "dma_buf_map_attachment", Seen::since(6, 12)),
    word("drivers/gpu/drm/xe/xe_bo.c", "dma_buf_unmap_attachment", Seen::since(6, 12)),
    word("drivers/gpu/drm/xe/xe_bo.c", "dma_map_sgtable", Seen::since(6, 12)),
    word("drivers/gpu/drm/xe/xe_dma_buf.c", "dma_map_sgtable", Seen::since(6, 12)),
    word("drivers/gpu/drm/xe/xe_dma_buf.c", "pci_p2pdma_distance", Seen::since(6, 12)),
    word("drivers/gpu/drm/xe/xe_hmm.c", "dma_map_sgtable", Seen::between((6, 12), (6, 12))),
    word("drivers/gpu/drm/xe/xe_svm.c", "dma_map_resource", Seen::since(7, 2)),
    word("drivers/gpu/drm/xe/xe_svm.c", "pci_p2pdma_distance", Seen::since(7, 2)),
    word("drivers/gpu/drm/xe/xe_ttm_vram_mgr.c", "dma_map_resource", Seen::since(6, 12)),
];
