//! The names of a definition: those that it wants, and those that it was given.

use fakeserver_value::{read::text, status::FieldError};
use serde_json::Value;

use super::{invalid, label_problem};

/// Returns the errors of the names at `path`.
pub(super) fn names_errors(names: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (field, is_kind) in [
        ("plural", false),
        ("singular", false),
        ("kind", true),
        ("listKind", true),
    ] {
        let name = text(&names[field]);
        if name.is_empty() {
            continue;
        }
        let field = format!("{path}.{field}");
        let problem = if is_kind {
            label_problem(&name.to_lowercase()).map(|problem| {
                format!("may have mixed case, but should otherwise match: {problem}")
            })
        } else {
            label_problem(name)
        };
        errors.extend(problem.map(|problem| invalid(&field, &name.into(), &problem)));
    }
    check_all(names, "shortNames", path, &mut errors);
    let kind = text(&names["kind"]);
    if !kind.is_empty() && kind == text(&names["listKind"]) {
        errors.push(invalid(
            &format!("{path}.listKind"),
            &kind.into(),
            "kind and listKind may not be the same",
        ));
    }
    check_all(names, "categories", path, &mut errors);
    errors
}

fn check_all(names: &Value, field: &str, path: &str, errors: &mut Vec<FieldError>) {
    let all = names[field].as_array().into_iter().flatten();
    for (index, name) in all.enumerate() {
        if let Some(problem) = label_problem(text(name)) {
            let path = format!("{path}.{field}[{index}]");
            errors.push(invalid(&path, name, &problem));
        }
    }
}
