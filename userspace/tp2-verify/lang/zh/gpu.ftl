# SPDX-License-Identifier: GPL-2.0-only

# 几个 gpu.* 关卡共用：从哪里看出路径经过芯片组。
gpu-chipset-intel = 根端口 { $port } 是芯片组（PCH）的端口
gpu-chipset-amd = { $port } 是 AMD 芯片组的端口

# gpu.kfd
gpu-kfd-what-devices = 全部 PCI 设备的列表
gpu-kfd-what-gpu = 用来判断它是不是 GPU 的信息
gpu-kfd-what-skipped = {" "}{ $count } 个 PCI 设备
gpu-kfd-what-topology = {" "}KFD 的拓扑
gpu-kfd-what-known = 用来判断 KFD 是否认得这个 GPU 的信息
gpu-kfd-doubtful = 不知道它是不是 GPU
gpu-kfd-twins = KFD 把同一个 GPU 列了多次（节点 { $nodes }）：请以 PCI 地址为准，不要以节点号为准
gpu-kfd-twins-remedy = 请换用另一个版本的固件，更新的或更旧的都可以一试：它的表可能把 CPU 自带的 GPU 列了两次
gpu-kfd-same-place = domain 和 location_id 相同
gpu-kfd-skipped-remedy = 如果其间有设备接入或移除，请重新运行本工具；采集的目录树除了 /sys/bus/pci/devices，还需要 /sys/devices
gpu-kfd-pass = KFD 认得 { $gpu }，节点号为 { $node }
gpu-kfd-own-place = domain 和 location_id 正是这个 GPU 的
gpu-kfd-no-driver = { $gpu } 没有驱动，所以 KFD 不可能认得它
gpu-kfd-no-driver-link = 没有这个链接
gpu-kfd-no-driver-remedy = 如果 amdgpu 没有加载，请加载它；否则请在内核日志里查找 amdgpu 和 { $gpu }
gpu-kfd-other-driver = { $gpu } 由驱动 { $driver } 占用，所以 KFD 不可能认得它
gpu-kfd-other-driver-remedy = 请把这个设备交还给 amdgpu
gpu-kfd-absent = 没有 KFD
gpu-kfd-absent-remedy = 请启动一个 amdgpu 带有 CONFIG_HSA_AMD=y 的内核
gpu-kfd-no-node = amdgpu 驱动着这个 GPU，但 KFD 没有它的节点
gpu-kfd-no-node-place = 没有 domain 和 location_id 与它相符的节点
gpu-kfd-no-node-remedy = 请在内核日志里查找 kfd 和 { $gpu }：如果出现 `PCI rejects atomics`，请把显卡换到另一个 CPU 直连的插槽；否则可能是芯片或它的固件不受支持
gpu-kfd-ambiguous = KFD 节点 { $nodes } 声称是同一个 PCI 地址，所以不知道哪个 GPU 对应哪个节点
gpu-kfd-ambiguous-remedy = 请使用 5.3 或更新的内核；如果 GPU 做了分区，请不分区运行；如果都不是，请附上这些节点的 properties 报告此问题
explain-gpu-kfd = KFD 是否认得这个 GPU（`kfd_topology.c`：`domain` 和 `location_id` 就是它的 PCI 地址）。没有驱动、或者由别的驱动占用的 GPU 不可能出现在 KFD 的拓扑里：这种情况会先指出来。

