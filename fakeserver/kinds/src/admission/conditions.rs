//! Validation of match conditions of webhooks and policies.

use std::collections::BTreeSet;

use fakeserver_value::{names::qualified_name_problems, status::FieldError};
use serde_json::{Value, json};

use crate::expression::Declared;

/// The maximum number of match conditions.
const CONDITIONS_MAX: usize = 64;

/// Lists what is wrong with match conditions, in which `params` is declared if the policy has parameters.
pub(super) fn condition_errors(
    path: &str,
    conditions: &Value,
    has_params: bool,
) -> Vec<FieldError> {
    let count = items(conditions).count();
    if count > CONDITIONS_MAX {
        return vec![FieldError::too_many(
            path,
            count as u64,
            CONDITIONS_MAX as u64,
        )];
    }
    let declared = Declared::new(has_params);
    let mut errors = Vec::new();
    let mut names = BTreeSet::new();
    for (index, condition) in items(conditions).enumerate() {
        let path = format!("{path}[{index}]");
        let (name, expression) = (text(&condition["name"]), text(&condition["expression"]));
        let expression = expression.trim();
        if expression.is_empty() {
            errors.push(FieldError::required(format!("{path}.expression"), ""));
        } else {
            let path = format!("{path}.expression");
            errors.extend(declared.error(&path, expression, expression, &["bool"]));
        }
        if name.is_empty() {
            errors.push(FieldError::required(format!("{path}.name"), ""));
            continue;
        }
        let problems = qualified_name_problems(name);
        if !problems.is_empty() {
            errors.push(FieldError::invalid(
                format!("{path}.name"),
                &json!(name),
                &problems.join(","),
            ));
        }
        if !names.insert(name) {
            errors.push(FieldError::duplicate(format!("{path}.name"), &json!(name)));
        }
    }
    errors
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
