// SPDX-License-Identifier: GPL-2.0-only

//! The catalogue is complete: what the sources name is there in every language, with the same arguments, and nothing else.

#![allow(clippy::unwrap_used, reason = "a file that cannot be read ends the test")]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use fluent_syntax::{
    ast::{Entry, Expression, InlineExpression, Pattern, PatternElement},
    parser,
};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use support::{run, two_cards};
use tp2_verify::{gates::GATES, language::Language};
use unicode_width::UnicodeWidthStr;

type Arguments = BTreeSet<String>;

/// A message: its arguments, and the letters around them.
#[derive(Debug, Default)]
struct Message {
    arguments: Arguments,
    letters: String,
}

fn messages(language: Language) -> BTreeMap<String, Message> {
    let mut all = BTreeMap::new();
    for source in language.sources() {
        let resource = parser::parse(source).unwrap_or_else(|(_, errors)| panic!("{language:?}: {errors:?}"));
        for entry in resource.body {
            let Entry::Message(message) = entry else { continue };
            let mut found = Message::default();
            walk(&message.value.unwrap(), &mut found);
            let twice = all.insert(message.id.name.to_owned(), found);
            assert!(twice.is_none(), "{language:?} has {} twice", message.id.name);
        }
    }
    all
}

fn walk(pattern: &Pattern<&str>, message: &mut Message) {
    for element in &pattern.elements {
        match element {
            PatternElement::TextElement { value } => message.letters.push_str(value),
            PatternElement::Placeable { expression: Expression::Inline(inline) } => walk_inline(inline, message),
            PatternElement::Placeable { expression: Expression::Select { selector, variants } } => {
                walk_inline(selector, message);
                for variant in variants {
                    walk(&variant.value, message);
                }
            }
        }
    }
}

fn walk_inline(expression: &InlineExpression<&str>, message: &mut Message) {
    match expression {
        InlineExpression::VariableReference { id } => {
            message.arguments.insert(id.name.to_owned());
        }
        InlineExpression::StringLiteral { .. } => {}
        other => panic!("only arguments and literals are used in this catalogue: {other:?}"),
    }
}

/// What the sources name: `text!("id", name = ...)`, and separators, which are the last argument of `Text::List`.
fn named() -> BTreeMap<String, Arguments> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let tokens: TokenStream = fs::read_to_string(&path).unwrap().parse().unwrap();
                search(&path, tokens, &mut found);
            }
        }
    }
    found
}

fn search(path: &Path, tokens: TokenStream, found: &mut BTreeMap<String, Arguments>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        let before = |back: usize| at.checked_sub(back).map(|at| tokens[at].to_string()).unwrap_or_default();
        if group.delimiter() == Delimiter::Parenthesis && before(1) == "!" && before(2) == "text" {
            let (id, arguments) = call(group.stream());
            let before = found.insert(id.clone(), arguments.clone());
            assert!(before.is_none_or(|before| before == arguments), "{}: {id} has other arguments", path.display());
        } else if group.delimiter() == Delimiter::Parenthesis && before(1) == "List" {
            // Patterns of a match have no literal there.
            let literals = group.stream().into_iter().filter_map(|token| literal(&token));
            found.extend(literals.last().map(|id| (id, Arguments::new())));
        }
        search(path, group.stream(), found);
    }
}

fn call(tokens: TokenStream) -> (String, Arguments) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let id = tokens.first().and_then(literal).expect("a message is named by a literal");
    let names = tokens.windows(3).filter_map(|three| match three {
        [TokenTree::Punct(comma), TokenTree::Ident(name), TokenTree::Punct(equals)]
            if comma.as_char() == ',' && equals.as_char() == '=' =>
        {
            Some(name.to_string())
        }
        _ => None,
    });
    (id, names.collect())
}

fn literal(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else { return None };
    Some(literal.to_string().strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

fn is_explanation(id: &str) -> bool {
    GATES.iter().any(|gate| id == format!("explain-{}", gate.id.replace('.', "-")))
}

#[test]
fn english_has_what_the_sources_name_and_nothing_else() {
    let english: BTreeMap<String, Arguments> =
        messages(Language::English).into_iter().map(|(id, message)| (id, message.arguments)).collect();
    let named = named();
    assert!(named.len() > 200, "only {} messages were found in the sources", named.len());
    for (id, arguments) in &named {
        assert_eq!(english.get(id), Some(arguments), "{id}");
    }
    let unused: Vec<_> = english.keys().filter(|id| !named.contains_key(*id)).collect();
    assert!(unused.is_empty(), "nothing names {unused:?}");
}

#[test]
fn chinese_has_every_message_with_the_same_arguments() {
    let (english, chinese) = (messages(Language::English), messages(Language::Chinese));
    for (id, message) in &english {
        let translated = chinese.get(id).unwrap_or_else(|| panic!("{id} is not translated"));
        assert_eq!(translated.arguments, message.arguments, "{id}");
        let is_said = message.letters.split(|c: char| !c.is_ascii_lowercase()).any(|word| word.len() > 1);
        let has_chinese = translated.letters.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        assert!(has_chinese || !is_said, "{id} is not in Chinese");
    }
    let more: Vec<_> = chinese.keys().filter(|id| !english.contains_key(*id) && !is_explanation(id)).collect();
    assert!(more.is_empty(), "English does not have {more:?}");
    for gate in &GATES {
        let id = format!("explain-{}", gate.id.replace('.', "-"));
        assert!(chinese.get(&id).is_some_and(|message| message.letters.chars().count() > 30), "{id}");
    }
}

#[test]
fn a_user_is_answered_in_the_language_asked_for() {
    let tree = two_cards("8086:6f00");
    let chinese = tree.run(&["--lang", "zh"]);
    let english = tree.run(&["--lang", "en"]);
    assert_eq!(english.stdout, tree.run(&[]).stdout);
    assert_eq!((chinese.exit, chinese.stderr.as_str()), (english.exit, ""));
    assert!(chinese.stdout.contains("\n结论："), "{}", chinese.stdout);
    assert!(chinese.stdout.lines().all(|line| line.width() <= 110), "{}", chinese.stdout);
    // Programs get the same, whoever the user is.
    assert_eq!(tree.run(&["--lang", "zh", "--json"]).stdout, tree.run(&["--json"]).stdout);
    let said = run(&["--lang", "zh", "explain", "pair.route"]).stdout;
    assert!(said.starts_with("pair.route\n  ") && said.contains("内核"), "{said}");
}

#[test]
fn both_readmes_show_the_same_commands() {
    let commands = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap();
        let code = text.lines().filter_map(|line| line.strip_prefix("    "));
        code.map(|line| line.split(" # ").next().unwrap_or_default().trim_end().to_owned()).collect()
    };
    let english = commands("README.md");
    assert!(english.len() > 5, "{english:?}");
    assert_eq!(english, commands("README.zh-CN.md"));
}
