//! Resource quotas.

use std::collections::BTreeSet;

use fakeserver_value::{edit::within, field::Field, findings::Findings};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, Validation,
    resource_names::{check_resource, check_resource_amount, is_of_quotas, round_amounts},
    table::cell::{Cells, age, name, plain},
};

const SELECTOR_DEFINITION: &str = "io.k8s.api.core.v1.ScopeSelector";

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];

/// The resources that scopes of pods apply to.
const POD_RESOURCES: [&str; 7] = [
    "pods",
    "cpu",
    "memory",
    "limits.cpu",
    "limits.memory",
    "requests.cpu",
    "requests.memory",
];

const EXISTS_ONLY: &str = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
    ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or \
    ResourceQuotaScopeCrossNamespacePodAffinity";

/// Resource quotas.
pub static KIND: Kind = Kind::new("", "resourcequotas")
    .habits(Habits {
        returns_deleted: true,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update).with(&[("status", check_status)]))
    .cells(cells);

// === Defaults ===

/// Rounds amounts up to thousandths.
pub fn set_defaults(quota: &mut Value) {
    for (part, lists) in [("spec", &["hard"][..]), ("status", &["hard", "used"])] {
        for list in lists {
            if let Some(amounts) = within(quota, part).and_then(|part| within(part, list)) {
                round_amounts(amounts);
            }
        }
    }
}

// === Validation ===

pub fn check(quota: &Field<'_>, found: &mut Findings) {
    let spec = quota.at("spec");
    check_amounts(&spec.at("hard"), found);
    check_scopes(&spec, found);
    check_scope_selector(&spec, found);
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let scopes = |quota: &Field<'_>| -> BTreeSet<String> {
        let scopes = quota.at("spec").at("scopes");
        scopes
            .items()
            .map(|scope| scope.text().to_owned())
            .collect()
    };
    if scopes(old) != scopes(new) {
        found.invalid(&new.at("spec").at("scopes"), "field is immutable");
    }
}

/// Checks an update of the status.
pub fn check_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    for amounts in ["hard", "used"] {
        check_amounts(&new.at("status").at(amounts), found);
    }
}

fn check_amounts(amounts: &Field<'_>, found: &mut Findings) {
    for (resource, amount) in amounts.entries() {
        check_resource(resource, &amount, found);
        if !resource.contains('/') && !is_of_quotas(resource) {
            let why = "must be a standard resource for quota";
            found.invalid_as(&amount, &resource.into(), why);
        }
        check_resource_amount(resource, &amount, found);
    }
}

fn check_scopes(spec: &Field<'_>, found: &mut Findings) {
    let scopes = spec.at("scopes");
    for scope in scopes.items() {
        if !SCOPES.contains(&scope.text()) {
            found.invalid(&scopes, "unsupported scope");
        }
        for _ in uncovered(scope.text(), spec) {
            found.invalid(&scopes, "unsupported scope applied to resource");
        }
    }
    let named = scopes.items().map(|scope| scope.text().to_owned());
    check_conflicts(&named.collect(), &scopes, &scopes, found);
}

fn check_scope_selector(spec: &Field<'_>, found: &mut Findings) {
    let selector = spec.at("scopeSelector");
    let requirements = selector.at("matchExpressions");
    let mut named = BTreeSet::new();
    for requirement in requirements.items() {
        let place = |name: &'static str| requirement.at(name).called_within(&requirements, name);
        let (scope, operator, values) = (place("scopeName"), place("operator"), place("values"));
        if !SCOPES.contains(&scope.text()) {
            found.invalid_text(&scope, "unsupported scope");
        }
        for _ in uncovered(scope.text(), spec) {
            found.invalid_struct(
                &selector.called_at(&requirements),
                SELECTOR_DEFINITION,
                "unsupported scope applied to resource",
            );
        }
        let exists_only = !matches!(scope.text(), "PriorityClass" | "VolumeAttributesClass");
        if SCOPES.contains(&scope.text()) && exists_only && operator.text() != "Exists" {
            found.invalid_text(&operator, EXISTS_ONLY);
        }
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => found.required(
                &values,
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            ),
            "Exists" | "DoesNotExist" if !values.is_empty() => found.invalid(
                &values,
                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
            ),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => found.invalid_text(&operator, "not a valid selector operator"),
        }
        named.insert(scope.text().to_owned());
    }
    check_conflicts(&named, &spec.at("scopes"), &requirements, found);
}

/// Checks that a quota does not name a scope and its opposite.
fn check_conflicts(
    named: &BTreeSet<String>,
    scopes: &Field<'_>,
    place: &Field<'_>,
    found: &mut Findings,
) {
    for (scope, opposite) in [
        ("BestEffort", "NotBestEffort"),
        ("Terminating", "NotTerminating"),
    ] {
        if named.contains(scope) && named.contains(opposite) {
            found.invalid_as(place, scopes.value(), "conflicting scopes");
        }
    }
}

/// Lists the resources of a quota that a scope cannot apply to.
fn uncovered<'a>(scope: &str, spec: &Field<'a>) -> Vec<&'a str> {
    let covers = |resource: &str| match scope {
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => POD_RESOURCES.contains(&resource),
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => {
            matches!(resource, "persistentvolumeclaims" | "requests.storage")
        }
        _ => true,
    };
    let resources = spec.at("hard").entries().map(|(resource, _)| resource);
    resources
        .filter(|resource| is_of_quotas(resource) && !covers(resource))
        .collect()
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let (hard, used) = (&object["status"]["hard"], &object["status"]["used"]);
    let mut requests = Vec::new();
    let mut limits = Vec::new();
    for (resource, most) in hard.as_object().into_iter().flatten() {
        let now = match &used[resource] {
            Value::Null => "0".to_owned(),
            used => plain(used),
        };
        let line = format!("{resource}: {now}/{}", plain(most));
        if resource.starts_with("limits.") {
            limits.push(line);
        } else {
            requests.push(line);
        }
    }
    vec![
        json!(name(object)),
        json!(requests.join(", ")),
        json!(limits.join(", ")),
        json!(age(object, now)),
    ]
}
