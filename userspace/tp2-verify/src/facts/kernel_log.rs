// SPDX-License-Identifier: GPL-2.0-only

//! What the kernel log tells.

use serde::{Deserialize, Serialize};

use super::{Bdf, Indexed, Keyed};

/// What gates go by of the kernel log of this boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelLog {
    /// Routes that the kernel refused.
    pub refused: Indexed<RefusedRoute>,
    /// The module's last words on why it could not set its hook.
    pub hook_failure: Option<String>,
}

/// A route that the kernel refused when amdgpu asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedRoute {
    /// Whose memory would have been reached.
    pub provider: Bdf,
    /// Who would have reached it.
    pub client: Bdf,
    /// The driver's words.
    pub line: String,
}

/// By provider and client.
impl Keyed for RefusedRoute {
    type Key = (Bdf, Bdf);

    fn key(&self) -> Option<Self::Key> {
        Some((self.provider, self.client))
    }
}
