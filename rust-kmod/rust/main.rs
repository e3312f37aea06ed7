// SPDX-License-Identifier: GPL-2.0-only

//! Lifecycle of the Rust implementation.
//!
//! What it does is the contract in `docs/architecture.md`; `c/` does the same in C. Parameters,
//! sysfs and debugfs files, and everything `modinfo` shows but the licence are in `common/`, in C:
//! `module!` has neither strings among its parameters nor a version.

mod bindings;
// Public, because the rule book is more than this module uses: userspace has it as well.
pub mod policy;
mod probe;
mod settings;
mod topology;

use kernel::prelude::*;
use probe::{
    Hook,
    PairTable,
    StateFiles, //
};

module! {
    type: Override,
    name: "tp2_p2pdma",
    license: "GPL",
}

/// What is there while the module is loaded.
///
/// Fields are dropped from top to bottom, and that is the order of teardown, the reverse of the
/// order in which they are made: reading the sysfs file `self_test` uses the hook, so the files go
/// first; the log is told when nothing is left.
struct Override {
    _pair_table: PairTable,
    _state_files: StateFiles,
    _hook: Hook,
    _last_word: LastWord,
}

impl kernel::Module for Override {
    fn init(_module: &'static ThisModule) -> Result<Self> {
        let hook = Hook::register()?;
        let state_files = StateFiles::create(&hook)?;
        // Nothing below may fail: somebody may have the debugfs file open.
        let pair_table = PairTable::show(&hook);

        let self_test = hook.self_test();
        if let Err(why) = self_test {
            pr_warn!("self-test failed: {}\n", why);
        }
        look_for_bound_gpus(&hook);
        pr_info!(
            "version {}, mode {}, self-test {}\n",
            bindings::TP2_VERSION,
            probe::mode_name(),
            if self_test.is_ok() {
                "passed"
            } else {
                "failed"
            }
        );
        Ok(Self {
            _pair_table: pair_table,
            _state_files: state_files,
            _hook: hook,
            _last_word: LastWord,
        })
    }
}

/// Tells the log that the module is gone.
struct LastWord;

impl Drop for LastWord {
    fn drop(&mut self) {
        pr_info!("unloaded; links that a driver made in the meantime stay until it probes again\n");
    }
}

/// Warns of GPUs that have been asked about already.
///
/// Only amdgpu keeps the first answer for good: `kfd_dev_create_p2p_links()` in
/// `drivers/gpu/drm/amd/amdkfd` (Linux 7.3) runs when a GPU is added. xe asks anew at each
/// attachment, and drivers that hold a GPU for somebody else, such as vfio-pci, do not ask: for
/// them it is never too late.
fn look_for_bound_gpus(hook: &Hook) {
    probe::for_each_function(|function| {
        let facts = function.read();
        if !hook.parameters().vendor_allowed(facts.vendor)
            || !facts.is_gpu()
            || !function.has_driver(c"amdgpu")
        {
            return;
        }
        probe::set_gpu_driver_was_bound();
        let address = facts.address;
        pr_warn!(
            "{:04x}:{:02x}:{:02x}.{:x} already has its driver amdgpu: KFD makes links when the driver probes, so a reboot with this module loaded first is needed\n",
            address.domain,
            address.bus,
            address.device(),
            address.function()
        );
    });
}
