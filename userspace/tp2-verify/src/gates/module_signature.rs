// SPDX-License-Identifier: GPL-2.0-only

//! `module.signature`: whether the kernel will take the module's signature. With `module.sig_enforce`, or locked down as
//! Secure Boot makes it on most distributions, a kernel takes signed modules only (`module_sig_check()`,
//! `kernel/module/signing.c`, Linux 7.3). A softdep is optional, so a module that is refused is missed by nobody: amdgpu
//! starts without it. The signature itself is not verified here; its key is looked up among those enrolled.

use super::commands::rebuild_for;
use crate::{
    collect::signing::DKMS_CERTIFICATE,
    facts::{Facts, ModuleFile, Signature},
    finding::{Bearing, Finding, Remedy, Scope, Status},
    route::{OverrideUse, override_use},
    text,
    text::Text,
    view,
};

pub(super) const ID: &str = "module.signature";
const ENFORCED: &str = "/sys/module/module/parameters/sig_enforce";
const LOCKDOWN: &str = "/sys/kernel/security/lockdown";

/// Whether signatures are asked for.
enum Asked {
    /// They are: where that was seen, and what.
    Yes(&'static str, String),
    /// They are not.
    No,
    /// Cannot be told.
    Unknown(Finding),
}

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let module = &facts.module;
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    if module.file.as_ref().is_err_and(crate::facts::ReadError::is_absent) {
        let summary =
            if module.is_loaded() { text!("module-signature-loaded") } else { text!("module-signature-nothing") };
        return vec![finding(Status::Na, summary)];
    }
    let (source, value) = match asked(facts) {
        Asked::Yes(source, value) => (source, value),
        Asked::No => return vec![not_asked(facts)],
        Asked::Unknown(unknown) if !module.is_loaded() => return vec![unknown],
        Asked::Unknown(_) => return vec![finding(Status::Pass, text!("module-signature-taken"))],
    };
    let info = match &module.info {
        Ok(info) => info,
        Err(error) => return vec![Finding::unreadable(ID, Scope::Host, text!("module-signature-what"), error)],
    };
    vec![signed_or_not(facts, info).evidence(source.to_owned(), value)]
}

fn asked(facts: &Facts) -> Asked {
    let signing = &facts.signing;
    if let Ok(value) = &signing.enforced
        && value == "Y"
    {
        return Asked::Yes(ENFORCED, value.clone());
    }
    match (&signing.lockdown, &signing.enforced) {
        (Ok(mode), _) if mode != "none" => Asked::Yes(LOCKDOWN, mode.clone()),
        (Ok(_), Ok(_)) => Asked::No,
        (lockdown, enforced) => {
            // On the machine itself, a file that is not there is a feature that the kernel does not have.
            let failed = [lockdown, enforced].into_iter().filter_map(|reading| reading.as_ref().err());
            let mut open = failed.filter(|error| !(facts.host.live && error.is_absent()));
            match open.next() {
                Some(error) => {
                    Asked::Unknown(Finding::unreadable(ID, Scope::Host, text!("module-signature-what-asked"), error))
                }
                None => Asked::No,
            }
        }
    }
}

fn not_asked(facts: &Facts) -> Finding {
    let signing = &facts.signing;
    let summary = match &signing.secure_boot {
        Ok(true) => text!("module-signature-not-asked-secure-boot"),
        Ok(false) => text!("module-signature-not-asked-no-secure-boot"),
        Err(_) if signing.is_efi == Ok(false) => text!("module-signature-not-asked-no-efi"),
        Err(_) => text!("module-signature-not-asked"),
    };
    Finding::new(ID, Scope::Host, Status::Pass, summary)
        .reading("sys/kernel/security/lockdown", &signing.lockdown)
        .reading("sys/module/module/parameters/sig_enforce", &signing.enforced)
}

