// SPDX-License-Identifier: GPL-2.0-only
//! Debian roots in layers: a base from the archive, and steps run in a chroot on top of it. No root needed.
//!
//! mmdebstrap does the work: as root in a plain chroot, otherwise in a user namespace.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{BACKPORTS, KEYRING, SUITE};
use crate::{cache, cmd::Cmd, host};

/// What a layer starts from.
pub(crate) enum Origin<'a> {
    /// These packages of the archive.
    Packages(&'a [&'a str]),
    /// The root of another layer.
    Root(&'a Layer),
}

/// How to make a layer.
pub(crate) struct Spec<'a> {
    /// Name of the cache entry.
    pub(crate) name: &'a str,
    /// Hash of everything that the layer depends on.
    pub(crate) key: String,
    /// What it starts from.
    pub(crate) origin: Origin<'a>,
    /// Files and directories copied to `/tp2` in the chroot while the script runs.
    pub(crate) inputs: &'a [&'a Path],
    /// Run by `sh -eu` in the chroot; what it puts below `/tp2/out` is kept beside the root.
    pub(crate) script: &'a str,
    /// Whether the root itself is kept, for images and further layers.
    pub(crate) keep_root: bool,
}

/// A finished layer in the cache.
pub(crate) struct Layer {
    dir: PathBuf,
}

impl Layer {
    /// Makes the layer, or finds it in the cache.
    pub(crate) fn build(spec: &Spec<'_>) -> Result<Self> {
        let dir = cache::entry(spec.name, &spec.key, |half| make(spec, half))?;
        Ok(Self { dir })
    }

    /// Tells this layer from every other: name and key of its cache entry.
    pub(crate) fn id(&self) -> &[u8] {
        self.dir.file_name().unwrap_or_default().as_encoded_bytes()
    }

    /// The root as a tar archive.
    pub(crate) fn root_tar(&self) -> PathBuf {
        self.dir.join("root.tar")
    }

    /// A file that the script put below `/tp2/out`.
    pub(crate) fn out(&self, name: &str) -> PathBuf {
        self.dir.join("out").join(name)
    }

    /// The text of a file that the script put below `/tp2/out`.
    pub(crate) fn text(&self, name: &str) -> Result<String> {
        let path = self.out(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Seconds that the script measured and wrote as `NAME_seconds=N` into `out/timings`.
    pub(crate) fn seconds(&self, name: &str) -> Result<u32> {
        self.text("timings")?
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix("_seconds=")?.parse().ok())
            .with_context(|| format!("{} has no {name}_seconds", self.out("timings").display()))
    }

    /// An ext4 disk image of the root, made once.
    pub(crate) fn disk_image(&self) -> Result<PathBuf> {
        let _lock = cache::lock("disk-image")?;
        let image = self.dir.join("disk.img");
        if image.exists() {
            return Ok(image);
        }
        cache::require_space(4)?;
        let half = self.dir.join("disk.img.half");
        let work = self.dir.join("disk.img.root");
        if work.exists() {
            fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", work.display()))?;
        }
        // Room for what a booted system and an upgrade write; the file is sparse.
        let mib = (fs::metadata(self.root_tar())?.len() >> 20) * 5 / 4 + 1024;
        // fakeroot remembers the modes of files that only root can read; they have to be readable for this user.
        let script = r#"mkdir "$1"
            tar -C "$1" -xpf "$2"
            mkdir -p "$1/dev"
            env -u LD_PRELOAD find "$1" -type f ! -perm -u+r -exec chmod u+r {} +
            mke2fs -q -t ext4 -L tp2 -d "$1" "$3" "$4M""#;
        let shell = if host::is_root() { Cmd::new("sh") } else { Cmd::new("fakeroot").arg("sh") };
        shell
            .args(["-euc", script, "image"])
            .arg(&work)
            .arg(self.root_tar())
            .arg(&half)
            .arg(mib.to_string())
            .env("PATH", path_with_sbin())
            .output()?;
        fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", work.display()))?;
        fs::rename(&half, &image).with_context(|| format!("cannot move the image to {}", image.display()))?;
        Ok(image)
    }
}

fn make(spec: &Spec<'_>, half: &Path) -> Result<()> {
    cache::require_space(6)?;
    let script = half.join("script.sh");
    fs::write(&script, spec.script)?;
    let root_tar = half.join("root.tar");
    fs::create_dir(half.join("out"))?;
    // In a user namespace the hooks run as other users than the one that owns the cache.
    make_traversable(half)?;

    let mut cmd =
        Cmd::new("mmdebstrap").args(["--mode=auto", if spec.keep_root { "--format=tar" } else { "--format=null" }]);
    cmd = match &spec.origin {
        Origin::Packages(packages) => cmd
            .args(["--variant=minbase", &format!("--include={}", packages.join(","))])
            .arg("--aptopt=APT::Install-Recommends \"false\"")
            // A layer that is not finished is thrown away: nothing has to reach the disk before that.
            .arg("--dpkgopt=force-unsafe-io")
            .args(["doc", "man", "locale", "info"].map(|d| format!("--dpkgopt=path-exclude=/usr/share/{d}/*")))
            .arg(format!("--setup-hook={PIN_KERNELS}")),
        Origin::Root(layer) => cmd
            .args(["--variant=custom", "--skip=update,cleanup/apt/lists"])
            .arg(format!("--setup-hook=tar-in {} /", shell_quote(&layer.root_tar())?))
            // mmdebstrap mounts the host's device nodes there, if there is a place for them.
            .arg("--setup-hook=mkdir -p \"$1/dev\""),
    };
    // Device nodes cannot be unpacked again in a user namespace; the guests' kernels make their own.
    cmd = cmd.arg("--skip=output/dev");
    cmd = cmd.arg("--customize-hook=mkdir -p \"$1/tp2/out\"");
    for input in spec.inputs.iter().chain([&script.as_path()]) {
        cmd = cmd.arg(format!("--customize-hook=copy-in {} /tp2", shell_quote(input)?));
    }
    let mirror = host::debian_mirror()?;
    cmd.arg("--customize-hook=chroot \"$1\" sh -eu /tp2/script.sh")
        .arg(format!("--customize-hook=copy-out /tp2/out {}", shell_quote(half)?))
        .arg("--customize-hook=rm -rf \"$1/tp2\"")
        .arg(SUITE)
        .arg(if spec.keep_root { root_tar.as_os_str() } else { "-".as_ref() })
        .args([SUITE, BACKPORTS].map(|suite| format!("deb [signed-by={KEYRING}] {mirror} {suite} main")))
        .env("PATH", path_with_sbin())
        .output()
        .map(drop)
}

/// Backported kernels need their own linux-base, which apt takes from backports only when told.
const PIN_KERNELS: &str = r#"mkdir -p "$1/etc/apt/preferences.d" && printf 'Package: linux-*\nPin: release n=trixie-backports\nPin-Priority: 500\n' >"$1/etc/apt/preferences.d/tp2-kernels""#;

fn make_traversable(dir: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot change the mode of {}", dir.display()))
}

/// mmdebstrap splits the arguments of its special hooks like a shell.
fn shell_quote(path: &Path) -> Result<String> {
    let text = path
        .to_str()
        .with_context(|| format!("{} is not UTF-8: move the checkout or set XDG_CACHE_HOME", path.display()))?;
    Ok(format!("'{}'", text.replace('\'', "'\\''")))
}

/// Debian keeps mke2fs and chroot where a user's PATH does not look.
fn path_with_sbin() -> String {
    format!("{}:/usr/local/sbin:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}
