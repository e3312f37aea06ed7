// SPDX-License-Identifier: GPL-2.0-only
//! Functions and options of the kernel whose form the project follows or relies on.
//!
//! What is assumed of each is a text file in `assumed/`: sections `@ RELEASE...`, one statement a line.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use tp2_policy::KernelVersion;

use super::c;
use super::tree::Tree;
use crate::workspace;

const P2PDMA: &str = "drivers/pci/p2pdma.c";
const TOPOLOGY: &str = "drivers/gpu/drm/amd/amdkfd/kfd_topology.c";

/// How much of it counts.
#[derive(Clone, Copy)]
enum Part {
    /// A function's type, name, parameters and body.
    Whole,
    /// What a function's outcome depends on: directives, branches, loops, values of its variables, jumps, returns.
    Conditions,
    /// The dependencies of a configuration option.
    Depends,
}

struct Form {
    file: &'static str,
    name: &'static str,
    part: Part,
    assumed: &'static str,
}

/// A form whose assumed text is in the file of its name.
macro_rules! form {
    ($file:expr, $name:literal, $part:ident) => {
        Form { file: $file, name: $name, part: Part::$part, assumed: include_str!(concat!("assumed/", $name, ".txt")) }
    };
}

const FORMS: [Form; 11] = [
    form!("include/linux/pci-p2pdma.h", "pci_p2pdma_distance", Whole),
    form!(P2PDMA, "pci_p2pdma_distance_many", Whole),
    form!(P2PDMA, "calc_map_type_and_dist", Whole),
    form!(P2PDMA, "pci_bridge_has_acs_redir", Whole),
    form!(P2PDMA, "cpu_supports_p2pdma", Whole),
    form!(P2PDMA, "pci_host_bridge_dev", Whole),
    form!(P2PDMA, "host_bridge_whitelist", Whole),
    form!(P2PDMA, "__host_bridge_whitelist", Whole),
    form!("drivers/gpu/drm/amd/amdgpu/amdgpu_device.c", "amdgpu_device_is_peer_accessible", Conditions),
    form!(TOPOLOGY, "kfd_add_peer_prop", Conditions),
    form!(TOPOLOGY, "kfd_dev_create_p2p_links", Conditions),
];

const OPTIONS: [Form; 1] = [form!("drivers/gpu/drm/amd/amdkfd/Kconfig", "HSA_AMD_P2P", Depends)];

fn all() -> impl Iterator<Item = &'static Form> {
    FORMS.iter().chain(&OPTIONS)
}

/// The files that have them.
pub(super) fn files() -> impl Iterator<Item = &'static str> {
    all().map(|form| form.file)
}

/// Compares every form in a tree with what is assumed of it.
pub(super) fn check(tree: &Tree) -> Vec<String> {
    all().filter_map(|form| compare(form, tree).err()).collect()
}

fn compare(form: &Form, tree: &Tree) -> Result<(), String> {
    let found = read(form, tree)?;
    let sections = parse(form.assumed);
    let Some((release, assumed)) = for_release(&sections, tree.version) else {
        return Err(format!("{}: nothing is assumed of {}", form.file, form.title()));
    };
    if found == assumed {
        return Ok(());
    }
    Err(format!("{}: {} is not as in Linux {release}: {}", form.file, form.title(), difference(assumed, &found)))
}

impl Form {
    fn title(&self) -> String {
        match self.part {
            Part::Whole => format!("{}()", self.name),
            Part::Conditions => format!("what {}() depends on", self.name),
            Part::Depends => format!("what {} depends on", self.name),
        }
    }

    fn path(&self) -> PathBuf {
        workspace::root().join("xtask/src/drift/assumed").join(format!("{}.txt", self.name))
    }
}

/// A form as a tree has it, in the one way of writing.
fn read(form: &Form, tree: &Tree) -> Result<Vec<String>, String> {
    let Some(text) = tree.text(form.file) else {
        return Err(format!("{}: there is no such file, so {} cannot be read", form.file, form.title()));
    };
    if matches!(form.part, Part::Depends) {
        return depends(text, form.name).ok_or_else(|| format!("{}: has no option {}", form.file, form.name));
    }
    let tokens = c::tokens(text);
    let Some(function) = c::function(&tokens, form.name) else {
        return Err(format!("{}: defines no function {}()", form.file, form.name));
    };
    let mut statements = c::statements(function.body);
    match form.part {
        Part::Conditions => statements.retain(|statement| is_condition(statement)),
        Part::Whole | Part::Depends => statements.insert(0, c::write(function.head)),
    }
    Ok(statements)
}

fn is_condition(statement: &str) -> bool {
    const STARTS: [&str; 9] = ["#", "if (", "else", "for (", "while (", "switch (", "list_for_each", "return", "goto "];
    let sets_variable = statement.split_once(" = ").is_some_and(|(left, _)| !left.contains(['.', '>', '[']));
    sets_variable || STARTS.iter().any(|start| statement.starts_with(start))
}

