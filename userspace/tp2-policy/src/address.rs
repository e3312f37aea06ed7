// SPDX-License-Identifier: GPL-2.0-only

//! Text form of [`Address`]: `dddd:bb:dd.f`, as `pci_name()` prints it (`"%04x:%02x:%02x.%d"`, `drivers/pci/probe.c`).

use core::{error::Error, fmt, str::FromStr};

use crate::policy::Address;

/// The text is not of the form `dddd:bb:dd.f`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseAddressError {
    /// The text as given.
    pub text: String,
}

impl fmt::Display for ParseAddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a PCI address of the form dddd:bb:dd.f", self.text)
    }
}

impl Error for ParseAddressError {}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, function) = (self.device(), self.function());
        let text = format!("{:04x}:{:02x}:{device:02x}.{function}", self.domain, self.bus);
        f.pad(&text)
    }
}

impl FromStr for Address {
    type Err = ParseAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| ParseAddressError { text: text.to_owned() })
    }
}

/// Reads the four fields. The domain has 4 to 8 digits, the others have the width that the kernel prints.
fn parse(text: &str) -> Option<Address> {
    let (domain, rest) = text.split_once(':')?;
    let (bus, rest) = rest.split_once(':')?;
    let (device, function) = rest.split_once('.')?;
    let domain = hex(domain, 4..=8)?;
    let bus = u8::try_from(hex(bus, 2..=2)?).ok()?;
    let device = u8::try_from(hex(device, 2..=2)?).ok().filter(|d| *d < 32)?;
    let function = u8::try_from(hex(function, 1..=1)?).ok().filter(|f| *f < 8)?;
    Some(Address::new(domain, bus, device, function))
}

/// A hexadecimal number with as many digits as `width` allows; no sign, no prefix.
fn hex(text: &str, width: core::ops::RangeInclusive<usize>) -> Option<u32> {
    let digits = text.bytes().all(|b| b.is_ascii_hexdigit());
    if !digits || !width.contains(&text.len()) {
        return None;
    }
    u32::from_str_radix(text, 16).ok()
}
