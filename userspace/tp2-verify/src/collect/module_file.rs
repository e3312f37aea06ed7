// SPDX-License-Identifier: GPL-2.0-only

//! What a kernel module file says of itself: `.modinfo`, undefined symbols, signature. Compressed ones too.

use std::{
    collections::BTreeSet,
    io::{self, Read, Write},
};

use flate2::read::MultiGzDecoder;
use goblin::elf::{Elf, header::ET_REL, section_header::SHN_UNDEF};

use super::{signature, xz};
use crate::facts::{ModuleFile, ReadError, Reading};

/// Largest file that is read. amdgpu, the largest module there is, has some 30 MiB with debugging data stripped.
pub const FILE_LIMIT: u64 = 256 * 1024 * 1024;
/// Largest size after decompression.
const EXPANDED_LIMIT: u64 = 256 * 1024 * 1024;
/// Parameters and symbols; amdgpu has about 100 and 2000. With some left out, that one is absent would mean nothing.
const LIST_LIMIT: usize = 16_384;
/// Bytes of one of these names; the kernel's symbols have 512 at most (`KSYM_NAME_LEN`).
const NAME_LIMIT: usize = 4096;

/// Describes a module file, of which `path` is only the name.
pub fn describe(path: &str, bytes: &[u8]) -> Reading<ModuleFile> {
    let bad = |reason: String| ReadError::malformed(path, reason);
    let expanded = expand(bytes).map_err(bad)?;
    let image = expanded.as_deref().unwrap_or(bytes);
    let elf =
        Elf::parse(image).map_err(|error| bad(format!("is not a readable ELF file ({error}); it may be cut short")))?;
    if elf.header.e_type != ET_REL {
        return Err(bad("is an ELF file, but not a kernel module (not relocatable)".to_owned()));
    }
    let modinfo = section(&elf, image, ".modinfo")
        .ok_or_else(|| bad("has no .modinfo section, so it is not a kernel module".to_owned()))?;
    let mut file = ModuleFile { path: path.to_owned(), ..ModuleFile::default() };
    read_modinfo(&mut file, modinfo).map_err(bad)?;
    file.needed = needed(&elf).map_err(bad)?;
    match signature::find(image) {
        Ok(found) => file.signature = found,
        Err(reason) => file.signature_error = Some(reason.to_owned()),
    }
    Ok(file)
}

/// Decompresses what begins like gzip, zstd or xz; `None` for what is not compressed.
fn expand(bytes: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let mut out = Capped::default();
    let result = match bytes {
        [0x1f, 0x8b, ..] => io::copy(&mut MultiGzDecoder::new(bytes).take(EXPANDED_LIMIT), &mut out)
            .map(drop)
            .map_err(|error| format!("gzip: {error}")),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => match ruzstd::decoding::StreamingDecoder::new(bytes) {
            Ok(mut decoder) => io::copy(&mut decoder.by_ref().take(EXPANDED_LIMIT), &mut out)
                .map(drop)
                .map_err(|error| format!("zstd: {}", brief(&error))),
            Err(error) => Err(format!("zstd: {error}")),
        },
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => expand_xz(bytes, &mut out),
        _ => return Ok(None),
    };
    match result {
        Ok(()) => Ok(Some(out.0)),
        Err(reason) => Err(format!("cannot be decompressed ({reason}); it may be cut short")),
    }
}

fn expand_xz(bytes: &[u8], out: &mut Capped) -> Result<(), String> {
    match xz::decompress(bytes, out) {
        Ok([]) => Ok(()),
        Ok(rest) => Err(format!("xz: {} bytes follow its end", rest.len())),
        Err(words) => Err(format!("xz: {words}")),
    }
}

/// Up to the first bracket, after which debugging output begins.
pub(super) fn brief(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(['(', '{']).next().unwrap_or_default().trim_end().to_owned()
}

/// A buffer that refuses to grow beyond [`EXPANDED_LIMIT`].
#[derive(Default)]
struct Capped(Vec<u8>);

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let after = self.0.len().saturating_add(bytes.len());
        if u64::try_from(after).unwrap_or(u64::MAX) > EXPANDED_LIMIT {
            return Err(io::Error::other("too large"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn section<'a>(elf: &Elf<'_>, image: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let named = |header: &&goblin::elf::SectionHeader| elf.shdr_strtab.get_at(header.sh_name) == Some(name);
    let header = elf.section_headers.iter().find(named)?;
    image.get(header.file_range()?)
}

/// Takes over the `key=value` strings of `.modinfo`; the first of a key counts, as with modinfo(8).
fn read_modinfo(file: &mut ModuleFile, modinfo: &[u8]) -> Result<(), String> {
    let mut parameters = BTreeSet::new();
    for entry in modinfo.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let entry = String::from_utf8_lossy(entry);
        let Some((key, value)) = entry.split_once('=') else {
            continue;
        };
        let slot = match key {
            "name" => &mut file.name,
            "version" => &mut file.version,
            "vermagic" => &mut file.vermagic,
            "srcversion" => &mut file.srcversion,
            "license" => &mut file.license,
            "implementation" => &mut file.implementation,
            "implementation_reason" => &mut file.implementation_reason,
            "depends" => {
                let names = value.split(',').filter(|name| !name.is_empty());
                file.depends = names.map(str::to_owned).collect();
                continue;
            }
            "parm" | "parmtype" => {
                keep(&mut parameters, value.split(':').next().unwrap_or(value), "parameters")?;
                continue;
            }
            _ => continue,
        };
        if slot.is_none() {
            *slot = Some(value.to_owned());
        }
    }
    file.parameters = parameters.into_iter().collect();
    Ok(())
}

/// Adds a name to a set, up to the limit: duplicates are what a file can have any number of.
fn keep(names: &mut BTreeSet<String>, name: &str, what: &str) -> Result<(), String> {
    if names.contains(name) {
        return Ok(());
    }
    if names.len() == LIST_LIMIT {
        return Err(format!("has more than {LIST_LIMIT} {what}"));
    }
    if name.len() > NAME_LIMIT {
        return Err(format!("has a name of more than {NAME_LIMIT} bytes among its {what}"));
    }
    names.insert(name.to_owned());
    Ok(())
}

/// Names of undefined symbols, sorted.
fn needed(elf: &Elf<'_>) -> Result<Vec<String>, String> {
    let undefined =
        elf.syms.iter().filter(|symbol| u32::try_from(symbol.st_shndx) == Ok(SHN_UNDEF) && symbol.st_name != 0);
    let mut names = BTreeSet::new();
    for name in undefined.filter_map(|symbol| elf.strtab.get_at(symbol.st_name)) {
        keep(&mut names, name, "undefined symbols")?;
    }
    Ok(names.into_iter().collect())
}
