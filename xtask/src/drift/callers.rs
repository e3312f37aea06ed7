// SPDX-License-Identifier: GPL-2.0-only
//! Who asks for the distance: the module changes the answer for all of them.

use super::assumed::{CALLERS, Caller};
use super::c::{self, Kind, Token};
use super::tree::Tree;

/// The function that the module hooks, and the inline one that leads to it.
pub(super) const FUNCTIONS: [&str; 2] = ["pci_p2pdma_distance_many", "pci_p2pdma_distance"];

/// Where both are defined and declared.
const HOME: [&str; 2] = ["drivers/pci/p2pdma.c", "include/linux/pci-p2pdma.h"];

/// One place that names one of the functions.
#[derive(Debug, PartialEq, Eq)]
struct Use<'a> {
    name: &'a str,
    function: Option<&'a str>,
    line: usize,
}

/// Compares the callers in a tree with those that are known.
pub(super) fn check(tree: &Tree) -> Vec<String> {
    check_against(tree, CALLERS)
}

fn check_against(tree: &Tree, known: &[Caller]) -> Vec<String> {
    let series = tree.version.series();
    let mut known: Vec<(&Caller, bool)> =
        known.iter().filter(|caller| caller.seen.holds(series)).map(|caller| (caller, false)).collect();
    let mut differences = Vec::new();
    for (path, text) in tree.c_files(&FUNCTIONS) {
        let tokens = c::tokens(text);
        for found in uses(path, &tokens) {
            let is_it = |caller: &Caller| {
                caller.file == path && Some(caller.function) == found.function && caller.asks == found.name
            };
            if let Some((_, seen)) = known.iter_mut().find(|(caller, _)| is_it(caller)) {
                *seen = true;
                continue;
            }
            let place = found.function.map_or("code outside of functions".to_owned(), |name| format!("{name}()"));
            differences.push(format!("{path}:{}: {place} uses {}(), which is not known of it", found.line, found.name));
        }
    }
    for (caller, _) in known.iter().filter(|(_, seen)| !seen) {
        differences.push(format!("{}: {}() no longer asks {}()", caller.file, caller.function, caller.asks));
    }
    differences
}

/// Every use of the functions in one file; their own declarations, definitions and exports are none.
fn uses<'a>(path: &str, tokens: &'a [Token]) -> Vec<Use<'a>> {
    let bodies: Vec<_> = c::functions(tokens).collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let function = bodies.iter().find(|(_, place)| place.contains(&at)).map(|(name, _)| *name);
        let names = FUNCTIONS.into_iter().find(|name| match token.kind {
            Kind::Directive => c::tokens_of_line(&token.text[1..]).iter().any(|token| token.text == *name),
            _ => token.text == *name,
        });
        let Some(name) = names else { continue };
        let next_opens = tokens.get(at + 1).is_some_and(|next| next.text == "(");
        let exported = at >= 2 && tokens[at - 2].text.starts_with("EXPORT_SYMBOL");
        let own = HOME.contains(&path) && function.is_none() && token.kind == Kind::Word && (next_opens || exported);
        if !own {
            found.push(Use { name, function, line: token.line });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use tp2_policy::KernelVersion;

    use super::*;
    use crate::drift::assumed::Seen;

    const KNOWN: [Caller; 2] = [
        Caller { file: "drivers/a.c", function: "attach", asks: FUNCTIONS[1], seen: Seen::since(6, 12) },
        Caller { file: "drivers/b.c", function: "old", asks: FUNCTIONS[0], seen: Seen::between((6, 1), (6, 12)) },
    ];
    const A: &str = "static int attach(struct device *dev)\n{\n\treturn pci_p2pdma_distance(a, dev, true);\n}\n";

    fn differences(files: &[(&str, &str)]) -> Vec<String> {
        check_against(&Tree::of(KernelVersion::new(7, 3, 4), files), &KNOWN)
    }

    #[test]
    fn known_callers_pass_and_comments_and_exports_are_no_use() {
        let home = "/* pci_p2pdma_distance() */\nint pci_p2pdma_distance_many(int n)\n{\n\treturn n;\n}\n\
            EXPORT_SYMBOL_GPL(pci_p2pdma_distance_many);\n";
        assert_eq!(differences(&[("drivers/a.c", A), (HOME[0], home)]), [""; 0]);
    }

    #[test]
    fn a_new_caller_is_named_with_its_line() {
        let new = "int probe(void)\n{\n\treturn pci_p2pdma_distance_many(0);\n}\n";
        let expected = "drivers/n.c:3: probe() uses pci_p2pdma_distance_many(), which is not known of it";
        assert_eq!(differences(&[("drivers/a.c", A), ("drivers/n.c", new)]), [expected]);
    }

    #[test]
    fn a_pointer_and_a_macro_are_uses_too() {
        let new = "static struct ops ops = {\n\t.distance = pci_p2pdma_distance_many,\n};\n\
            #define D(x) pci_p2pdma_distance(x, x, 0)\n";
        let found = differences(&[("drivers/a.c", A), ("drivers/n.c", new)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|sentence| sentence.contains("code outside of functions uses")), "{found:?}");
    }

    #[test]
    fn a_caller_that_went_or_came_back_is_named() {
        assert_eq!(differences(&[]), ["drivers/a.c: attach() no longer asks pci_p2pdma_distance()"]);
        let old = "int old(void)\n{\n\treturn pci_p2pdma_distance_many(0);\n}\n";
        assert_eq!(differences(&[("drivers/a.c", A), ("drivers/b.c", old)]).len(), 1);
    }
}
