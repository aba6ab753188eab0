//! Validation of limit ranges.

use std::collections::BTreeSet;

use fakeserver_value::{
    field::Field, findings::Findings, names::qualified_name_problems, schema::Quantity,
};
use serde_json::json;

use crate::resource_names::{can_overcommit, check_container_resource, check_resource};

const TYPES: [&str; 3] = ["Container", "PersistentVolumeClaim", "Pod"];

/// The amounts that a limit sets for a resource.
pub(super) const AMOUNTS: [&str; 5] = [
    "max",
    "min",
    "default",
    "defaultRequest",
    "maxLimitRequestRatio",
];

/// Which amount may not be below which, the finding at the first or the second of them, and the words for both.
const ORDER: [(&str, &str, FindingTarget, &str, &str); 6] = [
    ("max", "min", FindingTarget::Low, "min value", "max value"),
    (
        "defaultRequest",
        "min",
        FindingTarget::High,
        "min value",
        "default request value",
    ),
    (
        "max",
        "defaultRequest",
        FindingTarget::Low,
        "default request value",
        "max value",
    ),
    (
        "default",
        "defaultRequest",
        FindingTarget::Low,
        "default request value",
        "default limit value",
    ),
    (
        "default",
        "min",
        FindingTarget::HighShowingLow,
        "min value",
        "default value",
    ),
    (
        "max",
        "default",
        FindingTarget::LowShowingHigh,
        "default value",
        "max value",
    ),
];

/// The place of a finding about an amount that is above another, and the amount that it shows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum FindingTarget {
    Low,
    High,
    HighShowingLow,
    LowShowingHigh,
}

pub(super) fn check(range: &Field<'_>, found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for limit in range.at("spec").at("limits").items() {
        let kind = limit.at("type");
        let problems = qualified_name_problems(kind.text());
        let is_known = kind.text().contains('/') || TYPES.contains(&kind.text());
        if problems.is_empty() && !is_known {
            found.invalid(&kind, "must be a standard limit type or fully qualified");
        }
        found.problems(&kind, problems);
        if !seen.insert(kind.text()) {
            found.duplicate_as(&kind, &json!(kind.text()));
        }
        check_names(&limit, found);
        check_amounts(&limit, found);
    }
}

pub(super) fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
}

/// Checks the names of the resources of a limit.
fn check_names(limit: &Field<'_>, found: &mut Findings) {
    let kind = limit.at("type");
    let is_of_containers = matches!(kind.text(), "Pod" | "Container");
    for field in AMOUNTS {
        if kind.text() == "Pod" && field.starts_with("default") {
            continue;
        }
        for (name, place) in limit.at(field).entries() {
            if is_of_containers {
                check_container_resource(name, &place, found);
            } else {
                check_resource(name, &place, found);
            }
        }
    }
}

fn check_amounts(limit: &Field<'_>, found: &mut Findings) {
    match limit.at("type").text() {
        "Pod" => {
            for field in ["default", "defaultRequest"] {
                if !limit.at(field).is_empty() {
                    found.forbidden(
                        &limit.at(field),
                        "may not be specified when `type` is 'Pod'",
                    );
                }
            }
        }
        "PersistentVolumeClaim" => {
            let says = |field: &'static str| limit.at(field).key("storage").is_set();
            if !says("min") && !says("max") {
                found.required(
                    &limit.at("limits"),
                    "either minimum or maximum storage value is required, but neither was provided",
                );
            }
        }
        _ => {}
    }
    let resources: BTreeSet<&str> = AMOUNTS
        .iter()
        .flat_map(|field| limit.at(field).entries().map(|(resource, _)| resource))
        .collect();
    for resource in resources {
        check_order(limit, resource, found);
    }
}

fn check_order(limit: &Field<'_>, resource: &str, found: &mut Findings) {
    let amount = |field: &'static str| limit.at(field).key(resource);
    let is_pod = limit.get("type") == "Pod";
    let parsed = |field: &'static str| {
        let is_counted = !(is_pod && field.starts_with("default"));
        let parsed = amount(field).text().parse::<Quantity>();
        parsed.ok().filter(|_| is_counted)
    };
    for (high, low, at, low_words, high_words) in ORDER {
        let (Some(most), Some(least)) = (parsed(high), parsed(low)) else {
            continue;
        };
        if least <= most {
            continue;
        }
        let why = format!("{low_words} {least} is greater than {high_words} {most}");
        match at {
            FindingTarget::Low => found.invalid(&amount(low), &why),
            FindingTarget::High => found.invalid(&amount(high), &why),
            FindingTarget::HighShowingLow => {
                found.invalid_as(&amount(high), amount(low).value(), &why);
            }
            FindingTarget::LowShowingHigh => {
                found.invalid_as(&amount(low), amount(high).value(), &why);
            }
        }
    }
    let (ratio, place) = (
        parsed("maxLimitRequestRatio"),
        amount("maxLimitRequestRatio"),
    );
    let one = "1".parse::<Quantity>().expect("one is a quantity");
    if let Some(ratio) = ratio.as_ref().filter(|ratio| **ratio < one) {
        let why = format!("ratio {ratio} is less than 1");
        found.invalid(&place, &why);
    }
    if let (Some(ratio), Some(most), Some(least)) = (&ratio, parsed("max"), parsed("min")) {
        let (real, most) = (ratio.as_float(), most.as_float() / least.as_float());
        if real > most {
            let why = format!("ratio {ratio} is greater than max/min = {most:.6}");
            found.invalid(&place, &why);
        }
    }
    let (limit, request) = (parsed("default"), parsed("defaultRequest"));
    if let (Some(limit), Some(request)) = (limit, request)
        && limit != request
        && !can_overcommit(resource)
    {
        let why = format!(
            "default value {limit} must equal to defaultRequest value {request} in {resource}"
        );
        found.invalid(&amount("defaultRequest"), &why);
    }
}
