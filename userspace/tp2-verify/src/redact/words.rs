// SPDX-License-Identifier: GPL-2.0-only

//! Words that name nobody: a host or a user may be called like one, and then it stays.

/// Words that are in paths and values which the tool looks for, and a few that many machines are called. Were a host's
/// name one of them and replaced, the report would be judged otherwise. `tests/reserved_names.rs` tells which are missing.
const COMMON: &str = "
    absent acs active admin aer allow almalinux amd amd64 amdgpu answer answered arch authenticamd blacklist boot
    bound bridge build builtin bus cachyos calls card centos class client code conf confidentiality config
    correctable cpu cpuinfo cross cuda current debian default denied deny dep dev device devices died disable dkms
    driver drm enable endeavouros enforce environ error etc extra failed fatal fedora fine fits flags force found
    ftrace garbled generic gentoo genuineintel ggml gpu gt hive home host hostname hsa hypervisor id implementation
    initstate install integrity intel io iommu ipc irq kernel kfd kmsg ko kprobe kprobes kretprobes leap legacy lib
    like link links linux linuxmint live loaded localhost manjaro max mem missed mode modprobe module modules nccl
    nixos no nodes none nonfatal not numa odd off opensuse options os osrelease out override p2p p2pdma pairs
    parameters pass pci pcie peer pop power pre proc properties provider refused release removed renderd resource
    rhel rocky rom root rule runtime self serial server sig signature signer slot softdep softdeps source speed
    srcversion started static status subject suse suspended switched sys system table test timed topology tp2
    tumbleweed ubuntu unsupported updates user usr var vendor vendors version was weak width x86 yes
";

/// Whether a name is one of them, or is made of them as `self_test` and `card0` are, or is a number.
pub(super) fn is_common(name: &str) -> bool {
    let is_word = |part: &str| {
        let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_hex = part.strip_prefix("0x").is_some_and(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()));
        is_hex || stem.is_empty() || COMMON.split_whitespace().any(|word| word == part || word == stem)
    };
    name.to_ascii_lowercase().split('_').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::is_common;

    #[test]
    fn words_and_what_is_made_of_them() {
        for name in ["tp2", "Power", "self_test", "card0", "0x1002", "pci0000", "42"] {
            assert!(is_common(name), "{name}");
        }
        for name in ["zork", "zork_pci", "0xzork", "bob2"] {
            assert!(!is_common(name), "{name}");
        }
    }
}
