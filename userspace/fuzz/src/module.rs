// SPDX-License-Identifier: GPL-2.0-only
//! Module files as the tests of tp2-verify make them.

#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../../tp2-verify/tests/support/module_file.rs"]
mod support;

/// A module file, its signature apart: a PKCS#7 message.
pub fn parts() -> (Vec<u8>, Vec<u8>) {
    let (plain, signed) = (support::module(), support::signed());
    let message = signed[plain.len()..signed.len() - TRAILER].to_vec();
    (plain, message)
}

/// A file with that signature, as `scripts/sign-file` appends it.
pub fn signed(file: &[u8], message: &[u8]) -> Vec<u8> {
    let size = u32::try_from(message.len()).expect("an input is small");
    [file, message, &[0, 0, 2, 0, 0, 0, 0, 0], &size.to_be_bytes(), b"~Module signature appended~\n"].concat()
}

/// Lists of EFI signatures, one with a certificate, without the attributes that efivarfs puts first.
pub fn signature_lists() -> Vec<u8> {
    support::mok_list(&[0x12, 0x34], "DKMS module signing key")[4..].to_vec()
}

/// `struct module_signature` and the marker.
const TRAILER: usize = 12 + 28;