/// The `depends on` lines of an option.
fn depends(text: &str, option: &str) -> Option<Vec<String>> {
    let lines = text.lines().skip_while(|line| line.split_whitespace().ne(["config", option]));
    let mut lines = lines.peekable();
    lines.peek()?;
    let own = lines.skip(1).take_while(|line| line.starts_with([' ', '\t']) || line.is_empty());
    let words = own.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    Some(words.filter(|line| line.starts_with("depends on ")).collect())
}

/// Releases and what they have.
type Section = (Vec<KernelVersion>, Vec<String>);

/// Reads a file of `assumed/`. Lines that are none of its own kind do not get into it: it is written by [`render`].
fn parse(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("//")) {
        if let Some(releases) = line.strip_prefix("@ ") {
            sections.push((releases.split(' ').filter_map(|release| release.parse().ok()).collect(), Vec::new()));
        } else if let Some((_, lines)) = sections.last_mut() {
            lines.push(line.to_owned());
        }
    }
    sections
}

/// The newest form that is not newer than a release, or else the oldest.
fn for_release(sections: &[Section], version: KernelVersion) -> Option<(KernelVersion, &[String])> {
    let mut forms: Vec<(KernelVersion, &[String])> =
        sections.iter().flat_map(|(releases, lines)| releases.iter().map(|release| (*release, &lines[..]))).collect();
    forms.sort_by_key(|(release, _)| *release);
    let newest = forms.iter().rev().find(|(release, _)| release.series() <= version.series());
    newest.or(forms.first()).copied()
}

/// Where two forms differ, in words.
fn difference(assumed: &[String], found: &[String]) -> String {
    let same_start = assumed.iter().zip(found).take_while(|(a, b)| a == b).count();
    let (a, b) = (&assumed[same_start..], &found[same_start..]);
    let same_end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (shortened(&a[..a.len() - same_end]), shortened(&b[..b.len() - same_end]));
    match (a.is_empty(), b.is_empty()) {
        (true, _) => format!("`{b}` was added"),
        (_, true) => format!("`{a}` is gone"),
        _ => format!("`{a}` became `{b}`"),
    }
}

/// Statements on one line that people still read.
fn shortened(statements: &[String]) -> String {
    const LONGEST: usize = 400;
    let text = statements.join(" ");
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} ... ({} statements)", &text[..end], statements.len()),
        None => text,
    }
}

