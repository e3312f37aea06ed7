// SPDX-License-Identifier: GPL-2.0-only

//! What was read from a machine: plain data, no judgement. Made by `collect`, judged by `gates`.

mod device;
pub mod devices;
mod indexed;
mod initramfs;
mod kernel_log;
pub mod runtime;
mod setup;

pub use device::{Aer, Bar, Express, GpuMemory, Link, OnPath, Power};
pub use indexed::{Indexed, Keyed};
pub use initramfs::Initramfs;
pub use kernel_log::{KernelLog, RefusedRoute};
pub use setup::{Access, Certificate, ConfigLine, DeviceNode, Environment, Opened, Order, Signing, User};

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;
use tp2_policy::{Address, ParseAddressError, policy::Function};

/// A value as read, or where and why it could not be read.
pub type Reading<T> = Result<T, ReadError>;

/// Why something could not be read. Carries the path as seen from the root of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("/{path}: {reason}")]
pub struct ReadError {
    /// Path below the root, without a leading slash.
    pub path: String,
    /// Kind of failure.
    pub kind: ReadErrorKind,
    /// Words for the reader.
    pub reason: String,
}

/// Kinds of read failures that a gate may have to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadErrorKind {
    /// There is no such file.
    Absent,
    /// It is there, and these rights do not suffice.
    Denied,
    /// It is there, and is not what it should be: a directory, a FIFO, not text, malformed, too large.
    Malformed,
    /// Any other failure of the system call.
    Io,
}

impl ReadError {
    /// Makes an error of what is malformed at `path`.
    #[must_use]
    pub fn malformed(path: &str, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), kind: ReadErrorKind::Malformed, reason: reason.into() }
    }

    /// Makes an error of what is absent at `path`.
    #[must_use]
    pub fn absent(path: &str) -> Self {
        Self { path: path.to_owned(), kind: ReadErrorKind::Absent, reason: "no such file".to_owned() }
    }

    /// Whether the thing simply is not there.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.kind == ReadErrorKind::Absent
    }
}

/// The vendor ID of AMD.
pub const AMD: u16 = 0x1002;

/// A PCI address that travels as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bdf(pub Address);

impl fmt::Display for Bdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Bdf {
    type Err = ParseAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl Serialize for Bdf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bdf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Everything that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Where it runs.
    pub host: Host,
    /// The kernel and its configuration.
    pub kernel: Kernel,
    /// The GPU driver.
    pub amdgpu: Amdgpu,
    /// The override module.
    pub module: Module,
    /// The running kernel's initramfs image; not read where the override is not installed.
    pub initramfs: Reading<Initramfs>,
    /// PCI functions, by address.
    pub pci: Reading<Indexed<PciDevice>>,
    /// Entries below the PCI device directory that are no readable PCI functions.
    pub pci_skipped: Vec<ReadError>,
    /// Whether `/sys/kernel/iommu_groups` is there, so that a device without a group has no IOMMU.
    pub iommu_groups_listed: bool,
    /// KFD topology nodes, those of GPUs by place.
    pub kfd: Reading<Indexed<KfdNode>>,
    /// Routes that the kernel refused on this boot, as its log tells.
    pub kernel_log: Reading<KernelLog>,
    /// Device nodes, and who may open them.
    pub access: Access,
    /// Variables that GPU runtimes read.
    pub environment: Environment,
    /// What keeps unsigned modules out.
    pub signing: Signing,
    /// What decides whether the override is there before the GPU driver.
    pub order: Order,
    /// Whether the runtime's device files can be opened.
    pub device_access: Reading<devices::DeviceAccess>,
    /// What the GPU runtime tells programs.
    pub runtime: Reading<runtime::Runtime>,
}

impl Facts {
    /// The PCI function at an address, if it was read.
    #[must_use]
    pub fn device(&self, bdf: Bdf) -> Option<&PciDevice> {
        self.pci.as_ref().ok()?.first(bdf)
    }
}

/// Where it runs, and with which rights it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Whether the reader was root. `None` for a captured tree, where nobody can say.
    pub root: Option<bool>,
    /// First processor of `/proc/cpuinfo`.
    pub cpu: Reading<Cpu>,
    /// Whether it is the running machine. A captured tree may lack anything.
    pub live: bool,
    /// `/proc/version`.
    pub version: Reading<String>,
    /// DMI system vendor.
    pub dmi_vendor: Reading<String>,
    /// DMI product name.
    pub dmi_product: Reading<String>,
    /// Paths that only containers have and that are there.
    pub container_marks: Vec<String>,
    /// `/proc/cmdline`.
    pub cmdline: Reading<String>,
    /// `ID` and `ID_LIKE` of `os-release`: the distribution, and those it is made after. Empty where nobody says.
    pub distribution: Vec<String>,
}

