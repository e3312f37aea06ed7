// SPDX-License-Identifier: GPL-2.0-only

//! The catalogue: everything that is said to people, in every language (`lang/LANGUAGE/*.ftl`, Fluent).

use std::{borrow::Cow, sync::LazyLock};

use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle};
use unic_langid::LanguageIdentifier;

use crate::text::Text;

/// A language that the tool speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English, which programs and maintainers get.
    English,
    /// Chinese, in simplified characters.
    Chinese,
}

/// The files of a language: the families of gates, and what is around them.
macro_rules! sources {
    ($language:literal) => {
        [
            include_str!(concat!("../lang/", $language, "/amdgpu.ftl")),
            include_str!(concat!("../lang/", $language, "/common.ftl")),
            include_str!(concat!("../lang/", $language, "/env.ftl")),
            include_str!(concat!("../lang/", $language, "/gpu.ftl")),
            include_str!(concat!("../lang/", $language, "/kernel.ftl")),
            include_str!(concat!("../lang/", $language, "/module.ftl")),
            include_str!(concat!("../lang/", $language, "/pair.ftl")),
        ]
    };
}

static ENGLISH: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new(Language::English));
static CHINESE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new(Language::Chinese));

impl Language {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// The language of the locale that POSIX makes of these variables (`LC_ALL`, `LC_MESSAGES`, `LANG`; where it is not C,
    /// GNU's `LANGUAGE` comes first); English where it is another one.
    #[must_use]
    pub fn of_user(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(set).unwrap_or_default();
        if matches!(locale.as_str(), "" | "C" | "POSIX") || locale.starts_with("C.") {
            return Self::English;
        }
        let wanted = set(&"LANGUAGE").unwrap_or_default();
        wanted.split(':').chain([locale.as_str()]).find_map(Self::of_locale).unwrap_or(Self::English)
    }

    /// From a name like `zh_CN.UTF-8`, if it is spoken here.
    fn of_locale(locale: &str) -> Option<Self> {
        let code = locale.split(['_', '-', '.', '@']).next()?;
        Self::ALL.into_iter().find(|language| language.code() == code)
    }

    /// ISO 639-1 code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// The texts of its files, in Fluent's syntax.
    #[must_use]
    pub const fn sources(self) -> [&'static str; 7] {
        match self {
            Self::English => sources!("en"),
            Self::Chinese => sources!("zh"),
        }
    }

    pub(crate) fn catalogue(self) -> &'static Catalogue {
        match self {
            Self::English => &ENGLISH,
            Self::Chinese => &CHINESE,
        }
    }
}

/// The messages of one language.
pub(crate) struct Catalogue {
    language: Language,
    bundle: FluentBundle<FluentResource>,
}

impl Catalogue {
    fn new(language: Language) -> Self {
        let id = language.code().parse::<LanguageIdentifier>().unwrap_or_default();
        let mut bundle = FluentBundle::new_concurrent(vec![id]);
        // Marks of direction would travel into terminals and archives, and both languages are written from left to right.
        bundle.set_use_isolating(false);
        for source in language.sources() {
            // What cannot be parsed is left out, and a test says so.
            let resource = FluentResource::try_new(source.to_owned()).unwrap_or_else(|(partial, _)| partial);
            bundle.add_resource_overriding(resource);
        }
        Self { language, bundle }
    }

    /// A message in words; its name where there is none, so that nothing is ever lost.
    pub(crate) fn word(&self, id: &str, arguments: &[(&'static str, Text)]) -> String {
        let Some(pattern) = self.bundle.get_message(id).and_then(|message| message.value()) else {
            return id.to_owned();
        };
        let values = arguments.iter().map(|(name, text)| {
            let value = match text {
                Text::Number(number) => FluentValue::from(*number),
                other => FluentValue::String(Cow::Owned(other.words(self.language))),
            };
            (*name, value)
        });
        let values: FluentArgs<'_> = values.collect();
        self.bundle.format_pattern(pattern, Some(&values), &mut Vec::new()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Language {
        Language::of_user(|name| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_locale_decides() {
        assert_eq!(of(&[]), Language::English);
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8")]), Language::Chinese);
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8"), ("LC_MESSAGES", "en_US.UTF-8")]), Language::English);
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C.UTF-8")]), Language::English);
        assert_eq!(of(&[("LANG", "de_DE.UTF-8"), ("LANGUAGE", "de:zh:en")]), Language::Chinese);
        assert_eq!(of(&[("LC_ALL", "C"), ("LANGUAGE", "zh")]), Language::English);
        assert_eq!(of(&[("LANG", "fr_FR")]), Language::English);
    }
}
