//! Files are named by their roles: `mod` the face, `machine`, `queue` and `table` the pure core, `tests` the tests.

use crate::{
    finding::Finding,
    rust::{Code, TestCode},
    tree::Tree,
};

/// Names that say nothing, or that say a role by another word.
const NAMES: [(&str, &str); 7] = [
    ("errors", "error"),
    ("test", "tests"),
    ("util", "the noun of its content"),
    ("utils", "the noun of its content"),
    ("helpers", "the noun of its content"),
    ("common", "the noun of its content"),
    ("misc", "the noun of its content"),
];
/// The roles of pure cores.
const CORES: [&str; 3] = ["machine", "queue", "table"];
/// Words that a pure core does not use: it awaits nothing, locks nothing and reads no clock.
const IMPURE: [&str; 6] = ["async", "await", "Mutex", "RwLock", "SystemTime", "sleep"];

/// The files of a tree whose name or content is not that of a role.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let tests = TestCode::of(tree);
    let folders = tree.folders();
    let mut findings = Vec::new();
    for (path, text) in tree.of_type("rs") {
        let stem = path.strip_suffix(".rs").unwrap_or(path);
        let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
        if folders.contains(stem) && !is_root(tree, path) {
            let remedy = format!("make it `{stem}/mod.rs`");
            findings.push(Finding::new(path, 1, "a module beside its folder", remedy));
        }
        if let Some((_, role)) = NAMES.iter().find(|(known, _)| *known == name) {
            let what = format!("`{name}` is no role");
            findings.push(Finding::new(path, 1, what, format!("call it {role}")));
        }
        if CORES.contains(&name) && !tests.contains(path) {
            let code = Code::read(path, text).without_tests();
            if let Some((line, word)) = code.line_of(&IMPURE) {
                let what = format!("a pure core that uses `{word}`");
                let remedy = "leave that to a driver, or give the file the name of its content";
                findings.push(Finding::new(path, line, what, remedy));
            }
        }
        let is_module = folder.contains("/src/") && name != "mod";
        if is_module && !tree.has(&format!("{folder}/mod.rs")) && !tree.has(&format!("{folder}.rs"))
        {
            findings.push(Finding::new(
                path,
                1,
                "a folder without a face",
                format!("add {folder}/mod.rs"),
            ));
        }
    }
    findings
}

/// True for a file that is a target of its own, such as `tests/it.rs` and `src/bin/x.rs`.
fn is_root(tree: &Tree, path: &str) -> bool {
    let parent = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let parent_name = parent.rsplit('/').next().unwrap_or_default();
    let crate_folder = parent.rsplit_once('/').map_or("", |(folder, _)| folder);
    ["tests", "examples", "benches", "fuzz_targets"].contains(&parent_name)
        && tree.has(&format!("{crate_folder}/Cargo.toml"))
}
