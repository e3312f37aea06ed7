// SPDX-License-Identifier: GPL-2.0-only

//! How the machine is set up around the driver: device nodes and rights, signing, module order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ReadError, Reading};

/// Who may open the GPU's device nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// `/dev/kfd` and `/dev/dri/renderD*`, those that are there.
    pub nodes: Reading<Vec<DeviceNode>>,
    /// Who runs the tool, or ran the capture.
    pub user: Reading<User>,
    /// Whether `/dev/dxg`, which only WSL has, is there.
    pub has_dxg: bool,
}

/// A device node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceNode {
    /// Path below the root.
    pub path: String,
    /// Whether it is a character device.
    pub is_device: bool,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// What opening it for reading and writing gave; `None`: it was not tried.
    pub opened: Option<Opened>,
}

/// What opening a device node gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opened {
    /// It opened.
    Fine,
    /// `ENOENT`.
    Absent,
    /// `EACCES` or `EPERM`.
    Denied,
    /// `ENXIO` or `ENODEV`: the node is there, its device is not.
    NoDevice,
    /// Another error, in words.
    Failed(String),
}

/// Effective user and groups, as the user's own namespace numbers them (`/proc/self/status`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// Effective user.
    pub uid: u32,
    /// Effective group and supplementary groups.
    pub groups: Vec<u32>,
}

/// What keeps modules out that are not signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signing {
    /// Whether `/sys/firmware/efi` is there: without it there is no Secure Boot.
    pub is_efi: Reading<bool>,
    /// The EFI variable `SecureBoot`.
    pub secure_boot: Reading<bool>,
    /// The mode in `/sys/kernel/security/lockdown` that is in force.
    pub lockdown: Reading<String>,
    /// `/sys/module/module/parameters/sig_enforce`.
    pub enforced: Reading<String>,
    /// Certificates enrolled by the machine's owner (EFI variable `MokListRT`).
    pub enrolled: Reading<Vec<Certificate>>,
    /// Certificate that DKMS says it signs with (`mok_certificate` of `/etc/dkms/framework.conf` and its directory).
    pub dkms_certificate: Option<String>,
    /// Whether DKMS says that it signs with a key of its own (`mok_signing_key`).
    pub own_signing_key: bool,
    /// Certificates that DKMS or the distribution keep in known places, those that are there: path and serial number in
    /// hex, where it can be told.
    pub certificates: Vec<(String, Option<String>)>,
}

/// A certificate, as far as it can be told from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Serial number in hex, as [`super::Signature::key_id`] has it.
    pub serial: String,
    /// Common name of the subject, if there is one.
    pub subject: Option<String>,
}

/// What decides whether the override is there before the GPU driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Directories of modprobe's configuration that are there.
    pub searched: Vec<String>,
    /// Lines `softdep amdgpu ...` of it.
    pub softdeps: Vec<ConfigLine>,
    /// Lines that keep the override from being loaded: `blacklist`, or `install` with another command.
    pub blocked: Vec<ConfigLine>,
    /// Files of modprobe's configuration that could not be read.
    pub unreadable: Vec<ReadError>,
}

/// A line of a configuration file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigLine {
    /// File.
    pub path: String,
    /// Line, without comment and with single spaces.
    pub line: String,
}

/// Environment variables that GPU runtimes read, or look like those; `/proc/self/environ`.
pub type Environment = Reading<BTreeMap<String, String>>;
