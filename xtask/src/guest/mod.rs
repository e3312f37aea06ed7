// SPDX-License-Identifier: GPL-2.0-only
//! The guests: real Debian systems with stock kernels, and a small initramfs cut out of them for the scenarios.

mod apt;
pub(crate) mod kernels;
mod layer;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(crate) use self::apt::PrivateApt;
pub(crate) use self::layer::{Layer, Origin, Spec};
use crate::cache::{self, Key};
use crate::cmd::Cmd;
use crate::deb::Debs;
use crate::workspace;

/// Debian suite of the guests.
pub(crate) const SUITE: &str = "trixie";
/// Suite of their kernels: the suite's own 6.12 is built without `CONFIG_PCI_P2PDMA`.
pub(crate) const BACKPORTS: &str = "trixie-backports";
/// Keyring that vouches for both.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

const AGENT: &str = include_str!("agent.sh");
const INIT: &str = include_str!("init.sh");
const BASE_SCRIPT: &str = include_str!("base.sh");
const INSTALL_SCRIPT: &str = include_str!("install.sh");

/// A Debian system with one stock kernel, its headers and dkms, and nothing of ours but the agent.
pub(crate) fn base(kernel: &str) -> Result<Layer> {
    let image = format!("linux-image-{kernel}");
    let headers = format!("linux-headers-{kernel}");
    let packages = [
        "systemd-sysv",
        "udev",
        "kmod",
        "dkms",
        "make",
        "initramfs-tools",
        "zstd",
        "xz-utils",
        "busybox-static",
        &image,
        &headers,
    ];
    let support = support_files()?;
    let inputs = [support.path().join("tp2-agent"), support.path().join("kernel")];
    fs::write(&inputs[1], kernel)?;
    Layer::build(&Spec {
        name: "guest-base",
        key: Key::new().add(packages.join(" ")).add(AGENT).add(BASE_SCRIPT).hex(),
        origin: Origin::Packages(&packages),
        inputs: &[&inputs[0], &inputs[1]],
        script: BASE_SCRIPT,
        keep_root: true,
    })
}

/// The base with our packages installed by apt; DKMS builds the module for `kernel` while that happens.
pub(crate) fn installed(kernel: &str, base: &Layer, debs: &Debs) -> Result<Layer> {
    let support = support_files()?;
    let kernel_file = support.path().join("kernel");
    fs::write(&kernel_file, kernel)?;
    let sources = workspace::root().join("rust-kmod");
    Layer::build(&Spec {
        name: "guest-installed",
        key: debs.key().add(base.id()).add(kernel).add_tree(&sources)?.add(INSTALL_SCRIPT).hex(),
        origin: Origin::Root(base),
        inputs: &[&kernel_file, &debs.dkms, &debs.verify, &sources],
        script: INSTALL_SCRIPT,
        keep_root: true,
    })
}

/// The agent as a file of the name it has in the guest.
pub(crate) fn support_files() -> Result<tempfile::TempDir> {
    let dir = tempfile::Builder::new().prefix("tp2-support-").tempdir()?;
    fs::write(dir.path().join("tp2-agent"), AGENT)?;
    Ok(dir)
}

/// The scenario guest: the stock kernel and an initramfs with busybox, the modules and tp2-verify.
pub(crate) struct ScenarioGuest {
    /// Kernel image.
    pub(crate) kernel: PathBuf,
    /// Initial RAM file system, uncompressed.
    pub(crate) initrd: PathBuf,
}

impl ScenarioGuest {
    /// Cuts the scenario guest out of an installed layer.
    pub(crate) fn from(layer: &Layer) -> Result<Self> {
        let key = Key::new().add(AGENT).add(INIT).add(layer.id()).hex();
        let dir = cache::entry("scenario-guest", &key, |half| {
            let tree = half.join("tree");
            Cmd::new("cp").arg("-a").arg(layer.out("tree")).arg(&tree).output()?;
            write_script(&tree.join("init"), INIT)?;
            write_script(&tree.join("agent.sh"), AGENT)?;
            let pack = r#"cd "$1" && find . -print0 | LC_ALL=C sort -z | cpio -0 --quiet -o -H newc -R 0:0 >"$2""#;
            Cmd::new("sh").args(["-euc", pack, "cpio"]).arg(&tree).arg(half.join("initrd")).output()?;
            fs::remove_dir_all(&tree).with_context(|| format!("cannot remove {}", tree.display()))
        })?;
        Ok(Self { kernel: layer.out("vmlinuz"), initrd: dir.join("initrd") })
    }
}

fn write_script(path: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    Ok(())
}
