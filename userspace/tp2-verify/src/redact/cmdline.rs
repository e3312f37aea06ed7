// SPDX-License-Identifier: GPL-2.0-only

//! The kernel's command line: values are kept only of parameters that have to do with PCI, GPUs and modules.

/// What stands in place of a value.
const REMOVED: &str = "REMOVED";

/// Beginnings of the parameters whose values are kept.
const KEPT: [&str; 26] = [
    "amd_iommu",
    "amdgpu",
    "amd_pstate",
    "cma",
    "drm",
    "efi=",
    "ftrace",
    "initcall_blacklist",
    "intel_iommu",
    "iommu",
    "kprobe",
    "kvm",
    "lockdown",
    "lsm",
    "mem=",
    "mitigations",
    "modprobe.blacklist",
    "module",
    "nomodeset",
    "pci",
    "rd.driver",
    "swiotlb",
    "thunderbolt",
    "tp2_p2pdma",
    "vfio",
    "video",
];

/// Removes what is nobody's business. `scrub` looks at what is kept.
pub(super) fn scrub(text: &str, mut scrub: impl FnMut(&str) -> String) -> String {
    let mut out: Vec<String> = Vec::new();
    for word in words(text.trim_end()) {
        if word == "--" {
            // What follows is for init.
            out.push(word);
            break;
        }
        let plain = word.trim_start_matches('"').replace('-', "_");
        let kept = KEPT.iter().any(|start| plain.starts_with(start));
        out.push(match word.split_once('=') {
            Some((name, _)) if !kept => format!("{}={REMOVED}", scrub(name.trim_start_matches('"'))),
            _ => scrub(&word),
        });
    }
    let end = if text.ends_with('\n') { "\n" } else { "" };
    format!("{}{end}", out.join(" "))
}

/// Parameters; inside double quotes white space does not separate (`next_arg()` in `lib/cmdline.c`).
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut is_quoted = false;
    for c in text.chars() {
        is_quoted ^= c == '"';
        if c.is_whitespace() && !is_quoted {
            words.push(std::mem::take(&mut word));
        } else {
            word.push(c);
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::scrub;

    #[test]
    fn only_what_matters_keeps_its_value() {
        let line = "BOOT_IMAGE=/vmlinuz root=UUID=ab ro dyndbg=\"file secret +p\" \"x=a secret\" pci=noats \
                    amd-iommu=on iommu=pt amdgpu.pcie_p2p=1 -- secret\n";
        let expected = "BOOT_IMAGE=REMOVED root=REMOVED ro dyndbg=REMOVED x=REMOVED pci=noats amd-iommu=on iommu=pt \
                        amdgpu.pcie_p2p=1 --\n";
        assert_eq!(scrub(line, str::to_owned), expected);
    }
}
