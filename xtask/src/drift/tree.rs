// SPDX-License-Identifier: GPL-2.0-only
//! The files of a kernel source tree that the checks read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use tp2_policy::KernelVersion;

use super::c::{self, Token};
use super::{forms, gates, whitelist};
use crate::cmd::Cmd;

/// Directories that are searched for callers.
const SEARCHED: [&str; 2] = ["drivers", "include"];

/// A kernel source tree, or what of it the checks need.
pub(super) struct Tree {
    /// `VERSION`, `PATCHLEVEL` and `SUBLEVEL` of its Makefile.
    pub(super) version: KernelVersion,
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads a tree, whole or made by [`copy_needed`].
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for path in needed(root)? {
            let file = root.join(&path);
            let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
        Self::new(files).with_context(|| format!("{} is no kernel source tree", root.display()))
    }

    fn new(files: BTreeMap<String, String>) -> Result<Self> {
        let makefile = files.get("Makefile").map(String::as_str).unwrap_or_default();
        let number = |name: &str| {
            let value = makefile.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix('='));
            value.and_then(|value| value.trim().parse().ok()).with_context(|| format!("its Makefile sets no {name}"))
        };
        let version = KernelVersion::new(number("VERSION")?, number("PATCHLEVEL")?, number("SUBLEVEL")?);
        Ok(Self { version, files })
    }

    /// A tree of these files and a Makefile.
    #[cfg(test)]
    pub(super) fn of(version: KernelVersion, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Self { version, files }
    }

    /// The text of a file, if the tree has it.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// The tokens of a file, if the tree has it.
    pub(super) fn tokens(&self, path: &str) -> Option<Vec<Token>> {
        self.text(path).map(c::tokens)
    }

    /// The C files whose text has one of `words`.
    pub(super) fn c_files(&self, words: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        let is_c =
            |path: &str| Path::new(path).extension().is_some_and(|extension| extension == "c" || extension == "h");
        self.files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .filter(move |(path, text)| is_c(path) && words.iter().any(|word| text.contains(word)))
    }
}

/// Paths, below `root`, of the files that the checks read.
fn needed(root: &Path) -> Result<Vec<String>> {
    if !root.join("Makefile").is_file() {
        bail!("{} has no Makefile: is it the source tree of a kernel?", root.display());
    }
    let mut paths: Vec<String> = vec!["Makefile".to_owned()];
    // A file that moved away is a difference for the check that reads it to tell.
    paths.extend(whitelist::FILES.into_iter().chain(forms::files()).map(str::to_owned));
    paths.retain(|path| root.join(path).is_file());
    paths.extend(mentioning(root, &SEARCHED, &super::callers::FUNCTIONS)?);
    paths.extend(mentioning(root, &gates::DIRECTORIES, &gates::STEMS)?);
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// C files in these directories that mention one of `words`.
fn mentioning(root: &Path, directories: &[&str], words: &[&str]) -> Result<Vec<String>> {
    let there: Vec<_> = directories.iter().filter(|directory| root.join(directory).is_dir()).collect();
    if there.is_empty() {
        return Ok(Vec::new());
    }
    let list = Cmd::new("sh")
        // grep ends with 1 where nothing is found.
        .args(["-uc", r#"grep -rlF --include='*.[ch]' "$@" || [ $? -eq 1 ]"#, "grep"])
        .args(words.iter().flat_map(|word| ["-e", word]))
        .args(there)
        .dir(root)
        .env("LC_ALL", "C")
        .output()?;
    Ok(list.lines().map(str::to_owned).collect())
}

/// Copies the files that the checks read; the copy is a tree for [`Tree::read`].
pub(super) fn copy_needed(from: &Path, to: &Path) -> Result<()> {
    for path in needed(from)? {
        let (from, to) = (from.join(&path), to.join(&path));
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        }
        fs::copy(&from, &to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    }
    Ok(())
}

/// What decides which files [`copy_needed`] copies, for a cache key.
pub(super) fn selection() -> String {
    let words = super::callers::FUNCTIONS.into_iter().chain(gates::STEMS).chain(gates::DIRECTORIES).chain(SEARCHED);
    words.chain(whitelist::FILES).chain(forms::files()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_makefile() {
        let makefile = "# SPDX\nVERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\nEXTRAVERSION =\n";
        let files = BTreeMap::from([("Makefile".to_owned(), makefile.to_owned())]);
        assert_eq!(Tree::new(files).unwrap().version, KernelVersion::new(7, 3, 4));
    }

    #[test]
    fn what_is_needed_is_copied_and_the_rest_left() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |path: &str, text: &str| {
            let file = from.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("Makefile", "VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\n");
        write("drivers/new/a.c", "int a(void)\n{\n\treturn pci_p2pdma_distance(b);\n}\n");
        write("drivers/new/b.c", "int b;\n");
        copy_needed(from.path(), to.path()).unwrap();
        assert!(!to.path().join("drivers/new/b.c").exists());
        let differences = crate::drift::check(&Tree::read(to.path()).unwrap());
        for sentence in [
            "drivers/new/a.c:3: a() uses pci_p2pdma_distance(), which is not known of it",
            "drivers/pci/p2pdma.c: there is no such file, so cpu_supports_p2pdma() cannot be read",
        ] {
            assert!(differences.iter().any(|found| found == sentence), "{differences:#?}");
        }
    }

    #[test]
    fn another_directory_is_no_tree() {
        let dir = tempfile::tempdir().unwrap();
        let error = Tree::read(dir.path()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("has no Makefile"), "{error}");
    }
}
