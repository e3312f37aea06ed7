// SPDX-License-Identifier: GPL-2.0-only

//! The two kernel modules that matter: `amdgpu` and `tp2_p2pdma`.

use std::{collections::BTreeMap, str::FromStr};

use super::{Root, module_file};
use crate::facts::{Amdgpu, Bdf, DkmsBuild, Module, ModuleFile, PairRow, PairsTable, ReadError, Reading};

/// Name of the override module.
pub const NAME: &str = "tp2_p2pdma";
/// `modules.dep` of a distribution kernel has about 1 MiB.
const DEP_LIMIT: u64 = 32 * 1024 * 1024;
/// The table holds 1024 pairs of at most 100 bytes.
const PAIRS_LIMIT: u64 = 1024 * 1024;
const DKMS: &str = "var/lib/dkms/tp2_p2pdma";
const MODULES: &str = "sys/module";
const PARAMETERS: [&str; 7] = ["mode", "vendors", "pairs", "cross_host_bridge", "allow_denied", "deny", "maxactive"];
const STATE: [&str; 8] = [
    "implementation",
    "implementation_reason",
    "calls",
    "overridden",
    "refused",
    "missed",
    "self_test",
    "gpu_driver_was_bound",
];

/// Reads what there is of `amdgpu`.
pub(super) fn amdgpu(root: &Root, release: &Reading<String>) -> Amdgpu {
    let file = installed(root, release, "amdgpu");
    Amdgpu {
        loaded: loaded(root, "amdgpu"),
        builtin: builtin(root, release, "amdgpu"),
        info: describe(root, &file),
        file,
        srcversion: root.text("sys/module/amdgpu/srcversion"),
        pcie_p2p: root.text("sys/module/amdgpu/parameters/pcie_p2p"),
        has_parameters: root.has_dir("sys/module/amdgpu/parameters"),
    }
}

/// Reads what there is of the override module.
pub(super) fn tp2(root: &Root, release: &Reading<String>) -> Module {
    let file = installed(root, release, NAME);
    let own = |path: &str| root.text(&format!("sys/module/{NAME}/{path}"));
    let read_all = |directory: &str, names: &[&str]| -> BTreeMap<String, Reading<String>> {
        let one = |name: &&str| ((*name).to_owned(), own(&format!("{directory}/{name}")));
        names.iter().map(one).collect()
    };
    let is_source = |name: &str| name.starts_with("tp2_p2pdma-");
    Module {
        dkms: dkms(root),
        sources: root.names_where("usr/src", is_source).unwrap_or_default(),
        info: describe(root, &file),
        unlisted: file.as_ref().err().and_then(|_| unlisted(root, release)),
        file,
        loaded: loaded(root, NAME),
        initstate: own("initstate"),
        version: own("version"),
        srcversion: own("srcversion"),
        parameters: read_all("parameters", &PARAMETERS),
        state: read_all("override", &STATE),
        pairs: root.text_up_to("sys/kernel/debug/tp2_p2pdma/pairs", PAIRS_LIMIT).map(|text| parse_pairs(&text)),
    }
}

/// Whether the kernel has a module. That it is absent means something only where modules are listed.
fn loaded(root: &Root, name: &str) -> Reading<bool> {
    if root.has_dir(&format!("{MODULES}/{name}"))? {
        return Ok(true);
    }
    if root.has_dir(MODULES)? { Ok(false) } else { Err(ReadError::absent(MODULES)) }
}

/// Directory of the running kernel's modules; `/lib` may be a link or missing from a captured tree.
fn modules_directory(root: &Root, release: &Reading<String>) -> Reading<String> {
    let release = release.as_ref().map_err(Clone::clone)?;
    let places = [format!("lib/modules/{release}"), format!("usr/lib/modules/{release}")];
    for path in places {
        if root.has_dir(&path)? {
            return Ok(path);
        }
    }
    Err(ReadError::absent(&format!("lib/modules/{release}")))
}

/// The file that modprobe would load: depmod has applied the search order and lists one file a name.
fn installed(root: &Root, release: &Reading<String>, name: &str) -> Reading<String> {
    let directory = modules_directory(root, release)?;
    let index = format!("{directory}/modules.dep");
    let text = root.text_up_to(&index, DEP_LIMIT)?;
    let files = text.lines().filter_map(|line| line.split_once(':')).map(|(file, _)| file);
    let mut wanted = files.filter(|file| module_name(file).as_deref() == Some(name));
    let file = wanted
        .next()
        .ok_or_else(|| ReadError { reason: format!("does not list {name}"), ..ReadError::absent(&index) })?;
    Ok(if file.starts_with('/') { file.trim_start_matches('/').to_owned() } else { format!("{directory}/{file}") })
}

