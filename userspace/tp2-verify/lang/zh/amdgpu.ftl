# SPDX-License-Identifier: GPL-2.0-only

# amdgpu.origin
explain-amdgpu-origin = 加载的是哪个 amdgpu，以及 modprobe 会加载哪个。编译进内核的 amdgpu 先于任何模块存在，所以 softdep 对它不起作用。
amdgpu-origin-no-gpu = 没有找到 AMD GPU
amdgpu-origin-loading = 模块 amdgpu 的加载状态
amdgpu-origin-none = 没有适用于当前内核的 amdgpu
amdgpu-origin-none-remedy = 请安装该内核的全套模块
amdgpu-origin-file = 将由 modprobe 加载的 amdgpu 的位置
amdgpu-origin-would-be-own = amdgpu 未加载；modprobe 会加载内核自带的那个
amdgpu-origin-would-be-outside = amdgpu 未加载；modprobe 会加载在内核之外构建的那个
amdgpu-origin-listed = 列在 modules.dep 中
amdgpu-origin-other = 已加载的 amdgpu 不是 modprobe 现在会加载的那个文件
amdgpu-origin-other-remedy = 请重新生成 initramfs 并重启
amdgpu-origin-own = amdgpu 已加载，是内核自带的
amdgpu-origin-outside = amdgpu 已加载，是在内核之外构建的
amdgpu-origin-built-in = amdgpu 编译进了内核：它先于任何模块启动，所以来不及覆盖
amdgpu-origin-built-in-listed = 列有 amdgpu
amdgpu-origin-built-in-remedy = 请启动把 amdgpu 编译为模块的内核

# amdgpu.pcie-p2p
explain-amdgpu-pcie-p2p = 驱动自己的开关（`amdgpu_drv.c`，Linux 6.1 至 7.3）。只有打开了 `CONFIG_HSA_AMD_P2P` 才有它；值为 N 时，所有对等设备都不可访问。
amdgpu-pcie-p2p-not-loaded = 没有看到 amdgpu 已加载，所以它没有参数
amdgpu-pcie-p2p-on = amdgpu 的对等访问已打开
amdgpu-pcie-p2p-off = amdgpu 的对等访问已被它的参数关闭
amdgpu-pcie-p2p-off-remedy = 请从内核命令行和 /etc/modprobe.d 中去掉 amdgpu.pcie_p2p=0，然后重启
amdgpu-pcie-p2p-odd = amdgpu 的参数 pcie_p2p 的值异常：{ $value }
amdgpu-pcie-p2p-absent = 已加载的 amdgpu 没有参数 pcie_p2p；见 kernel.hsa-amd-p2p
amdgpu-pcie-p2p-parameter = 驱动 amdgpu 的参数 pcie_p2p

# amdgpu 是怎样构建的，供几个关卡使用
amdgpu-driver-no-such-parameter = 已加载的驱动没有这个参数
amdgpu-driver-has-parameter = 有参数 { $parameter }
amdgpu-driver-has-no-parameter = 没有参数 { $parameter }
amdgpu-driver-outside = amdgpu 是 { $path }，它不是随内核一起构建的，所以内核配置不足为证，而该文件本身又无法读取
amdgpu-driver-not-configured = 未设置 CONFIG_HSA_AMD_P2P
amdgpu-driver-unreadable = amdgpu 和内核配置都无法读取（{ $error }）
