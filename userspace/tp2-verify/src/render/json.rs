// SPDX-License-Identifier: GPL-2.0-only

//! JSON, one document with a newline at the end.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, PrettyFormatter, Serializer};

use crate::printable::is_hidden;

/// Writes a value.
pub fn write(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let formatter = Escaping(PrettyFormatter::new());
    value.serialize(&mut Serializer::with_formatter(&mut *out, formatter))?;
    writeln!(out)
}

/// Escapes what a terminal would obey, too: JSON itself wants no more than what is below U+0020 escaped.
struct Escaping(PrettyFormatter<'static>);

impl Formatter for Escaping {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, hidden)) = rest.char_indices().find(|(_, character)| is_hidden(*character)) {
            let (before, after) = rest.split_at(at);
            self.0.write_string_fragment(out, before)?;
            for unit in hidden.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = after.get(hidden.len_utf8()..).unwrap_or_default();
        }
        self.0.write_string_fragment(out, rest)
    }

    fn write_char_escape<W: Write + ?Sized>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        self.0.write_char_escape(out, escape)
    }

    fn begin_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, is_first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, is_first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, is_first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, is_first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}