# gpu.bar-size
gpu-bar-size-no-amdgpu = 没有 amdgpu，就无从得知这个 GPU 的显存大小
gpu-bar-size-what-visible = 这个 GPU 的可见显存大小
gpu-bar-size-linked = KFD 已为它与每个对等 GPU 建立链路，而只有全部显存都可见时 KFD 才会这样做
gpu-bar-size-pass = 它的全部显存（{ $memory }）都能通过它的 BAR 看到
gpu-bar-size-hidden = 它的 { $memory } 显存中只有 { $visible } 能通过它的 BAR 看到，所以对等 GPU 无法访问它
gpu-bar-size-hidden-remedy = 请在固件设置里打开 Resizable BAR；如果已经打开，请在内核日志里查找 { $gpu } 的 BAR 0：可能同一个桥下的另一张卡占满了空间，也可能固件给这个插槽的窗口太小
gpu-bar-size-low = 它的 { $memory } 显存中只有 { $visible } 能通过它的 BAR 看到，所以对等 GPU 无法访问它：固件把这个 BAR 放在了 4 GiB 以下，那里没有足够的空间
gpu-bar-size-low-remedy = 请在固件设置里打开 Above 4G Decoding，关闭 CSM，并更新固件；如果 BAR 仍在 4 GiB 以下，有人用内核参数 pci=nocrs 加上打过补丁、会重试调整大小的 amdgpu 解决过，但有地址冲突的风险
gpu-bar-size-bar = BAR 0 位于 { $start }，大小 { $size }
gpu-bar-size-no-bar = BAR 0 没有地址
explain-gpu-bar-size = GPU 的全部显存是否都能通过它的 BAR 看到。只有可见显存与实际显存大小相同，amdgpu 才允许对等 GPU 访问（`amdgpu_device_is_peer_accessible()`，Linux 6.12 至 7.3）。起作用的是这一点，而不是显卡或固件有没有 Resizable BAR：有些显卡出厂时 BAR 就是完整大小（案例 A45）。

