// SPDX-License-Identifier: GPL-2.0-only
//! The kernels of the guests. Which stock ones the archive has today is asked for: versions come and go.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{BACKPORTS, PrivateApt};
use crate::cache;

/// A kernel that guests run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// As `uname -r` prints it.
    pub(crate) release: String,
    /// Name of a kernel of our own; `None` for those of the archive.
    pub(crate) label: Option<&'static str>,
    /// Packages that bring a kernel of our own: image and headers.
    pub(crate) debs: Vec<PathBuf>,
    /// Whether it can carry the Rust implementation.
    pub(crate) rust: bool,
    /// How many times as much memory and time it needs as a kernel without sanitizers.
    pub(crate) patience: u32,
}

impl Kernel {
    /// A stock kernel of the archive.
    pub(crate) fn stock(release: &str) -> Self {
        Self { release: release.to_owned(), label: None, debs: Vec::new(), rust: true, patience: 1 }
    }

    /// Its upstream series, such as 7.3.
    pub(crate) fn series(&self) -> Result<(u32, u32)> {
        let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().parse().ok();
        let mut parts = self.release.split('.');
        parts
            .next()
            .and_then(number)
            .zip(parts.next().and_then(number))
            .with_context(|| format!("{} names no kernel series", self.release))
    }

    /// Name of a cache entry for this kernel; our own kernels do not push out the stock ones.
    pub(crate) fn entry(&self, what: &str) -> String {
        self.label.map_or_else(|| what.to_owned(), |label| format!("{what}-{label}"))
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.release)
    }
}

/// Two stock kernels of different upstream series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernels {
    /// The newest release that has headers: scenarios and demo run on it, upgrades lead to it.
    pub(crate) newest: Kernel,
    /// The newest release of an older series: upgrades start from it.
    pub(crate) previous: Kernel,
}

/// Asks the archive for kernels; without a network the last answer is used and said so.
pub(crate) fn choose() -> Result<Kernels> {
    let record = cache::dir()?.join("kernels.json");
    match query() {
        Ok(kernels) => {
            let text =
                serde_json::json!({"newest": kernels.newest.release, "previous": kernels.previous.release}).to_string();
            let half = record.with_extension("json.new");
            fs::write(&half, text)
                .and_then(|()| fs::rename(&half, &record))
                .with_context(|| format!("cannot write {}", record.display()))?;
            Ok(kernels)
        }
        Err(error) => match read_record(&record) {
            Some(kernels) => {
                eprintln!(
                    "warning: the package archive cannot be asked ({error:#}); using the kernels of the last run"
                );
                Ok(kernels)
            }
            None => Err(error.context(
                "cannot ask the package archive for kernels: is there a network, and is apt's mirror reachable?",
            )),
        },
    }
}

fn read_record(record: &Path) -> Option<Kernels> {
    let value: serde_json::Value = serde_json::from_slice(&fs::read(record).ok()?).ok()?;
    let release = |key: &str| value[key].as_str().map(Kernel::stock);
    Some(Kernels { newest: release("newest")?, previous: release("previous")? })
}

fn query() -> Result<Kernels> {
    let apt = PrivateApt::updated("apt", &[BACKPORTS])?;
    let names = apt.command("apt-cache").args(["pkgnames", "linux-"]).output()?;
    pick(names.lines())
}

fn pick<'a>(names: impl Iterator<Item = &'a str>) -> Result<Kernels> {
    let names: std::collections::BTreeSet<&str> = names.collect();
    let mut releases: Vec<(Vec<u32>, &str)> = names
        .iter()
        .filter_map(|name| name.strip_prefix("linux-image-"))
        .filter(|release| names.contains(format!("linux-headers-{release}").as_str()))
        .filter_map(|release| Some((stock_version(release)?, release)))
        .collect();
    releases.sort();
    let Some((newest_version, newest)) = releases.last() else {
        bail!("{BACKPORTS} has no stock amd64 kernel with headers today");
    };
    let previous = releases.iter().rev().find(|(version, _)| version[..2] != newest_version[..2]);
    let Some((_, previous)) = previous else {
        bail!("{BACKPORTS} has kernels of one series only ({newest}): the upgrade test needs two");
    };
    Ok(Kernels { newest: Kernel::stock(newest), previous: Kernel::stock(previous) })
}

/// The numbers of `7.3.4+deb13-amd64`; `None` for cloud, real-time and other flavours.
fn stock_version(release: &str) -> Option<Vec<u32>> {
    let (upstream, flavour) = release.split_once('+')?;
    let revision = flavour.strip_prefix("deb")?.strip_suffix("-amd64")?;
    if revision.is_empty() || !revision.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let numbers: Vec<u32> = upstream.split('.').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    (numbers.len() >= 2).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_and_previous_series_are_picked_by_number_not_by_text() {
        let names = [
            "linux-image-7.2.9+deb13-amd64",
            "linux-headers-7.2.9+deb13-amd64",
            "linux-image-7.2.12+deb13-amd64",
            "linux-headers-7.2.12+deb13-amd64",
            "linux-image-7.10.1+deb13-amd64",
            "linux-headers-7.10.1+deb13-amd64",
            "linux-image-7.11.0+deb13-amd64",
            "linux-image-7.10.2+deb13-cloud-amd64",
            "linux-headers-7.10.2+deb13-cloud-amd64",
            "linux-image-7.10.2+deb13-rt-amd64",
            "linux-headers-7.10.2+deb13-rt-amd64",
        ];
        let kernels = pick(names.into_iter()).unwrap();
        assert_eq!(kernels.newest.release, "7.10.1+deb13-amd64");
        assert_eq!(kernels.previous.release, "7.2.12+deb13-amd64");
    }

    #[test]
    fn the_series_is_read_from_any_release() {
        assert_eq!(Kernel::stock("7.3.4+deb13-amd64").series().unwrap(), (7, 3));
        assert_eq!(Kernel::stock("6.12-tp2").series().unwrap(), (6, 12));
        assert!(Kernel::stock("next").series().is_err());
    }

    #[test]
    fn one_series_only_is_an_error_that_names_it() {
        let names = ["linux-image-7.2.9+deb13-amd64", "linux-headers-7.2.9+deb13-amd64"];
        assert!(pick(names.into_iter()).unwrap_err().to_string().contains("7.2.9+deb13-amd64"));
    }
}
