//! Writes the table of words as TypeScript.

use std::{fmt::Write as _, fs, path::Path};

use super::{Choice, Field, If, Joined, NAMED_MAX, Or, Piece, TABLE, Text};

const HEAD: &str = r#"// Events in words, written by `REWRITE=1 cargo test -p tracefile words` of the table in tracefile/src/words/mod.rs.

import type { Event } from "./format.js";
import { choice, joined, objectName, stateOf, titles, versions } from "./names.js";
import type { Run } from "./run.js";
"#;

/// Returns an expression whose value is in words, and empty if the field is missing.
fn value(name: &str) -> String {
    match name {
        "o" => "name".to_owned(),
        "say" => "say".to_owned(),
        "state" => "stateOf(event)".to_owned(),
        "list" | "set" => format!("versions(run, event.{name}, NAMED_MAX)"),
        "gone" => "titles(run, event.gone, NAMED_MAX)".to_owned(),
        _ => format!("event.{name}"),
    }
}

/// Returns a condition that is true if a field has a value.
fn is_there(name: &str) -> String {
    match name {
        "o" | "say" | "list" | "set" | "gone" => format!("{} !== \"\"", value(name)),
        "more" | "initial" => format!("event.{name} === true"),
        _ => format!("event.{name} !== undefined"),
    }
}

/// Returns pieces as the inside of a template literal.
fn template(pieces: &[Piece]) -> String {
    let pieces = pieces.iter().map(|piece| match piece {
        Text(text) => (*text).to_owned(),
        Field(name) => format!("${{{}}}", value(name)),
        If(name, pieces) => format!("${{{} ? `{}` : \"\"}}", is_there(name), template(pieces)),
        Or(name, pieces) => {
            let (condition, value) = (is_there(name), value(name));
            format!("${{{condition} ? {value} : `{}`}}", template(pieces))
        }
        Choice(name, choices) => {
            let choices = choices
                .iter()
                .map(|(value, word)| format!("{value}: \"{word}\""));
            let choices: Vec<String> = choices.collect();
            format!("${{choice({}, {{ {} }})}}", value(name), choices.join(", "))
        }
        Joined(clauses, otherwise) => {
            let clauses = clauses
                .iter()
                .map(|pieces| format!("`{}`", template(pieces)));
            let clauses: Vec<String> = clauses.collect();
            format!("${{joined([{}], \"{otherwise}\")}}", clauses.join(", "))
        }
    });
    pieces.collect()
}

fn typescript() -> String {
    let mut text = format!(
        "{HEAD}\n/** The number of objects of a list that are named. */\nconst NAMED_MAX = {NAMED_MAX};\n\n"
    );
    text.push_str("export function words(run: Run, event: Event): string {\n");
    text.push_str("  const name = event.o === undefined ? \"\" : objectName(run, event.o);\n");
    text.push_str("  const say = event.say ?? \"\";\n  switch (event.k) {\n");
    for (kind, pieces) in TABLE {
        write!(
            text,
            "    case \"{kind}\":\n      return `{}`;\n",
            template(pieces)
        )
        .unwrap();
    }
    text.push_str("    default:\n      return say;\n  }\n}\n");
    text
}

#[test]
fn the_viewer_has_the_words_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../viewer/src/core/words.ts");
    let written = typescript();
    if std::env::var_os("REWRITE").is_some() {
        fs::write(&path, &written).unwrap();
    }
    let advice = "run REWRITE=1 cargo test -p tracefile words, then scripts/viewer.sh build";
    assert_eq!(written, fs::read_to_string(&path).unwrap(), "{advice}");
}