# gpu.bar-address
gpu-bar-address-no-peer = 没有需要访问这个 GPU 的对等 GPU
gpu-bar-address-no-bar = 对等 GPU 要通过 BAR 0 访问这个 GPU 的显存，而 BAR 0 没有地址
gpu-bar-address-no-bar-line = 第一行：没有地址范围
gpu-bar-address-no-bar-remedy = 请在固件设置里打开 Above 4G Decoding，并在内核日志里查找 { $gpu } 的 BAR 0
gpu-bar-address-what-address = 这个 GPU 的显存地址
gpu-bar-address-what-reach = 用来判断是否每个对等 GPU 都能寻址到这个 GPU 的信息
gpu-bar-address-mask-not-set = amdgpu 没有设置它
gpu-bar-address-place = 它的显存止于 { $end }，需要 { $bits } 个地址位
gpu-bar-address-range = BAR 0 从 { $start } 到 { $end }
gpu-bar-address-peer = 对等 GPU { $peer }
gpu-bar-address-pass = { $place }，每个对等 GPU 都有这么多
gpu-bar-address-linked = KFD 已为它与每个对等 GPU 建立链路，而只有每个对等 GPU 都能寻址到它时 KFD 才会这样做
gpu-bar-address-translated = { $place }，{ $peer } 没有这么多，但有 IOMMU 为这个对等 GPU 做地址转换：请保持现状，因为 iommu=pt 会切断这个 GPU 对
gpu-bar-address-beyond = { $place }，超过了 { $peer } 的 { $bits } 个，而且没有 IOMMU 为这个对等 GPU 做地址转换
gpu-bar-address-beyond-unused = { $place }，超过了 { $peer } 的 { $bits } 个，而且这个 amdgpu 不以 IOMMU 的转换为准
gpu-bar-address-beyond-linked = { $place }，超过了 { $peer } 的 { $bits } 个，KFD 却有链路：两者之一读错了
gpu-bar-address-old-kernel = { $place }，{ $peer } 没有这么多；有 IOMMU 为这个对等 GPU 做地址转换，但 { $version } 之前的内核的 amdgpu 是否以此为准，尚不清楚
gpu-bar-address-old-kernel-remedy = 请启动更新的内核，或者在固件设置里调低 MMIO 基址
gpu-bar-address-peer-fits = 至少有 { $bits } 个地址位
gpu-bar-address-peer-translated = IOMMU 域 { $kind }：做地址转换
gpu-bar-address-peer-absent = { $bits } 个地址位，没有 IOMMU
gpu-bar-address-peer-pass-through = { $bits } 个地址位，IOMMU 域为 identity
gpu-bar-address-peer-unused = { $bits } 个地址位，这个 amdgpu 只看地址位，不管 IOMMU 怎样做
gpu-bar-address-peer-other = { $bits } 个地址位，IOMMU 域为其他类型
gpu-bar-address-peer-old-kernel = 有 IOMMU 做地址转换
gpu-bar-address-remedy-pass-through = 在这台机器上 IOMMU 必须做地址转换：请从内核命令行去掉 iommu=pt（或 iommu.passthrough=1）并重启；或者在固件设置里把 BAR 放得更低（MMIO High Base、MMIOH Base，44 位时最高 16 TiB）
gpu-bar-address-remedy-absent = 请在固件设置里打开 IOMMU（VT-d、AMD-Vi），启动时不要带 iommu=pt，在 Intel 平台上还要带上 intel_iommu=on；或者在固件设置里把 BAR 放得更低（MMIO High Base、MMIOH Base，44 位时最高 16 TiB）
gpu-bar-address-remedy-old-kernel = 请在固件设置里把 BAR 放得更低（MMIO High Base、MMIOH Base，44 位时最高 16 TiB）；或者启动 Linux { $version } 或更新的内核，并让 IOMMU 做地址转换（不带 iommu=pt），而这个内核的 amdgpu 是否以转换为准尚不清楚
gpu-bar-address-remedy-unused = 请使用带有 HSA_AMD_P2P 的 amdgpu（见 kernel.hsa-amd-p2p），它以 IOMMU 的转换为准；或者在固件设置里把 BAR 放得更低（MMIO High Base、MMIOH Base）
gpu-bar-address-remedy-other = 请把这个 GPU 交还给宿主机；或者在固件设置里把 BAR 放得更低（MMIO High Base、MMIOH Base）
gpu-bar-address-old-stack = 有 IOMMU 为 { $peer } 做地址转换，而 { $version } 之前的内核不会在这个 IOMMU 里映射对等 GPU 的显存
gpu-bar-address-old-stack-group = { $peer } 的 IOMMU 组
gpu-bar-address-old-stack-remedy = 在这个内核上请带 iommu=pt 启动；或者使用更新的内核，那里不需要 iommu=pt
explain-gpu-bar-address = 是否每个对等 GPU 都能寻址到这个 GPU 的显存。GPU 的地址位数有限（即它的 DMA 掩码：多数为 44 位，旧型号为 40 位）；固件可能把 BAR 放到这个范围之外。那时，只有 IOMMU 为某个对等 GPU 做地址转换、从而给它另外的较低地址，amdgpu 才允许这个对等 GPU 访问（`amdgpu_device_is_peer_accessible()` 和 `amdgpu_device_check_iommu_remap()`，Linux 6.12 至 7.3）。所以 `iommu=pt` 在一些机器上是对的，在另一些机器上却会造成故障。

