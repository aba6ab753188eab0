//! Validation of match conditions of webhooks and policies.

use std::collections::BTreeSet;

use fakeserver_value::{
    names::qualified_name_problems,
    read::{items, text},
    status::FieldError,
};
use serde_json::{Value, json};

use crate::expression::DeclaredVariables;

/// The maximum number of match conditions.
const CONDITIONS_MAX: usize = 64;

/// Lists the errors of match conditions, in which `params` is declared if the policy has parameters.
pub(super) fn condition_errors(
    path: &str,
    conditions: &Value,
    has_params: bool,
) -> Vec<FieldError> {
    let count = items(conditions).len();
    if count > CONDITIONS_MAX {
        return vec![FieldError::too_many(
            path,
            count as u64,
            CONDITIONS_MAX as u64,
        )];
    }
    let declared = DeclaredVariables::new(has_params);
    let mut errors = Vec::new();
    let mut names = BTreeSet::new();
    for (index, condition) in items(conditions).iter().enumerate() {
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
