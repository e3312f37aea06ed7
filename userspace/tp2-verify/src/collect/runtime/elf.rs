// SPDX-License-Identifier: GPL-2.0-only

//! Looks at a library before any of its code runs.

use std::{env::consts::ARCH, path::Path};

use goblin::elf::{
    Elf,
    header::{EM_AARCH64, EM_X86_64, ET_DYN},
};

use crate::{collect::read_named, runtime::NEEDED};

/// Largest library that is read; the largest there was has some 60 MiB.
const LIMIT: u64 = 512 * 1024 * 1024;

/// Reads a library and checks it.
pub(super) fn check_file(path: &Path) -> Result<(), String> {
    check(&read_named(path, LIMIT).map_err(|error| error.reason)?)
}

/// Whether these bytes are a library for this machine that has all that is asked for; if not, why.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let elf = Elf::parse(bytes).map_err(|error| format!("is not a readable ELF file ({error})"))?;
    if elf.header.e_type != ET_DYN {
        return Err("is an ELF file, but no shared library".to_owned());
    }
    let machine = match ARCH {
        "x86_64" => EM_X86_64,
        "aarch64" => EM_AARCH64,
        _ => elf.header.e_machine,
    };
    if !elf.is_64 || elf.header.e_machine != machine {
        return Err(format!("is a library for another machine than {ARCH}"));
    }
    let exports = |name: &&str| {
        let mut symbols = elf.dynsyms.iter().filter(|symbol| !symbol.is_import());
        symbols.any(|symbol| elf.dynstrtab.get_at(symbol.st_name) == Some(name))
    };
    let missing: Vec<&str> = NEEDED.iter().copied().filter(|name| !exports(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("does not have {}", missing.join(", ")))
}