/// A file where DKMS and depmod's search put modules from outside the kernel (depmod.d(5), dkms(8)).
fn unlisted(root: &Root, release: &Reading<String>) -> Option<String> {
    let directory = modules_directory(root, release).ok()?;
    let places = ["updates/dkms", "updates", "extra", "weak-updates"];
    places.iter().map(|place| format!("{directory}/{place}")).find_map(|place| {
        let is_own = |name: &str| module_name(name).as_deref() == Some(NAME);
        let name = root.names_where(&place, is_own).ok()?.into_iter().next()?;
        Some(format!("{place}/{name}"))
    })
}

fn builtin(root: &Root, release: &Reading<String>, name: &str) -> Reading<bool> {
    let index = format!("{}/modules.builtin", modules_directory(root, release)?);
    let text = root.text_up_to(&index, DEP_LIMIT)?;
    Ok(text.lines().any(|file| module_name(file).as_deref() == Some(name)))
}

/// `snd_hda` of `kernel/sound/snd-hda.ko.zst`.
pub(super) fn module_name(path: &str) -> Option<String> {
    let name = path.trim().rsplit('/').next()?;
    let (stem, _) = name.split_once(".ko")?;
    Some(stem.replace('-', "_"))
}

fn describe(root: &Root, file: &Reading<String>) -> Reading<ModuleFile> {
    let path = file.as_ref().map_err(Clone::clone)?;
    root.derived(path, module_file::FILE_LIMIT, |bytes| module_file::describe(path, bytes))
}

/// Reads `/var/lib/dkms/NAME/VERSION/KERNEL/ARCH/module/`.
fn dkms(root: &Root) -> Reading<Vec<DkmsBuild>> {
    let mut builds = Vec::new();
    let directories = |path: &str| -> Reading<Vec<String>> {
        let mut found = root.names(path)?;
        let kinds: Reading<Vec<bool>> = found.iter().map(|name| root.is_dir(&format!("{path}/{name}"))).collect();
        let mut kinds = kinds?.into_iter();
        found.retain(|_| kinds.next() == Some(true));
        Ok(found)
    };
    // `kernel-RELEASE-ARCH` are links to builds, `original_module` a backup.
    let is_version = |name: &String| !name.starts_with("kernel-") && name != "original_module";
    for version in directories(DKMS)?.into_iter().filter(is_version) {
        let kernels = directories(&format!("{DKMS}/{version}"))?;
        for kernel in kernels.into_iter().filter(|name| name != "source" && name != "build") {
            for arch in directories(&format!("{DKMS}/{version}/{kernel}"))? {
                let place = format!("{DKMS}/{version}/{kernel}/{arch}/module");
                let names = root.names(&place).unwrap_or_default();
                let file = names.into_iter().find(|name| module_name(name).as_deref() == Some(NAME));
                builds.push(DkmsBuild {
                    version: version.clone(),
                    kernel: kernel.clone(),
                    arch,
                    file: file.map(|name| format!("{place}/{name}")),
                });
            }
        }
    }
    Ok(builds)
}

/// Parses the debugfs table (`docs/architecture.md`): a header line, rows, perhaps a line about what was beyond it.
#[must_use]
pub fn parse_pairs(text: &str) -> PairsTable {
    let mut table = PairsTable::default();
    let mut rows = Vec::new();
    for line in text.lines().skip(1).filter(|line| !line.is_empty()) {
        if let Some(rest) = line.strip_prefix("# ") {
            let count = rest.split(' ').next().and_then(|number| number.parse().ok());
            table.beyond = count.unwrap_or(table.beyond);
            continue;
        }
        match parse_row(line) {
            Some(row) => rows.push(row),
            None => table.malformed.push(line.chars().take(120).collect()),
        }
    }
    table.rows = rows.into();
    table
}

fn parse_row(line: &str) -> Option<PairRow> {
    let fields: Vec<&str> = line.split(' ').collect();
    let [provider, client, calls, kernel_answer, answer, rule] = fields.as_slice() else {
        return None;
    };
    Some(PairRow {
        provider: Bdf::from_str(provider).ok()?,
        client: Bdf::from_str(client).ok()?,
        calls: calls.parse().ok()?,
        kernel_answer: kernel_answer.parse().ok()?,
        answer: answer.parse().ok()?,
        rule: (*rule).to_owned(),
    })
}
