// SPDX-License-Identifier: GPL-2.0-only

//! Environment variables that GPU runtimes read, and no others: the rest is nobody's business.

use std::collections::BTreeMap;

use super::Root;
use crate::facts::Environment;

const PATH: &str = "proc/self/environ";
/// As the kernel's limit for one program's arguments and environment (a quarter of the default stack).
const LIMIT: u64 = 2 * 1024 * 1024;
/// All that is read, and all that a report keeps. Whole names: a beginning such as `VLLM_` would let `VLLM_API_KEY` in.
/// Names of any case are kept, so that misspelt ones show.
const NAMES: [&str; 34] = [
    "CUDA_VISIBLE_DEVICES",
    "GGML_CUDA_P2P",
    "GPU_DEVICE_ORDINAL",
    "GPU_MAX_HW_QUEUES",
    "HIP_FORCE_DEV_KERNARG",
    "HIP_VISIBLE_DEVICES",
    "HSA_DISABLE_CACHE",
    "HSA_ENABLE_DEBUG",
    "HSA_ENABLE_IPC_MODE_LEGACY",
    "HSA_ENABLE_PEER_SDMA",
    "HSA_ENABLE_SDMA",
    "HSA_FORCE_FINE_GRAIN_PCIE",
    "HSA_OVERRIDE_GFX_VERSION",
    "HSA_REV_COPY_DIR",
    "HSA_XNACK",
    "NCCL_ALGO",
    "NCCL_BUFFSIZE",
    "NCCL_CUMEM_ENABLE",
    "NCCL_DEBUG",
    "NCCL_IB_DISABLE",
    "NCCL_IGNORE_CPU_AFFINITY",
    "NCCL_MAX_NCHANNELS",
    "NCCL_MIN_NCHANNELS",
    "NCCL_NET_GDR_LEVEL",
    "NCCL_P2P_DISABLE",
    "NCCL_P2P_LEVEL",
    "NCCL_PROTO",
    "NCCL_SHM_DISABLE",
    "RCCL_ENABLE_INTRANET",
    "RCCL_MSCCL_ENABLE",
    "RCCL_P2P_BATCH_ENABLE",
    "ROC_P2P_SDMA_SIZE",
    "ROCR_VISIBLE_DEVICES",
    "VLLM_SKIP_P2P_CHECK",
];
/// What names of variables hold whose values are nobody's business, whatever list they get into.
const SECRET: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH"];

/// Reads the tool's own environment, or that of a captured tree.
pub(super) fn read(root: &Root) -> Environment {
    let bytes = root.excerpt(PATH, LIMIT, kept)?;
    Ok(parse_environment(&bytes))
}

/// Variables of an `environ`: `NAME=VALUE`, each ended by NUL.
#[must_use]
pub fn parse_environment(bytes: &[u8]) -> BTreeMap<String, String> {
    variables(bytes).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Those variables of an `environ` that are read, in the same form.
pub(crate) fn kept(bytes: &[u8]) -> Vec<u8> {
    variables(bytes).flat_map(|(name, value)| format!("{name}={value}\0").into_bytes()).collect()
}

/// One that is not text has no value that anybody reads, and takes none of the others with it.
fn variables(bytes: &[u8]) -> impl Iterator<Item = (&str, &str)> {
    let entries = bytes.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok());
    entries.filter_map(|entry| entry.split_once('=')).filter(|(name, _)| is_read(name))
}

fn is_read(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NAMES.contains(&name.as_str()) && !SECRET.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_read() {
        for name in NAMES {
            assert!(is_read(name) && is_read(&name.to_lowercase()), "{name}");
        }
        for name in ["VLLM_API_KEY", "CUDA_TOKEN", "GGML_RPC_SECRET", "NCCL_COMM_ID", "NCCL_DEBUG_FILE", "HSA_X"] {
            assert!(!is_read(name), "{name}");
        }
    }

    #[test]
    fn what_is_not_text_takes_nothing_with_it() {
        let environ = b"A=\xff\0NCCL_DEBUG=INFO\0NCCL_ALGO=\xfe\0vllm_api_key=x\0nccl_proto=LL\0\xff\0";
        assert_eq!(kept(environ), b"NCCL_DEBUG=INFO\0nccl_proto=LL\0");
        assert_eq!(kept(&kept(environ)), kept(environ));
    }
}
