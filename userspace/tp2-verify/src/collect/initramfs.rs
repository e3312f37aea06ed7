// SPDX-License-Identifier: GPL-2.0-only

//! The initramfs image of the running kernel: whether amdgpu, the override and its softdep are inside.
//!
//! An image is a row of cpio archives, each as it is or compressed, with zeros between (`init/initramfs.c`). So are the
//! images of initramfs-tools, dracut and mkinitcpio: early microcode first, uncompressed, then the rest.

use super::{Root, modules, unpack};
use crate::facts::{Initramfs, Module, ReadError, ReadErrorKind, Reading};

/// Largest image that is read, in bytes; with all firmware there is they have some 200 MiB.
const IMAGE_LIMIT: u64 = 512 * 1024 * 1024;
/// Files in an image; real ones have a few thousand.
const NAMES_LIMIT: u64 = 1_000_000;
/// Where boot loaders look for directories named after the machine (kernel-install(8)).
const BOOT_PARTITIONS: [&str; 3] = ["boot", "efi", "boot/efi"];
/// Images in which dracut hides the other files.
const HIDDEN: [&str; 3] = ["squashfs-root.img", "squash-root.img", "erofs-root.img"];

/// Files that tell which tool made an image.
const MAKERS: [(&str, &str); 3] =
    [("scripts/functions", "initramfs-tools"), ("usr/lib/dracut", "dracut"), ("buildconfig", "mkinitcpio")];

/// Reads the image, if there is an override whose place in it matters: it takes a while.
pub(super) fn read(root: &Root, release: &Reading<String>, module: &Module) -> Reading<Initramfs> {
    let release = release.as_ref().map_err(Clone::clone)?;
    // What cannot be looked at may be there.
    let is_there = module.loaded != Ok(false)
        || module.file.is_ok()
        || module.dkms.as_ref().is_ok_and(|builds| !builds.is_empty());
    let places = places(root, release);
    let first = places.first().cloned().unwrap_or_else(|| format!("boot/initrd.img-{release}"));
    if !is_there {
        let reason = format!("was not read, since {} is not installed", modules::NAME);
        return Err(ReadError { path: first, kind: ReadErrorKind::Io, reason });
    }
    let path = first_there(root, &places)?.ok_or_else(|| ReadError::absent(&first))?;
    root.derived(path, IMAGE_LIMIT, |bytes| look(path, release, bytes))
}

/// The first of the places where something is; what cannot be looked at may be it.
fn first_there<'a>(root: &Root, places: &'a [String]) -> Reading<Option<&'a str>> {
    for path in places {
        if root.exists(path)? {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Where the image of a release may be, as far as the machine says.
fn places(root: &Root, release: &str) -> Vec<String> {
    // Debian and Ubuntu; Fedora; SUSE.
    let mut places = vec![
        format!("boot/initrd.img-{release}"),
        format!("boot/initramfs-{release}.img"),
        format!("boot/initrd-{release}"),
    ];
    // Arch and Manjaro name images after the package, which is named beside the modules.
    for name in ["pkgbase", "kernelbase"] {
        for modules in ["lib/modules", "usr/lib/modules"] {
            if let Some(package) = root.text(&format!("{modules}/{release}/{name}")).ok().filter(|text| is_name(text)) {
                places.push(format!("boot/initramfs-{package}.img"));
            }
        }
    }
    let mut tokens: Vec<String> =
        root.text("etc/kernel/entry-token").into_iter().filter(|text| is_name(text)).collect();
    let is_machine_id = |name: &str| name.len() == 32 && name.chars().all(|c| c.is_ascii_hexdigit());
    for partition in BOOT_PARTITIONS {
        tokens.extend(root.names_where(partition, is_machine_id).unwrap_or_default());
    }
    tokens.sort();
    tokens.dedup();
    for partition in BOOT_PARTITIONS {
        places.extend(tokens.iter().map(|token| format!("{partition}/{token}/{release}/initrd")));
    }
    places
}

fn is_name(text: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    !text.is_empty() && !text.starts_with('.') && text.chars().all(fine)
}

/// Looks into an image for modules of a release; `path` is only the name.
pub fn look(path: &str, release: &str, image: &[u8]) -> Reading<Initramfs> {
    let mut found = Initramfs { path: path.to_owned(), ..Initramfs::default() };
    let modules_directory = format!("lib/modules/{release}/");
    let mut count = 0u64;
    let mut on_name = |name: &[u8]| {
        count = count.saturating_add(1);
        if count > NAMES_LIMIT {
            return Err(format!("holds more than {NAMES_LIMIT} files"));
        }
        let name = String::from_utf8_lossy(name);
        let (directory, file) = name.rsplit_once('/').unwrap_or(("", &name));
        if HIDDEN.contains(&file) {
            return Err(format!("keeps its files in {file}, which is not read"));
        }
        let inside = name.trim_start_matches("./");
        if let Some((_, maker)) = MAKERS.iter().find(|(mark, _)| *mark == inside) {
            found.maker = Some((*maker).to_owned());
        }
        if name.contains(&modules_directory) {
            let module = modules::module_name(&name);
            found.has_amdgpu |= module.as_deref() == Some("amdgpu");
            found.has_override |= module.as_deref() == Some(modules::NAME);
        }
        found.has_modprobe_conf |= directory.ends_with("modprobe.d") && file == "tp2_p2pdma.conf";
        Ok(())
    };
    let result = unpack::segments(image, &mut on_name);
    let bad = |reason| ReadError::malformed(path, reason);
    found.segments = result.map_err(bad)?.into_iter().map(str::to_owned).collect();
    if count == 0 {
        return Err(bad("holds no files".to_owned()));
    }
    Ok(found)
}
