# SPDX-License-Identifier: GPL-2.0-only

# module.dkms
module-dkms-what = what DKMS has
module-dkms-what-release = the running kernel's release
module-dkms-pass = DKMS has built version { $version } for the running kernel
module-dkms-present = present
module-dkms-in-place = tp2_p2pdma is in place, but DKMS has no build of it for { $release }
module-dkms-by-hand = tp2_p2pdma was installed without DKMS: it will be gone after the next kernel upgrade
module-dkms-no-build = no build for the running kernel
module-dkms-by-hand-remedy = install the package tp2-p2pdma-dkms
module-dkms-other-kernel = DKMS has tp2_p2pdma, but not for the running kernel { $release }
module-dkms-source-only = source only, never built
module-dkms-other-kernel-remedy = build tp2_p2pdma for the running kernel (this needs that kernel's headers; read DKMS's log if it fails), then reboot
module-dkms-container = what DKMS has is not known in a container, which has files of its own
module-dkms-no-help = tp2_p2pdma is not installed, and would not help on this kernel
module-dkms-absent = tp2_p2pdma is not installed
module-dkms-empty = empty
module-dkms-need-unknown = tp2_p2pdma is not installed; whether it is needed is not known
module-dkms-not-needed = tp2_p2pdma is not installed, and no pair here is one that it would override

# module.match. $finding is one of other-kernel and other-build.
module-match-container = module files are the host's, and this container does not see them
module-match-no-file = tp2_p2pdma is loaded, but modprobe would find no file of it at the next boot
module-match-no-file-remedy = install the package tp2-p2pdma-dkms
module-match-unlisted-remedy = run depmod, whose index lacks the file that is there
module-match-nothing = there is no tp2_p2pdma for the running kernel to compare
module-match-unlisted = a file of tp2_p2pdma is there, but the module index does not list it, so modprobe would not find it; see module.loaded
module-match-what = the file of tp2_p2pdma
module-match-pass-loaded = the file of tp2_p2pdma is for the running kernel, and is the one that is loaded
module-match-pass = the file of tp2_p2pdma is for the running kernel
module-match-other-kernel = the file of tp2_p2pdma was built for another kernel than the running { $release }
module-match-other-kernel-remedy = build tp2_p2pdma for the running kernel, then reboot
module-match-other-kernel-remedy-anew = DKMS keeps what it built for this kernel, although that is for another (older dkms goes by the kernel that runs while it builds): build tp2_p2pdma anew, then reboot
module-match-other-build = the loaded tp2_p2pdma is not the file on disk: the two differ in { $name }
module-match-other-build-remedy = rebuild the initramfs, then reboot
module-match-acts = { $finding }; what is loaded acts, until the next boot

# module.signature. $enrol is one of enrol and enrol-unknown.
module-signature-loaded = tp2_p2pdma is loaded, so the kernel took it; there is no file of it to look at
module-signature-nothing = there is no tp2_p2pdma that could be refused
module-signature-taken = the kernel took tp2_p2pdma when it was loaded
module-signature-what = the signature of tp2_p2pdma
module-signature-what-asked = whether the kernel takes signed modules only
module-signature-what-keys = which keys are enrolled
module-signature-not-asked-secure-boot = the kernel takes modules without a signature: Secure Boot is on, but the kernel is not locked down
module-signature-not-asked-no-secure-boot = the kernel takes modules without a signature: Secure Boot is off
module-signature-not-asked-no-efi = the kernel takes modules without a signature: this machine was not booted by EFI
module-signature-not-asked = the kernel takes modules without a signature: the kernel is not locked down
module-signature-none = no signature
module-signature-unsigned = this kernel takes signed modules only, and tp2_p2pdma is not signed
module-signature-unsigned-remedy = let DKMS build tp2_p2pdma anew, which signs it, and { $enrol }
module-signature-key = signer { $signer }, key { $key }
module-signature-unknown = unknown
module-signature-enrolled = tp2_p2pdma is signed, and its key is enrolled ({ $subject })
module-signature-unnamed = without a name
module-signature-taken-signed = tp2_p2pdma is signed, and the kernel accepted a tp2_p2pdma when it was loaded
module-signature-of-kernel = tp2_p2pdma is signed with the key of whoever built the kernel's modules, and the kernel has that key
module-signature-not-enrolled = tp2_p2pdma is signed with a key that is not enrolled, so this kernel refuses it (Key was rejected by service)
module-signature-enrol = enrol the certificate { $path }, then reboot and confirm it at the blue screen (MOK management)
module-signature-enrol-unknown = enrol the certificate that DKMS names when it builds (mokutil --import), then reboot and confirm it at the blue screen (MOK management)

