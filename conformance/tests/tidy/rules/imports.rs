//! Modules import in the direction of the tables in the `README.md` of their crates; crates and stages that must not know each other
//! do not.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    finding::Finding,
    module_table::ModuleTable,
    rust::{Code, PathUse, TestCode, folder_of_module},
    tree::Tree,
};

/// Folders, and the crates of which no code in them knows: that of this name, and those whose names begin with it and an underscore.
const STRANGERS: [(&str, &str); 2] = [("informer", "fakeserver"), ("fakeserver", "informer")];
/// Layers whose modules do not import each other, in either direction.
const APART: [&str; 2] = ["stages", "groups"];

/// Returns the imports against the direction, and those of strangers.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let tests = TestCode::of(tree);
    let tables = ModuleTable::all(tree);
    let mut findings = strangers(tree, &tests);
    for table in &tables {
        let source = format!("{}/src", table.folder);
        let exports = Exports::of(tree, &source);
        for (path, text) in tree.of_type("rs") {
            let module = folder_of_module(path).strip_prefix(&source);
            let Some(module) = module.filter(|module| !module.is_empty()) else {
                continue;
            };
            if tests.contains(path) {
                continue;
            }
            let module: Vec<&str> = module.trim_start_matches('/').split('/').collect();
            let against = first_lines(path, text, |used| {
                let target = exports.resolve(&module, &used.segments)?;
                against(table, &module, &target)
            });
            findings.extend(against);
        }
    }
    findings
}

/// Returns the uses of crates that the code in a folder must not know.
fn strangers(tree: &Tree, tests: &TestCode) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.of_type("rs") {
        let folder = path.split('/').next().unwrap_or_default();
        let pair = STRANGERS.iter().find(|(own, _)| *own == folder);
        let Some((own, stranger)) =
            pair.filter(|_| path.contains("/src/") && !tests.contains(path))
        else {
            continue;
        };
        findings.extend(first_lines(path, text, |used| {
            let [first, _, ..] = &used.segments[..] else {
                return None;
            };
            let is_known = first.split('_').next() == Some(stranger);
            is_known.then(|| format!("`{own}` knows `{first}`"))
        }));
    }
    findings
}

/// Returns what `describe` says of the paths that a file uses outside of tests, each at its first line.
fn first_lines(
    path: &str,
    text: &str,
    describe: impl Fn(&PathUse) -> Option<String>,
) -> Vec<Finding> {
    let code = Code::read(path, text).without_tests();
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for used in code.paths() {
        if let Some(what) = describe(&used) {
            found.entry(what).or_insert(used.line);
        }
    }
    let remedy = "move the lower part of one of them down, or pass it in";
    let found = found.into_iter();
    found
        .map(|(what, line)| Finding::new(path, line, what, remedy))
        .collect()
}

/// Describes how a module's use of a target is against the table, if it is.
fn against(table: &ModuleTable, module: &[&str], target: &[String]) -> Option<String> {
    let pairs = module.iter().zip(target);
    let common = pairs.take_while(|(own, other)| *own == other).count();
    let own: Vec<String> = module
        .get(..=common)?
        .iter()
        .map(ToString::to_string)
        .collect();
    let other = target.get(..=common)?;
    let (own_place, other_place) = (table.place(&own)?, table.place(other)?);
    let (own_layer, other_layer) = (&table.rows[own_place].layer, &table.rows[other_place].layer);
    let (own, other) = (own.join("::"), other.join("::"));
    if own_layer == other_layer && APART.contains(&own_layer.as_str()) {
        return Some(format!("`{own}` imports `{other}`, of the same layer"));
    }
    (own_place < other_place).then(|| format!("`{own}` imports `{other}`, which stands after it"))
}

/// The modules of a crate, and those in which the names are that its root exports.
struct Exports {
    modules: BTreeSet<String>,
    names: BTreeMap<String, Vec<String>>,
}

// === impl Exports ===

impl Exports {
    fn of(tree: &Tree, source: &str) -> Self {
        let root = format!("{source}/lib.rs");
        let code = Code::read(&root, tree.text(&root).unwrap_or_default());
        let modules: BTreeSet<String> = code
            .modules()
            .into_iter()
            .map(|(name, _)| name.to_owned())
            .collect();
        let names = code.paths().into_iter().filter_map(|used| {
            let path = used.segments.strip_prefix(&["self".to_owned()])?;
            Some((path.last()?.clone(), path.to_vec()))
        });
        Self {
            modules,
            names: names.collect(),
        }
    }

    /// The path from the crate root of what a module calls `segments`, if that is of this crate.
    fn resolve(&self, module: &[&str], segments: &[String]) -> Option<Vec<String>> {
        let (first, rest) = segments.split_first()?;
        let mut path: Vec<String> = match first.as_str() {
            "crate" => Vec::new(),
            "self" => module.iter().map(ToString::to_string).collect(),
            "super" => {
                let above = module.split_last()?.1;
                above.iter().map(ToString::to_string).collect()
            }
            _ => return None,
        };
        for segment in rest {
            match segment.as_str() {
                "super" => drop(path.pop()),
                name => path.push(name.to_owned()),
            }
        }
        match path.first() {
            Some(first) if !self.modules.contains(first) => self.names.get(first).cloned(),
            _ => Some(path),
        }
    }
}