/// The first processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// `vendor_id`, empty where the architecture has none.
    pub vendor: String,
    /// `cpu family`.
    pub family: Option<u32>,
    /// `model`.
    pub model: Option<u32>,
    /// `model name`.
    pub name: String,
    /// Flag `hypervisor`.
    pub hypervisor: bool,
}

/// The kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// `/proc/sys/kernel/osrelease`.
    pub release: Reading<String>,
    /// Configuration, from the first place that has it.
    pub config: Reading<KernelConfig>,
    /// `/proc/sys/kernel/ftrace_enabled`.
    pub ftrace_enabled: Reading<String>,
    /// `/sys/kernel/debug/kprobes/enabled`.
    pub kprobes_enabled: Reading<String>,
}

/// The options of a kernel configuration that the gates read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelConfig {
    /// Where it was read.
    pub path: String,
    /// Option name to value; an option that is off is not in it.
    pub options: BTreeMap<String, String>,
}

impl KernelConfig {
    /// Whether the option is built in or a module.
    #[must_use]
    pub fn is_on(&self, option: &str) -> bool {
        matches!(self.options.get(option).map(String::as_str), Some("y" | "m"))
    }
}

/// The GPU driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amdgpu {
    /// Whether `/sys/module/amdgpu` is there; an error, too, where there is no `/sys/module` to look into.
    pub loaded: Reading<bool>,
    /// Whether `modules.builtin` lists it.
    pub builtin: Reading<bool>,
    /// The file that modprobe would load, as `modules.dep` has it.
    pub file: Reading<String>,
    /// What that file says of itself.
    pub info: Reading<ModuleFile>,
    /// `/sys/module/amdgpu/srcversion` of the loaded one.
    pub srcversion: Reading<String>,
    /// `/sys/module/amdgpu/parameters/pcie_p2p`.
    pub pcie_p2p: Reading<String>,
    /// Whether `/sys/module/amdgpu/parameters` is there, so that absence of a parameter means something.
    pub has_parameters: Reading<bool>,
}

impl Amdgpu {
    /// Whether it was seen to be loaded.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.loaded == Ok(true)
    }
}

/// What a module file says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleFile {
    /// Path that was read.
    pub path: String,
    /// `name`.
    pub name: Option<String>,
    /// `version`.
    pub version: Option<String>,
    /// `vermagic`.
    pub vermagic: Option<String>,
    /// `srcversion`.
    pub srcversion: Option<String>,
    /// `license`.
    pub license: Option<String>,
    /// `implementation`: `rust` or `c`, only in `tp2_p2pdma`.
    pub implementation: Option<String>,
    /// `implementation_reason`, likewise.
    pub implementation_reason: Option<String>,
    /// `depends`.
    pub depends: Vec<String>,
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Undefined symbols.
    pub needed: Vec<String>,
    /// Appended signature.
    pub signature: Option<Signature>,
    /// Why the signature could not be read although its marker is there.
    pub signature_error: Option<String>,
}

/// A signature appended to a module file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// Bytes of the PKCS#7 message.
    pub size: u32,
    /// Hash that it names, if it is a known one.
    pub hash: Option<String>,
    /// Common name of the signer's issuer, if it is there.
    pub signer: Option<String>,
    /// Serial number of the signer's certificate, or its key ID, in hex.
    pub key_id: Option<String>,
}

/// The override module: installed, on disk, loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// What DKMS has of it.
    pub dkms: Reading<Vec<DkmsBuild>>,
    /// Source trees `/usr/src/tp2_p2pdma-*`.
    pub sources: Vec<String>,
    /// The file that modprobe would load.
    pub file: Reading<String>,
    /// A file of it that is there, although modprobe would not find it: the index does not list it.
    pub unlisted: Option<String>,
    /// What the file says of itself.
    pub info: Reading<ModuleFile>,
    /// Whether `/sys/module/tp2_p2pdma` is there; an error, too, where there is no `/sys/module` to look into.
    pub loaded: Reading<bool>,
    /// `initstate`.
    pub initstate: Reading<String>,
    /// `version` of the loaded one.
    pub version: Reading<String>,
    /// `srcversion` of the loaded one.
    pub srcversion: Reading<String>,
    /// Parameters of the loaded one.
    pub parameters: BTreeMap<String, Reading<String>>,
    /// State files under `override/` of the loaded one.
    pub state: BTreeMap<String, Reading<String>>,
    /// The table of pairs in debugfs.
    pub pairs: Reading<PairsTable>,
}

impl Module {
    /// What DKMS has built for a kernel.
    #[must_use]
    pub fn build(&self, release: &str) -> Option<&DkmsBuild> {
        self.dkms.as_deref().unwrap_or_default().iter().find(|build| build.is_for(release))
    }

