// SPDX-License-Identifier: GPL-2.0-only
//! Compiles the module's own `policy.c` for userspace, and what tells the layout of its structures.

/// Directory of the C implementation.
const C: &str = "../../rust-kmod/c";

fn main() {
    let policy = format!("{C}/policy.c");
    for file in [&policy, &format!("{C}/policy.h"), "../../rust-kmod/common/rules.h", "src/layout.c"] {
        println!("cargo::rerun-if-changed={file}");
    }
    cc::Build::new()
        .files([policy.as_str(), "src/layout.c"])
        .include(C)
        .std("gnu11")
        .opt_level(2)
        .warnings_into_errors(true)
        .compile("tp2_policy_c");
}
