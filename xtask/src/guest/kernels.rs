// SPDX-License-Identifier: GPL-2.0-only
//! Which stock Debian kernels the archive has today; versions come and go, so they are asked for, never written down.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{BACKPORTS, PrivateApt};
use crate::cache;

/// Two stock kernel releases (as `uname -r` prints them) of different upstream series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernels {
    /// The newest release that has headers: scenarios and demo run on it, upgrades lead to it.
    pub(crate) newest: String,
    /// The newest release of an older series: upgrades start from it.
    pub(crate) previous: String,
}

/// Asks the archive for kernels; without a network the last answer is used and said so.
pub(crate) fn choose() -> Result<Kernels> {
    let record = cache::dir()?.join("kernels.json");
    match query() {
        Ok(kernels) => {
            let text = serde_json::json!({"newest": kernels.newest, "previous": kernels.previous}).to_string();
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
    Some(Kernels { newest: value["newest"].as_str()?.to_owned(), previous: value["previous"].as_str()?.to_owned() })
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
    Ok(Kernels { newest: (*newest).to_owned(), previous: (*previous).to_owned() })
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
        assert_eq!(kernels.newest, "7.10.1+deb13-amd64");
        assert_eq!(kernels.previous, "7.2.12+deb13-amd64");
    }

    #[test]
    fn one_series_only_is_an_error_that_names_it() {
        let names = ["linux-image-7.2.9+deb13-amd64", "linux-headers-7.2.9+deb13-amd64"];
        assert!(pick(names.into_iter()).unwrap_err().to_string().contains("7.2.9+deb13-amd64"));
    }
}
