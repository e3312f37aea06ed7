// SPDX-License-Identifier: GPL-2.0-only
//! Any kernel configuration: what is printed again reads the same, and compressed it says the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tp2_fuzz::{machine, packing, plant, tagged};
use tp2_verify::collect::{
    Root,
    kernel::{self, parse_config},
};
use tp2_verify::facts::{KernelConfig, Reading};

fuzz_target!(init: plant(&seeds()), |input: &[u8]| {
    match input.split_first() {
        Some((0, text)) => plain_and_compressed(text),
        // Compressed by somebody else, or not at all.
        Some((_, bytes)) => drop(collected(&[("proc/config.gz", bytes)])),
        None => {}
    }
});

fn plain_and_compressed(bytes: &[u8]) {
    let release: (&str, &[u8]) = ("proc/sys/kernel/osrelease", b"7.0.0");
    let plain = collected(&[release, ("boot/config-7.0.0", bytes)]);
    let compressed = collected(&[("proc/config.gz", &packing::gzip(bytes))]);
    assert_eq!(plain.ok().map(|config| config.options), compressed.ok().map(|config| config.options));

    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let config = parse_config("x", text);
    for (name, value) in &config.options {
        assert!(text.contains(name.as_str()) && text.contains(value.as_str()));
    }
    let printed: String = config.options.iter().map(|(name, value)| format!("{name}=\"{value}\"\n")).collect();
    assert_eq!(parse_config("x", &printed), config);
}

fn collected(files: &[(&str, &[u8])]) -> Reading<KernelConfig> {
    kernel::read(&Root::replay(machine::of_files(files))).config
}

fn seeds() -> [Vec<u8>; 2] {
    let text = b"# Linux/x86 7.0.0 Kernel Configuration\nCONFIG_CC_VERSION_TEXT=\"gcc 14\"\nCONFIG_PCI_P2PDMA=y\n\
        CONFIG_HSA_AMD_P2P=y\n# CONFIG_HSA_AMD is not set\nCONFIG_DMABUF_MOVE_NOTIFY=y\nCONFIG_KPROBES=y\n\
        CONFIG_KRETPROBES=y\nCONFIG_KPROBES_ON_FTRACE=y\nCONFIG_DRM_AMDGPU=m\n";
    [tagged(0, text), tagged(1, &packing::gzip(text))]
}
