// SPDX-License-Identifier: GPL-2.0-only

//! What the tool says, before it is worded in a language: gates name messages of the catalogue, renderers word them.

use serde::{Serialize, Serializer};

use crate::{
    facts::{Bdf, ReadError},
    language::Language,
};

/// A sentence or a part of one. Two are equal if they are in every language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// The same in every language: an address, a path, a value as it was read.
    AsRead(String),
    /// A number, which may decide between one and many.
    Number(i64),
    /// A message of the catalogue (`lang/`), with what goes into it. Made by [`text!`](crate::text).
    Message(&'static str, Vec<(&'static str, Text)>),
    /// Several, with a message of the catalogue between each two.
    List(Vec<Text>, &'static str),
}

impl Text {
    /// In words.
    #[must_use]
    pub fn words(&self, language: Language) -> String {
        match self {
            Self::AsRead(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Message(id, arguments) => language.catalogue().word(id, arguments),
            Self::List(parts, separator) => {
                let words: Vec<String> = parts.iter().map(|part| part.words(language)).collect();
                words.join(&language.catalogue().word(separator, &[]))
            }
        }
    }

    /// Why something could not be read.
    #[must_use]
    pub fn reason(error: &ReadError) -> Self {
        match error.reason.as_str() {
            "no such file" => crate::text!("reason-no-file"),
            "no such file or directory" => crate::text!("reason-no-file-or-directory"),
            "permission denied" => crate::text!("reason-denied"),
            other => Self::AsRead(other.to_owned()),
        }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::AsRead(text)
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Self::AsRead(text.clone())
    }
}

impl From<Bdf> for Text {
    fn from(address: Bdf) -> Self {
        Self::AsRead(address.to_string())
    }
}

impl From<&Bdf> for Text {
    fn from(address: &Bdf) -> Self {
        Self::AsRead(address.to_string())
    }
}

impl From<u32> for Text {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<usize> for Text {
    fn from(number: usize) -> Self {
        i64::try_from(number).map_or_else(|_| Self::AsRead(number.to_string()), Self::Number)
    }
}

/// Where and why; the commonest reasons are said in the reader's language.
impl From<&ReadError> for Text {
    fn from(error: &ReadError) -> Self {
        let reason = Self::reason(error);
        crate::text!("read-error", path = format!("/{}", error.path), reason = reason)
    }
}

/// Programs and maintainers get English, whatever the language of the user.
impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.words(Language::English))
    }
}

/// Names a message of the catalogue, and gives what goes into it: `text!("gpu-slot-pass", speed = words)`.
///
/// That the message is there in every language, with exactly these arguments, is tested (`tests/language.rs`).
#[macro_export]
macro_rules! text {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::text::Text::Message($id, vec![$((stringify!($name), $crate::text::Text::from($value))),*])
    };
}
