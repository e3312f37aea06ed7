# SPDX-License-Identifier: GPL-2.0-only

# kernel.p2pdma
kernel-p2pdma-pass = the kernel has peer-to-peer DMA (CONFIG_PCI_P2PDMA)
kernel-p2pdma-off = the kernel was built without CONFIG_PCI_P2PDMA: it refuses every pair, and there is nothing to override
kernel-p2pdma-off-remedy = boot a kernel with CONFIG_PCI_P2PDMA=y and CONFIG_HSA_AMD_P2P=y
kernel-p2pdma-not-set = { $option } is not set
kernel-p2pdma-proven = the kernel has peer-to-peer DMA: a loaded module uses it
kernel-p2pdma-needs = is loaded and needs { $symbol }
kernel-p2pdma-config = the kernel's configuration
kernel-p2pdma-no-config-remedy = make /boot/config-$(uname -r) readable, or enable /proc/config.gz

# kernel.hsa-amd-p2p
kernel-hsa-amd-p2p-no-gpu = no AMD GPU was found
kernel-hsa-amd-p2p-pass = amdgpu was built with HSA_AMD_P2P
kernel-hsa-amd-p2p-not-asking = amdgpu has HSA_AMD_P2P, but its file does not call { $symbol }: this driver seems to decide without the kernel's host-bridge test, and then tp2_p2pdma has no part in it
kernel-hsa-amd-p2p-not-needed = does not need { $symbol }
kernel-hsa-amd-p2p-driver-remedy = use the amdgpu of a kernel with CONFIG_HSA_AMD_P2P=y, or build the driver with it (DKMS builds can lose it where they test for CONFIG_DMABUF_MOVENOTIFY, a name that does not exist: it is CONFIG_DMABUF_MOVE_NOTIFY)
kernel-hsa-amd-p2p-off = the override acts on the kernel's answer, but this amdgpu was compiled without HSA_AMD_P2P, so KFD cannot use it; loading the module does not help HIP or RCCL on this kernel
kernel-hsa-amd-p2p-off-remedy = boot a kernel with CONFIG_HSA_AMD_P2P=y (it needs CONFIG_PCI_P2PDMA=y and, before Linux 7.2, CONFIG_DMABUF_MOVE_NOTIFY=y; Debian's own kernels have it off)
kernel-hsa-amd-p2p-outside = amdgpu was built outside the kernel, without HSA_AMD_P2P: such a driver goes by DMA masks alone or makes no links, and never asks for the kernel's host-bridge test, which is all that tp2_p2pdma overrides
kernel-hsa-amd-p2p-unknown = whether amdgpu was built with HSA_AMD_P2P is not known: { $why }
kernel-hsa-amd-p2p-unknown-remedy = look whether amdgpu has the parameter pcie_p2p, which only one with HSA_AMD_P2P has
kernel-hsa-amd-p2p-not-read = could not be read

# kernel.kprobes
kernel-kprobes-no-pair = no pair here is one that the module would override
kernel-kprobes-useless = the module that needs kretprobes would not help on this kernel
kernel-kprobes-missing = the kernel was built without { $options }: the module cannot hook anything
kernel-kprobes-missing-remedy = boot a kernel with CONFIG_KPROBES=y and CONFIG_KRETPROBES=y
kernel-kprobes-refused = the kernel did not let tp2_p2pdma set its hook, so it did not load
kernel-kprobes-refused-remedy = boot another kernel, and report this with what these commands write
kernel-kprobes-not-set = not set
kernel-kprobes-enabled = the kernel has kretprobes, and they are not switched off
kernel-kprobes-pass = the kernel has kretprobes
kernel-kprobes-disabled = kprobes are switched off, so the module's hook does not run
kernel-kprobes-disabled-remedy = switch kprobes on, and reboot if amdgpu started meanwhile
kernel-kprobes-ftrace = kernel.ftrace_enabled is 0, which disarms the module's hook without a trace
kernel-kprobes-ftrace-remedy = switch ftrace on, remove what sets kernel.ftrace_enabled to 0, and reboot if amdgpu started meanwhile
kernel-kprobes-yet-proven = { $what }; the module's self-test passes all the same
kernel-kprobes-proven = kretprobes work: the module's self-test passes
kernel-kprobes-config = the kernel's configuration
