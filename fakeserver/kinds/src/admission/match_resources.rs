//! Parts that policies and their bindings share: matched resources, parameters, variables.

use std::collections::BTreeSet;

use fakeserver_cel::names::is_reserved;
use fakeserver_value::{
    edit::{each, set_absent, within},
    field::Field,
    findings::Findings,
    names::{path_segment_problems, service_name_problems, subdomain_problems},
};
use serde_json::{Value, json};

use crate::{
    admission::rules::rule_errors, expression::DeclaredVariables, formats::check_label_selector,
};

/// The policies for a webhook or policy that fails.
pub(super) const FAILURE_POLICIES: [&str; 2] = ["Fail", "Ignore"];

const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];

/// The operations that can be mutated.
const MUTATED_OPERATIONS: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];

/// Sets the defaults of a policy.
pub(super) fn set_policy_defaults(policy: &mut Value) {
    if let Some(spec) = policy.get_mut("spec").filter(|spec| spec.is_object()) {
        set_absent(spec, "failurePolicy", json!("Fail"));
        set_match_defaults(spec, "matchConstraints");
    }
}

/// Sets the defaults of a binding.
pub(super) fn set_binding_defaults(binding: &mut Value) {
    if let Some(spec) = within(binding, "spec") {
        set_match_defaults(spec, "matchResources");
    }
}

fn set_match_defaults(spec: &mut Value, field: &str) {
    let Some(matched) = within(spec, field) else {
        return;
    };
    set_absent(matched, "matchPolicy", json!("Equivalent"));
    set_absent(matched, "namespaceSelector", json!({}));
    set_absent(matched, "objectSelector", json!({}));
    for rules in ["resourceRules", "excludeResourceRules"] {
        for rule in each(matched, rules) {
            set_absent(rule, "scope", json!("*"));
        }
    }
}

/// Returns whether an update changes match conditions, or the variables that they may name.
pub(super) fn must_check_conditions(old: &Field<'_>, new: &Field<'_>) -> bool {
    let differs = |field| old.at("spec").get(field) != new.at("spec").get(field);
    differs("paramKind") || differs("matchConditions")
}

/// Checks the fields that specs of both kinds of policies begin with.
pub(super) fn check_policy_head(spec: &Field<'_>, found: &mut Findings) {
    let failure = spec.at("failurePolicy");
    if failure.is_set() {
        found.optional_one_of(&failure, &FAILURE_POLICIES);
    } else {
        found.required(&failure, "");
    }
    if spec.at("paramKind").is_set() {
        check_param_kind(&spec.at("paramKind"), found);
    }
    let constraints = spec.at("matchConstraints");
    if !constraints.is_set() {
        found.required(&constraints, "");
        return;
    }
    check_match_resources(&constraints, found);
    if constraints.at("resourceRules").is_empty() {
        found.required(&constraints.at("resourceRules"), "");
    }
}

/// Checks the optional rules that select requests.
pub(super) fn check_match_resources(matched: &Field<'_>, found: &mut Findings) {
    if !matched.is_set() {
        return;
    }
    let policy = matched.at("matchPolicy");
    if policy.is_set() {
        found.optional_one_of(&policy, &MATCH_POLICIES);
    } else {
        found.required(&policy, "");
    }
    for name in ["namespaceSelector", "objectSelector"] {
        let selector = matched.at(name);
        if selector.is_set() {
            check_label_selector(&selector, found);
        } else {
            found.required(&selector, "");
        }
    }
    for name in ["resourceRules", "excludeResourceRules"] {
        for rule in matched.at(name).items() {
            check_named_rule(&rule, found);
        }
    }
}

fn check_named_rule(rule: &Field<'_>, found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for name in rule.at("resourceNames").items() {
        found.problems(&name, path_segment_problems(name.text()));
        if !seen.insert(name.text()) {
            found.duplicate(&name);
        }
    }
    found.extend(rule_errors(&rule.path(), rule.value()));
}

