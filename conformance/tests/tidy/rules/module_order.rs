//! `lib.rs` declares its modules in the order of the crate's table.

use crate::{
    architecture::ModuleTable,
    finding::Finding,
    rust::{Code, TestCode},
    tree::Tree,
};

/// The modules that a table or a `lib.rs` lacks, or has in another order.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let tests = TestCode::of(tree);
    let mut findings = Vec::new();
    for table in ModuleTable::all(tree) {
        let page = &table.page;
        let root = format!("{}/src/lib.rs", table.crate_name);
        let Some(text) = tree.text(&root) else {
            let what = format!("a table of `{}`, which has no lib.rs", table.crate_name);
            findings.push(Finding::new(page, 1, what, "name a crate"));
            continue;
        };
        let code = Code::read(&root, text);
        let folder = format!("{}/src", table.crate_name);
        let declared = code.modules();
        let listed = table.roots();
        let is_test = |name: &str| tests.contains(&format!("{folder}/{name}"));
        for (name, line) in &declared {
            if !listed.contains(name) && !is_test(name) {
                let what = format!("`{name}` is not in the table of {page}");
                findings.push(Finding::new(&root, *line, what, "add it"));
            }
        }
        let is_declared = |name: &str| declared.iter().any(|(declared, _)| *declared == name);
        for name in listed.iter().filter(|name| !is_declared(name)) {
            let what = format!("`{name}` of the table in {page} is not declared");
            let remedy = "remove it from the table, or declare it";
            findings.push(Finding::new(&root, 1, what, remedy));
        }
        let expected = listed
            .iter()
            .filter(|name| is_declared(name) && !is_test(name));
        let declared = declared
            .iter()
            .filter(|(name, _)| listed.contains(name) && !is_test(name));
        let first_wrong = declared
            .zip(expected)
            .find(|((name, _), expected)| name != *expected);
        if let Some(((name, line), expected)) = first_wrong {
            let what = format!("`{name}` is declared where {page} has `{expected}`");
            findings.push(Finding::new(&root, *line, what, "use one order"));
        }
    }
    findings
}
