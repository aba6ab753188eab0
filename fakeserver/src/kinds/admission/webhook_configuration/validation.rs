//! Validation of webhook configurations.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::kinds::admission::match_conditions::expression_problem;
use crate::{
    kinds::{Validation, client_config::client_config_errors},
    value::{
        names::{qualified_name_problems, subdomain_problems},
        status::FieldError,
    },
};

/// The versions of reviews that this server speaks.
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];
/// The maximum number of a webhook's match conditions.
const CONDITIONS_MAX: usize = 64;

/// The checks of both kinds of webhook configurations.
pub(crate) const VALIDATION: Validation = Validation::new(
    |configuration, found| found.extend(configuration_errors(configuration.value())),
    |_, configuration, found| found.extend(configuration_errors(configuration.value())),
);

/// Lists what is wrong with the webhooks of a configuration that has its defaults.
fn configuration_errors(configuration: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut names = BTreeSet::new();
    for (index, webhook) in items(&configuration["webhooks"]).enumerate() {
        let path = format!("webhooks[{index}]");
        errors.extend(webhook_errors(&path, webhook));
        errors.extend(version_errors(
            &format!("{path}.admissionReviewVersions"),
            &webhook["admissionReviewVersions"],
        ));
        let name = text(&webhook["name"]);
        if !name.is_empty() && !names.insert(name) {
            errors.push(FieldError::duplicate(format!("{path}.name"), &json!(name)));
        }
    }
    errors
}

fn webhook_errors(path: &str, webhook: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    errors.extend(name_error(&format!("{path}.name"), text(&webhook["name"])));
    for (index, rule) in items(&webhook["rules"]).enumerate() {
        errors.extend(rule_errors(&format!("{path}.rules[{index}]"), rule));
    }
    let choices: [(&str, &[&str]); 3] = [
        ("failurePolicy", &["Fail", "Ignore"]),
        ("matchPolicy", &["Equivalent", "Exact"]),
        ("sideEffects", &["None", "NoneOnDryRun"]),
    ];
    for (field, choices) in choices {
        let said = &webhook[field];
        let path = format!("{path}.{field}");
        if said.is_null() && field == "sideEffects" {
            let detail = format!("must specify one of {}", choices.join(", "));
            errors.push(FieldError::required(path, &detail));
        } else if !said.is_null() && !choices.contains(&text(said)) {
            errors.push(FieldError::not_supported(path, said, choices));
        }
    }
    if let Some(seconds) = webhook["timeoutSeconds"].as_i64()
        && !(1..=30).contains(&seconds)
    {
        errors.push(FieldError::invalid(
            format!("{path}.timeoutSeconds"),
            &json!(seconds),
            "the timeout value must be between 1 and 30 seconds",
        ));
    }
    let reinvocation = &webhook["reinvocationPolicy"];
    let policies = ["IfNeeded", "Never"];
    if !reinvocation.is_null() && !policies.contains(&text(reinvocation)) {
        errors.push(FieldError::not_supported(
            format!("{path}.reinvocationPolicy"),
            reinvocation,
            &policies,
        ));
    }
    errors.extend(client_config_errors(
        &format!("{path}.clientConfig"),
        &webhook["clientConfig"],
    ));
    errors.extend(condition_errors(
        &format!("{path}.matchConditions"),
        &webhook["matchConditions"],
    ));
    errors
}

fn name_error(path: &str, name: &str) -> Option<FieldError> {
    if name.is_empty() {
        return Some(FieldError::required(path, ""));
    }
    let problems = subdomain_problems(name);
    let why = if !problems.is_empty() {
        problems.join(",")
    } else if name.split('.').count() < 3 {
        "should be a domain with at least three segments separated by dots".to_owned()
    } else {
        return None;
    };
    Some(FieldError::invalid(path, &json!(name), &why))
}

fn rule_errors(path: &str, rule: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    let lists = [
        ("operations", "operations"),
        ("apiGroups", "API groups"),
        ("apiVersions", "API versions"),
    ];
    for (field, called) in lists {
        let said = &rule[field];
        let path = format!("{path}.{field}");
        let count = items(said).count();
        if count == 0 {
            errors.push(FieldError::required(&path, ""));
        }
        if count > 1 && items(said).any(|item| item == "*") {
            let why = format!("if '*' is present, must not specify other {called}");
            errors.push(FieldError::invalid(&path, said, &why));
        }
        for (index, item) in items(said).enumerate() {
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
    if items(resources).next().is_none() {
        errors.push(FieldError::required(path, ""));
    }
    let (mut wild_below, mut wild_of) = (BTreeSet::new(), BTreeSet::new());
    for (index, resource) in items(resources).enumerate() {
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
    let has = |name: &str| items(resources).any(|resource| resource == name);
    if items(resources).count() > 1 && has("*/*") {
        let why = "if '*/*' is present, must not specify other resources";
        errors.push(FieldError::invalid(path, resources, why));
    }
    let is_plain = |name: &str| !name.contains('/') && name != "*";
    if has("*") && items(resources).any(|resource| is_plain(text(resource))) {
        let why = "if '*' is present, must not specify other resources without subresources";
        errors.push(FieldError::invalid(path, resources, why));
    }
    errors
}

fn version_errors(path: &str, versions: &Value) -> Vec<FieldError> {
    let known = REVIEW_VERSIONS.join(", ");
    if items(versions).next().is_none() {
        let detail = format!("must specify one of {known}");
        return vec![FieldError::required(path, &detail)];
    }
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, version) in items(versions).enumerate() {
        if !seen.insert(text(version)) {
            let path = format!("{path}[{index}]");
            errors.push(FieldError::invalid(path, version, "duplicate version"));
        }
    }
    if !items(versions).any(|version| REVIEW_VERSIONS.contains(&text(version))) {
        let why = format!("must include at least one of {known}");
        errors.push(FieldError::invalid(path, versions, &why));
    }
    errors
}

fn condition_errors(path: &str, conditions: &Value) -> Vec<FieldError> {
    let count = items(conditions).count();
    if count > CONDITIONS_MAX {
        return vec![FieldError::too_many(
            path,
            count as u64,
            CONDITIONS_MAX as u64,
        )];
    }
    let mut errors = Vec::new();
    let mut names = BTreeSet::new();
    for (index, condition) in items(conditions).enumerate() {
        let path = format!("{path}[{index}]");
        let (name, expression) = (text(&condition["name"]), text(&condition["expression"]));
        if expression.trim().is_empty() {
            errors.push(FieldError::required(format!("{path}.expression"), ""));
        } else if let Some(why) = expression_problem(expression) {
            errors.push(FieldError::invalid(
                format!("{path}.expression"),
                &json!(expression),
                &format!("compilation failed: {why}"),
            ));
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