/// Rewrites the files of `assumed/` so that they say what these trees have.
pub(super) fn write(trees: &[Tree]) -> Result<()> {
    for form in all() {
        let mut sections = parse(form.assumed);
        for tree in trees {
            match read(form, tree) {
                Ok(lines) => put(&mut sections, tree.version, lines),
                Err(error) => bail!("{error}: the assumption has to be changed by hand"),
            }
        }
        let path = form.path();
        fs::write(&path, render(form, &sections)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Says that a release, in place of any other of its series, has these lines.
fn put(sections: &mut Vec<Section>, version: KernelVersion, lines: Vec<String>) {
    for (releases, _) in sections.iter_mut() {
        releases.retain(|release| release.series() != version.series());
    }
    match sections.iter_mut().find(|(_, known)| *known == lines) {
        Some((releases, _)) => releases.push(version),
        None => sections.push((vec![version], lines)),
    }
    sections.retain(|(releases, _)| !releases.is_empty());
    for (releases, _) in sections.iter_mut() {
        releases.sort_unstable();
    }
    sections.sort();
}

fn render(form: &Form, sections: &[Section]) -> String {
    let title = form.title();
    let mut text = format!("// SPDX-License-Identifier: GPL-2.0-only\n// {}: {title}, comments left out.\n", form.file);
    for (releases, lines) in sections {
        let releases: Vec<String> = releases.iter().map(KernelVersion::to_string).collect();
        let _ = write!(text, "\n@ {}\n{}\n", releases.join(" "), lines.join("\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const V6_12: KernelVersion = KernelVersion::new(6, 12, 117);
    const V7_2: KernelVersion = KernelVersion::new(7, 2, 12);
    const V7_3: KernelVersion = KernelVersion::new(7, 3, 4);

    const CPU: &str =
        "static bool cpu_supports_p2pdma(void)\n{\n\tif (c->x86 >= 0x17)\n\t\treturn true;\n\n\treturn false;\n}\n";
    const ASSUMED: &str = "// @ no section\n\n@ 6.12.117 7.2.12\nstatic bool cpu_supports_p2pdma(void)\n{\n\
        if (c->x86 >= 0x17) return true;\nreturn false;\n}\n";

    const FORM: Form = Form { file: P2PDMA, name: "cpu_supports_p2pdma", part: Part::Whole, assumed: ASSUMED };

    fn compared(form: &Form, code: &str) -> Result<(), String> {
        compare(form, &Tree::of(V7_3, &[(form.file, code)]))
    }

    #[test]
    fn layout_and_comments_do_not_count() {
        assert_eq!(compared(&FORM, CPU), Ok(()));
        assert_eq!(compared(&FORM, &CPU.replace("\n\n", " /* Zen */ ").replace('\t', "  ")), Ok(()));
    }

    #[test]
    fn a_changed_condition_is_told_with_both_forms() {
        let error = compared(&FORM, &CPU.replace("0x17", "0x19")).unwrap_err();
        let expected = "drivers/pci/p2pdma.c: cpu_supports_p2pdma() is not as in Linux 7.2.12: \
            `if (c->x86 >= 0x17) return true;` became `if (c->x86 >= 0x19) return true;`";
        assert_eq!(error, expected);
        let error = compared(&FORM, &CPU.replace("(void)", "(int cpu)")).unwrap_err();
        assert!(error.contains("(void)` became `static bool cpu_supports_p2pdma(int cpu)`"), "{error}");
        let error = compared(&FORM, &CPU.replace("\treturn false;", "\tf();\n\treturn false;")).unwrap_err();
        assert!(error.ends_with("`f();` was added"), "{error}");
        let error = compared(&FORM, &CPU.replace("\treturn false;", &"\tf();\n".repeat(200))).unwrap_err();
        assert!(error.len() < 600 && error.ends_with("... (200 statements)`"), "{error}");
        let error = compared(&FORM, &CPU.replace("cpu_", "c_")).unwrap_err();
        assert_eq!(error, "drivers/pci/p2pdma.c: defines no function cpu_supports_p2pdma()");
    }

    #[test]
    fn of_conditions_only_what_decides_counts() {
        let assumed =
            "@ 7.3.4\n#ifdef CONFIG_HSA_AMD_P2P\nbool a = !(distance(x) < 0);\nreturn pcie_p2p && a;\n#endif\n";
        let form = Form { file: "a.c", name: "accessible", part: Part::Conditions, assumed };
        let code = "bool accessible(void)\n{\n#ifdef CONFIG_HSA_AMD_P2P\n\tbool a = !(distance(x) < 0);\n\n\
            \tdev_info(\"log\");\n\tx->y = 1;\n\treturn pcie_p2p && a;\n#endif\n}\n";
        assert_eq!(compared(&form, code), Ok(()));
        for (old, new) in [("pcie_p2p &&", "pcie_p2p ||"), ("< 0", "<= 0"), ("_P2P\n", "_PEER\n")] {
            assert!(compared(&form, &code.replace(old, new)).is_err(), "{old}");
        }
    }

    #[test]
    fn the_dependencies_of_an_option_are_its_own() {
        let kconfig = "config HSA_AMD\n\tdepends on DRM_AMDGPU\n\nconfig HSA_AMD_P2P\n\tbool \"x\"\n\
            \tdepends on HSA_AMD  && PCI_P2PDMA\n\thelp\n\t  Text.\n\nconfig OTHER\n\tdepends on X\n";
        assert_eq!(depends(kconfig, "HSA_AMD_P2P").unwrap(), ["depends on HSA_AMD && PCI_P2PDMA"]);
        assert_eq!(depends(kconfig, "HSA_AMD_P"), None);
        let form = Form {
            file: "Kconfig",
            name: "HSA_AMD_P2P",
            part: Part::Depends,
            assumed: "@ 6.12.117\ndepends on HSA_AMD && PCI_P2PDMA && DMABUF_MOVE_NOTIFY\n",
        };
        let error = compared(&form, kconfig).unwrap_err();
        assert!(error.starts_with("Kconfig: what HSA_AMD_P2P depends on is not as in Linux 6.12.117: "), "{error}");
    }

    #[test]
    fn releases_go_where_their_lines_are_and_what_is_written_is_read_again() {
        let lines = |text: &str| vec![text.to_owned()];
        let mut sections = Vec::new();
        put(&mut sections, V7_2, lines("b"));
        put(&mut sections, V6_12, lines("a"));
        put(&mut sections, V7_3, lines("b"));
        assert_eq!(sections, [(vec![V6_12], lines("a")), (vec![V7_2, V7_3], lines("b"))]);
        put(&mut sections, KernelVersion::new(7, 3, 9), lines("c"));
        assert_eq!(parse(&render(&FORM, &sections)), sections);
        let newest = for_release(&sections, KernelVersion::new(7, 4, 0)).unwrap();
        assert_eq!(newest, (KernelVersion::new(7, 3, 9), &lines("c")[..]));
        assert_eq!(for_release(&sections, KernelVersion::new(7, 0, 0)).unwrap().0, V6_12);
        assert_eq!(for_release(&sections, KernelVersion::new(5, 10, 0)).unwrap().0, V6_12);
    }

    #[test]
    fn assumed_files_are_as_they_would_be_written() {
        for form in all() {
            let sections = parse(form.assumed);
            assert_eq!(render(form, &sections), form.assumed, "{}", form.name);
            assert!(sections.iter().all(|(_, lines)| !lines.is_empty()), "{}", form.name);
        }
    }
}
