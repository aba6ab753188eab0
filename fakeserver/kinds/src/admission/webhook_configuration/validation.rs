//! Validation of webhook configurations.

use std::collections::BTreeSet;

use fakeserver_value::{
    field::Field,
    findings::Findings,
    names::{service_name_problems, subdomain_problems},
    read::{items, text},
    status::FieldError,
};
use serde_json::{Value, json};

use crate::{
    Validation,
    admission::{conditions::condition_errors, rules::rule_errors},
    client_config::client_config_errors,
    formats::check_label_selector,
};

/// The versions of reviews that this server speaks.
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];
/// The checks of both kinds of webhook configurations.
pub(super) const VALIDATION: Validation = Validation::new(
    |configuration, found| found.extend(configuration_errors(configuration.value())),
    |_, configuration, found| found.extend(configuration_errors(configuration.value())),
);

/// Lists the errors of the webhooks of a configuration that has its defaults.
fn configuration_errors(configuration: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut names = BTreeSet::new();
    for (index, webhook) in items(&configuration["webhooks"]).iter().enumerate() {
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
    for (index, rule) in items(&webhook["rules"]).iter().enumerate() {
        errors.extend(rule_errors(&format!("{path}.rules[{index}]"), rule));
    }
    let choices: [(&str, &[&str]); 3] = [
        ("failurePolicy", &["Fail", "Ignore"]),
        ("matchPolicy", &["Equivalent", "Exact"]),
        ("sideEffects", &["None", "NoneOnDryRun"]),
    ];
    for (field, choices) in choices {
        let choice = &webhook[field];
        let path = format!("{path}.{field}");
        if choice.is_null() && field == "sideEffects" {
            let detail = format!("must specify one of {}", choices.join(", "));
            errors.push(FieldError::required(path, &detail));
        } else if !choice.is_null() && !choices.contains(&text(choice)) {
            errors.push(FieldError::not_supported(path, choice, choices));
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
    let mut found = Findings::default();
    let place = Field::root(webhook);
    for selector in ["namespaceSelector", "objectSelector"] {
        check_label_selector(&place.at(selector), &mut found);
    }
    errors.extend(found.into_errors().into_iter().map(|mut error| {
        error.field = format!("{path}.{}", error.field);
        error
    }));
    errors.extend(client_config_errors(
        &format!("{path}.clientConfig"),
        &webhook["clientConfig"],
    ));
    errors.extend(condition_errors(
        &format!("{path}.matchConditions"),
        &webhook["matchConditions"],
        false,
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

fn version_errors(path: &str, versions: &Value) -> Vec<FieldError> {
    let supported = REVIEW_VERSIONS.join(", ");
    if items(versions).is_empty() {
        let detail = format!("must specify one of {supported}");
        return vec![FieldError::required(path, &detail)];
    }
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, version) in items(versions).iter().enumerate() {
        if !seen.insert(text(version)) {
            let path = format!("{path}[{index}]");
            errors.push(FieldError::invalid(path, version, "duplicate version"));
            continue;
        }
        for problem in service_name_problems(text(version)) {
            let path = format!("{path}[{index}]");
            errors.push(FieldError::invalid(path, &json!(text(version)), &problem));
        }
    }
    if !items(versions)
        .iter()
        .any(|version| REVIEW_VERSIONS.contains(&text(version)))
    {
        let why = format!("must include at least one of {supported}");
        errors.push(FieldError::invalid(path, versions, &why));
    }
    errors
}
