// SPDX-License-Identifier: GPL-2.0-only

//! The module on disk: built for another kernel, refused for its key, not built, not indexed. Other modules in the
//! reports, `tp2_p2pdma` here.

use super::{
    CASE, Case, INSTALL,
    support::{
        RELEASE, Tree,
        module_file::{module_for, mok_list, signed_for},
        two_cards, two_cards_overridden,
    },
};

/// The reference machine with a module file, waiting for the next boot; its kernel takes any module.
fn waiting(bytes: &[u8]) -> Tree {
    let tree = two_cards("8086:6f00");
    tree.installed(bytes)
        .ordered()
        .built()
        .file("sys/module/module/parameters/sig_enforce", "N")
        .file("sys/kernel/security/lockdown", "[none] integrity confidentiality");
    tree
}

/// The reference machine with the override in C, for a reason that the build gave.
fn in_c(reason: &str) -> Tree {
    let tree = two_cards_overridden("8086:6f00");
    tree.module_says("override/implementation", "c").module_says("override/implementation_reason", reason);
    tree
}

/// The same, booted with Secure Boot, the module's key not enrolled.
fn locked() -> Tree {
    let tree = waiting(&signed_for(RELEASE));
    tree.file("sys/kernel/security/lockdown", "none [integrity] confidentiality")
        .bytes("sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", &[6, 0, 0, 0, 1])
        .bytes(
            "sys/firmware/efi/efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23",
            &mok_list(&[7], "Canonical Ltd."),
        );
    tree
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = files();
    cases.extend(builds());
    cases
}

fn files() -> Vec<Case> {
    vec![
        Case {
            id: "A31",
            inferred: "the reference machine",
            machine: || waiting(&module_for("7.0.0-37-generic")),
            verdict: "ineffective",
            fails: &["module.match", "module.loaded", "pair.route", "pair.kfd-link"],
            says: &["7.0.0-37-generic", "sudo dkms build --force tp2_p2pdma/0.1.0 -k 7.0.0-38-generic"],
            never_says: &["Secure Boot is on", "mokutil", "autoinstall", INSTALL],
            ..CASE
        },
        Case {
            id: "A32",
            inferred: "the reference machine, Ubuntu",
            machine: || {
                let tree = locked();
                tree.file("var/lib/shim-signed/mok/MOK.der", "x");
                tree
            },
            verdict: "ineffective",
            fails: &["module.signature", "module.loaded", "pair.route", "pair.kfd-link"],
            others: &[("module.match", "host", "pass")],
            says: &["Key was rejected by service", "mokutil --import /var/lib/shim-signed/mok/MOK.der"],
            never_says: &["isable Secure Boot", "built for another", INSTALL],
            ..CASE
        },
        Case {
            id: "A51",
            inferred: "the reference machine, Fedora",
            machine: || {
                let tree = locked();
                tree.file("var/lib/dkms/mok.pub", "x")
                    .file("var/lib/shim-signed/mok/MOK.der", "left over")
                    .file("etc/dkms/framework.conf", "mok_signing_key=/var/lib/dkms/mok.key");
                tree
            },
            verdict: "ineffective",
            fails: &["module.signature", "module.loaded", "pair.route", "pair.kfd-link"],
            says: &["mokutil --import /var/lib/dkms/mok.pub"],
            never_says: &["--import /var/lib/shim-signed", "isable Secure Boot"],
            ..CASE
        },
        Case {
            id: "A33",
            inferred: "the reference machine",
            machine: || {
                let tree = two_cards("8086:6f00");
                tree.file("usr/src/tp2_p2pdma-0.1.0/dkms.conf", "")
                    .file("etc/os-release", "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian")
                    .link("var/lib/dkms/tp2_p2pdma/0.1.0/source", "/usr/src/tp2_p2pdma-0.1.0");
                tree
            },
            verdict: "ineffective",
            fails: &["module.dkms", "module.loaded", "pair.route", "pair.kfd-link"],
            says: &[
                "source only, never built",
                "this needs that kernel's headers",
                "sudo apt install linux-headers-7.0.0-38-generic",
            ],
            never_says: &["missing from the package", "tp2_p2pdma is not installed", INSTALL],
            ..CASE
        },
        Case {
            id: "A34",
            inferred: "the reference machine",
            machine: || {
                let tree = two_cards("8086:6f00");
                tree.file(&format!("var/lib/dkms/tp2_p2pdma/0.1.0/{RELEASE}/x86_64/module/tp2_p2pdma.ko.zst"), "")
                    .bytes(&format!("lib/modules/{RELEASE}/updates/dkms/tp2_p2pdma.ko.zst"), b"");
                tree
            },
            verdict: "module-will-help",
            fails: &["module.loaded", "pair.route", "pair.kfd-link"],
            others: &[("module.dkms", "host", "pass")],
            says: &["sudo depmod 7.0.0-38-generic", "the module index does not list it"],
            never_says: &["rebuild the module", "dkms autoinstall", INSTALL],
            ..CASE
        },
    ]
}

/// The choice of the implementation, which is made and tested where DKMS builds.
fn builds() -> Vec<Case> {
    vec![
        Case {
            id: "A35",
            inferred: "the reference machine",
            machine: || in_c("no rust/libcore.rmeta in the kernel's build tree"),
            verdict: "ready",
            others: &[("module.loaded", "host", "pass")],
            says: &["c: no rust/libcore.rmeta in the kernel's build tree"],
            never_says: &["headers"],
            ..CASE
        },
        Case {
            id: "A36",
            inferred: "as A35",
            machine: || in_c("the Rust build failed: see /var/lib/dkms/tp2_p2pdma/0.1.0/build/rust.log"),
            verdict: "ready",
            others: &[("module.loaded", "host", "pass")],
            says: &["c: the Rust build failed: see"],
            never_says: &["headers"],
            ..CASE
        },
        Case {
            id: "A53",
            inferred: "as A35",
            machine: || in_c("no rustc of 1.62.0, only rustc 1.65.0"),
            verdict: "ready",
            others: &[("module.loaded", "host", "pass")],
            says: &["c: no rustc of 1.62.0, only rustc 1.65.0"],
            never_says: &["headers"],
            ..CASE
        },
    ]
}
