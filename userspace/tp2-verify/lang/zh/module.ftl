# SPDX-License-Identifier: GPL-2.0-only

# module.dkms
explain-module-dkms = DKMS 是否已为当前内核构建了本模块（dkms 3：`/var/lib/dkms/NAME/VERSION/KERNEL/ARCH/module/`）。手工安装的模块在下次内核升级之后就没有了。
module-dkms-what = 模块在 DKMS 中的情况
module-dkms-what-release = 当前内核的版本号
module-dkms-pass = DKMS 已为当前内核构建了版本 { $version }
module-dkms-present = 存在
module-dkms-in-place = tp2_p2pdma 已就位，但 DKMS 没有针对 { $release } 构建它
module-dkms-by-hand = tp2_p2pdma 不是通过 DKMS 安装的：下次内核升级之后它就没有了
module-dkms-no-build = 没有针对当前内核的构建
module-dkms-by-hand-remedy = 请安装软件包 tp2-p2pdma-dkms
module-dkms-other-kernel = DKMS 里有 tp2_p2pdma，但没有针对当前内核 { $release } 的构建
module-dkms-source-only = 只有源码，从未构建
module-dkms-other-kernel-remedy = 请为当前内核构建 tp2_p2pdma（需要该内核的头文件；如果失败，请看 DKMS 的日志），然后重启
module-dkms-container = 在容器里无法得知 DKMS 的情况，因为容器有自己的一套文件
module-dkms-no-help = tp2_p2pdma 没有安装，在这个内核上装了也没有用
module-dkms-absent = tp2_p2pdma 没有安装
module-dkms-empty = 空
module-dkms-need-unknown = tp2_p2pdma 没有安装；是否需要它，无法得知
module-dkms-not-needed = tp2_p2pdma 没有安装，这里也没有它会覆盖的 GPU 对

# module.match。$finding 是 other-kernel 或 other-build。
explain-module-match = 当前内核的模块文件是否适用于这个内核（`vermagic`），以及加载的是不是这个文件（`version`、`srcversion`）。过时的文件会在加载时被拒绝，或者在下次启动时取代好的那个。
module-match-container = 模块文件属于宿主机，这个容器看不到它们
module-match-no-file = tp2_p2pdma 已加载，但下次启动时 modprobe 会找不到它的文件
module-match-no-file-remedy = 请安装软件包 tp2-p2pdma-dkms
module-match-unlisted-remedy = 请运行 depmod，它的索引里没有这个已有的文件
module-match-nothing = 没有针对当前内核的 tp2_p2pdma 可供比较
module-match-unlisted = 有 tp2_p2pdma 的文件，但模块索引没有列出它，所以 modprobe 找不到它；见 module.loaded
module-match-what = 模块 tp2_p2pdma 的文件
module-match-pass-loaded = tp2_p2pdma 的文件适用于当前内核，加载的也正是它
module-match-pass = tp2_p2pdma 的文件适用于当前内核
module-match-other-kernel = tp2_p2pdma 的文件是为别的内核构建的，不是为当前内核 { $release }
module-match-other-kernel-remedy = 请为当前内核构建 tp2_p2pdma，然后重启
module-match-other-kernel-remedy-anew = DKMS 会保留它为当前内核构建的结果，尽管那其实是为别的内核构建的（旧版 dkms 以构建时正在运行的内核为准）：请重新构建 tp2_p2pdma，然后重启
module-match-other-build = 已加载的 tp2_p2pdma 不是磁盘上的那个文件：两者的 { $name } 不同
module-match-other-build-remedy = 请重新生成 initramfs，然后重启
module-match-acts = { $finding }；已加载的模块在起作用，但只到下次启动为止