    /// Whether it was seen to be loaded.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.loaded == Ok(true)
    }

    /// Why it cannot be told whether it is loaded, or lies where modprobe finds it.
    #[must_use]
    pub fn unseen(&self) -> Option<&ReadError> {
        let of_file = self.file.as_ref().err().filter(|error| !error.is_absent());
        self.loaded.as_ref().err().or(of_file)
    }
}

/// One DKMS build of the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DkmsBuild {
    /// Module version.
    pub version: String,
    /// Kernel release that it was built for.
    pub kernel: String,
    /// Architecture.
    pub arch: String,
    /// Module file, if the build has one.
    pub file: Option<String>,
}

impl DkmsBuild {
    /// Whether it left a module file for that kernel release.
    #[must_use]
    pub fn is_for(&self, release: &str) -> bool {
        self.kernel == release && self.file.is_some()
    }
}

/// debugfs table of the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairsTable {
    /// One row for each ordered pair, by provider and client.
    pub rows: Indexed<PairRow>,
    /// Lines that do not have the form of the contract.
    pub malformed: Vec<String>,
    /// Calls of pairs beyond the table.
    pub beyond: u64,
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairRow {
    /// Whose memory is to be reached.
    pub provider: Bdf,
    /// Who is to reach it.
    pub client: Bdf,
    /// Calls seen.
    pub calls: u64,
    /// The kernel's own last answer.
    pub kernel_answer: i32,
    /// What the caller got.
    pub answer: i32,
    /// Token of the rule that decided.
    pub rule: String,
}

impl Keyed for PairRow {
    type Key = (Bdf, Bdf);

    fn key(&self) -> Option<Self::Key> {
        Some((self.provider, self.client))
    }
}

/// One PCI function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PciDevice {
    /// Its address.
    pub bdf: Bdf,
    /// Its real directory.
    pub path: String,
    /// Name of the host bridge's directory, `pci0000:00`.
    pub root: String,
    /// The first function on the root bus, which the kernel takes for the host bridge's device; `None`: there is none.
    pub first_on_root: Option<Bdf>,
    /// Bridges above it, nearest first, up to the one on the root bus.
    pub upstream: Vec<Bdf>,
    /// Vendor ID.
    pub vendor: Reading<u16>,
    /// Device ID.
    pub device: Reading<u16>,
    /// Class code, 24 bits.
    pub class: Reading<u32>,
    /// Name of the bound driver.
    pub driver: Reading<Option<String>>,
    /// Type of port in the PCI Express capability, if it has one.
    pub port_type: Reading<Option<u8>>,
    /// ACS control register; `None`: there is no ACS capability.
    pub acs_control: Reading<Option<u16>>,
    /// Type of its IOMMU group: that of its domain.
    pub iommu_type: Reading<String>,
    /// More of it, where it is a GPU or above one.
    pub on_path: Option<OnPath>,
    /// Its memory, where it is a GPU.
    pub memory: Option<GpuMemory>,
}

impl PciDevice {
    /// Whether it is of a GPU class, by the module's rule; `None` where the class could not be read.
    #[must_use]
    pub fn is_gpu(&self) -> Option<bool> {
        let class = *self.class.as_ref().ok()?;
        let function = Function { address: self.bdf.0, vendor: self.vendor.as_ref().copied().unwrap_or(0xffff), class };
        Some(function.is_gpu())
    }
}

impl Keyed for PciDevice {
    type Key = Bdf;

    fn key(&self) -> Option<Bdf> {
        Some(self.bdf)
    }
}

/// One node of the KFD topology.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KfdNode {
    /// Number of the directory.
    pub id: u32,
    /// Its directory.
    pub path: String,
    /// `properties`, name to value.
    pub properties: Reading<BTreeMap<String, u64>>,
    /// `io_links`.
    pub io_links: Reading<Vec<KfdLink>>,
    /// `p2p_links`.
    pub p2p_links: Reading<Vec<KfdLink>>,
}

/// The place of a GPU node: `domain` and `location_id`.
impl Keyed for KfdNode {
    type Key = (u64, u64);

    fn key(&self) -> Option<Self::Key> {
        let properties = self.properties.as_ref().ok()?;
        let get = |name: &str| properties.get(name).copied().unwrap_or(0);
        (get("simd_count") > 0).then(|| (get("domain"), get("location_id")))
    }
}

/// One link of a KFD node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KfdLink {
    /// File that was read.
    pub path: String,
    /// `type`: 2 `PCIe`, 11 XGMI (`drivers/gpu/drm/amd/amdkfd/kfd_crat.h`).
    pub kind: u64,
    /// `node_from`.
    pub from: u64,
    /// `node_to`.
    pub to: u64,
    /// `weight`.
    pub weight: u64,
    /// `max_bandwidth`, MB/s.
    pub max_bandwidth: u64,
    /// `flags`.
    pub flags: u64,
}
