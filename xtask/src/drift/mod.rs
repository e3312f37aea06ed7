// SPDX-License-Identifier: GPL-2.0-only
//! `cargo xtask drift`: whether a kernel's sources still are what the project assumes of them.

mod assumed;
mod c;
mod callers;
mod forms;
mod gates;
mod source;
mod table_file;
mod tree;
mod whitelist;

use std::path::Path;

use anyhow::{Result, bail};

use self::source::Archive;
use self::tree::Tree;
use crate::guest::kernels;
use crate::progress;

/// Series that the project supports besides those of the stock kernels that it is tested with.
const ALWAYS: &str = "6.12";

/// Checks these sources, each a directory or the name of a package `linux-source-X.Y`. With `write`, what was read is
/// written into the project instead.
pub(crate) fn run(sources: &[String], write: bool) -> Result<()> {
    let trees = read_all(sources)?;
    if write {
        table_file::write(&trees)?;
        forms::write(&trees)?;
        println!("the host-bridge table and xtask/src/drift/assumed/*.txt say what was read");
        for sentence in trees.iter().flat_map(|tree| [callers::check(tree), gates::check(tree)]).flatten() {
            println!("to be changed by hand in xtask/src/drift/assumed/*.rs: {sentence}");
        }
        return Ok(());
    }
    report(&trees)
}

/// Part of `make test`: the series of the kernels that everything is tested with, and 6.12.
pub(crate) fn test() -> Result<()> {
    let kernels = kernels::choose()?;
    let mut series = vec![ALWAYS.to_owned()];
    for kernel in [&kernels.previous, &kernels.newest] {
        let (major, minor) = kernel.series()?;
        series.push(format!("{major}.{minor}"));
    }
    series.dedup();
    let sources: Vec<String> = series.iter().map(|series| format!("{}{series}", source::PREFIX)).collect();
    report(&read_all(&sources)?)
}

fn read_all(sources: &[String]) -> Result<Vec<Tree>> {
    let mut archive = None;
    let mut trees = Vec::new();
    for source in sources {
        let tree = progress::step(&format!("read {source}"), || {
            if !source.starts_with(source::PREFIX) || Path::new(source).is_dir() {
                return Tree::read(Path::new(source));
            }
            let archive = archive.get_or_insert_with(Archive::open);
            Tree::read(&archive.needed_files(source)?)
        })?;
        trees.push(tree);
    }
    Ok(trees)
}

fn report(trees: &[Tree]) -> Result<()> {
    let mut count = 0;
    for tree in trees {
        let found = check(tree);
        println!("Linux {}: {} difference(s) from what is assumed", tree.version, found.len());
        for sentence in &found {
            println!("  {sentence}");
        }
        count += found.len();
    }
    if count > 0 {
        bail!("{count} difference(s) between the kernel's sources and what is assumed of them");
    }
    Ok(())
}

fn check(tree: &Tree) -> Vec<String> {
    [callers::check, gates::check, whitelist::check, forms::check].iter().flat_map(|check| check(tree)).collect()
}
