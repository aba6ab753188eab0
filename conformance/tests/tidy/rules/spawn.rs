//! Only `task` modules start tasks and threads, so that each has an owner.

use std::collections::BTreeMap;

use crate::{
    finding::Finding,
    rust::{Code, PathUse, TestCode},
    tree::Tree,
};

/// Types that own tasks.
const OWNERS: [&str; 3] = ["JoinSet", "TaskTracker", "LocalSet"];
/// Functions that start tasks or threads, by the module and the name.
const STARTERS: [[&str; 2]; 9] = [
    ["tokio", "spawn"],
    ["task", "spawn"],
    ["task", "spawn_local"],
    ["task", "spawn_blocking"],
    ["thread", "spawn"],
    ["thread", "scope"],
    ["thread", "Builder"],
    ["rayon", "spawn"],
    ["Handle", "spawn"],
];

/// The places outside of `task` modules that start tasks or threads.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let tests = TestCode::of(tree);
    let mut findings = Vec::new();
    for (path, text) in tree.of_type("rs") {
        let is_task = path.ends_with("/src/task.rs") || path.contains("/src/task/");
        if is_task || tests.contains(path) {
            continue;
        }
        let code = Code::read(path, text).without_tests();
        let starts = code
            .paths()
            .into_iter()
            .filter_map(|used| Some((used.line, starter(&used)?)));
        let mut first_lines = BTreeMap::new();
        for (line, name) in starts {
            first_lines.entry(name).or_insert(line);
        }
        findings.extend(first_lines.into_iter().map(|(name, line)| {
            let what = format!("`{name}` outside of a `task` module");
            Finding::new(path, line, what, "use the crate's `task` module")
        }));
    }
    findings
}

/// The forbidden name in a path.
fn starter(used: &PathUse) -> Option<String> {
    let owner = used
        .segments
        .iter()
        .find(|segment| OWNERS.contains(&segment.as_str()));
    let pairs = used.segments.windows(2);
    let starts = |pair: &&[String]| {
        STARTERS
            .iter()
            .any(|known| pair[0] == known[0] && pair[1] == known[1])
    };
    owner
        .cloned()
        .or_else(|| pairs.into_iter().find(starts).map(|pair| pair.join("::")))
}