# module.signature。$enrol 是 enrol 或 enrol-unknown。
explain-module-signature = 内核是否会接受本模块的签名。设置了 `module.sig_enforce`，或者处于锁定（lockdown）状态时（在大多数发行版上，Secure Boot 会使内核锁定），内核只接受带签名的模块（`module_sig_check()`，`kernel/module/signing.c`，Linux 7.3）。softdep 是可选的，因此模块被拒绝时不会有谁察觉：amdgpu 会在没有它的情况下启动。这里不验证签名本身，只在已注册的密钥中查找签名所用的密钥。
module-signature-loaded = tp2_p2pdma 已加载，可见内核接受了它；没有它的文件可供查看
module-signature-nothing = 没有 tp2_p2pdma，也就谈不上被拒绝
module-signature-taken = 内核在加载 tp2_p2pdma 时接受了它
module-signature-what = 模块 tp2_p2pdma 的签名
module-signature-what-asked = 内核对模块签名的要求（是否只接受带签名的模块）
module-signature-what-keys = 已注册的密钥
module-signature-not-asked-secure-boot = 内核接受没有签名的模块：Secure Boot 已开启，但内核没有锁定（lockdown）
module-signature-not-asked-no-secure-boot = 内核接受没有签名的模块：Secure Boot 已关闭
module-signature-not-asked-no-efi = 内核接受没有签名的模块：这台机器不是以 EFI 方式启动的
module-signature-not-asked = 内核接受没有签名的模块：内核没有锁定（lockdown）
module-signature-none = 没有签名
module-signature-unsigned = 这个内核只接受带签名的模块，而 tp2_p2pdma 没有签名
module-signature-unsigned-remedy = 请让 DKMS 重新构建 tp2_p2pdma（构建时会签名），并{ $enrol }
module-signature-key = 签名者 { $signer }，密钥 { $key }
module-signature-unknown = 未知
module-signature-enrolled = tp2_p2pdma 已签名，其密钥已注册（{ $subject }）
module-signature-unnamed = 没有名称
module-signature-taken-signed = tp2_p2pdma 已签名，而且内核在加载时接受过一个 tp2_p2pdma
module-signature-of-kernel = tp2_p2pdma 与内核自带的模块由同一方签名，内核中有其密钥
module-signature-not-enrolled = tp2_p2pdma 签名所用的密钥没有注册，因此这个内核会拒绝它（Key was rejected by service）
module-signature-enrol = 请注册证书 { $path }，然后重启，并在蓝色界面（MOK management）上确认
module-signature-enrol-unknown = 请注册 DKMS 构建时给出的证书（mokutil --import），然后重启，并在蓝色界面（MOK management）上确认

# module.order。$finding 是 no-softdep、image-no-line 或 image-no-module。
explain-module-order = 是否有什么让覆盖模块先于 amdgpu 加载：modprobe 配置中的一行 `softdep amdgpu pre: tp2_p2pdma`，以及在 initramfs 含有 amdgpu 时，initramfs 中同样的两样东西（模块和这一行）。无法满足的 softdep 不会有任何提示（modprobe.d(5)），而 DKMS 从不重新生成 initramfs。
module-order-builtin = amdgpu 编译进了内核，因此没有模块能先于它；见 amdgpu.origin
module-order-container = modprobe 的配置属于宿主机，这个容器看不到它
module-order-nothing = 没有 tp2_p2pdma 可以先加载
module-order-blocked = modprobe 的配置中有一行阻止 tp2_p2pdma 加载，或者可能会阻止
module-order-blocked-remedy = 请从 { $path } 中删去这一行，并重新生成 initramfs
module-order-came-first = { $finding }；不过本次启动时 tp2_p2pdma 还是先加载了
module-order-not-needed = { $finding }；这里没有 tp2_p2pdma 会覆盖的 GPU 对
module-order-softdep = modprobe 会在 amdgpu 之前加载 tp2_p2pdma
module-order-what = {" "}modprobe 的配置
module-order-no-softdep = 没有什么让 tp2_p2pdma 先于 amdgpu 加载：没有 softdep 提到它
module-order-no-line = 没有“{ $line }”这一行
module-order-no-softdep-remedy = 请在 modprobe 的配置中加入 tp2_p2pdma 的 softdep 一行，重新生成 initramfs（这两步软件包都会做），然后重启
module-order-image = initramfs 的内容
module-order-image-modules = 模块 amdgpu { $amdgpu }，模块 tp2_p2pdma { $module }
module-order-image-all = 模块 amdgpu { $amdgpu }，模块 tp2_p2pdma { $module }，modprobe 的配置{ $configuration }
module-order-in-image = 在其中
module-order-not-in-image = 不在其中
module-order-image-not-read = 没有读到（{ $error }）
module-order-image-no-line = initramfs 中有 amdgpu 和 tp2_p2pdma，但没有规定先后的那一行
module-order-image-no-module = initramfs 中有 amdgpu，但没有 tp2_p2pdma，因此 amdgpu 会在没有它的情况下启动
module-order-image-remedy-mkinitcpio = 请把 tp2_p2pdma 列入 initramfs 的模块（mkinitcpio 不理会 softdep），重新生成 initramfs，然后重启
module-order-image-remedy = 请重新生成 initramfs，然后重启

