# SPDX-License-Identifier: GPL-2.0-only

# kernel.p2pdma
explain-kernel-p2pdma = `CONFIG_PCI_P2PDMA`。没有它，`pci_p2pdma_distance()` 只是一个返回 -1 的空壳（`include/linux/pci-p2pdma.h`，Linux 6.1 至 7.3），也就没有什么可覆盖的。
kernel-p2pdma-pass = 内核支持对等 DMA（CONFIG_PCI_P2PDMA）
kernel-p2pdma-off = 内核构建时没有打开 CONFIG_PCI_P2PDMA：它拒绝每一个 GPU 对，也没有什么可覆盖的
kernel-p2pdma-off-remedy = 请启动 CONFIG_PCI_P2PDMA=y 且 CONFIG_HSA_AMD_P2P=y 的内核
kernel-p2pdma-not-set = 未设置 { $option }
kernel-p2pdma-proven = 内核支持对等 DMA：有已加载的模块在使用它
kernel-p2pdma-needs = 已加载，并且需要 { $symbol }
kernel-p2pdma-config = 内核配置
kernel-p2pdma-no-config-remedy = 请让 /boot/config-$(uname -r) 可读，或者启用 /proc/config.gz

# kernel.hsa-amd-p2p
explain-kernel-hsa-amd-p2p = amdgpu 构建时是否打开了 `CONFIG_HSA_AMD_P2P`。没有它，`amdgpu_device_is_peer_accessible()` 就是 `return false`（Linux 6.1 至 7.3），从不查询距离。内核配置只能说明内核自带的 amdgpu。
kernel-hsa-amd-p2p-no-gpu = 没有找到 AMD GPU
kernel-hsa-amd-p2p-pass = amdgpu 构建时打开了 HSA_AMD_P2P
kernel-hsa-amd-p2p-not-asking = amdgpu 有 HSA_AMD_P2P，但它的模块文件不调用 { $symbol }：这个驱动似乎不经内核的主机桥检查就作决定，那样的话 tp2_p2pdma 就与此无关
kernel-hsa-amd-p2p-not-needed = 不需要 { $symbol }
kernel-hsa-amd-p2p-driver-remedy = 请使用 CONFIG_HSA_AMD_P2P=y 的内核所带的 amdgpu，或者构建驱动时打开它（DKMS 构建如果检查的是 CONFIG_DMABUF_MOVENOTIFY，就可能丢掉它：这个名字并不存在，正确的是 CONFIG_DMABUF_MOVE_NOTIFY）
kernel-hsa-amd-p2p-off = 覆盖作用于内核的答复，但这个 amdgpu 编译时没有打开 HSA_AMD_P2P，因此 KFD 用不上这个答复；在这个内核上，加载该模块对 HIP 或 RCCL 没有帮助
kernel-hsa-amd-p2p-off-remedy = 请启动 CONFIG_HSA_AMD_P2P=y 的内核（它需要 CONFIG_PCI_P2PDMA=y，在 Linux 7.2 之前还需要 CONFIG_DMABUF_MOVE_NOTIFY=y；Debian 自己的内核没有打开 CONFIG_HSA_AMD_P2P）
kernel-hsa-amd-p2p-outside = amdgpu 是在内核之外构建的，没有打开 HSA_AMD_P2P：这样的驱动要么只看 DMA 掩码，要么根本不建立链路，不会经过内核的主机桥检查，tp2_p2pdma 也就没有什么可覆盖的
kernel-hsa-amd-p2p-unknown = 不知道 amdgpu 构建时是否打开了 HSA_AMD_P2P：{ $why }
kernel-hsa-amd-p2p-unknown-remedy = 请查看 amdgpu 是否有参数 pcie_p2p：只有打开了 HSA_AMD_P2P 的 amdgpu 才有它
kernel-hsa-amd-p2p-not-read = 无法读取

# kernel.kprobes
explain-kernel-kprobes = 模块的钩子需要什么：`CONFIG_KPROBES`、`CONFIG_KRETPROBES`；在探针依托 ftrace 的内核上（`CONFIG_KPROBES_ON_FTRACE`），在 Linux 7.2 及更早的版本中还有 sysctl `kernel.ftrace_enabled`，它为 0 时会使探针失效而不留痕迹（7.3 以 EOPNOTSUPP 拒绝写入）。在任何内核上，`/sys/kernel/debug/kprobes/enabled` 为 0 都会这样。
kernel-kprobes-no-pair = 这里的 GPU 对都不是模块会去覆盖的
kernel-kprobes-useless = 需要 kretprobes 的是模块，而它在这个内核上不会有帮助
kernel-kprobes-missing = 内核构建时没有打开 { $options }：模块无法挂接任何函数
kernel-kprobes-missing-remedy = 请启动 CONFIG_KPROBES=y 且 CONFIG_KRETPROBES=y 的内核
kernel-kprobes-refused = 内核不允许 tp2_p2pdma 设置它的钩子，所以它没有加载
kernel-kprobes-refused-remedy = 请启动别的内核，并报告这一情况，附上以下命令写出的内容
kernel-kprobes-not-set = 未设置
kernel-kprobes-enabled = 内核支持 kretprobes，并且没有被关闭
kernel-kprobes-pass = 内核支持 kretprobes
kernel-kprobes-disabled = kprobes 已被关闭，因此模块的钩子不会运行
kernel-kprobes-disabled-remedy = 请打开 kprobes；如果 amdgpu 在此期间启动过，还要重启
kernel-kprobes-ftrace = kernel.ftrace_enabled 为 0，这会使模块的钩子失效而不留痕迹
kernel-kprobes-ftrace-remedy = 请打开 ftrace，并去掉把 kernel.ftrace_enabled 设为 0 的设置；如果 amdgpu 在此期间启动过，还要重启
kernel-kprobes-yet-proven = { $what }；尽管如此，模块的自检仍然通过
kernel-kprobes-proven = kretprobes 有效：模块的自检通过
kernel-kprobes-config = 内核配置
