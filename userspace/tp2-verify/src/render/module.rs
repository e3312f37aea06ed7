// SPDX-License-Identifier: GPL-2.0-only

//! What a module file says of itself, one line a field.

use std::io::{self, Write};

use crate::{
    facts::{ModuleFile, Signature},
    printable::printable,
};

/// Writes the description. `verbose` lists the needed symbols instead of counting them.
pub fn write(out: &mut dyn Write, file: &ModuleFile, verbose: bool) -> io::Result<()> {
    let fields = [
        ("name", &file.name),
        ("version", &file.version),
        ("vermagic", &file.vermagic),
        ("srcversion", &file.srcversion),
        ("license", &file.license),
        ("implementation", &file.implementation),
        ("reason", &file.implementation_reason),
    ];
    for (name, value) in fields {
        line(out, name, value.as_deref().unwrap_or("-"))?;
    }
    line(out, "depends", &list(&file.depends))?;
    line(out, "parameters", &list(&file.parameters))?;
    if verbose {
        line(out, "needs", &list(&file.needed))?;
    } else {
        line(out, "needs", &format!("{} symbols (-v lists them)", file.needed.len()))?;
    }
    let signature = match (&file.signature, &file.signature_error) {
        (Some(signature), _) => signature_words(signature),
        (None, Some(error)) => format!("unreadable: {error}"),
        (None, None) => "none".to_owned(),
    };
    line(out, "signature", &signature)
}

fn line(out: &mut dyn Write, name: &str, value: &str) -> io::Result<()> {
    writeln!(out, "{name:15} {}", printable(value))
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "-".to_owned() } else { names.join(" ") }
}

fn signature_words(signature: &Signature) -> String {
    let unknown = || "unknown".to_owned();
    format!(
        "PKCS#7, {} bytes, hash {}, signer {}, key {} (not verified)",
        signature.size,
        signature.hash.clone().unwrap_or_else(unknown),
        signature.signer.clone().unwrap_or_else(unknown),
        signature.key_id.clone().unwrap_or_else(unknown),
    )
}
