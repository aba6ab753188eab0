//! Validating admission policies.

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, findings::Findings, names::qualified_name_problems};
use serde_json::json;

use crate::{
    Habits, Kind, MetadataRechecks, PreservedMetadata, Validation,
    admission::{
        cells,
        conditions::condition_errors,
        match_resources::{
            check_expression, check_policy_head, check_variables, must_check_conditions,
            set_policy_defaults,
        },
    },
    expression::DeclaredVariables,
    formats::check_conditions,
};

const ANNOTATIONS_MAX: usize = 20;
const VALUE_EXPRESSION_MAX_BYTES: usize = 5 << 10;
const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

/// Validating admission policies.
pub static KIND: Kind = Kind::new(
    "admissionregistration.k8s.io",
    "validatingadmissionpolicies",
)
.habits(Habits {
    has_generation: true,
    requires_version: true,
    is_exempt_from_webhooks: true,
    metadata_rechecks: MetadataRechecks::WHOLE,
    kept_by_status: PreservedMetadata::ALL,
    checks_finalizers: false,
    ..Habits::COMMON
})
.defaults(set_policy_defaults)
.cells(cells::validating_policy)
.validation(
    Validation::new(
        |policy, found| check(policy, true, found),
        |old, policy, found| check(policy, must_check_conditions(old, policy), found),
    )
    .with(&[("status", |_, policy, found| check_status(policy, found))]),
);

fn check(policy: &Field<'_>, checks_conditions: bool, found: &mut Findings) {
    let spec = policy.at("spec");
    check_policy_head(&spec, found);
    let has_params = spec.at("paramKind").is_set();
    if checks_conditions {
        let conditions = spec.at("matchConditions");
        found.extend(condition_errors(
            &conditions.path(),
            conditions.value(),
            has_params,
        ));
    }
    let mut declared = DeclaredVariables::new(has_params);
    if !spec.at("variables").is_empty() {
        declared = declared.with_variables();
    }
    check_variables(&spec.at("variables"), &mut declared, found);
    let (validations, annotations) = (spec.at("validations"), spec.at("auditAnnotations"));
    if validations.is_empty() && annotations.is_empty() {
        let why = "validations or auditAnnotations must contain at least one item";
        found.required(&validations, why);
        found.required(&annotations, why);
        return;
    }
    for validation in validations.items() {
        check_validation(&validation, &declared, found);
    }
    check_annotations(policy, &annotations, &declared, found);
}

fn check_validation(validation: &Field<'_>, declared: &DeclaredVariables, found: &mut Findings) {
    const NOT_EMPTY: &str = "must be non-empty if specified";
    let expression = validation.at("expression");
    if expression.text().trim().is_empty() {
        found.required(&expression, "expression is not specified");
    } else {
        check_expression(&expression, declared, &["bool"], found);
    }
    let message = validation.at("messageExpression");
    if message.has_text() && message.text().trim().is_empty() {
        found.invalid(&message, NOT_EMPTY);
    } else if message.has_text() {
        let declared = declared.clone().without_authorizer();
        check_expression(&message, &declared, &["string"], found);
    }
    let message = validation.at("message");
    if message.has_text() && message.text().trim().is_empty() {
        found.invalid(&message, NOT_EMPTY);
    } else if message.text().trim().contains(['\n', '\r']) {
        found.invalid(&message, "must not contain line breaks");
    }
    found.optional_one_of(&validation.at("reason"), &REASONS);
}

fn check_annotations(
    policy: &Field<'_>,
    annotations: &Field<'_>,
    declared: &DeclaredVariables,
    found: &mut Findings,
) {
    if annotations.len() > ANNOTATIONS_MAX {
        let why = format!("must not have more than {ANNOTATIONS_MAX} auditAnnotations");
        found.invalid(annotations, &why);
    }
    let name = policy.at("metadata").at("name");
    let mut seen = BTreeSet::new();
    for annotation in annotations.items() {
        let key = annotation.at("key");
        if name.has_text() {
            let full = format!("{}/{}", name.text(), key.text());
            for problem in qualified_name_problems(&full) {
                found.invalid_as(&key, &json!(full), &problem);
            }
        } else {
            let why = "requires metadata.name be non-empty";
            found.invalid_as(&key, &json!(key.text()), why);
        }
        let expression = annotation.at("valueExpression");
        let trimmed = expression.text().trim();
        if trimmed.is_empty() {
            found.required(&expression, "valueExpression is not specified");
        } else if trimmed.len() > VALUE_EXPRESSION_MAX_BYTES {
            let why = format!("must not exceed {VALUE_EXPRESSION_MAX_BYTES} bytes in length");
            found.required(&expression, &why);
        } else {
            let (path, printed) = (expression.path(), expression.text());
            let error = declared.error(&path, printed, trimmed, &["string", "null_type"]);
            found.extend(error.into_iter().collect());
        }
        if !seen.insert(key.text()) {
            found.duplicate_as(&key, &json!(key.text()));
        }
    }
}

fn check_status(policy: &Field<'_>, found: &mut Findings) {
    let status = policy.at("status");
    for warning in status.at("typeChecking").at("expressionWarnings").items() {
        if !warning.at("warning").has_text() {
            found.required(&warning.at("warning"), "");
        }
        if warning.at("fieldRef").text().trim().is_empty() {
            found.required(&warning.at("fieldRef"), "");
        }
    }
    check_conditions(&status.at("conditions"), found);
}
