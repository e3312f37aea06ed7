// SPDX-License-Identifier: GPL-2.0-only
//! The guests: real Debian systems with a kernel each, and a small initramfs cut out of them for the scenarios.

mod apt;
mod implementation;
pub(crate) mod kernels;
mod layer;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

pub(crate) use self::apt::PrivateApt;
pub(crate) use self::implementation::Implementation;
pub(crate) use self::kernels::Kernel;
pub(crate) use self::layer::{Layer, Origin, Spec};
use crate::cache::{self, Key};
use crate::cmd::Cmd;
use crate::deb::Debs;
use crate::vm::Boot;
use crate::{progress, workspace};

/// Debian suite of the guests.
pub(crate) const SUITE: &str = "trixie";
/// Suite of their kernels: the suite's own 6.12 is built without `CONFIG_PCI_P2PDMA`.
pub(crate) const BACKPORTS: &str = "trixie-backports";
/// Keyring that vouches for both.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

const AGENT: &str = include_str!("agent.sh");
const INIT: &str = include_str!("init.sh");
const BASE_SCRIPT: &str = include_str!("base.sh");
const RUST_SCRIPT: &str = include_str!("rust.sh");
const INSTALL_SCRIPT: &str = concat!(include_str!("install.sh"), include_str!("collect.sh"));
const TAKEOVER_SCRIPT: &str = concat!(include_str!("takeover.sh"), include_str!("collect.sh"));

/// What a Debian guest has besides its kernel, before anything of ours.
const BASE_PACKAGES: &[&str] =
    &["systemd-sysv", "udev", "kmod", "dkms", "make", "initramfs-tools", "zstd", "xz-utils", "busybox-static"];

/// A Debian system with one kernel, its headers and dkms, and nothing of ours but the agent.
pub(crate) fn base(kernel: &Kernel) -> Result<Layer> {
    let mut packages: Vec<String> = BASE_PACKAGES.iter().map(|&package| package.to_owned()).collect();
    if kernel.debs.is_empty() {
        packages.extend(["image", "headers"].map(|part| format!("linux-{part}-{}", kernel.release)));
    } else {
        // What Debian's headers depend on, and those of the kernel's own packaging do not say: the compiler, and a library
        // for objtool.
        packages.extend(["gcc", "libelf1t64"].map(str::to_owned));
    }
    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
    let support = Support::new(&kernel.release)?;
    let mut key = Key::new().add(packages.join(" ")).add(&kernel.release).add(AGENT).add(BASE_SCRIPT);
    for deb in &kernel.debs {
        key = key.add_file(deb)?;
    }
    let (agent, release) = (support.agent(), support.release());
    let mut inputs: Vec<&Path> = vec![&agent, &release];
    inputs.extend(kernel.debs.iter().map(PathBuf::as_path));
    Layer::build(&Spec {
        name: &kernel.entry("guest-base"),
        key: key.hex(),
        origin: Origin::Packages(&packages),
        inputs: &inputs,
        script: BASE_SCRIPT,
        keep_root: true,
    })
}

/// The base with what builds the Rust implementation: compilers, and the kernel's metadata where its headers lack them.
pub(crate) fn with_rust(kernel: &Kernel, base: &Layer) -> Result<Layer> {
    let support = Support::new(&kernel.release)?;
    let tools = ["rust-probe", "tp2-rust-metadata"].map(|tool| workspace::root().join("dkms").join(tool));
    let key = Key::new().add(base.id()).add_file(&tools[0])?.add_file(&tools[1])?.add(RUST_SCRIPT).hex();
    Layer::build(&Spec {
        name: &kernel.entry("guest-rust"),
        key,
        origin: Origin::Root(base),
        inputs: &[&support.release(), &tools[0], &tools[1]],
        script: RUST_SCRIPT,
        keep_root: true,
    })
}

/// A Debian system with our packages, for each implementation that its kernel can carry.
pub(crate) struct System {
    /// What it runs.
    pub(crate) kernel: Kernel,
    /// Packages installed by apt, the module built by DKMS while that happened: in Rust, unless the kernel has none.
    pub(crate) installed: Layer,
    /// The same after what Rust needs was taken away and DKMS had to build again; `None` where it was C before.
    pub(crate) takeover: Option<Layer>,
}

impl System {
    /// Makes the system, or finds it in the cache.
    pub(crate) fn build(kernel: &Kernel, debs: &Debs) -> Result<Self> {
        let what = |what: &str| format!("{what} (Linux {})", kernel.release);
        let base = progress::step(&what(&format!("guest: Debian {SUITE} from the archive")), || base(kernel))?;
        if !kernel.rust {
            let installed = progress::step(&what("packages installed by apt, module built by DKMS"), || {
                installed(kernel, &base, debs)
            })?;
            return Ok(Self { kernel: kernel.clone(), installed, takeover: None });
        }
        let with_rust =
            progress::step(&what("Rust compilers and the kernel's Rust metadata"), || with_rust(kernel, &base))?;
        let installed = progress::step(&what("packages installed by apt, module built by DKMS"), || {
            installed(kernel, &with_rust, debs)
        })?;
        let takeover = progress::step(&what("the same without the metadata, built again by DKMS"), || {
            after(kernel, &installed, "guest-takeover", TAKEOVER_SCRIPT)
        })?;
        Ok(Self { kernel: kernel.clone(), installed, takeover: Some(takeover) })
    }

