//! Validation of affinity, tolerations, scheduling gates and topology spread.

use std::collections::BTreeSet;

use fakeserver_value::{
    field::Field,
    findings::Findings,
    names::{dns_label_problems, label_value_problems},
};
use serde_json::json;

use crate::formats::{check_label_selector, check_qualified, check_subdomain};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

const WEIGHTS: &str = "must be in the range 1-100";

const OPERATOR: &str = "not a valid selector operator";

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

pub fn check_affinity(affinity: &Field<'_>, found: &mut Findings) {
    let nodes = affinity.at("nodeAffinity");
    if nodes.at(REQUIRED).is_set() {
        check_node_selector(&nodes.at(REQUIRED), found);
    }
    for term in nodes.at(PREFERRED).items() {
        check_weight(&term, found);
        check_node_term(&term.at("preference"), found);
    }
    for name in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.at(name);
        for term in pods.at(REQUIRED).items() {
            check_pod_term(&term, found);
        }
        for term in pods.at(PREFERRED).items() {
            check_weight(&term, found);
            check_pod_term(&term.at("podAffinityTerm"), found);
        }
    }
}

fn check_weight(term: &Field<'_>, found: &mut Findings) {
    let weight = term.at("weight");
    if !(1..=100).contains(&weight.number()) {
        found.invalid_as(&weight, &weight.number().into(), WEIGHTS);
    }
}

/// A selector of nodes, which is some terms.
pub fn check_node_selector(selector: &Field<'_>, found: &mut Findings) {
    let terms = selector.at("nodeSelectorTerms");
    if terms.is_empty() {
        found.required(&terms, "must have at least one node selector term");
    }
    for term in terms.items() {
        check_node_term(&term, found);
    }
}

fn check_node_term(term: &Field<'_>, found: &mut Findings) {
    for requirement in term.at("matchExpressions").items() {
        let (operator, values) = (requirement.at("operator"), requirement.at("values"));
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => found.required(
                &values,
                "must be specified when `operator` is 'In' or 'NotIn'",
            ),
            "Exists" | "DoesNotExist" if !values.is_empty() => found.forbidden(
                &values,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
            "Gt" | "Lt" if values.len() != 1 => found.required(
                &values,
                "must be specified single value when `operator` is 'Lt' or 'Gt'",
            ),
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            _ => found.invalid(&operator, OPERATOR),
        }
        check_qualified(&requirement.at("key"), found);
    }
    for requirement in term.at("matchFields").items() {
        let (operator, values) = (requirement.at("operator"), requirement.at("values"));
        match operator.text() {
            "In" | "NotIn" if values.len() != 1 => found.required(
                &values,
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
            ),
            "In" | "NotIn" => {}
            _ => found.invalid(&operator, OPERATOR),
        }
        let key = requirement.at("key");
        if key.text() != "metadata.name" {
            found.invalid(&key, "not a valid field selector key");
            continue;
        }
        for value in values.items() {
            check_subdomain(&value, found);
        }
    }
}

fn check_pod_term(term: &Field<'_>, found: &mut Findings) {
    check_label_selector(&term.at("labelSelector"), found);
    check_label_selector(&term.at("namespaceSelector"), found);
    for namespace in term.at("namespaces").items() {
        for problem in dns_label_problems(namespace.text()) {
            let field = namespace.called_within(term, "namespace");
            found.invalid(&field, &problem);
        }
    }
    let key = term.at("topologyKey");
    if !key.has_text() {
        found.required(&key, "can not be empty");
    }
    for problem in fakeserver_value::names::qualified_name_problems(key.text()) {
        found.invalid_as(&key, &json!(key.text()), &problem);
    }
}

pub fn check_tolerations(tolerations: &Field<'_>, found: &mut Findings) {
    for toleration in tolerations.items() {
        let (key, operator) = (toleration.at("key"), toleration.at("operator"));
        let (effect, value) = (toleration.at("effect"), toleration.at("value"));
        if key.has_text() {
            check_qualified(&key, found);
        } else if operator.text() != "Exists" {
            found.invalid_as(
                &operator,
                &json!(operator.text()),
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
            );
        }
        if toleration.at("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
            found.invalid_as(
                &effect,
                &json!(effect.text()),
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            );
        }
        match operator.text() {
            "" | "Equal" => {
                let problems = label_value_problems(value.text());
                if !problems.is_empty() {
                    found.invalid(&value.called_at(&operator), &problems.join(";"));
                }
            }
            "Exists" if value.has_text() => found.invalid(
                &value.called_at(&operator),
                "value must be empty when `operator` is 'Exists'",
            ),
            "Exists" => {}
            "Lt" | "Gt" if found.is_on("NumericTolerationOperatorsListed") => {
                found.not_supported(&operator, &["Equal", "Exists", "Lt", "Gt"]);
            }
            _ => found.not_supported(&operator, &["Equal", "Exists"]),
        }
        if effect.has_text() && !EFFECTS.contains(&effect.text()) {
            found.not_supported(&effect, &EFFECTS);
        }
    }
}

pub fn check_gates(gates: &Field<'_>, found: &mut Findings) {
    let mut names = BTreeSet::new();
    for gate in gates.items() {
        let name = gate.at("name").called_at(&gate);
        check_qualified(&name, found);
        if !names.insert(name.text()) {
            found.duplicate(&name);
        }
    }
}

pub fn check_spread(constraints: &Field<'_>, found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for constraint in constraints.items() {
        let (skew, key) = (constraint.at("maxSkew"), constraint.at("topologyKey"));
        let action = constraint.at("whenUnsatisfiable");
        if skew.number() <= 0 {
            found.invalid_as(&skew, &skew.number().into(), "must be greater than zero");
        }
        if !key.has_text() {
            found.required(&key, "can not be empty");
        }
        if !matches!(action.text(), "DoNotSchedule" | "ScheduleAnyway") {
            found.not_supported(&action, &["DoNotSchedule", "ScheduleAnyway"]);
        }
        let pair = format!("{{{}, {}}}", key.text(), action.text());
        if !seen.insert(pair.clone()) {
            let place = constraint.at("{topologyKey, whenUnsatisfiable}");
            found.duplicate_as(&place, &json!(pair));
        }
        let domains = constraint.at("minDomains");
        if domains.is_set() && domains.number() <= 0 {
            found.invalid(&domains, "must be greater than zero");
        }
        if domains.is_set() && action.text() != "DoNotSchedule" {
            found.invalid(
                &domains,
                &format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                    action.text()
                ),
            );
        }
        for name in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            found.optional_one_of(&constraint.at(name), &["Honor", "Ignore"]);
        }
        check_label_selector(&constraint.at("labelSelector"), found);
    }
}
