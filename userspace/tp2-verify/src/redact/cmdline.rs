// SPDX-License-Identifier: GPL-2.0-only

//! The kernel's command line: values are kept only of parameters that have to do with routes, and with modules that matter.

/// What stands in place of a value, and of a word that is no known parameter.
const REMOVED: &str = "REMOVED";
const WORD: &str = "word";

/// Parameters whose values are kept. Whole names: a beginning such as `pci` would let `pci_token` in.
const KEPT: [&str; 20] = [
    "amd_iommu",
    "amd_pstate",
    "cma",
    "efi",
    "initcall_blacklist",
    "intel_iommu",
    "iommu",
    "iommu.passthrough",
    "iommu.strict",
    "lockdown",
    "mitigations",
    "modprobe.blacklist",
    "module.sig_enforce",
    "module_blacklist",
    "pci",
    "pcie_acs_override",
    "pcie_aspm",
    "pcie_port_pm",
    "pcie_ports",
    "swiotlb",
];

/// Modules all of whose parameters are kept.
const MODULES: [&str; 3] = ["amdgpu.", "tp2_p2pdma.", "vfio_pci."];

/// Parameters without values that are well known; what else stands alone may be anybody's word.
const ALONE: [&str; 30] = [
    "audit",
    "debug",
    "nokaslr",
    "maybe_ubiquity",
    "noapic",
    "nofb",
    "nogpumanager",
    "noibpb",
    "noibrs",
    "nolapic",
    "nomce",
    "nomodeset",
    "nompath",
    "nopti",
    "noquiet",
    "noresume",
    "nosmp",
    "nosmt",
    "nosplash",
    "nospectre_v2",
    "nowatchdog",
    "quiet",
    "rhgb",
    "ro",
    "rw",
    "sgx",
    "single",
    "splash",
    "text",
    "verbose",
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
        let bare = word.trim_start_matches('"');
        let (name, value) = bare.split_once('=').map_or((bare, None), |(name, value)| (name, Some(value)));
        let plain = name.replace('-', "_");
        let is_kept = KEPT.contains(&plain.as_str()) || MODULES.iter().any(|module| plain.starts_with(module));
        out.push(match value {
            _ if is_kept => scrub(&word),
            Some(_) => format!("{}={REMOVED}", scrub(name)),
            None if ALONE.contains(&plain.as_str()) => word,
            None => WORD.to_owned(),
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
                    amd-iommu=on iommu=pt amdgpu.pcie_p2p=1 pci_token=secret mem=secret video=secret module=secret \
                    secret \"two secrets\" vfio-pci.ids=1002:744c -- secret\n";
        let expected = "BOOT_IMAGE=REMOVED root=REMOVED ro dyndbg=REMOVED x=REMOVED pci=noats amd-iommu=on iommu=pt \
                        amdgpu.pcie_p2p=1 pci_token=REMOVED mem=REMOVED video=REMOVED module=REMOVED word word \
                        vfio-pci.ids=1002:744c --\n";
        assert_eq!(scrub(line, str::to_owned), expected);
    }
}
