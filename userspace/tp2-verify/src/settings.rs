// SPDX-License-Identifier: GPL-2.0-only

//! Parameters of the loaded module, parsed for the rule book.

use std::{collections::BTreeMap, str::FromStr};

use tp2_policy::{
    Address,
    policy::{BridgeId, DEFAULT_VENDORS, Mode, Settings},
};

use crate::facts::{Module, ReadError, Reading};

/// What [`Settings`] borrows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleSettings {
    /// `mode`.
    pub mode: Mode,
    /// `vendors`.
    pub vendors: Vec<u16>,
    /// `pairs`.
    pub pairs: Vec<(Address, Address)>,
    /// `cross_host_bridge`.
    pub cross_host_bridge: bool,
    /// `allow_denied`.
    pub allow_denied: bool,
    /// `deny`.
    pub deny: Vec<BridgeId>,
}

impl Default for ModuleSettings {
    fn default() -> Self {
        Self {
            mode: Mode::Force,
            vendors: DEFAULT_VENDORS.to_vec(),
            pairs: Vec::new(),
            cross_host_bridge: false,
            allow_denied: false,
            deny: Vec::new(),
        }
    }
}

impl ModuleSettings {
    /// The settings of the loaded module, or the defaults when none is loaded.
    pub fn of(module: &Module) -> Reading<Self> {
        if !module.is_loaded() {
            return Ok(Self::default());
        }
        let parameters = &module.parameters;
        Ok(Self {
            mode: parse(parameters, "mode", mode)?,
            vendors: parse(parameters, "vendors", |text| list(text, hex))?,
            pairs: parse(parameters, "pairs", |text| list(text, pair))?,
            cross_host_bridge: parse(parameters, "cross_host_bridge", switch)?,
            allow_denied: parse(parameters, "allow_denied", switch)?,
            deny: parse(parameters, "deny", |text| list(text, bridge))?,
        })
    }

    /// The same with the deny list in force.
    #[must_use]
    pub fn strict(&self) -> Self {
        Self { allow_denied: false, mode: Mode::Force, ..self.clone() }
    }

    /// As the rule book takes them.
    #[must_use]
    pub fn as_settings(&self) -> Settings<'_> {
        Settings {
            mode: self.mode,
            vendors: &self.vendors,
            pairs: &self.pairs,
            cross_host_bridge: self.cross_host_bridge,
            allow_denied: self.allow_denied,
            deny: &self.deny,
        }
    }
}

/// Reads one parameter.
fn parse<T>(
    parameters: &BTreeMap<String, Reading<String>>,
    name: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Reading<T> {
    let path = || format!("sys/module/tp2_p2pdma/parameters/{name}");
    let text = match parameters.get(name) {
        Some(Ok(text)) => text,
        Some(Err(error)) => return Err(error.clone()),
        None => return Err(ReadError::absent(&path())),
    };
    read(text).ok_or_else(|| ReadError::malformed(&path(), format!("{text:?} is not a value for {name}")))
}

fn mode(text: &str) -> Option<Mode> {
    match text {
        "force" => Some(Mode::Force),
        "observe" => Some(Mode::Observe),
        "off" => Some(Mode::Off),
        _ => None,
    }
}

/// A boolean parameter reads back as `Y` or `N`, an integer one as `1` or `0`.
fn switch(text: &str) -> Option<bool> {
    match text {
        "1" | "Y" => Some(true),
        "0" | "N" => Some(false),
        _ => None,
    }
}

/// A comma-separated list; an unset string parameter reads back as nothing or `(null)`.
fn list<T>(text: &str, item: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    if text.is_empty() || text == "(null)" {
        return Some(Vec::new());
    }
    text.split(',').map(|part| item(part.trim())).collect()
}

fn hex(text: &str) -> Option<u16> {
    u16::from_str_radix(text, 16).ok()
}

fn bridge(text: &str) -> Option<BridgeId> {
    let (vendor, device) = text.split_once(':')?;
    Some((hex(vendor)?, hex(device)?))
}

fn pair(text: &str) -> Option<(Address, Address)> {
    let (a, b) = text.split_once('+')?;
    Some((Address::from_str(a).ok()?, Address::from_str(b).ok()?))
}
