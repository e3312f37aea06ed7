// SPDX-License-Identifier: GPL-2.0-only

//! Part of `env.platform`: environment variables that change what peers see, and traps in them.

use std::collections::BTreeMap;

use crate::{
    finding::{Finding, Scope, Status},
    text,
    text::Text,
};

/// Judges the variables of the tool's own environment, which programs started from the same shell get, too.
pub(super) fn judge(id: &'static str, variables: &BTreeMap<String, String>) -> Vec<Finding> {
    variables.iter().filter_map(|(name, value)| judge_one(id, name, value)).collect()
}

fn judge_one(id: &'static str, name: &str, value: &str) -> Option<Finding> {
    let warning = |summary: Text, remedy: Text| {
        let warning = Finding::new(id, Scope::Host, Status::Warn, summary);
        Some(warning.evidence(text!("env-platform-variable", name = name.to_owned()), value.to_owned()).remedy(remedy))
    };
    let upper = name.to_ascii_uppercase();
    if upper != name {
        return warning(
            text!("env-platform-variable-case", name = name.to_owned()),
            text!("env-platform-variable-case-remedy", name = name.to_owned(), upper = upper),
        );
    }
    match name {
        "GGML_CUDA_P2P" => warning(text!("env-platform-variable-ggml"), text!("env-platform-variable-ggml-remedy")),
        "ROCR_VISIBLE_DEVICES" | "HIP_VISIBLE_DEVICES" | "CUDA_VISIBLE_DEVICES" | "GPU_DEVICE_ORDINAL" => warning(
            text!("env-platform-variable-visible", name = name.to_owned()),
            text!("env-platform-variable-visible-remedy", name = name.to_owned()),
        ),
        "NCCL_P2P_DISABLE" if value != "0" => {
            warning(text!("env-platform-variable-nccl"), text!("env-platform-variable-nccl-remedy"))
        }
        "VLLM_SKIP_P2P_CHECK" if value != "0" => {
            warning(text!("env-platform-variable-vllm"), text!("env-platform-variable-vllm-remedy"))
        }
        _ => None,
    }
}
