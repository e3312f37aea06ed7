// SPDX-License-Identifier: GPL-2.0-only

//! Secure Boot, lockdown, and certificates enrolled by the machine's owner.

use super::{
    Root,
    order::is_configuration,
    signature::{common_name, expect, hex, next, tags},
};
use crate::facts::{Certificate, ReadError, Reading, Signing};

const EFI: &str = "sys/firmware/efi";
/// `EFI_GLOBAL_VARIABLE` (UEFI 2.10, section 3.3).
const SECURE_BOOT: &str = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
/// shim's copy of its list for the running system.
const MOK_LIST: &str = "sys/firmware/efi/efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23";
const LOCKDOWN: &str = "sys/kernel/security/lockdown";
const DKMS_CONF: &str = "etc/dkms/framework.conf";
const DKMS_CONF_D: &str = "etc/dkms/framework.conf.d";
/// The variables of it that are read.
const CERTIFICATE: &str = "mok_certificate";
const SIGNING_KEY: &str = "mok_signing_key";
/// Larger than any such file.
const DKMS_LIMIT: u64 = 256 * 1024;
/// A variable has some KiB; a list of owners' keys no more than a firmware's store.
const VARIABLE_LIMIT: u64 = 1024 * 1024;
/// Certificates kept; a list has a few.
const CERTIFICATE_LIMIT: usize = 256;
/// What DKMS makes beside a key of its own, unless it is told of another (`mok_certificate`, dkms(8)).
pub const DKMS_CERTIFICATE: &str = "var/lib/dkms/mok.pub";
/// Where DKMS of Ubuntu, DKMS elsewhere, and akmods keep what they sign with.
const CERTIFICATES: [&str; 3] =
    ["var/lib/shim-signed/mok/MOK.der", DKMS_CERTIFICATE, "etc/pki/akmods/certs/public_key.der"];
/// efivarfs puts the variable's attributes first (`Documentation/filesystems/efivarfs.rst`).
const ATTRIBUTES: usize = 4;

/// Reads all of it.
pub(super) fn read(root: &Root) -> Signing {
    let there = CERTIFICATES.iter().filter(|path| root.exists(path) == Ok(true));
    let serial = |path: &str| {
        root.derived(path, VARIABLE_LIMIT, |bytes| {
            certificate(bytes).ok_or_else(|| ReadError::malformed(path, "is not a certificate (DER)"))
        })
    };
    Signing {
        is_efi: root.has_dir(EFI),
        secure_boot: secure_boot(root),
        lockdown: lockdown(root),
        enforced: root.text("sys/module/module/parameters/sig_enforce"),
        enrolled: enrolled(root),
        dkms_certificate: of_dkms(root, CERTIFICATE),
        own_signing_key: of_dkms(root, SIGNING_KEY).is_some(),
        certificates: there.map(|path| ((*path).to_owned(), serial(path).ok().map(|own| own.serial))).collect(),
    }
}

fn secure_boot(root: &Root) -> Reading<bool> {
    let bytes = root.bytes(SECURE_BOOT, VARIABLE_LIMIT)?;
    match bytes.get(ATTRIBUTES..) {
        Some([0]) => Ok(false),
        Some([1]) => Ok(true),
        _ => Err(ReadError::malformed(SECURE_BOOT, "is not one byte of 0 or 1 after four of attributes")),
    }
}

/// `none [integrity] confidentiality`: the one in brackets.
fn lockdown(root: &Root) -> Reading<String> {
    let text = root.text(LOCKDOWN)?;
    let mode = text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    mode.map(str::to_owned).ok_or_else(|| ReadError::malformed(LOCKDOWN, "does not say which mode is in force"))
}

/// A path that DKMS's configuration names. The last assignment counts, as in a shell script.
fn of_dkms(root: &Root, name: &str) -> Option<String> {
    let mut files = vec![DKMS_CONF.to_owned()];
    let more = root.names_where(DKMS_CONF_D, is_configuration).unwrap_or_default();
    files.extend(more.into_iter().map(|name| format!("{DKMS_CONF_D}/{name}")));
    let mut texts = files.iter().rev().filter_map(|path| root.text_excerpt(path, DKMS_LIMIT, kept).ok());
    texts.find_map(|text| assigned(&text, name))
}

