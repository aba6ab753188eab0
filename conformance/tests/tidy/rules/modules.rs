//! Each file of source is a module of its crate, or a target: one that no `mod` names is never compiled.

use std::collections::BTreeSet;

use crate::{finding::Finding, rust::Code, tree::Tree};

/// Returns the files below `src` folders that no file declares as a module.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut declared = BTreeSet::new();
    for (path, text) in tree.of_type("rs") {
        let stem = path.strip_suffix(".rs").unwrap_or(path);
        let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
        let below = match name {
            "lib" | "main" | "mod" => folder.to_owned(),
            _ => format!("{folder}/{name}"),
        };
        let code = Code::read(path, text);
        let modules = code.modules().into_iter();
        declared.extend(modules.map(|(module, _)| format!("{below}/{module}")));
        declared.extend(named_paths(text).map(|file| format!("{folder}/{file}")));
    }
    let is_target = |path: &str| path.ends_with("/lib.rs") || path.ends_with("/main.rs");
    tree.of_type("rs")
        .filter(|(path, _)| {
            path.contains("/src/") && !is_target(path) && !path.contains("/src/bin/")
        })
        .filter(|(path, _)| {
            let module = path.strip_suffix("/mod.rs").or(path.strip_suffix(".rs"));
            !declared.contains(module.unwrap_or(path)) && !declared.contains(*path)
        })
        .map(|(path, _)| {
            let what = "a file that no `mod` names";
            Finding::new(path, 1, what, "declare it, or delete it")
        })
        .collect()
}

/// Returns the files that attributes `path` name.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("path = \"").map(|(at, start)| {
        let rest = &text[at + start.len()..];
        rest.split('"').next().unwrap_or_default()
    })
}
