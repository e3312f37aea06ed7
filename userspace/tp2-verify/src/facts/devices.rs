// SPDX-License-Identifier: GPL-2.0-only

//! Whether the device files that a runtime needs can be opened, and by whom.

use serde::{Deserialize, Serialize};

use super::Bdf;

/// What came of opening them. HIP answers "no device" to all failures alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceAccess {
    /// `/dev/kfd`.
    pub kfd: DeviceFile,
    /// Render nodes of AMD GPUs.
    pub render: Vec<DeviceFile>,
    /// Effective user ID of the reader.
    pub uid: Option<u32>,
    /// Effective and supplementary group IDs of the reader.
    pub gids: Vec<u32>,
    /// Whether user and group IDs are those of a user namespace that does not map all of them.
    pub user_namespace: bool,
}

/// One device file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFile {
    /// Path without a leading slash.
    pub path: String,
    /// The GPU behind it.
    pub bdf: Option<Bdf>,
    /// What came of opening it for reading and writing.
    pub opened: Opened,
    /// Owner and mode, where it is there.
    pub owner: Option<Owner>,
}

/// What came of opening a device file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opened {
    /// It opened.
    Yes,
    /// ENOENT.
    Absent,
    /// EACCES: owner and mode are against it.
    Denied,
    /// EPERM: owner and mode are not asked; a container's device rules say no.
    Forbidden,
    /// ENXIO or ENODEV: the file is there, and no driver behind it.
    NoDriver,
    /// It is no device file.
    NotDevice,
    /// Another error, in words.
    Failed(String),
}

/// Owner and mode of a device file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// User ID.
    pub uid: u32,
    /// Group ID.
    pub gid: u32,
    /// Name of the group in `/etc/group`.
    pub group: Option<String>,
    /// Permission bits.
    pub mode: u32,
}
