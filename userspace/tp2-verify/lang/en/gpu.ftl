# SPDX-License-Identifier: GPL-2.0-only

# Several gates of gpu.*: how it shows that the way leads through a chipset.
gpu-chipset-intel = root port { $port } is one of the chipset (PCH)
gpu-chipset-amd = { $port } is a port of AMD's chipset

# gpu.kfd
gpu-kfd-what-devices = the list of PCI devices
gpu-kfd-what-gpu = whether this is a GPU
gpu-kfd-what-skipped =
    { $count ->
        [one] a PCI device
       *[other] { $count } PCI devices
    }
gpu-kfd-what-topology = KFD's topology
gpu-kfd-what-known = whether KFD knows this GPU
gpu-kfd-doubtful = whether this is a GPU is not known
gpu-kfd-twins = KFD lists one GPU several times (nodes { $nodes }): go by PCI addresses, not by node numbers
gpu-kfd-twins-remedy = try another version of the firmware, newer or older: its tables may list the CPU's GPU twice
gpu-kfd-same-place = same domain and location_id
gpu-kfd-skipped-remedy = run tp2-verify again if devices came or went; a captured tree needs /sys/devices besides /sys/bus/pci/devices
gpu-kfd-pass = KFD knows { $gpu } as node { $node }
gpu-kfd-own-place = domain and location_id are this GPU's
gpu-kfd-no-driver = { $gpu } has no driver, so KFD cannot know it
gpu-kfd-no-driver-link = no such link
gpu-kfd-no-driver-remedy = load amdgpu if it is not loaded; else read the kernel log for amdgpu and { $gpu }
gpu-kfd-other-driver = { $gpu } belongs to the driver { $driver }, so KFD cannot know it
gpu-kfd-other-driver-remedy = give the device back to amdgpu
gpu-kfd-absent = there is no KFD
gpu-kfd-absent-remedy = boot a kernel whose amdgpu has CONFIG_HSA_AMD=y
gpu-kfd-no-node = amdgpu drives this GPU, but KFD has no node for it
gpu-kfd-no-node-place = no node with this domain and location_id
gpu-kfd-no-node-remedy = read the kernel log for kfd and { $gpu }: if it says `PCI rejects atomics`, move the card to another slot, one wired to the CPU; else the chip or its firmware may be unsupported
gpu-kfd-ambiguous = KFD nodes { $nodes } claim the same PCI address, so which GPU is which node is not known
gpu-kfd-ambiguous-remedy = use a kernel from 5.3 on; if the GPU is partitioned, run it without partitions; else report it with these nodes' properties

# gpu.bar-size
gpu-bar-size-no-amdgpu = without amdgpu nobody tells the size of this GPU's memory
gpu-bar-size-what-visible = how much of this GPU's memory can be seen
gpu-bar-size-linked = KFD has links with every peer, which it makes only where all memory can be seen
gpu-bar-size-pass = all of its memory, { $memory }, can be seen through its BAR
gpu-bar-size-hidden = only { $visible } of its { $memory } can be seen through its BAR, so peers cannot reach it
gpu-bar-size-hidden-remedy = switch on Resizable BAR in the firmware; if it is on, read the kernel log for BAR 0 of { $gpu }: another card below the same bridge may leave no room, or this slot's firmware window may be too small
gpu-bar-size-low = only { $visible } of its { $memory } can be seen through its BAR, so peers cannot reach it: the firmware placed the BAR below 4 GiB, where there is no room
gpu-bar-size-low-remedy = switch on Above 4G Decoding in the firmware, switch off CSM, update the firmware; if the BAR stays below 4 GiB, the kernel parameter pci=nocrs together with an amdgpu patched to retry the resize has helped, at the risk of address conflicts
gpu-bar-size-bar = BAR 0 at { $start }, size { $size }
gpu-bar-size-no-bar = BAR 0 has no address

