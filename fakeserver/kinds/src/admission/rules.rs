//! Rules of webhooks and policies: the operations and resources that they match.

use std::collections::BTreeSet;

use fakeserver_value::{
    read::{items, text},
    status::FieldError,
};
use serde_json::Value;

/// Lists the errors of a rule that has its defaults.
pub(super) fn rule_errors(path: &str, rule: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    let lists = [
        ("operations", "operations"),
        ("apiGroups", "API groups"),
        ("apiVersions", "API versions"),
    ];
    for (field, called) in lists {
        let values = &rule[field];
        let path = format!("{path}.{field}");
        let count = items(values).len();
        if count == 0 {
            errors.push(FieldError::required(&path, ""));
        }
        if count > 1 && items(values).iter().any(|item| item == "*") {
            let why = format!("if '*' is present, must not specify other {called}");
            errors.push(FieldError::invalid(&path, values, &why));
        }
        for (index, item) in items(values).iter().enumerate() {
            let path = format!("{path}[{index}]");
            match field {
                "operations" if !operations.contains(&text(item)) => {
                    errors.push(FieldError::not_supported(path, item, &operations));
                }
                "apiVersions" if text(item).is_empty() => {
                    errors.push(FieldError::required(path, ""));
                }
                _ => {}
            }
        }
    }
    errors.extend(resource_errors(
        &format!("{path}.resources"),
        &rule["resources"],
    ));
    let scopes = ["*", "Cluster", "Namespaced"];
    let scope = &rule["scope"];
    if !scope.is_null() && !scopes.contains(&text(scope)) {
        let path = format!("{path}.scope");
        errors.push(FieldError::not_supported(path, scope, &scopes));
    }
    errors
}

fn resource_errors(path: &str, resources: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if items(resources).is_empty() {
        errors.push(FieldError::required(path, ""));
    }
    let (mut wild_below, mut wild_of) = (BTreeSet::new(), BTreeSet::new());
    for (index, resource) in items(resources).iter().enumerate() {
        let path = format!("{path}[{index}]");
        let named = text(resource);
        if named.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        let Some((of, below)) = named.split_once('/') else {
            continue;
        };
        if wild_below.contains(of) {
            let why = format!("if '{of}/*' is present, must not specify {named}");
            errors.push(FieldError::invalid(&path, resource, &why));
        }
        if wild_of.contains(below) {
            let why = format!("if '*/{below}' is present, must not specify {named}");
            errors.push(FieldError::invalid(&path, resource, &why));
        }
        if below == "*" {
            wild_below.insert(of);
        }
        if of == "*" {
            wild_of.insert(below);
        }
    }
    let has = |name: &str| items(resources).iter().any(|resource| resource == name);
    if items(resources).len() > 1 && has("*/*") {
        let why = "if '*/*' is present, must not specify other resources";
        errors.push(FieldError::invalid(path, resources, why));
    }
    // A real server remembers the last resource without a subresource only.
    let mut plain = items(resources)
        .iter()
        .map(text)
        .filter(|name| !name.is_empty() && !name.contains('/'));
    if has("*") && plain.next_back().is_some_and(|name| name != "*") {
        let why = "if '*' is present, must not specify other resources without subresources";
        errors.push(FieldError::invalid(path, resources, why));
    }
    errors
}
