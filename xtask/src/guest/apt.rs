// SPDX-License-Identifier: GPL-2.0-only
//! apt with a state of its own, so that neither root nor the host's package lists are touched.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{cache, cmd::Cmd, host};

/// apt that knows only the suites it was made for.
pub(crate) struct PrivateApt {
    dir: PathBuf,
}

impl PrivateApt {
    /// Asks the host's own mirror what these suites have. The state is kept in the cache under `name`.
    pub(crate) fn updated(name: &str, suites: &[&str]) -> Result<Self> {
        let dir = cache::dir()?.join(name);
        for sub in ["state/lists/partial", "cache/archives/partial", "parts"] {
            let path = dir.join(sub);
            fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        }
        let mirror = host::debian_mirror()?;
        let line = |suite: &&str| format!("deb [signed-by={}] {mirror} {suite} main\n", super::KEYRING);
        fs::write(dir.join("parts/tp2.list"), suites.iter().map(line).collect::<String>())?;
        let apt = Self { dir };
        // Without the option apt takes an unreachable archive for an empty one.
        apt.command("apt-get").args(["update", "-qq", "-o", "APT::Update::Error-Mode=any"]).output()?;
        Ok(apt)
    }

    /// An apt program that uses this state.
    pub(crate) fn command(&self, program: &str) -> Cmd {
        let dir = self.dir.display();
        Cmd::new(program)
            .args(["-o", "Dir::Etc::SourceList=/dev/null", "-o", "Dir::State::status=/dev/null"])
            .args(["-o", &format!("Dir::Etc::SourceParts={dir}/parts")])
            .args(["-o", &format!("Dir::State={dir}/state"), "-o", &format!("Dir::Cache={dir}/cache")])
            // The sandbox user of apt cannot read a home directory's cache.
            .args(["-o", "APT::Sandbox::User="])
    }
}