# gpu.bar-address
gpu-bar-address-no-peer = there is no peer that would have to reach this GPU
gpu-bar-address-no-bar = BAR 0, through which peers reach this GPU's memory, has no address
gpu-bar-address-no-bar-line = first line: no address range
gpu-bar-address-no-bar-remedy = switch on Above 4G Decoding in the firmware; read the kernel log for BAR 0 of { $gpu }
gpu-bar-address-what-address = the address of this GPU's memory
gpu-bar-address-what-reach = whether every peer can form this GPU's addresses
gpu-bar-address-mask-not-set = amdgpu has not set it
gpu-bar-address-place = its memory ends at { $end } and needs { $bits } address bits
gpu-bar-address-range = BAR 0 from { $start } to { $end }
gpu-bar-address-peer = peer { $peer }
gpu-bar-address-pass = { $place }, which every peer has
gpu-bar-address-linked = KFD has links with every peer, which it makes only where each can form the address
gpu-bar-address-translated = { $place }, more than { $peer } has, but an IOMMU translates for that peer: leave it so, since iommu=pt would cut this pair
gpu-bar-address-beyond = { $place }, more than the { $bits } of { $peer }, and no IOMMU translates for that peer
gpu-bar-address-beyond-unused = { $place }, more than the { $bits } of { $peer }, and this amdgpu does not go by the IOMMU
gpu-bar-address-beyond-linked = { $place }, more than the { $bits } of { $peer }, yet KFD has links: one of the two is read wrongly
gpu-bar-address-old-kernel = { $place }, more than { $peer } has; an IOMMU translates for that peer, but whether the amdgpu of a kernel before { $version } goes by that is not known
gpu-bar-address-old-kernel-remedy = boot a newer kernel, or lower the MMIO base in the firmware
gpu-bar-address-peer-fits = has at least { $bits } address bits
gpu-bar-address-peer-translated = IOMMU domain { $kind }: translates
gpu-bar-address-peer-absent = { $bits } address bits, no IOMMU
gpu-bar-address-peer-pass-through = { $bits } address bits, IOMMU domain identity
gpu-bar-address-peer-unused = { $bits } address bits, by which alone this amdgpu goes, whatever the IOMMU does
gpu-bar-address-peer-other = { $bits } address bits, IOMMU domain of another type
gpu-bar-address-peer-old-kernel = an IOMMU translates
gpu-bar-address-remedy-pass-through = on this machine the IOMMU has to translate: remove iommu=pt (or iommu.passthrough=1) from the kernel command line and reboot; or place the BARs lower in the firmware (MMIO High Base, MMIOH Base, at most 16 TiB for 44 bits)
gpu-bar-address-remedy-absent = switch on the IOMMU in the firmware (VT-d, AMD-Vi) and boot without iommu=pt, on Intel also with intel_iommu=on; or place the BARs lower in the firmware (MMIO High Base, MMIOH Base, at most 16 TiB for 44 bits)
gpu-bar-address-remedy-old-kernel = place the BARs lower in the firmware (MMIO High Base, MMIOH Base, at most 16 TiB for 44 bits); or boot Linux { $version } or newer with an IOMMU that translates (without iommu=pt), which this kernel's amdgpu is not known to go by
gpu-bar-address-remedy-unused = use an amdgpu with HSA_AMD_P2P (see kernel.hsa-amd-p2p), which goes by the IOMMU's translation; or place the BARs lower in the firmware (MMIO High Base, MMIOH Base)
gpu-bar-address-remedy-other = give this GPU back to the host; or place the BARs lower in the firmware (MMIO High Base, MMIOH Base)
gpu-bar-address-old-stack = an IOMMU translates for { $peer }, and kernels before { $version } do not map peers' memory in that IOMMU
gpu-bar-address-old-stack-group = IOMMU group of { $peer }
gpu-bar-address-old-stack-remedy = on this kernel boot with iommu=pt, or use a newer kernel, where it is not needed

# gpu.atomics
gpu-atomics-what-ports = whether the ports above this GPU handle PCIe atomics
gpu-atomics-pass = every port up to the CPU handles PCIe atomics
gpu-atomics-pass-driver = amdgpu got PCIe atomics for this GPU
gpu-atomics-closed = { $gpu } cannot use PCIe atomics: { $why }
gpu-atomics-closed-blocked = switch port { $port } blocks them (EgressBlck+)
gpu-atomics-closed-not-routed = switch port { $port } does not route them (Routing-)
gpu-atomics-closed-not-completed = root port { $port } does not complete them
gpu-atomics-closed-driver = { $gpu } cannot use PCIe atomics: its driver did not get them
gpu-atomics-no-root-port = { $gpu } has no root port above it, so its driver gets no PCIe atomics
gpu-atomics-no-root-port-way = no root port on the way
gpu-atomics-flags = flags: atomics
gpu-atomics-flags-none = flags: no atomics
gpu-atomics-needed = { $what }, and KFD takes no GPU that needs them
gpu-atomics-missed = { $what }; plain copies may do without, but RCCL and GPU kernels that call back to the host are refused (RCCL: "operation cannot be performed in the present state", HIP error 401)
gpu-atomics-remedy = move the card to another slot wired to the CPU, without riser or adapter, and update the firmware
gpu-atomics-remedy-chipset = { $why }, and many of those have no atomics: move the card to a slot wired to the CPU
gpu-atomics-remedy-guest = in this guest the ports are the hypervisor's: give the guest a root port for each card and pass function .0 of the card only, without its audio function (QEMU from 8.1 on offers atomics to single-function devices only)

