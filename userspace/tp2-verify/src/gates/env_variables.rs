// SPDX-License-Identifier: GPL-2.0-only

//! Part of `env.platform`: environment variables that change what peers see, and traps in them.

use std::collections::BTreeMap;

use crate::finding::{Finding, Scope, Status};

/// Judges the variables of the tool's own environment, which programs started from the same shell get, too.
pub(super) fn judge(id: &'static str, variables: &BTreeMap<String, String>) -> Vec<Finding> {
    variables.iter().filter_map(|(name, value)| judge_one(id, name, value)).collect()
}

fn judge_one(id: &'static str, name: &str, value: &str) -> Option<Finding> {
    let warning = |summary: String, remedy: String| {
        let warning = Finding::new(id, Scope::Host, Status::Warn, summary);
        Some(warning.evidence(format!("environment, {name}"), value).remedy(remedy))
    };
    let upper = name.to_ascii_uppercase();
    if upper != name {
        return warning(
            format!("the variable {name} has no effect: these names are upper case throughout"),
            format!("unset {name}, and set {upper} if it is meant"),
        );
    }
    match name {
        "GGML_CUDA_P2P" => warning(
            "GGML_CUDA_P2P is set, which switches peer copies of llama.cpp on whatever its value, 0 included"
                .to_owned(),
            "unset GGML_CUDA_P2P where peer copies are not wanted".to_owned(),
        ),
        "ROCR_VISIBLE_DEVICES" | "HIP_VISIBLE_DEVICES" | "CUDA_VISIBLE_DEVICES" | "GPU_DEVICE_ORDINAL" => warning(
            format!("{name} hides or renumbers GPUs: a GPU that is hidden from a program is no peer for it"),
            format!("unset {name} to see all GPUs; go by PCI addresses, not by indices"),
        ),
        "NCCL_P2P_DISABLE" if value != "0" => warning(
            "NCCL_P2P_DISABLE is set, so RCCL is asked to stage copies through host memory".to_owned(),
            "unset NCCL_P2P_DISABLE once peer access is verified".to_owned(),
        ),
        "VLLM_SKIP_P2P_CHECK" if value != "0" => warning(
            "VLLM_SKIP_P2P_CHECK is set, so vLLM believes the driver and copies nothing to see".to_owned(),
            "unset VLLM_SKIP_P2P_CHECK".to_owned(),
        ),
        _ => None,
    }
}
