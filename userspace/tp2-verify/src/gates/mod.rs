// SPDX-License-Identifier: GPL-2.0-only

//! The gates: each a pure function of facts in a file of its own, in the order in which they bite.

mod amdgpu_origin;
mod amdgpu_pcie_p2p;
mod commands;
mod env_access;
mod env_access_opened;
mod env_platform;
mod env_variables;
mod gpu_aer;
mod gpu_atomics;
mod gpu_bar_address;
mod gpu_bar_size;
mod gpu_kfd;
mod gpu_link;
mod gpu_power;
mod gpu_slot;
mod kernel_hsa_amd_p2p;
mod kernel_kprobes;
mod kernel_p2pdma;
mod module_dkms;
mod module_effective;
mod module_loaded;
mod module_match;
mod module_order;
mod module_signature;
mod pair_ipc;
mod pair_kfd_link;
mod pair_kind;
mod pair_route;
mod pair_runtime;
mod route_words;
mod runtime_words;

use crate::{
    facts::Facts,
    finding::{Bearing, Finding, Scope},
    language::Language,
};

/// A gate.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// Stable id.
    pub id: &'static str,
    /// Whether the verdict waits for it when it could not be read.
    pub decides: bool,
    /// What it judges.
    pub judge: fn(&Facts) -> Vec<Finding>,
    /// The documentation of its file, as it stands there.
    docs: &'static str,
}

impl Gate {
    /// What it is about, as one paragraph in Markdown: in English the documentation of its file without the id that it
    /// begins with, in other languages the message `explain-` and the id of the catalogue.
    #[must_use]
    pub fn explanation(&self, language: Language) -> String {
        if language != Language::English {
            let id = format!("explain-{}", self.id.replace('.', "-"));
            return language.catalogue().word(&id, &[]);
        }
        let lines = self.docs.lines().map(|line| line.trim_start_matches("//!").trim());
        let text = lines.collect::<Vec<_>>().join(" ");
        let rest = text.strip_prefix(&format!("`{}`: ", self.id)).unwrap_or(&text);
        let mut letters = rest.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
    }
}

/// The gate of a module, whether the verdict waits for it, and what the module's file says of itself.
macro_rules! gate {
    ($module:ident, $decides:literal) => {
        Gate {
            id: $module::ID,
            decides: $decides,
            judge: $module::judge,
            docs: leading_docs(include_str!(concat!(stringify!($module), ".rs"))),
        }
    };
}

/// The first lines of a file that begin with `//!`.
const fn leading_docs(source: &'static str) -> &'static str {
    let bytes = source.as_bytes();
    let mut start = 0;
    while !is_doc_line(bytes, start) {
        start = next_line(bytes, start);
    }
    let mut end = start;
    while is_doc_line(bytes, end) {
        end = next_line(bytes, end);
    }
    let (_, rest) = source.split_at(start);
    let (docs, _) = rest.split_at(end - start);
    docs
}

const fn is_doc_line(bytes: &[u8], at: usize) -> bool {
    at + 2 < bytes.len() && bytes[at] == b'/' && bytes[at + 1] == b'/' && bytes[at + 2] == b'!'
}

/// Where the line after the one at `at` begins. At the end of a file without documentation the compiler complains.
const fn next_line(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while bytes[at] != b'\n' {
        at += 1;
    }
    at + 1
}

/// All gates, in the order in which they bite.
pub static GATES: [Gate; 26] = [
    gate!(env_platform, false),
    gate!(env_access, false),
    gate!(kernel_p2pdma, true),
    gate!(kernel_hsa_amd_p2p, true),
    gate!(kernel_kprobes, true),
    gate!(amdgpu_origin, false),
    gate!(amdgpu_pcie_p2p, true),
    gate!(module_dkms, false),
    gate!(module_match, false),
    gate!(module_signature, false),
    gate!(module_order, false),
    gate!(module_loaded, true),
    gate!(module_effective, true),
    gate!(gpu_kfd, true),
    gate!(gpu_bar_size, true),
    gate!(gpu_bar_address, true),
    gate!(gpu_atomics, false),
    gate!(gpu_slot, false),
    gate!(gpu_link, false),
    gate!(gpu_power, false),
    gate!(gpu_aer, false),
    gate!(pair_kind, true),
    gate!(pair_route, true),
    gate!(pair_kfd_link, true),
    gate!(pair_runtime, true),
    gate!(pair_ipc, false),
];

/// Runs all gates, up to one that finds that nothing here can be judged.
#[must_use]
pub fn judge(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for gate in &GATES {
        findings.extend((gate.judge)(facts));
        let of_host = |finding: &Finding| finding.scope == Scope::Host && finding.bearing == Bearing::NotJudged;
        if findings.iter().any(of_host) {
            break;
        }
    }
    findings
}

/// The gate of this id.
#[must_use]
pub fn named(id: &str) -> Option<&'static Gate> {
    GATES.iter().find(|gate| gate.id == id)
}

/// Whether the verdict waits for the gate when it could not be read.
#[must_use]
pub fn decides(id: &str) -> bool {
    GATES.iter().any(|gate| gate.id == id && gate.decides)
}