fn signed_or_not(facts: &Facts, info: &ModuleFile) -> Finding {
    let path = format!("/{}", info.path);
    let refused = |summary: Text, value: Text| {
        // What is loaded was taken once, so only the next boot is at stake.
        let harmless =
            facts.module.is_loaded() || matches!(override_use(facts), OverrideUse::NotNeeded | OverrideUse::NoHelp);
        let (status, bearing) =
            if harmless { (Status::Warn, Bearing::Plain) } else { (Status::Fail, Bearing::ModuleInert) };
        Finding::new(ID, Scope::Host, status, summary).evidence(path.clone(), value).bearing(bearing)
    };
    match &info.signature {
        None => {
            let value = info.signature_error.as_ref().map_or_else(|| text!("module-signature-none"), Text::from);
            refused(text!("module-signature-unsigned"), value).remedy(sign(facts))
        }
        Some(signature) => with_key(facts, info, signature, refused),
    }
}

fn with_key(
    facts: &Facts,
    info: &ModuleFile,
    signature: &Signature,
    refused: impl Fn(Text, Text) -> Finding,
) -> Finding {
    let (signer, key) = (known(signature.signer.as_ref()), known(signature.key_id.as_ref()));
    let words = text!("module-signature-key", signer = signer, key = key);
    let path = format!("/{}", info.path);
    let enrolled = match &facts.signing.enrolled {
        Ok(list) => list.as_slice(),
        Err(error) if error.is_absent() && facts.signing.is_efi == Ok(true) => &[],
        Err(error) if !facts.module.is_loaded() && !view::is_in_tree(&info.path) => {
            return Finding::unreadable(ID, Scope::Host, text!("module-signature-what-keys"), error)
                .evidence(path, words);
        }
        Err(_) => &[],
    };
    let own = enrolled.iter().find(|certificate| signature.key_id.as_ref() == Some(&certificate.serial));
    if let Some(certificate) = own {
        let subject = certificate.subject.as_ref().map_or_else(|| text!("module-signature-unnamed"), Text::from);
        let summary = text!("module-signature-enrolled", subject = subject);
        return Finding::new(ID, Scope::Host, Status::Pass, summary).evidence(path, words);
    }
    if facts.module.is_loaded() || view::is_in_tree(&info.path) {
        let summary = if facts.module.is_loaded() {
            text!("module-signature-taken-signed")
        } else {
            text!("module-signature-of-kernel")
        };
        return Finding::new(ID, Scope::Host, Status::Pass, summary).evidence(path, words);
    }
    refused(text!("module-signature-not-enrolled"), words).remedy(enrol(facts))
}

fn known(value: Option<&String>) -> Text {
    value.map_or_else(|| text!("module-signature-unknown"), Text::from)
}

/// Names the certificate of this machine: distributions keep it in different places.
fn enrol(facts: &Facts) -> Remedy {
    match certificate(facts) {
        Some(path) => {
            Remedy::from(text!("module-signature-enrol", path = &path)).command("sudo mokutil --import", &[&path])
        }
        None => text!("module-signature-enrol-unknown").into(),
    }
}

/// The file with the certificate of the key that signed the module: the one with its serial number, or the one that DKMS
/// signs with, or the only one there is. A wrong one, enrolled, would help nobody.
fn certificate(facts: &Facts) -> Option<String> {
    let signing = &facts.signing;
    let key = facts.module.info.as_ref().ok().and_then(|info| info.signature.as_ref()?.key_id.as_ref());
    let all = &signing.certificates;
    let by_serial = all.iter().find(|(_, serial)| key.is_some() && serial.as_ref() == key);
    let by_dkms = all.iter().find(|(path, _)| signing.own_signing_key && path == DKMS_CERTIFICATE);
    let only = if let [only] = all.as_slice() { Some(only) } else { None };
    if by_serial.is_none() && signing.dkms_certificate.is_some() {
        return signing.dkms_certificate.clone();
    }
    by_serial.or(by_dkms).or(only).map(|(path, _)| format!("/{path}"))
}

/// DKMS signs what it builds.
fn sign(facts: &Facts) -> Remedy {
    let remedy = enrol(facts).map(|enrol| text!("module-signature-unsigned-remedy", enrol = enrol));
    let release = facts.kernel.release.as_deref().unwrap_or_default();
    match facts.module.build(release) {
        Some(build) => rebuild_for(release, build, remedy),
        None => remedy,
    }
}
