// SPDX-License-Identifier: GPL-2.0-only

//! What the kernel tells of the tool's own process: most of it is nobody's business.

/// Lines of `status` that say what the process may do.
const STATUS_LINES: [&str; 4] = ["Uid:", "Gid:", "Groups:", "CapEff:"];
/// Beginnings of the variables that GPU runtimes read, in upper case.
const VARIABLES: [&str; 10] = ["CUDA_", "GGML_", "GPU_", "HIP_", "HSA_", "NCCL_", "RCCL_", "ROCR_", "ROC_", "VLLM_"];

/// What is kept of a file of `/proc/PID`; `None` for files elsewhere.
pub(super) fn kept(path: &str, text: &str) -> Option<String> {
    let (process, file) = path.strip_prefix("proc/")?.split_once('/')?;
    // `self` is a link on a machine, and may be a directory in a captured tree.
    if process != "self" && !process.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    Some(match file {
        "status" => {
            let lines = text.lines().filter(|line| STATUS_LINES.iter().any(|start| line.starts_with(start)));
            lines.fold(String::new(), |all, line| all + line + "\n")
        }
        "environ" => {
            let is_kept = |entry: &&str| {
                let name = entry.to_ascii_uppercase();
                VARIABLES.iter().any(|start| name.starts_with(start))
            };
            text.split('\0').filter(is_kept).fold(String::new(), |all, entry| all + entry + "\0")
        }
        // Nobody reads others yet.
        _ => String::new(),
    })
}