# gpu.atomics
gpu-atomics-what-ports = 用来判断这个 GPU 上方的端口能否处理 PCIe 原子操作的信息
gpu-atomics-pass = 直到 CPU 的每个端口都能处理 PCIe 原子操作
gpu-atomics-pass-driver = amdgpu 为这个 GPU 取得了 PCIe 原子操作
gpu-atomics-closed = { $gpu } 不能使用 PCIe 原子操作：{ $why }
gpu-atomics-closed-blocked = 交换机端口 { $port } 阻断原子操作（EgressBlck+）
gpu-atomics-closed-not-routed = 交换机端口 { $port } 不转发原子操作（Routing-）
gpu-atomics-closed-not-completed = 根端口 { $port } 不能完成原子操作
gpu-atomics-closed-driver = { $gpu } 不能使用 PCIe 原子操作：它的驱动没有取得原子操作
gpu-atomics-no-root-port = { $gpu } 上方没有根端口，所以它的驱动得不到 PCIe 原子操作
gpu-atomics-no-root-port-way = 路径上没有根端口
gpu-atomics-flags = flags：有原子操作
gpu-atomics-flags-none = flags：没有原子操作
gpu-atomics-needed = { $what }，而 KFD 不接受需要原子操作却不能使用它们的 GPU
gpu-atomics-missed = { $what }；普通拷贝或许用不着原子操作，但 RCCL 和会回调主机的 GPU 核函数会被拒绝（RCCL 的报错："operation cannot be performed in the present state"，HIP 错误 401）
gpu-atomics-remedy = 请把显卡换到另一个 CPU 直连的插槽，不用延长线（riser）或转接卡，并更新固件
gpu-atomics-remedy-chipset = { $why }，而很多芯片组端口没有原子操作：请把显卡换到 CPU 直连的插槽
gpu-atomics-remedy-guest = 在这台虚拟机里，端口是虚拟机管理程序提供的：请在宿主机上修改虚拟机的配置，给每张显卡各配一个根端口，并且只直通显卡的 .0 功能，不带它的音频功能（QEMU 从 8.1 起提供原子操作，但只提供给单功能设备）
explain-gpu-atomics = GPU 能否向 CPU 发送原子操作。根端口必须能完成 32 位和 64 位的原子操作，中间的每个交换机端口都必须转发它们，而且任何上行端口都不得阻断它们（`pci_enable_atomic_ops_to_root()`，`drivers/pci/pci.c`，Linux 7.3）。根端口本身是否转发则无关紧要。旧 GPU（gfx8）没有原子操作就根本不能用 KFD；较新的 GPU 则在使用 RCCL 和会调用主机的核函数时需要它们。

# gpu.slot
gpu-slot-what-bridge = 这个 GPU 上方的一个桥
gpu-slot-what-link = 这个 GPU 与 CPU 之间的一条链路
gpu-slot-none = 这个 GPU 上方没有桥，所以没有插槽可以衡量
gpu-slot-link = 插槽链路（{ $above } 到 { $below }）以 { $rate } 运行：单向最多 { $most }
gpu-slot-narrowest = 到 CPU 的最窄链路（{ $above } 到 { $below }）以 { $rate } 运行：单向最多 { $most }
gpu-slot-slow = { $link }；链路空闲时会降速，这一条可以达到 { $rate }（{ $most }）
gpu-slot-in-card = { $rate }，这是显卡内部的链路
gpu-slot-chipset = { $link }；这是芯片组的插槽，芯片组到 CPU 的链路是共用的
gpu-slot-chipset-route = 路径
gpu-slot-chipset-remedy = 请把显卡换到 CPU 直连的插槽
explain-gpu-slot = 显卡与 CPU 之间最窄的链路，任何拷贝都受它限制。自 Navi 起，AMD 显卡自带一个交换机（1002:1478、1002:1479），所以 GPU 自身的链路属性说的是显卡内部的链路，在任何插槽里都自称是全宽度（案例 A30）：这里不用它们。芯片组的插槽与磁盘、网络共用到 CPU 的路径。

