# SPDX-License-Identifier: GPL-2.0-only

# env.platform
explain-env-platform = 工具运行在什么环境里。在虚拟机里，各桥属于虚拟机管理程序，因此路径不大能说明底层机器的情况；WSL 和 Windows 既没有 sysfs 里的 PCI 桥，也没有 KFD。
env-platform-wsl = 这是 WSL，没有可供读取的 PCI 桥，没有 KFD，其中的 GPU 也不共享内存：其余各项都不作判断
env-platform-wsl-remedy = 请在这台机器上直接启动的 Linux 中运行
env-platform-no-kfd = 存在，且没有 KFD
env-platform-cpu = 处理器信息
env-platform-metal = Linux 直接运行在这台机器上，没有发现虚拟机管理程序
env-platform-guest = 这是虚拟机：它的桥属于虚拟机管理程序，在这里成立的，在底层机器上未必成立
env-platform-hypervisor-flag = 有 hypervisor 标志
env-platform-no-hypervisor-flag = 没有 hypervisor 标志
env-platform-container = 这是容器：它看到的是宿主机的内核，但可能看不到宿主机的模块文件
env-platform-container-remedy = 请在宿主机上运行本工具
env-platform-present = 存在
env-platform-variable = 环境变量 { $name }
env-platform-variable-case = 变量 { $name } 不起作用：这类变量名全部为大写
env-platform-variable-case-remedy = 请取消设置 { $name }；如果本意是 { $upper }，请设置 { $upper }
env-platform-variable-ggml = 设置了 GGML_CUDA_P2P，不论值是什么（0 也一样），它都会打开 llama.cpp 的对等拷贝
env-platform-variable-ggml-remedy = 如果不想要对等拷贝，请取消设置 GGML_CUDA_P2P
env-platform-variable-visible = { $name } 会隐藏 GPU 或改变 GPU 的编号：对某个程序隐藏的 GPU，不会是它的对等设备
env-platform-variable-visible-remedy = 要看到全部 GPU，请取消设置 { $name }；请以 PCI 地址为准，不要以编号为准
env-platform-variable-nccl = 设置了 NCCL_P2P_DISABLE，即要求 RCCL 经主机内存中转拷贝
env-platform-variable-nccl-remedy = 请在对等访问经过验证之后再取消设置 NCCL_P2P_DISABLE
env-platform-variable-vllm = 设置了 VLLM_SKIP_P2P_CHECK，vLLM 因此直接相信驱动，不实际拷贝数据来检查
env-platform-variable-vllm-remedy = 请取消设置 VLLM_SKIP_P2P_CHECK

