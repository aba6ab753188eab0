//! Validation of limit ranges.

use std::collections::BTreeSet;

use crate::value::{
    field::Field, findings::Findings, names::qualified_name_problems, schema::Quantity,
};

const TYPES: [&str; 3] = ["Container", "PersistentVolumeClaim", "Pod"];

/// The amounts that a limit sets for a resource.
const AMOUNTS: [&str; 5] = [
    "max",
    "min",
    "default",
    "defaultRequest",
    "maxLimitRequestRatio",
];

/// Which amount may not be below which, the finding at the first or the second of them, and the words for both.
const ORDER: [(&str, &str, At, &str, &str); 6] = [
    ("max", "min", At::Low, "min value", "max value"),
    (
        "defaultRequest",
        "min",
        At::High,
        "min value",
        "default request value",
    ),
    (
        "max",
        "defaultRequest",
        At::Low,
        "default request value",
        "max value",
    ),
    (
        "default",
        "defaultRequest",
        At::Low,
        "default request value",
        "default limit value",
    ),
    (
        "default",
        "min",
        At::HighShowingLow,
        "min value",
        "default value",
    ),
    (
        "max",
        "default",
        At::LowShowingHigh,
        "default value",
        "max value",
    ),
];

/// The place of a finding about an amount that is above another, and the amount that it shows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum At {
    Low,
    High,
    HighShowingLow,
    LowShowingHigh,
}

pub(crate) fn check(range: &Field<'_>, found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for limit in range.at("spec").at("limits").items() {
        let kind = limit.at("type");
        found.problems(&kind, qualified_name_problems(kind.text()));
        if !kind.text().contains('/') && !TYPES.contains(&kind.text()) {
            found.invalid(&kind, "must be a standard limit type or fully qualified");
        }
        if !seen.insert(kind.text()) {
            found.duplicate(&kind);
        }
        check_amounts(&limit, found);
    }
}

pub(crate) fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
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
    let parsed = |field: &'static str| amount(field).text().parse::<Quantity>().ok();
    for (high, low, at, low_words, high_words) in ORDER {
        let (Some(most), Some(least)) = (parsed(high), parsed(low)) else {
            continue;
        };
        if least <= most {
            continue;
        }
        let why = format!("{low_words} {least} is greater than {high_words} {most}");
        match at {
            At::Low => found.invalid(&amount(low), &why),
            At::High => found.invalid(&amount(high), &why),
            At::HighShowingLow => found.invalid_as(&amount(high), amount(low).value(), &why),
            At::LowShowingHigh => found.invalid_as(&amount(low), amount(high).value(), &why),
        }
    }
    let one = "1".parse::<Quantity>().expect("one is a quantity");
    if let Some(ratio) = parsed("maxLimitRequestRatio").filter(|ratio| *ratio < one) {
        let why = format!("ratio {ratio} is less than 1");
        found.invalid(&amount("maxLimitRequestRatio"), &why);
    }
}
