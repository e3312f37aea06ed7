// SPDX-License-Identifier: GPL-2.0-only

//! The signature that `scripts/sign-file` appends to a module (`include/linux/module_signature.h`): PKCS#7 in DER.

use crate::facts::Signature;

const MARKER: &[u8] = b"~Module signature appended~\n";
/// `struct module_signature`.
const TRAILER: usize = 12;
const PKEY_ID_PKCS7: u8 = 2;

/// Tags of DER elements (X.690).
pub(super) mod tags {
    pub(crate) const INTEGER: u8 = 0x02;
    pub(crate) const OCTET_STRING: u8 = 0x04;
    pub(crate) const OID: u8 = 0x06;
    pub(crate) const SEQUENCE: u8 = 0x30;
    pub(crate) const SET: u8 = 0x31;
    pub(crate) const CONTEXT_0: u8 = 0xa0;
    pub(crate) const CONTEXT_0_PRIMITIVE: u8 = 0x80;
}
use tags::{CONTEXT_0, CONTEXT_0_PRIMITIVE, INTEGER, OCTET_STRING, OID, SEQUENCE, SET};

/// 2.16.840.1.101.3.4.2.*: the last byte tells which.
const OID_NIST_HASH: [u8; 8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];
const OID_SHA1: [u8; 5] = [0x2b, 0x0e, 0x03, 0x02, 0x1a];
const OID_COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];

/// Finds the signature at the end of a module; `Ok(None)` if there is no marker.
pub(super) fn find(image: &[u8]) -> Result<Option<Signature>, &'static str> {
    let Some(before) = image.strip_suffix(MARKER) else {
        return Ok(None);
    };
    let at = before.len().checked_sub(TRAILER).ok_or("signature trailer is cut short")?;
    let (rest, trailer) = before.split_at(at);
    let &[_, _, kind, _, _, _, _, _, a, b, c, d] = trailer else {
        return Err("signature trailer is cut short");
    };
    let size = u32::from_be_bytes([a, b, c, d]);
    if kind != PKEY_ID_PKCS7 {
        return Err("signature is not PKCS#7");
    }
    let length = usize::try_from(size).map_err(|_| "signature is larger than the file")?;
    let start = rest.len().checked_sub(length).ok_or("signature is larger than the file")?;
    let message = rest.get(start..).ok_or("signature is larger than the file")?;
    let mut signature = Signature { size, hash: None, signer: None, key_id: None };
    read_message(message, &mut signature).ok_or("signature is not readable PKCS#7")?;
    Ok(Some(signature))
}

/// `ContentInfo { oid, [0] SignedData { version, digests, content, [0] certificates?, signers } }`.
fn read_message(message: &[u8], signature: &mut Signature) -> Option<()> {
    let content_info = expect(&mut { message }, SEQUENCE)?;
    let mut rest = content_info;
    expect(&mut rest, OID)?;
    let mut rest = expect(&mut rest, CONTEXT_0)?;
    let mut rest = expect(&mut rest, SEQUENCE)?;
    let mut signers = None;
    while let Some((tag, value)) = next(&mut rest) {
        // Two sets: digest algorithms and, last, signers.
        if tag == SET {
            signers = Some(value);
        }
    }
    let mut signer = expect(&mut signers?, SEQUENCE)?;
    expect(&mut signer, INTEGER)?;
    match next(&mut signer)? {
        (SEQUENCE, mut name_and_serial) => {
            let name = expect(&mut name_and_serial, SEQUENCE)?;
            signature.signer = common_name(name);
            signature.key_id = Some(hex(expect(&mut name_and_serial, INTEGER)?));
        }
        (CONTEXT_0_PRIMITIVE, key) => signature.key_id = Some(hex(key)),
        (CONTEXT_0, mut key) => signature.key_id = Some(hex(expect(&mut key, OCTET_STRING)?)),
        _ => return None,
    }
    let mut digest = expect(&mut signer, SEQUENCE)?;
    signature.hash = hash_name(expect(&mut digest, OID)?);
    Some(())
}

pub(super) fn common_name(mut name: &[u8]) -> Option<String> {
    while let Some(mut set) = expect(&mut name, SET) {
        let mut pair = expect(&mut set, SEQUENCE)?;
        let is_common_name = expect(&mut pair, OID)? == OID_COMMON_NAME;
        let (_, value) = next(&mut pair)?;
        if is_common_name {
            return Some(String::from_utf8_lossy(value).into_owned());
        }
    }
    None
}

fn hash_name(oid: &[u8]) -> Option<String> {
    if oid == OID_SHA1 {
        return Some("sha1".to_owned());
    }
    let name = match oid.strip_prefix(&OID_NIST_HASH)? {
        [1] => "sha256",
        [2] => "sha384",
        [3] => "sha512",
        [4] => "sha224",
        [8] => "sha3-256",
        [9] => "sha3-384",
        [10] => "sha3-512",
        _ => return None,
    };
    Some(name.to_owned())
}

/// The next element, if it has the tag.
pub(super) fn expect<'a>(input: &mut &'a [u8], wanted: u8) -> Option<&'a [u8]> {
    let (tag, value) = next(input)?;
    (tag == wanted).then_some(value)
}

/// Splits off the next DER element.
pub(super) fn next<'a>(input: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (tag, rest) = input.split_first()?;
    let (first, mut rest) = rest.split_first()?;
    let length = if *first < 0x80 {
        usize::from(*first)
    } else {
        let count = usize::from(*first & 0x7f);
        if count == 0 || count > 4 || count > rest.len() {
            return None;
        }
        let (digits, after) = rest.split_at(count);
        rest = after;
        digits.iter().fold(0usize, |sum, digit| (sum << 8) | usize::from(*digit))
    };
    if length > rest.len() {
        return None;
    }
    let (value, after) = rest.split_at(length);
    *input = after;
    Some((*tag, value))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let digits = [byte >> 4, byte & 0xf].map(|digit| char::from_digit(u32::from(digit), 16));
        text.extend(digits.into_iter().flatten());
    }
    text
}
