//! Types are nouns of the field, and no local says only that something was told.

use crate::{finding::Finding, tree::Tree};

/// Participles and words for anything, which are no names of types by themselves.
const TYPES: [&str; 31] = [
    "Asked", "Begun", "Breaking", "Brought", "Come", "Done", "Drawn", "Found", "Given", "Got",
    "Heard", "Held", "Kept", "Known", "Left", "Lent", "Made", "Met", "Named", "Place", "Put",
    "Said", "Seen", "Sent", "Severed", "Shown", "Taken", "Told", "Unread", "Way", "Written",
];
/// The same for locals.
const LOCALS: [&str; 6] = ["asked", "brought", "heard", "met", "said", "told"];
const DECLARATIONS: [&str; 5] = ["enum", "struct", "trait", "type", "union"];

/// Returns the types and locals whose names say nothing.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.of_type("rs") {
        // Its violations are texts.
        if path.ends_with("tests/tidy/seeded.rs") {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            if let Some(what) = declared(line) {
                let remedy = "call it what it is, by a noun of the field";
                findings.push(Finding::new(path, index + 1, what, remedy));
            }
        }
    }
    findings
}

/// Describes the name that a line declares, if it says nothing.
fn declared(line: &str) -> Option<String> {
    let mut words = line
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .filter(|word| !word.is_empty());
    // Docs and code in docs have none.
    if line.trim_start().starts_with("//") {
        return None;
    }
    let first = words.find(|word| !["pub", "crate", "super", "in", "mut"].contains(word))?;
    let name = words.find(|word| *word != "mut")?;
    if DECLARATIONS.contains(&first) && TYPES.contains(&name) {
        return Some(format!("a type called `{name}`"));
    }
    (first == "let" && LOCALS.contains(&name)).then(|| format!("a local called `{name}`"))
}