/// Checks that rules match no operation that cannot be mutated.
pub(super) fn check_mutated_operations(matched: &Field<'_>, found: &mut Findings) {
    let rules = matched.at("resourceRules");
    for rule in rules.items() {
        for operation in rule.at("operations").items() {
            let named = operation.called_within(&rules, "operations");
            found.optional_one_of(&named, &MUTATED_OPERATIONS);
        }
    }
}

fn check_param_kind(kind: &Field<'_>, found: &mut Findings) {
    let version = kind.at("apiVersion");
    let group_version = version.text();
    let (group, number) = group_version.split_once('/').unwrap_or(("", group_version));
    if group_version.is_empty() {
        found.required(&version, "");
    } else if number.contains('/') {
        let why = format!("unexpected GroupVersion string: {group_version}");
        found.invalid(&version, &why);
    } else {
        let problems = subdomain_problems(group);
        if !group.is_empty() && !problems.is_empty() {
            found.invalid_as(&version, &json!(group), &problems.join(","));
        }
        let problems = service_name_problems(number);
        if number.is_empty() {
            found.invalid(&version, "version must be specified");
        } else if !problems.is_empty() {
            found.invalid_as(&version, &json!(number), &problems.join(","));
        }
    }
    let name = kind.at("kind");
    let problems = service_name_problems(&name.text().to_lowercase());
    if !name.has_text() {
        found.required(&name, "");
    } else if !problems.is_empty() {
        let why = format!(
            "may have mixed case, but should otherwise match: {}",
            problems.join(",")
        );
        found.invalid(&name, &why);
    }
}

/// Checks the spec of a binding, as far as both kinds of bindings have it.
pub(super) fn check_binding_spec(spec: &Field<'_>, found: &mut Findings) {
    let policy = spec.at("policyName");
    if policy.has_text() {
        found.problems(&policy, subdomain_problems(policy.text()));
    } else {
        found.required(&policy, "");
    }
    if spec.at("paramRef").is_set() {
        check_param_ref(&spec.at("paramRef"), found);
    }
    check_match_resources(&spec.at("matchResources"), found);
}

fn check_param_ref(reference: &Field<'_>, found: &mut Findings) {
    const EXCLUSIVE: &str = "name and selector are mutually exclusive";
    let (name, selector) = (reference.at("name"), reference.at("selector"));
    if name.has_text() {
        found.problems(&name, path_segment_problems(name.text()));
        if selector.is_set() {
            found.forbidden(&name, EXCLUSIVE);
        }
    }
    check_label_selector(&selector, found);
    if selector.is_set() && name.has_text() {
        found.forbidden(&selector, EXCLUSIVE);
    }
    if !selector.is_set() && !name.has_text() {
        found.required(reference, "one of name or selector must be specified");
    }
    found.one_of(&reference.at("parameterNotFoundAction"), &["Deny", "Allow"]);
}

/// Checks the variables that expressions of a policy are composed of.
pub(super) fn check_variables(
    variables: &Field<'_>,
    declared: &mut DeclaredVariables,
    found: &mut Findings,
) {
    for variable in variables.items() {
        let (name, expression) = (variable.at("name"), variable.at("expression"));
        if name.text().trim().is_empty() {
            found.required(&name, "name is not specified");
        } else if !is_identifier(name.text()) {
            found.invalid(&name, "must be a valid CEL identifier");
        }
        if expression.text().trim().is_empty() {
            found.required(&expression, "expression is not specified");
        } else {
            let path = expression.path();
            let error = declared.variable_error(name.text(), &path, expression.text());
            found.extend(error.into_iter().collect());
        }
    }
}

/// Checks an expression that has to evaluate to one of the types.
pub(super) fn check_expression(
    expression: &Field<'_>,
    declared: &DeclaredVariables,
    types: &[&str],
    found: &mut Findings,
) {
    let (path, text) = (expression.path(), expression.text());
    let error = declared.error(&path, text, text, types);
    found.extend(error.into_iter().collect());
}

fn is_identifier(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_part)
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && !is_reserved(name)
}