# gpu.slot
gpu-slot-what-bridge = a bridge above this GPU
gpu-slot-what-link = a link between this GPU and the CPU
gpu-slot-none = there is no bridge above this GPU, so there is no slot to measure
gpu-slot-link = the slot link ({ $above } to { $below }) runs at { $rate }: at most { $most } one way
gpu-slot-narrowest = the narrowest link to the CPU ({ $above } to { $below }) runs at { $rate }: at most { $most } one way
gpu-slot-slow = { $link }; idle links slow down, and this one can run at { $rate } ({ $most })
gpu-slot-in-card = { $rate }, which is the link inside the card
gpu-slot-chipset = { $link }; it is a slot of the chipset, whose link to the CPU is shared
gpu-slot-chipset-route = route
gpu-slot-chipset-remedy = move the card to a slot wired to the CPU

# gpu.link
gpu-link-what-bridge = a bridge above this GPU
gpu-link-what-link = a link between this GPU and the CPU
gpu-link-none = there is no bridge above this GPU, so there is no link to look at
gpu-link-pass = every link to the CPU has the width that both ends can have
gpu-link-ends = { $above } to { $below }
gpu-link-rates = { $now } now (idle links slow down), { $most } at most
gpu-link-narrow = the link { $above } to { $below } came up with { $now } lanes, although both ends could have { $most }
gpu-link-narrow-remedy = look up how many lanes this slot has when the others are used; if it should have more, reseat the card or replace the riser
gpu-link-payload-smaller = Max Payload Size is { $own } bytes at { $gpu } but { $size } at { $other }: the latter takes the GPU's larger packets as malformed, a fatal error
gpu-link-payload-larger = Max Payload Size is { $own } bytes at { $gpu } but { $size } at { $other }: the latter may send packets that the GPU takes as malformed, unless its driver limits them
gpu-link-payload-size = Device Control: { $size } bytes
gpu-link-payload-remedy = boot with the kernel parameter pci=pcie_bus_safe, which sets the size that all of the way can take

# gpu.power
gpu-power-what-awake = whether this GPU is awake
gpu-power-pass = the GPU and the bridges above it are awake
gpu-power-sleeping = { $device } sleeps to save power, so what was read of links and registers may be of its sleep
gpu-power-sleeping-remedy = wake the GPU (rocminfo does, or any program that opens its render node) and run this again
gpu-power-failed = { $device } failed to wake up from sleep, and cannot be used before a reboot
gpu-power-failed-remedy = reboot; if it comes back, boot with amdgpu.runpm=0 to see whether sleeping is the cause

# gpu.aer
gpu-aer-what-counters = error counters
gpu-aer-none = nothing on the way to this GPU counts errors (the kernel or the firmware keeps AER to itself)
gpu-aer-pass = no error was reported on the way to this GPU since boot
gpu-aer-pass-counters = all 0
gpu-aer-fatal = { $device } has reported fatal errors since boot: { $errors }
gpu-aer-nonfatal = { $device } has reported uncorrected errors since boot: { $errors }
gpu-aer-corrected = { $device } has corrected errors since boot: { $errors }; see whether the number grows
gpu-aer-remedy = read the kernel log for AER and { $device }
gpu-aer-remedy-malformed = a malformed packet is one that a port does not know, for instance an atomic operation at a port without atomics: see gpu.atomics, and try a slot wired to the CPU
gpu-aer-remedy-signal = look at this again after some load: if the number grows, reseat the card, replace the riser or cable, or set the slot to a lower speed in the firmware
gpu-aer-remedy-refused = read the kernel log for AER and { $device }: a request was refused or not answered, which peer traffic can cause