    /// The implementations that the system has.
    pub(crate) fn implementations(&self) -> &'static [Implementation] {
        match self.takeover {
            Some(_) => &[Implementation::Rust, Implementation::C],
            None => &[Implementation::C],
        }
    }

    /// The layer with the module of this implementation.
    fn layer(&self, implementation: Implementation) -> &Layer {
        match (implementation, &self.takeover) {
            (Implementation::C, Some(takeover)) => takeover,
            _ => &self.installed,
        }
    }

    /// What `dkms-build` said of its choice of this implementation.
    pub(crate) fn choice(&self, implementation: Implementation) -> Result<String> {
        Ok(self.layer(implementation).text("choice")?.trim_end().to_owned())
    }

    /// Runs a script in the system as its packages were installed; what it puts below `/tp2/out` is kept, the system is not.
    pub(crate) fn after(&self, name: &str, script: &str) -> Result<Layer> {
        after(&self.kernel, &self.installed, name, script)
    }
}

/// The system with our packages installed by apt; DKMS builds the module for `kernel` while that happens.
fn installed(kernel: &Kernel, base: &Layer, debs: &Debs) -> Result<Layer> {
    let support = Support::new(&kernel.release)?;
    let sources = workspace::root().join("rust-kmod");
    Layer::build(&Spec {
        name: &kernel.entry("guest-installed"),
        key: debs.key().add(base.id()).add_tree(&sources)?.add(INSTALL_SCRIPT).hex(),
        origin: Origin::Root(base),
        inputs: &[&support.release(), &debs.dkms, &debs.verify, &sources],
        script: INSTALL_SCRIPT,
        keep_root: true,
    })
}

/// See [`System::after`].
fn after(kernel: &Kernel, installed: &Layer, name: &str, script: &str) -> Result<Layer> {
    let support = Support::new(&kernel.release)?;
    Layer::build(&Spec {
        name: &kernel.entry(name),
        key: Key::new().add(installed.id()).add(script).hex(),
        origin: Origin::Root(installed),
        inputs: &[&support.release()],
        script,
        keep_root: false,
    })
}

/// Small files for the scripts that make layers, below the names that they have there.
pub(crate) struct Support {
    dir: tempfile::TempDir,
}

impl Support {
    /// The agent, and the release of the guest's kernel.
    pub(crate) fn new(release: &str) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("tp2-support-").tempdir()?;
        let support = Self { dir };
        fs::write(support.agent(), AGENT)?;
        fs::write(support.release(), release)?;
        Ok(support)
    }

    fn agent(&self) -> PathBuf {
        self.dir.path().join("tp2-agent")
    }

    /// File with the release of the guest's kernel.
    pub(crate) fn release(&self) -> PathBuf {
        self.dir.path().join("kernel")
    }

    /// One more file, with this content.
    pub(crate) fn file(&self, name: &str, content: &str) -> Result<PathBuf> {
        let path = self.dir.path().join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

/// The scenario guest: the system's kernel and an initramfs with busybox, the modules and tp2-verify.
pub(crate) struct ScenarioGuest {
    /// What it runs.
    pub(crate) kernel: Kernel,
    vmlinuz: PathBuf,
    /// Initial RAM file system, uncompressed.
    initrd: PathBuf,
    /// The implementations of the module in it, each below `/opt/tp2/NAME`.
    pub(crate) implementations: Vec<Implementation>,
}

impl ScenarioGuest {
    /// How to boot it; the agent has to answer within `limit`.
    pub(crate) fn boot(&self, limit: Duration) -> Boot<'_> {
        Boot {
            kernel: &self.vmlinuz,
            initrd: &self.initrd,
            disk: None,
            append: "",
            limit,
            patience: self.kernel.patience,
        }
    }

    /// Cuts the scenario guest out of a system.
    pub(crate) fn from(system: &System) -> Result<Self> {
        let implementations = system.implementations();
        let mut key = Key::new().add(AGENT).add(INIT);
        for implementation in implementations {
            key = key.add(system.layer(*implementation).id());
        }
        let dir = cache::entry(&system.kernel.entry("scenario-guest"), &key.hex(), |half| {
            let tree = half.join("tree");
            Cmd::new("cp").arg("-a").arg(system.installed.out("tree")).arg(&tree).output()?;
            for &implementation in implementations {
                let own = system.layer(implementation).out("implementation");
                Cmd::new("cp").arg("-a").arg(own).arg(tree.join("opt/tp2").join(implementation.name())).output()?;
            }
            write_script(&tree.join("init"), INIT)?;
            write_script(&tree.join("agent.sh"), AGENT)?;
            let pack = r#"cd "$1" && find . -print0 | LC_ALL=C sort -z | cpio -0 --quiet -o -H newc -R 0:0 >"$2""#;
            Cmd::new("sh").args(["-euc", pack, "cpio"]).arg(&tree).arg(half.join("initrd")).output()?;
            fs::remove_dir_all(&tree).with_context(|| format!("cannot remove {}", tree.display()))
        })?;
        Ok(Self {
            kernel: system.kernel.clone(),
            vmlinuz: system.installed.out("vmlinuz"),
            initrd: dir.join("initrd"),
            implementations: implementations.to_vec(),
        })
    }
}

/// In a scenario guest: the module in turn, after [`select`].
pub(crate) const SELECTED_MODULE: &str = "/opt/tp2/current/tp2_p2pdma.ko";

/// Script for a scenario guest: puts the module of this implementation, and DKMS's records of it, where the system's own
/// would be.
pub(crate) fn select(implementation: Implementation) -> String {
    format!(
        "rm -rf /var/lib/dkms && cp -a /opt/tp2/{implementation}/system/. / && ln -sfn {implementation} /opt/tp2/current"
    )
}

fn write_script(path: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    Ok(())
}