# gpu.link
gpu-link-what-bridge = 这个 GPU 上方的一个桥
gpu-link-what-link = 这个 GPU 与 CPU 之间的一条链路
gpu-link-none = 这个 GPU 上方没有桥，所以没有链路可看
gpu-link-pass = 到 CPU 的每条链路都达到了两端所能达到的宽度
gpu-link-ends = { $above } 到 { $below }
gpu-link-rates = 当前 { $now }（链路空闲时会降速），最高 { $most }
gpu-link-narrow = { $above } 到 { $below } 的链路只协商到 { $now } 条通道，而两端本可以达到 { $most } 条
gpu-link-narrow-remedy = 请查明其他插槽也在用时这个插槽有多少条通道；如果应该更多，请重新插好显卡，或者更换延长线（riser）
gpu-link-payload-smaller = Max Payload Size 在 { $gpu } 为 { $own } 字节，在 { $other } 为 { $size } 字节，后者会把 GPU 发出的更大的包当作畸形包，这是致命错误
gpu-link-payload-larger = Max Payload Size 在 { $gpu } 为 { $own } 字节，在 { $other } 为 { $size } 字节，后者可能发出会被 GPU 当作畸形包的包，除非它的驱动加以限制
gpu-link-payload-size = Device Control：{ $size } 字节
gpu-link-payload-remedy = 请带上内核参数 pci=pcie_bus_safe 启动，它会设置整条路径都能接受的大小
explain-gpu-link = 显卡与 CPU 之间的链路是否达到了两端所能达到的宽度，以及路径上所有端口的有效载荷大小是否一致。空闲的链路会有意降速，所以不判断速度。端口收到大于自身 Max Payload Size 的包时，会把它当作畸形包，这是致命错误（PCI Express Base 6.0，第 2.2.2 节）。

# gpu.power
gpu-power-what-awake = 用来判断这个 GPU 是否醒着的信息
gpu-power-pass = GPU 和它上方的各个桥都醒着
gpu-power-sleeping = { $device } 正处于省电休眠（runtime suspend），所以读到的链路和寄存器内容可能是它休眠时的
gpu-power-sleeping-remedy = 请唤醒 GPU（运行 rocminfo，或者任何会打开它的渲染节点的程序都可以），然后重新运行本工具
gpu-power-failed = { $device } 从省电休眠（runtime suspend）中唤醒失败，重启之前无法使用
gpu-power-failed-remedy = 请重启；如果问题再次出现，请带 amdgpu.runpm=0 启动，看看原因是不是休眠
explain-gpu-power = GPU 和它上方的各个桥是醒着，还是唤醒失败。恢复失败之后，内核会在 `power/runtime_status` 里一直保留 `error`（`drivers/base/power/sysfs.c`，Linux 7.3），此时从这个设备读到的其他内容都没有多大意义（案例 A29）。

# gpu.aer
gpu-aer-what-counters = 错误计数器
gpu-aer-none = 到这个 GPU 的路径上没有任何设备统计错误（内核或固件没有把 AER 开放出来）
gpu-aer-pass = 启动以来，到这个 GPU 的路径上没有报告过错误
gpu-aer-pass-counters = 全部为 0
gpu-aer-fatal = { $device } 启动以来报告过致命错误：{ $errors }
gpu-aer-nonfatal = { $device } 启动以来报告过未纠正的错误：{ $errors }
gpu-aer-corrected = { $device } 启动以来有已纠正的错误：{ $errors }；请留意这个数字是否增长
gpu-aer-remedy = 请在内核日志里查找 AER 和 { $device }
gpu-aer-remedy-malformed = 畸形包是端口不认识的包，例如没有原子操作的端口收到了原子操作：见 gpu.atomics，并试试 CPU 直连的插槽
gpu-aer-remedy-signal = 请在运行一段负载之后再看一次：如果数字增长，请重新插好显卡，或更换延长线（riser）或线缆，或者在固件设置里把这个插槽设为较低的速度
gpu-aer-remedy-refused = 请在内核日志里查找 AER 和 { $device }：有请求被拒绝或没有得到应答，对等流量可能引起这种情况
explain-gpu-aer = GPU 和它上方的各个桥自启动以来报告过的错误（Advanced Error Reporting，sysfs 里的 `aer_dev_*`，`drivers/pci/pcie/aer.c`，Linux 7.3）。已纠正的错误已经通过重新发送得到修复；致命错误则丢失了数据。没有错误并不能证明什么：丢弃或损坏对等流量的路径往往什么也不报告（案例 A02、A04）。
