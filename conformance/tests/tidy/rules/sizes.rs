//! Functions and files are short.

use crate::{
    finding::Finding,
    rust::{Code, TestCode},
    tree::Tree,
};

/// Lines from a function's name to its closing brace, at most.
const FUNCTION_LINES_MAX: usize = 100;
/// Lines of a file of source, at most.
const FILE_LINES_MAX: usize = 500;
/// Lines of a file of tests, at most.
const TEST_FILE_LINES_MAX: usize = 800;

/// The functions and files that are too long.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let tests = TestCode::of(tree);
    let mut findings = Vec::new();
    for (path, text) in tree.of_type("rs") {
        let limit = if tests.contains(path) {
            TEST_FILE_LINES_MAX
        } else {
            FILE_LINES_MAX
        };
        let count = text.lines().count();
        if count > limit {
            let what = format!("a file longer than {limit} lines");
            let remedy = format!("it has {count}: find its second noun and move that to a file");
            findings.push(Finding::new(path, limit + 1, what, remedy));
        }
        for function in Code::read(path, text).functions() {
            if function.line_count > FUNCTION_LINES_MAX {
                let what = format!(
                    "`{}` is longer than {FUNCTION_LINES_MAX} lines",
                    function.name
                );
                let remedy = format!("it has {}: name its steps", function.line_count);
                findings.push(Finding::new(path, function.line, what, remedy));
            }
        }
    }
    findings
}
