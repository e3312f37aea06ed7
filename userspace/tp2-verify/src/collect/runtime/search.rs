// SPDX-License-Identifier: GPL-2.0-only

//! Where programs find `libamdhip64`: not the loader itself is asked, because a library is looked at before it is loaded.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// Without its number.
const NAME: &str = "libamdhip64.so";
/// In the order in which they are tried; the plain name comes with development packages only. Later numbers follow.
const FIRST: [&str; 4] = ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", NAME];
/// First number that no release had so far.
const UNKNOWN: u32 = 8;
/// Folders that loaders search by themselves, on Debian, Fedora, Arch and others.
const DEFAULT: [&str; 9] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
];
/// More than any machine has.
const LIMIT: usize = 64;

/// Libraries below `base` that are there, in the order of the search; `variable` gives environment variables.
pub fn candidates(base: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut real: Vec<PathBuf> = Vec::new();
    for folders in groups(base, variable) {
        for path in named(&folders) {
            // Links and repeated folders lead to the same file.
            let Ok(target) = fs::canonicalize(&path) else {
                continue;
            };
            if target.is_file() && !real.contains(&target) && found.len() < LIMIT {
                real.push(target);
                found.push(path);
            }
        }
    }
    found
}

/// Folders; within a group all folders are searched for one name before the next name's turn.
fn groups(base: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<Vec<PathBuf>> {
    let below = |folder: &str| base.join(folder.trim_start_matches('/'));
    let named = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let rocm = ["ROCM_PATH", "ROCM_HOME"].iter().filter_map(|name| named(name)).map(|path| path.join("lib"));
    let mut loader: Vec<PathBuf> = Vec::new();
    if let Some(list) = variable("LD_LIBRARY_PATH") {
        // An empty part means the working folder, from which nobody wants code by accident.
        loader.extend(std::env::split_paths(&list).filter(|path| path.is_absolute()));
    }
    loader.extend(configured(base));
    loader.extend(DEFAULT.iter().map(|folder| below(folder)));
    let mut versions = numbered(&below("/opt/rocm"), "core-");
    versions.extend(numbered(&below("/opt"), "rocm-"));
    vec![
        rocm.collect(),
        named("VIRTUAL_ENV").map(|path| wheels(&path)).unwrap_or_default(),
        loader,
        vec![below("/opt/rocm/lib")],
        versions.into_iter().map(|path| path.join("lib")).collect(),
    ]
}

/// Files of these folders that have one of the names, in the order of names.
fn named(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = Vec::new();
    for name in FIRST {
        list.extend(folders.iter().map(|folder| folder.join(name)).filter(|path| path.exists()));
    }
    let mut later: Vec<(u32, PathBuf)> = Vec::new();
    for folder in folders {
        for name in names(folder) {
            let number = name.strip_prefix(NAME).and_then(|rest| rest.strip_prefix('.'));
            if let Some(number) = number.and_then(|text| text.parse().ok()).filter(|number| *number >= UNKNOWN) {
                later.push((number, folder.join(name)));
            }
        }
    }
    later.sort();
    list.extend(later.into_iter().map(|(_, path)| path));
    list
}

/// Folders that `/etc/ld.so.conf` and `/etc/ld.so.conf.d/*.conf` name; other `include` lines are not followed.
fn configured(base: &Path) -> Vec<PathBuf> {
    let folder = base.join("etc/ld.so.conf.d");
    let mut files: Vec<PathBuf> = names(&folder)
        .iter()
        .map(|name| folder.join(name))
        .filter(|path| path.extension().is_some_and(|kind| kind == "conf"))
        .collect();
    files.push(base.join("etc/ld.so.conf"));
    let mut list = Vec::new();
    for file in files.iter().filter(|file| file.is_file()) {
        let text = fs::read_to_string(file).unwrap_or_default();
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        list.extend(lines.filter_map(|line| line.strip_prefix('/')).map(|line| base.join(line)));
    }
    list
}

/// Folders such as `rocm-6.4.3`, the newest first.
fn numbered(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let version = |name: &str| -> Vec<u32> {
        let digits = name.strip_prefix(prefix).unwrap_or_default();
        digits.split(['.', '-']).map_while(|part| part.parse().ok()).collect()
    };
    let mut list: Vec<String> = names(folder).into_iter().filter(|name| !version(name).is_empty()).collect();
    list.sort_by_key(|name| version(name));
    list.iter().rev().map(|name| folder.join(name)).collect()
}

/// Where Python's wheels have their own: `ROCm`'s and `PyTorch`'s.
fn wheels(environment: &Path) -> Vec<PathBuf> {
    let lib = environment.join("lib");
    let pythons = names(&lib).into_iter().filter(|name| name.starts_with("python"));
    let packages = pythons.map(|name| lib.join(name).join("site-packages"));
    packages.flat_map(|path| [path.join("_rocm_sdk_core/lib"), path.join("torch/lib")]).collect()
}

/// Names in a folder, sorted; none if it cannot be read, as for the loader.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
