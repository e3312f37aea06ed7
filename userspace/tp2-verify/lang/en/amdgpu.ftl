# SPDX-License-Identifier: GPL-2.0-only

# amdgpu.origin
amdgpu-origin-no-gpu = no AMD GPU was found
amdgpu-origin-loading = whether amdgpu is loaded
amdgpu-origin-none = there is no amdgpu for the running kernel
amdgpu-origin-none-remedy = install the kernel's full set of modules
amdgpu-origin-file = which amdgpu modprobe would load
amdgpu-origin-would-be-own = amdgpu is not loaded; modprobe would load the kernel's own
amdgpu-origin-would-be-outside = amdgpu is not loaded; modprobe would load one built outside the kernel
amdgpu-origin-listed = in modules.dep
amdgpu-origin-other = the loaded amdgpu is not the file that modprobe would load now
amdgpu-origin-other-remedy = rebuild the initramfs and reboot
amdgpu-origin-own = amdgpu is loaded, the kernel's own
amdgpu-origin-outside = amdgpu is loaded, built outside the kernel
amdgpu-origin-built-in = amdgpu is built into the kernel: it starts before any module, so an override comes too late
amdgpu-origin-built-in-listed = lists amdgpu
amdgpu-origin-built-in-remedy = boot a kernel that has amdgpu as a module

# amdgpu.pcie-p2p
amdgpu-pcie-p2p-not-loaded = amdgpu is not seen to be loaded, so it has no parameters
amdgpu-pcie-p2p-on = amdgpu's peer access is switched on
amdgpu-pcie-p2p-off = amdgpu's peer access is switched off by its parameter
amdgpu-pcie-p2p-off-remedy = remove amdgpu.pcie_p2p=0 from the kernel command line and from /etc/modprobe.d, then reboot
amdgpu-pcie-p2p-odd = amdgpu's parameter pcie_p2p has the odd value { $value }
amdgpu-pcie-p2p-absent = the loaded amdgpu has no parameter pcie_p2p; see kernel.hsa-amd-p2p
amdgpu-pcie-p2p-parameter = amdgpu's parameter pcie_p2p

# How amdgpu was built, for several gates
amdgpu-driver-no-such-parameter = the loaded driver has no such parameter
amdgpu-driver-has-parameter = has the parameter { $parameter }
amdgpu-driver-has-no-parameter = has no parameter { $parameter }
amdgpu-driver-outside = amdgpu is { $path }, which was not built with the kernel, so the kernel's configuration is no proof, and the file itself could not be read
amdgpu-driver-not-configured = CONFIG_HSA_AMD_P2P is not set
amdgpu-driver-unreadable = neither amdgpu nor the kernel's configuration could be read ({ $error })
