// SPDX-License-Identifier: GPL-2.0-only
//! Callers of `pci_p2pdma_distance()` and `pci_p2pdma_distance_many()`, read from Linux 6.1.176, 6.12.117,
//! 7.2.12 and 7.3.4.

use super::{Caller, Seen};

const MANY: &str = "pci_p2pdma_distance_many";
const ONE: &str = "pci_p2pdma_distance";

const fn caller(file: &'static str, function: &'static str, asks: &'static str, seen: Seen) -> Caller {
    Caller { file, function, asks, seen }
}

/// All of them in drivers/ and include/.
pub(in crate::drift) const CALLERS: &[Caller] = &[
    caller("drivers/accel/habanalabs/common/memory.c", "hl_dmabuf_attach", ONE, Seen::since(6, 12)),
    caller("drivers/gpu/drm/amd/amdgpu/amdgpu_device.c", "amdgpu_device_is_peer_accessible", ONE, Seen::since(6, 1)),
    caller("drivers/gpu/drm/amd/amdgpu/amdgpu_dma_buf.c", "amdgpu_dma_buf_attach", ONE, Seen::since(6, 1)),
    caller("drivers/gpu/drm/xe/xe_dma_buf.c", "xe_dma_buf_attach", ONE, Seen::since(6, 12)),
    caller("drivers/gpu/drm/xe/xe_svm.c", "xe_has_interconnect", ONE, Seen::since(7, 2)),
    caller("drivers/misc/habanalabs/common/memory.c", "hl_dmabuf_attach", MANY, Seen::between((6, 1), (6, 1))),
    caller("drivers/nvme/target/core.c", "nvmet_p2pmem_ns_add_p2p", ONE, Seen::since(6, 1)),
    caller("drivers/nvme/target/core.c", "nvmet_p2pmem_ns_enable", ONE, Seen::since(6, 1)),
    caller("drivers/pci/p2pdma.c", "pci_p2pmem_find_many", MANY, Seen::since(6, 1)),
    caller("include/linux/pci-p2pdma.h", "pci_p2pdma_distance", MANY, Seen::since(6, 1)),
];
