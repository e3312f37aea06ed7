// SPDX-License-Identifier: GPL-2.0-only

//! Environment variables that GPU runtimes read, and no others: the rest is nobody's business.

use std::collections::BTreeMap;

use super::Root;
use crate::facts::Environment;

const PATH: &str = "proc/self/environ";
/// As the kernel's limit for one program's arguments and environment (a quarter of the default stack).
const LIMIT: u64 = 2 * 1024 * 1024;
/// Beginnings of names, in upper case: names of any case are kept, so that misspelt ones show.
const PREFIXES: [&str; 10] =
    ["NCCL_", "RCCL_", "HSA_", "HIP_", "ROCR_", "ROC_", "CUDA_VISIBLE_", "GPU_DEVICE_", "GGML_CUDA_", "VLLM_SKIP_P2P"];

/// Reads the tool's own environment, or that of a captured tree.
pub(super) fn read(root: &Root) -> Environment {
    let bytes = root.bytes(PATH, LIMIT)?;
    Ok(parse_environment(&bytes))
}

/// Variables of an `environ`: `NAME=VALUE`, each ended by NUL.
#[must_use]
pub fn parse_environment(bytes: &[u8]) -> BTreeMap<String, String> {
    let entries = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let variables = entries.filter_map(|entry| {
        let (name, value) = entry.split_once('=')?;
        let upper = name.to_ascii_uppercase();
        PREFIXES.iter().any(|prefix| upper.starts_with(prefix)).then(|| (name.to_owned(), value.to_owned()))
    });
    variables.collect()
}