# module.order. $finding is one of no-softdep, image-no-line and image-no-module.
module-order-builtin = amdgpu is built in, so no module comes before it; see amdgpu.origin
module-order-container = modprobe's configuration is the host's, and this container does not see it
module-order-nothing = there is no tp2_p2pdma that could come first
module-order-blocked = a line of modprobe's configuration keeps tp2_p2pdma out, or may
module-order-blocked-remedy = remove that line from { $path } and rebuild the initramfs
module-order-came-first = { $finding }; on this boot it came first all the same
module-order-not-needed = { $finding }; no pair here is one that it would override
module-order-softdep = modprobe loads tp2_p2pdma before amdgpu
module-order-what = modprobe's configuration
module-order-no-softdep = nothing makes tp2_p2pdma come before amdgpu: no softdep names it
module-order-no-line = no line "{ $line }"
module-order-no-softdep-remedy = add the softdep line for tp2_p2pdma to modprobe's configuration, rebuild the initramfs and reboot (the package does the first two)
module-order-image = initramfs
module-order-image-modules = amdgpu { $amdgpu }, tp2_p2pdma { $module }
module-order-image-all = amdgpu { $amdgpu }, tp2_p2pdma { $module }, modprobe configuration { $configuration }
module-order-in-image = is in it
module-order-not-in-image = is not in it
module-order-image-not-read = not read ({ $error })
module-order-image-no-line = the initramfs has amdgpu and tp2_p2pdma, but not the line that orders them
module-order-image-no-module = the initramfs has amdgpu, but not tp2_p2pdma, so amdgpu starts without it
module-order-image-remedy-mkinitcpio = name tp2_p2pdma among the modules of the initramfs (mkinitcpio does not follow softdeps), rebuild it, then reboot
module-order-image-remedy = rebuild the initramfs, then reboot

# module.loaded. $remedy is one of remedy-reboot, remedy-install and remedy-package.
module-loaded-what = whether tp2_p2pdma is loaded
module-loaded-what-state = the state of tp2_p2pdma
module-loaded-pass = tp2_p2pdma is loaded
module-loaded-state = tp2_p2pdma is loaded, but its state is { $state }
module-loaded-state-remedy = reboot; if it stays so, read the kernel log for tp2_p2pdma
module-loaded-no-help = tp2_p2pdma is not loaded, and would not help on this kernel
module-loaded-not-needed = tp2_p2pdma is not loaded, and not needed
module-loaded-no-pair = tp2_p2pdma is not loaded, and would not touch any pair here
module-loaded-need-unknown = tp2_p2pdma is not loaded; whether it is needed is not known
module-loaded-absent = tp2_p2pdma is not loaded
module-loaded-no-directory = no such directory
module-loaded-remedy-on-host = on the host, not in this container: { $remedy }
module-loaded-remedy-reboot = reboot, so that tp2_p2pdma is there before amdgpu; if it stays so, read the kernel log for tp2_p2pdma
module-loaded-remedy-install = let DKMS install tp2_p2pdma for the running kernel, rebuild the initramfs, then reboot
module-loaded-remedy-index = run depmod, whose index lacks tp2_p2pdma, then rebuild the initramfs and reboot
module-loaded-remedy-package = install the package tp2-p2pdma-dkms and reboot, so that tp2_p2pdma is there before amdgpu
module-loaded-remedy-refused = see kernel.kprobes

# module.effective
module-effective-not-loaded = tp2_p2pdma is not seen to be loaded
module-effective-pass = tp2_p2pdma acts: its hook is proven, and it was there before the GPU driver
module-effective-what = the state of tp2_p2pdma
module-effective-self-test = tp2_p2pdma's self-test does not pass, so its hook does not act ({ $state })
module-effective-self-test-remedy = switch kprobes on and, before Linux 7.3, ftrace too, then run this again, since the test runs at every read; reboot if amdgpu started while it failed
module-effective-self-test-remedy-kernel = this kernel runs the hook and does not take its answer: boot another kernel, and report it with what these commands write
module-effective-self-test-remedy-instances = raise the parameter maxactive of tp2_p2pdma in /etc/modprobe.d and reboot
module-effective-mode = tp2_p2pdma runs with mode={ $mode }, so it changes no answer
module-effective-mode-not-needed = tp2_p2pdma runs with mode={ $mode }, so it changes no answer; no pair here is one that it would override
module-effective-mode-remedy = set mode=force in /etc/modprobe.d (or remove the option) and reboot
module-effective-missed = tp2_p2pdma missed { $calls } calls, which kept the kernel's answer
module-effective-missed-linked = tp2_p2pdma missed { $calls } calls, though every pair has its links
module-effective-missed-remedy = raise the module parameter maxactive and reboot
module-effective-late = tp2_p2pdma was loaded too late: a GPU already had its driver, and KFD had asked
module-effective-late-linked = tp2_p2pdma was loaded after the GPU driver, though every pair has its links: it was loaded before once, and anew since
module-effective-late-remedy = put tp2_p2pdma into the initramfs beside amdgpu (the package does; rebuild the initramfs) and reboot
