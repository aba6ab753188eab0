//! Completeness of structural schemas: every field that an alternative restricts is declared beside it.

use fakeserver_value::status::FieldError;
use serde_json::Value;

/// Adds an error for each part that only an alternative of `schema` mentions.
pub(super) fn completeness_errors(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    check_values(schema, schema, path, path, errors);
}

fn check_values(
    restricting: &Value,
    declared: &Value,
    declared_path: &str,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    let not = &restricting["not"];
    check_nested(not, declared, declared_path, &format!("{path}.not"), errors);
    for list in ["allOf", "anyOf", "oneOf"] {
        let branches = restricting[list].as_array().into_iter().flatten();
        for (index, branch) in branches.enumerate() {
            let path = format!("{path}.{list}[{index}]");
            check_nested(branch, declared, declared_path, &path, errors);
        }
    }
}

fn check_nested(
    branch: &Value,
    declared: &Value,
    declared_path: &str,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    if !branch.is_object() {
        return;
    }
    if !declared.is_object() {
        let detail = format!("because it is defined in {path}");
        return errors.push(FieldError::required(declared_path, &detail));
    }
    check_values(branch, declared, declared_path, path, errors);
    check_nested(
        &branch["items"],
        &declared["items"],
        &format!("{declared_path}.items"),
        &format!("{path}.items"),
        errors,
    );
    for (name, property) in branch["properties"].as_object().into_iter().flatten() {
        let declared_path = format!("{declared_path}.properties[{name}]");
        let path = format!("{path}.properties[{name}]");
        check_nested(
            property,
            &declared["properties"][name.as_str()],
            &declared_path,
            &path,
            errors,
        );
    }
}