/// The assignments that are read; a password may be in the next line. Where the key is, nobody has to know.
fn kept(text: &str) -> String {
    let certificate = assigned(text, CERTIFICATE).map(|value| format!("{CERTIFICATE}=\"{value}\"\n"));
    let key = assigned(text, SIGNING_KEY).map(|_| format!("{SIGNING_KEY}=\"/REMOVED\"\n"));
    certificate.into_iter().chain(key).collect()
}

/// The value that a shell script of plain assignments gives a variable.
fn assigned(text: &str, name: &str) -> Option<String> {
    let mut values = text.lines().rev().filter_map(|line| {
        let value = line.trim().strip_prefix(name)?.strip_prefix('=')?;
        // The first word, without the comment or the command that may follow it.
        let value = shlex::split(value)?.into_iter().next()?;
        // What the shell would still have to work out is no path.
        (value.starts_with('/') && !value.contains(['$', ';', '&', '|', '`', '"'])).then_some(value)
    });
    values.next()
}

fn enrolled(root: &Root) -> Reading<Vec<Certificate>> {
    // Certificates are none of a report's business, but for what tells them apart.
    root.derived(MOK_LIST, VARIABLE_LIMIT, |bytes| {
        let lists = bytes.get(ATTRIBUTES..).unwrap_or_default();
        parse_signature_lists(lists).ok_or_else(|| ReadError::malformed(MOK_LIST, "is not a list of EFI signatures"))
    })
}

/// `EFI_CERT_X509_GUID`.
const X509: [u8; 16] = [0xa1, 0x59, 0xc0, 0xa5, 0xe4, 0x94, 0xa7, 0x4a, 0x87, 0xb5, 0xab, 0x15, 0x5c, 0x2b, 0xf0, 0x72];
/// `EFI_SIGNATURE_LIST` up to the header.
const LIST_HEADER: usize = 28;
/// The owner's GUID before each signature.
const OWNER: usize = 16;

/// Certificates of a sequence of `EFI_SIGNATURE_LIST` (UEFI 2.10, section 32.4.1); hashes are passed over.
#[must_use]
pub fn parse_signature_lists(mut bytes: &[u8]) -> Option<Vec<Certificate>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let size = |at: usize| -> Option<usize> {
            let four = bytes.get(at..at.checked_add(4)?)?;
            usize::try_from(u32::from_le_bytes(four.try_into().ok()?)).ok()
        };
        let (list, header, each) = (size(16)?, size(20)?, size(24)?);
        let start = LIST_HEADER.checked_add(header)?;
        // A list that ends before it begins would be read for ever.
        let body = bytes.get(start..list)?;
        if bytes.get(..16)? == X509 && each > OWNER {
            for entry in body.chunks_exact(each).take(CERTIFICATE_LIMIT.saturating_sub(found.len())) {
                found.extend(entry.get(OWNER..).and_then(certificate));
            }
        }
        bytes = bytes.get(list..)?;
    }
    Some(found)
}

/// `Certificate { tbs { [0] version?, serial, algorithm, issuer, validity, subject, ... }, ... }` (RFC 5280).
fn certificate(der: &[u8]) -> Option<Certificate> {
    let mut outer = expect(&mut { der }, tags::SEQUENCE)?;
    let mut tbs = expect(&mut outer, tags::SEQUENCE)?;
    let serial = match next(&mut tbs)? {
        (tags::CONTEXT_0, _) => expect(&mut tbs, tags::INTEGER)?,
        (tags::INTEGER, serial) => serial,
        _ => return None,
    };
    let mut rest = tbs;
    for _ in 0..3 {
        expect(&mut rest, tags::SEQUENCE)?;
    }
    let subject = expect(&mut rest, tags::SEQUENCE).and_then(common_name);
    Some(Certificate { serial: hex(serial), subject })
}
