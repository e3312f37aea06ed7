// SPDX-License-Identifier: GPL-2.0-only

//! `module.signature`: whether the kernel will take the module's signature. With `module.sig_enforce`, or locked down as
//! Secure Boot makes it on most distributions, a kernel takes signed modules only (`module_sig_check()`,
//! `kernel/module/signing.c`, Linux 7.3). A softdep is optional, so a module that is refused is missed by nobody: amdgpu
//! starts without it. The signature itself is not verified here; its key is looked up among those enrolled.

use crate::{
    facts::{Facts, ModuleFile, Signature},
    finding::{Bearing, Finding, Scope, Status},
    route::{OverrideUse, override_use},
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
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    if module.file.as_ref().is_err_and(crate::facts::ReadError::is_absent) {
        let summary = if module.loaded {
            "tp2_p2pdma is loaded, so the kernel took it; there is no file of it to look at"
        } else {
            "there is no tp2_p2pdma that could be refused"
        };
        return vec![finding(Status::Na, summary)];
    }
    let (source, value) = match asked(facts) {
        Asked::Yes(source, value) => (source, value),
        Asked::No => return vec![not_asked(facts)],
        Asked::Unknown(unknown) if !module.loaded => return vec![unknown],
        Asked::Unknown(_) => return vec![finding(Status::Pass, "the kernel took tp2_p2pdma when it was loaded")],
    };
    let info = match &module.info {
        Ok(info) => info,
        Err(error) => return vec![Finding::unreadable(ID, Scope::Host, "the signature of tp2_p2pdma", error)],
    };
    vec![signed_or_not(facts, info).evidence(source, value)]
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
                Some(error) => Asked::Unknown(Finding::unreadable(
                    ID,
                    Scope::Host,
                    "whether the kernel takes signed modules only",
                    error,
                )),
                None => Asked::No,
            }
        }
    }
}

fn not_asked(facts: &Facts) -> Finding {
    let signing = &facts.signing;
    let boot = match &signing.secure_boot {
        Ok(true) => "Secure Boot is on, but the kernel is not locked down",
        Ok(false) => "Secure Boot is off",
        Err(_) if !signing.is_efi => "this machine was not booted by EFI",
        Err(_) => "the kernel is not locked down",
    };
    let summary = format!("the kernel takes modules without a signature: {boot}");
    Finding::new(ID, Scope::Host, Status::Pass, summary)
        .reading("sys/kernel/security/lockdown", &signing.lockdown)
        .reading("sys/module/module/parameters/sig_enforce", &signing.enforced)
}

fn signed_or_not(facts: &Facts, info: &ModuleFile) -> Finding {
    let path = format!("/{}", info.path);
    let refused = |summary: &str, value: String| {
        // What is loaded was taken once, so only the next boot is at stake.
        let harmless =
            facts.module.loaded || matches!(override_use(facts), OverrideUse::NotNeeded | OverrideUse::NoHelp);
        let (status, bearing) =
            if harmless { (Status::Warn, Bearing::Plain) } else { (Status::Fail, Bearing::ModuleInert) };
        Finding::new(ID, Scope::Host, status, summary).evidence(path.clone(), value).bearing(bearing)
    };
    match &info.signature {
        None => {
            let value = info.signature_error.clone().unwrap_or_else(|| "no signature".to_owned());
            let summary = "this kernel takes signed modules only, and tp2_p2pdma is not signed";
            refused(summary, value)
                .remedy(format!("let DKMS sign it (dkms build --force tp2_p2pdma), and {}", enrol(facts)))
        }
        Some(signature) => with_key(facts, info, signature, refused),
    }
}

fn with_key(
    facts: &Facts,
    info: &ModuleFile,
    signature: &Signature,
    refused: impl Fn(&str, String) -> Finding,
) -> Finding {
    let words = format!(
        "signer {}, key {}",
        signature.signer.as_deref().unwrap_or("unknown"),
        signature.key_id.as_deref().unwrap_or("unknown")
    );
    let path = format!("/{}", info.path);
    let enrolled = match &facts.signing.enrolled {
        Ok(list) => list.as_slice(),
        Err(error) if error.is_absent() && facts.signing.is_efi => &[],
        Err(error) if !facts.module.loaded && !view::is_in_tree(&info.path) => {
            return Finding::unreadable(ID, Scope::Host, "which keys are enrolled", error).evidence(path, words);
        }
        Err(_) => &[],
    };
    let known = enrolled.iter().find(|certificate| signature.key_id.as_ref() == Some(&certificate.serial));
    if let Some(certificate) = known {
        let subject = certificate.subject.as_deref().unwrap_or("without a name");
        let summary = format!("tp2_p2pdma is signed, and its key is enrolled ({subject})");
        return Finding::new(ID, Scope::Host, Status::Pass, summary).evidence(path, words);
    }
    if facts.module.loaded || view::is_in_tree(&info.path) {
        let summary = if facts.module.loaded {
            "tp2_p2pdma is signed, and the kernel took one when it was loaded"
        } else {
            "tp2_p2pdma is signed by who built the kernel's modules, whose key the kernel has"
        };
        return Finding::new(ID, Scope::Host, Status::Pass, summary).evidence(path, words);
    }
    let summary =
        "tp2_p2pdma is signed with a key that is not enrolled, so this kernel refuses it (Key was rejected by service)";
    refused(summary, words).remedy(enrol(facts))
}

/// Names the certificate of this machine: distributions keep it in different places.
fn enrol(facts: &Facts) -> String {
    let signing = &facts.signing;
    let found = signing.certificates.first().map(|path| format!("/{path}"));
    match signing.dkms_certificate.clone().or(found) {
        Some(path) => {
            format!("mokutil --import {path} as root, then reboot and confirm it at the blue screen (MOK management)")
        }
        None => {
            "mokutil --import CERTIFICATE as root with the certificate that DKMS names when it builds, then reboot and \
                 confirm it at the blue screen (MOK management)"
                .to_owned()
        }
    }
}
