// SPDX-License-Identifier: GPL-2.0-only
//! `cargo xtask kernel`: kernels of our own for `make test-full`, built from Debian's kernel sources and packaged like
//! Debian's kernels. What needs a kernel that no distribution ships: sanitizers, metadata in the headers, no Rust at all.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::cache::Key;
use crate::guest::kernels::{self, Kernel, Kernels};
use crate::guest::{BACKPORTS, Layer, Origin, PrivateApt, SUITE, Spec, Support};
use crate::progress;

const SCRIPT: &str = include_str!("build.sh");

type Fragment = (&'static str, &'static str);
const BASE: Fragment = ("base.config", include_str!("base.config"));
const RUST: Fragment = ("rust.config", include_str!("rust.config"));
const DEBUG: Fragment = ("debug.config", include_str!("debug.config"));
const AMDGPU: Fragment = ("amdgpu.config", include_str!("amdgpu.config"));

/// Which of Debian's kernel sources a kernel is built from.
enum Source {
    /// The series of the newest stock kernel.
    Newest,
    /// This one.
    Series(&'static str),
}

/// How to make a kernel.
pub(crate) struct Recipe {
    /// Short name, also the end of the kernel's release.
    pub(crate) label: &'static str,
    /// What it is for, in one line.
    pub(crate) about: &'static str,
    source: Source,
    fragments: &'static [Fragment],
    rust: bool,
    patience: u32,
}

/// All of them; the most telling first.
pub(crate) const RECIPES: &[Recipe] = &[
    Recipe {
        label: "debug",
        about: "KASAN, lockdep, DEBUG_ATOMIC_SLEEP, kmemleak and UBSAN; Rust metadata in the headers",
        source: Source::Newest,
        fragments: &[BASE, RUST, DEBUG],
        rust: true,
        patience: 4,
    },
    Recipe {
        label: "amdgpu",
        about: "amdgpu as a module with HSA_AMD_P2P, without its display core; Rust metadata in the headers",
        source: Source::Newest,
        fragments: &[BASE, RUST, AMDGPU],
        rust: true,
        patience: 1,
    },
    Recipe {
        label: "plain72",
        about: "Rust metadata in the headers, as Ubuntu and Arch ship them",
        source: Source::Series("7.2"),
        fragments: &[BASE, RUST],
        rust: true,
        patience: 1,
    },
    Recipe {
        label: "plain612",
        about: "built without CONFIG_RUST",
        source: Source::Series("6.12"),
        fragments: &[BASE],
        rust: false,
        patience: 1,
    },
];

/// `cargo xtask kernel`: names the kernels, or builds those of these labels.
pub(crate) fn command(labels: &[String]) -> Result<()> {
    if labels.is_empty() {
        for recipe in RECIPES {
            println!("{:<10} {}", recipe.label, recipe.about);
        }
        return Ok(());
    }
    crate::host::prepare()?;
    let stock = kernels::choose()?;
    for label in labels {
        let kernel = build(named(label)?, &stock)?;
        println!("Linux {kernel}:");
        for deb in &kernel.debs {
            println!("  {}", deb.display());
        }
    }
    Ok(())
}

/// The recipe of this label.
pub(crate) fn named(label: &str) -> Result<&'static Recipe> {
    RECIPES
        .iter()
        .find(|recipe| recipe.label == label)
        .with_context(|| format!("there is no kernel `{label}`: `cargo xtask kernel` names them all"))
}

/// Builds the kernel, or finds it in the cache; a new source, configuration or recipe makes a new one.
pub(crate) fn build(recipe: &Recipe, stock: &Kernels) -> Result<Kernel> {
    let (major, minor) = match recipe.source {
        Source::Newest => stock.newest.series()?,
        Source::Series(series) => Kernel::stock(series).series()?,
    };
    let series = format!("{major}.{minor}");
    let version = source_version(&series)?;
    let support = Support::new(&series)?;
    let mut inputs = vec![
        support.file("series", &series)?,
        support.file("label", recipe.label)?,
        support.file("rust", if recipe.rust { "y" } else { "n" })?,
    ];
    let mut key = Key::new().add(&series).add(&version).add(recipe.label).add(SCRIPT);
    for (name, text) in recipe.fragments {
        inputs.push(support.file(name, text)?);
        key = key.add(name).add(text);
    }
    let inputs: Vec<_> = inputs.iter().map(PathBuf::as_path).collect();
    let what = format!("kernel {} from linux-source-{series} {version} (minutes)", recipe.label);
    let layer = progress::step(&what, || {
        Layer::build(&Spec {
            name: &format!("kernel-{}", recipe.label),
            key: key.hex(),
            origin: Origin::Packages(&["make"]),
            inputs: &inputs,
            script: SCRIPT,
            keep_root: false,
        })
    })?;
    packaged(recipe, &layer)
}

fn packaged(recipe: &Recipe, layer: &Layer) -> Result<Kernel> {
    let release = layer.text("release")?;
    let dir = layer.out("");
    let mut debs = Vec::new();
    for entry in fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            debs.push(path);
        }
    }
    debs.sort();
    if debs.len() != 2 {
        bail!("{} has {} packages instead of an image and headers", dir.display(), debs.len());
    }
    Ok(Kernel {
        release: release.trim().to_owned(),
        label: Some(recipe.label),
        debs,
        rust: recipe.rust,
        patience: recipe.patience,
    })
}

/// Version of the package `linux-source-SERIES` that apt would take.
fn source_version(series: &str) -> Result<String> {
    let package = format!("linux-source-{series}");
    let apt = PrivateApt::updated("apt-sources", &[SUITE, BACKPORTS])?;
    let text = apt.command("apt-cache").args(["show", "--no-all-versions", &package]).output()?;
    text.lines()
        .find_map(|line| line.strip_prefix("Version: "))
        .map(str::to_owned)
        .with_context(|| format!("neither {SUITE} nor {BACKPORTS} has {package} today"))
}
