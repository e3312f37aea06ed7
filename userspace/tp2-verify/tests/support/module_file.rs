// SPDX-License-Identifier: GPL-2.0-only

//! Module files and certificates, simulated: nothing in them is really signed.

use object::{
    Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
    write::{Object, Symbol, SymbolSection},
};

const MODINFO: &str = "version=0.1.0\0vermagic=RELEASE SMP mod_unload \0name=tp2_p2pdma\0srcversion=ABC\0license=GPL v2\0\
                       implementation=c\0implementation_reason=no libcore.rmeta in the kernel's build tree\0depends=\0\
                       parm=mode:what to do\0parmtype=mode:charp\0parm=pcie_p2p:x\0";

/// A relocatable file that looks like a module, for Linux 7.3.4.
pub(crate) fn module() -> Vec<u8> {
    module_for("7.3.4")
}

/// The same for any kernel.
pub(crate) fn module_for(release: &str) -> Vec<u8> {
    module_with(&MODINFO.replace("RELEASE", release), &["pci_p2pdma_distance_many"])
}

/// A module with this `.modinfo` that needs these symbols.
pub(crate) fn module_with(modinfo: &str, symbols: &[&str]) -> Vec<u8> {
    let mut elf = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let section = elf.add_section(Vec::new(), b".modinfo".to_vec(), SectionKind::ReadOnlyData);
    elf.append_section_data(section, modinfo.as_bytes(), 1);
    for symbol in symbols {
        elf.add_symbol(Symbol {
            name: symbol.as_bytes().to_vec(),
            value: 0,
            size: 0,
            kind: SymbolKind::Unknown,
            scope: SymbolScope::Unknown,
            weak: false,
            section: SymbolSection::Undefined,
            flags: SymbolFlags::None,
        });
    }
    elf.write().unwrap()
}

/// A DER element.
pub(crate) fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    let mut out = vec![tag];
    match u8::try_from(body.len()) {
        Ok(length) if length < 0x80 => out.push(length),
        _ => {
            out.push(0x82);
            out.extend(u16::try_from(body.len()).unwrap().to_be_bytes());
        }
    }
    out.extend(body);
    out
}

/// A module with a signature of the form that `sign-file` appends. Simulated: it signs nothing.
pub(crate) fn signed() -> Vec<u8> {
    signed_for("7.3.4")
}

/// The same for any kernel.
pub(crate) fn signed_for(release: &str) -> Vec<u8> {
    let sha256 = der(0x30, &[&der(0x06, &[&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1]])]);
    let common_name = der(0x30, &[&der(0x06, &[&[0x55, 4, 3]]), &der(0x0c, &[b"DKMS module signing key"])]);
    let name = der(0x30, &[&der(0x31, &[&common_name])]);
    let signer_id = der(0x30, &[&name, &der(0x02, &[&[0x12, 0x34]])]);
    let signer = der(0x30, &[&der(0x02, &[&[1]]), &signer_id, &sha256, &der(0x04, &[&[0; 256]])]);
    let content = der(0x30, &[&der(0x06, &[&[0x2a, 0x86, 0x48]])]);
    let data = der(0x30, &[&der(0x02, &[&[1]]), &der(0x31, &[&sha256]), &content, &der(0x31, &[&signer])]);
    let message = der(0x30, &[&der(0x06, &[&[0x2a, 0x86, 0x48]]), &der(0xa0, &[&data])]);
    let mut file = module_for(release);
    file.extend(&message);
    file.extend([0, 0, 2, 0, 0, 0, 0, 0]);
    file.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    file.extend(b"~Module signature appended~\n");
    file
}

/// A certificate as far as the tool reads one: serial number and subject.
pub(crate) fn certificate(serial: &[u8], subject: &str) -> Vec<u8> {
    let common_name = der(0x30, &[&der(0x06, &[&[0x55, 4, 3]]), &der(0x0c, &[subject.as_bytes()])]);
    let name = der(0x30, &[&der(0x31, &[&common_name])]);
    let empty = der(0x30, &[]);
    let version = der(0xa0, &[&der(0x02, &[&[2]])]);
    let tbs = der(0x30, &[&version, &der(0x02, &[serial]), &empty, &name, &empty, &name, &empty]);
    der(0x30, &[&tbs, &empty, &der(0x03, &[&[0]])])
}

/// The EFI variable that lists the owner's certificates, this one and a hash before it.
pub(crate) fn mok_list(serial: &[u8], subject: &str) -> Vec<u8> {
    let mut bytes = vec![6, 0, 0, 0];
    let mut list = |kind: [u8; 16], data: &[u8]| {
        bytes.extend(kind);
        for size in [28 + 16 + data.len(), 0, 16 + data.len()] {
            bytes.extend(u32::try_from(size).unwrap().to_le_bytes());
        }
        bytes.extend([0; 16]);
        bytes.extend(data);
    };
    list([0x26; 16], &[0; 32]);
    let x509 = [0xa1, 0x59, 0xc0, 0xa5, 0xe4, 0x94, 0xa7, 0x4a, 0x87, 0xb5, 0xab, 0x15, 0x5c, 0x2b, 0xf0, 0x72];
    list(x509, &certificate(serial, subject));
    bytes
}