# env.access，按属主、属组和权限位
explain-env-access = 当前用户能否打开 `/dev/kfd` 和渲染节点（`/dev/dri/renderD*`），每个 GPU 程序都需要它们。打不开时，运行时会说没有 GPU。如果试着打开过，就按打开的结果判断，否则按属主、属组和权限位判断；访问控制列表（例如 logind 为屏幕前的用户设置的）所允许的，可能比这些显示的更多。
env-access-openings = 设备文件能否打开的信息
env-access-no-gpu = 没有找到 AMD GPU
env-access-no-kfd = 没有可以打开的 KFD；见 gpu.kfd
env-access-copy = 机器的副本里没有设备节点，也没有为它们列过清单
env-access-nodes = 各 GPU 的设备节点
env-access-missing-kfd = 驱动在运行，但没有 /dev/kfd
env-access-missing-render = 驱动在运行，但没有渲染节点（/dev/dri/renderD*）
env-access-missing-remedy = 请查看 udev 和 devtmpfs 是否在运行；如果在沙箱中，请让沙箱看到 /dev/kfd 和 /dev/dri
env-access-no-such-node = 没有这个节点
env-access-missing-kfd-container = 没有把 /dev/kfd 交给这个容器
env-access-missing-render-container = 没有把渲染节点（/dev/dri/renderD*）交给这个容器
env-access-missing-container-remedy = 启动容器时请加上 { $option }
env-access-present = 存在
env-access-failed = 无法打开 { $path }：{ $reason }
env-access-failed-remedy = 请查看内核日志
env-access-who = 运行本工具的用户和组
env-access-kfd-pass = 当前用户有权打开 /dev/kfd
env-access-kfd-denied = 当前用户无权打开 /dev/kfd，因此 GPU 程序看不到任何 GPU
env-access-kfd-no-device = /dev/kfd 存在，但背后没有设备应答
env-access-kfd-no-device-remedy = 请查看 amdgpu 是否已加载；在容器中，请用 --device=/dev/kfd 传入宿主机自己的节点
env-access-render-denied = 当前用户无权打开任何渲染节点，因此 GPU 程序会失败
env-access-render-no-device = 渲染节点存在，但背后没有设备应答
env-access-render-no-device-remedy = 请查看 amdgpu 是否已加载；在容器中，请用 --device=/dev/dri 传入宿主机自己的节点
env-access-node = 权限 { $mode }，属主 { $uid }，属组 { $gid }
env-access-user = 用户 { $uid }，所在组 { $groups }
env-access-remedy-root = 连 root 也被拒绝：启动容器时请加上 --device={ $path }，容器的设备规则需要它
env-access-remedy-nobody = { $path } 的属组 { $gid } 不是用户应当加入的组：在用户命名空间中，请保留宿主机的组（podman：--group-add keep-groups）；否则请查明 udev 为什么没有把该节点交给它应属的组（render）
env-access-remedy-container = 启动容器时请加上 --group-add { $gid }：这是 { $path } 在宿主机上的属组，不论它在这里叫什么
env-access-remedy-join = 请加入 { $path } 的属组（编号 { $gid }，通常名为 render），然后重新登录

# env.access，按打开的结果
env-access-opened-none = 这里没有由 amdgpu 驱动的 GPU，因此没有什么可打开的
env-access-opened-pass = 当前用户可以打开 /dev/kfd 和各 GPU 的渲染节点
env-access-opened-closed = { $cause }，因此当前用户的程序无法使用这些 GPU
env-access-opened-groups = 所在组 { $groups }
env-access-opened-file-of = { $gpu } 的 { $path }
env-access-opened-yes = { $file } 可以打开
env-access-opened-absent = { $file } 不存在
env-access-opened-denied = 当前用户无权打开 { $file }
env-access-opened-forbidden = 这里不论谁都被禁止打开 { $file }
env-access-opened-no-driver = { $file } 背后没有驱动
env-access-opened-not-device = { $file } 不是设备文件
env-access-opened-failed = 无法打开 { $file }
env-access-opened-both = 已打开，可读可写
env-access-opened-no-character-device = 不是字符设备
env-access-opened-owner = { $what }；权限 { $mode }，属主 { $uid }，属组 { $group }
env-access-opened-group = { $name }（{ $gid }）
env-access-opened-remedy-unmapped = 这是用户命名空间，其中没有映射 { $path } 的属组：请在启动容器时保留该组（podman：--group-add keep-groups），或者在该用户命名空间之外运行
env-access-opened-remedy-join = 请加入 { $path } 的属组 { $group }，然后重新登录；容器需要的是编号：--group-add { $gid }
env-access-opened-remedy-join-unnamed = 请加入 { $path } 的属组（ID 为 { $gid }），然后重新登录；容器需要的是编号：--group-add { $gid }
env-access-opened-remedy-denied = 请让当前用户所在的某个组可以读写 { $path }（ROCm 或 systemd 的 udev 规则）
env-access-opened-remedy-absent = 如果这是容器，启动时请加上 --device={ $path }；否则请查看 udev 是否在运行、amdgpu 是否已加载
env-access-opened-remedy-forbidden = 启动容器时请加上 --device={ $path }，它会补上缺少的那条规则
env-access-opened-remedy-by-hand = 请删除有人手工建立的 { $path }，再加载 amdgpu，由它重新建立
env-access-opened-remedy-failed = 请在内核日志中查找 amdgpu 和 kfd 关于 { $path } 的消息