# module.loaded。$remedy 是 remedy-reboot、remedy-install 或 remedy-package。
explain-module-loaded = 模块是否已在内核中并完成初始化（`/sys/module/NAME/initstate`）。
module-loaded-what = 模块 tp2_p2pdma 的加载情况
module-loaded-what-state = 模块 tp2_p2pdma 的状态
module-loaded-pass = tp2_p2pdma 已加载
module-loaded-state = tp2_p2pdma 已加载，但状态是 { $state }
module-loaded-state-remedy = 请重启；如果状态仍然如此，请查看内核日志中与 tp2_p2pdma 有关的内容
module-loaded-no-help = tp2_p2pdma 没有加载，在这个内核上加载了也没有用
module-loaded-not-needed = tp2_p2pdma 没有加载，也不需要
module-loaded-no-pair = tp2_p2pdma 没有加载，加载了也不会影响这里的任何 GPU 对
module-loaded-need-unknown = tp2_p2pdma 没有加载；是否需要它，无法得知
module-loaded-absent = tp2_p2pdma 没有加载
module-loaded-no-directory = 没有这个目录
module-loaded-remedy-on-host = 在宿主机上，而不是在这个容器里：{ $remedy }
module-loaded-remedy-reboot = 请重启，让 tp2_p2pdma 先于 amdgpu 就位；如果之后仍未加载，请查看内核日志中与 tp2_p2pdma 有关的内容
module-loaded-remedy-install = 请让 DKMS 为当前内核安装 tp2_p2pdma，重新生成 initramfs，然后重启
module-loaded-remedy-index = 请运行 depmod（它的索引里没有 tp2_p2pdma），再重新生成 initramfs，然后重启
module-loaded-remedy-package = 请安装软件包 tp2-p2pdma-dkms 并重启，让 tp2_p2pdma 先于 amdgpu 就位
module-loaded-remedy-refused = 见 kernel.kprobes

# module.effective
explain-module-effective = 已加载的模块是否起作用：自检此刻通过，模式为 `force`，没有漏掉任何调用，并且先于 GPU 驱动就位。KFD 在添加 GPU 时就会询问（`kfd_dev_create_p2p_links()`，Linux 6.1 至 7.3），因此更晚到来的覆盖不会改变任何链路。
module-effective-not-loaded = 没有看到 tp2_p2pdma 已加载
module-effective-pass = tp2_p2pdma 在起作用：它的钩子已得到验证，并且它先于 GPU 驱动就位
module-effective-what = 模块 tp2_p2pdma 的状态
module-effective-self-test = tp2_p2pdma 的自检没有通过，因此它的钩子不起作用（{ $state }）
module-effective-self-test-remedy = 请打开 kprobes，在 Linux 7.3 之前的内核上还要打开 ftrace，然后再运行一次本工具，因为自检在每次读取时都会执行；如果 amdgpu 是在自检不通过的期间启动的，请重启
module-effective-self-test-remedy-kernel = 这个内核会运行钩子，却不采用它的答复：请启动别的内核，并报告这一情况，附上以下命令写出的内容
module-effective-self-test-remedy-instances = 请在 /etc/modprobe.d 中调大 tp2_p2pdma 的参数 maxactive，然后重启
module-effective-mode = tp2_p2pdma 以 mode={ $mode } 运行，因此不改变任何答复
module-effective-mode-not-needed = tp2_p2pdma 以 mode={ $mode } 运行，因此不改变任何答复；这里没有它会覆盖的 GPU 对
module-effective-mode-remedy = 请在 /etc/modprobe.d 中设置 mode=force（或者删去这个选项）并重启
module-effective-missed = tp2_p2pdma 漏掉了 { $calls } 次调用，这些调用得到的仍是内核的答复
module-effective-missed-linked = tp2_p2pdma 漏掉了 { $calls } 次调用，不过每个 GPU 对都有链路
module-effective-missed-remedy = 请调大模块参数 maxactive 并重启
module-effective-late = tp2_p2pdma 加载得太晚：已有 GPU 绑定了驱动，KFD 也已经询问过了
module-effective-late-linked = tp2_p2pdma 在 GPU 驱动之后加载，不过每个 GPU 对都有链路：它曾经先于驱动加载过，后来又重新加载了
module-effective-late-remedy = 请把 tp2_p2pdma 和 amdgpu 一起放进 initramfs（软件包会这样做；请重新生成 initramfs）并重启
