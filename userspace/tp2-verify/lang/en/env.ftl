# SPDX-License-Identifier: GPL-2.0-only

# env.platform
env-platform-wsl = this is WSL, which has no PCI bridges to read and no KFD, and whose GPUs share no memory: nothing else is judged
env-platform-wsl-remedy = run tp2-verify on Linux that was booted on the machine itself
env-platform-no-kfd = present, and no KFD
env-platform-cpu = the CPU
env-platform-metal = Linux on the machine itself, no hypervisor seen
env-platform-guest = this is a virtual machine: its bridges are the hypervisor's, and what holds here need not hold on the machine below
env-platform-hypervisor-flag = hypervisor flag
env-platform-no-hypervisor-flag = no hypervisor flag
env-platform-container = this is a container: it sees the host's kernel, but perhaps not its module files
env-platform-container-remedy = run tp2-verify on the host
env-platform-present = present
env-platform-variable = environment, { $name }
env-platform-variable-case = the variable { $name } has no effect: these names are upper case throughout
env-platform-variable-case-remedy = unset { $name }, and set { $upper } if it is meant
env-platform-variable-ggml = GGML_CUDA_P2P is set, which switches peer copies of llama.cpp on whatever its value, 0 included
env-platform-variable-ggml-remedy = unset GGML_CUDA_P2P where peer copies are not wanted
env-platform-variable-visible = { $name } hides or renumbers GPUs: a GPU that is hidden from a program is no peer for it
env-platform-variable-visible-remedy = unset { $name } to see all GPUs; go by PCI addresses, not by indices
env-platform-variable-nccl = NCCL_P2P_DISABLE is set, so RCCL is asked to stage copies through host memory
env-platform-variable-nccl-remedy = unset NCCL_P2P_DISABLE once peer access is verified
env-platform-variable-vllm = VLLM_SKIP_P2P_CHECK is set, so vLLM believes the driver and copies nothing to see
env-platform-variable-vllm-remedy = unset VLLM_SKIP_P2P_CHECK

# env.access, by owner, group and mode
env-access-openings = whether device files open
env-access-no-gpu = no AMD GPU was found
env-access-no-kfd = there is no KFD that could be opened; see gpu.kfd
env-access-copy = a copy of a machine has no device nodes, and no list of them was made
env-access-nodes = the device nodes of GPUs
env-access-missing-kfd = the driver runs, but there is no /dev/kfd
env-access-missing-render = the driver runs, but there is no render node (/dev/dri/renderD*)
env-access-missing-remedy = see whether udev and devtmpfs run; in a sandbox, let it see /dev/kfd and /dev/dri
env-access-no-such-node = no such node
env-access-missing-kfd-container = this container was not given /dev/kfd
env-access-missing-render-container = this container was not given a render node (/dev/dri/renderD*)
env-access-missing-container-remedy = start the container with { $option }
env-access-present = present
env-access-failed = { $path } could not be opened: { $reason }
env-access-failed-remedy = read the kernel log
env-access-who = which user and groups run this
env-access-kfd-pass = this user may open /dev/kfd
env-access-kfd-denied = this user may not open /dev/kfd, so GPU programs see no GPU
env-access-kfd-no-device = /dev/kfd is there, but no device answers behind it
env-access-kfd-no-device-remedy = see whether amdgpu is loaded; in a container, pass the host's own node with --device=/dev/kfd
env-access-render-denied = this user may open no render node, so GPU programs fail
env-access-render-no-device = render nodes are there, but no device answers behind them
env-access-render-no-device-remedy = see whether amdgpu is loaded; in a container, pass the host's own nodes with --device=/dev/dri
env-access-node = mode { $mode }, owner { $uid }, group { $gid }
env-access-user = user { $uid }, groups { $groups }
env-access-remedy-root = even root is refused: start the container with --device={ $path }, which its device rules need
env-access-remedy-nobody = group { $gid } of { $path } is none that a user should be in: in a user namespace keep the host's groups (podman: --group-add keep-groups); else see why udev did not give the node to its group (render)
env-access-remedy-container = start the container with --group-add { $gid }: that is the host's group of { $path }, whatever it is called here
env-access-remedy-join = join the group of { $path } (number { $gid }, most often called render), then log in anew

# env.access, by what opening gave
env-access-opened-none = no GPU here belongs to amdgpu, so there is nothing to open
env-access-opened-pass = this user can open /dev/kfd and the GPUs' render nodes
env-access-opened-closed = { $cause }, so programs of this user cannot use the GPUs
env-access-opened-groups = groups { $groups }
env-access-opened-file-of = { $path } of { $gpu }
env-access-opened-yes = { $file } opens
env-access-opened-absent = { $file } is not there
env-access-opened-denied = { $file } may not be opened by this user
env-access-opened-forbidden = { $file } is forbidden here whoever asks
env-access-opened-no-driver = { $file } has no driver behind it
env-access-opened-not-device = { $file } is no device file
env-access-opened-failed = { $file } cannot be opened
env-access-opened-both = opened for reading and writing
env-access-opened-no-character-device = not a character device
env-access-opened-owner = { $what }; mode { $mode }, user { $uid }, group { $group }
env-access-opened-group = { $name } ({ $gid })
env-access-opened-remedy-unmapped = this is a user namespace that does not map the group of { $path }: start the container with that group kept (podman: --group-add keep-groups), or run it outside
env-access-opened-remedy-join = join the group that owns { $path }: group { $group }, then log in anew; a container needs the number: --group-add { $gid }
env-access-opened-remedy-join-unnamed = join the group that owns { $path }: group with ID { $gid }, then log in anew; a container needs the number: --group-add { $gid }
env-access-opened-remedy-denied = let a group that this user is in read and write { $path } (udev rule of ROCm or systemd)
env-access-opened-remedy-absent = if this is a container, start it with --device={ $path }; else look whether udev runs and amdgpu is loaded
env-access-opened-remedy-forbidden = start the container with --device={ $path }, which adds the rule that is missing
env-access-opened-remedy-by-hand = remove { $path }, which somebody made by hand, and load amdgpu, which makes it anew
env-access-opened-remedy-failed = read the kernel log for amdgpu and kfd about { $path }
