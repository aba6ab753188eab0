//! The amounts of a device's capacity that requests may take.

use fakeserver_value::{field::Field, findings::Findings, schema::Quantity};
use serde_json::json;

use crate::{formats::quantity, resource::names::at_most};

const VALUES_MAX: usize = 10;

/// Checks the policy of a capacity that several claims can share.
pub(super) fn check_request_policy(capacity: &Field<'_>, found: &mut Findings) {
    let policy = capacity.at("requestPolicy");
    let (values, range) = (policy.at("validValues"), policy.at("validRange"));
    let default = policy.at("default");
    let has_values = !values.is_empty();
    if has_values && range.is_set() {
        found.forbidden(
            &policy,
            "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same time",
        );
    } else if has_values && !default.is_set() {
        found.required(&default, "required when validValues is defined");
    } else if has_values {
        check_values(&capacity.at("value"), &default, &values, found);
    } else if range.is_set() && !default.is_set() {
        found.required(&default, "required when validRange is defined");
    } else if range.is_set() {
        check_range(&capacity.at("value"), &default, &range, found);
    }
}

fn check_values(all: &Field<'_>, default: &Field<'_>, values: &Field<'_>, found: &mut Findings) {
    let mut last: Option<Quantity> = None;
    for value in values.items() {
        let amount = quantity(value.value());
        if last.is_some_and(|last| last > amount) {
            found.invalid(&value, "values must be sorted in ascending order");
        }
        last = Some(amount);
    }
    let limited = at_most(values, VALUES_MAX, found);
    let mut amounts = Vec::new();
    for value in &limited {
        let amount = quantity(value.value());
        if amount > quantity(all.value()) {
            found.invalid(
                value,
                &format!("option is larger than capacity value: {}", all.text()),
            );
        }
        if amounts.contains(&amount) {
            let printed = amount.as_integer().unwrap_or_default().to_string();
            found.duplicate_as(value, &json!(printed));
        }
        amounts.push(amount);
    }
    if !amounts.contains(&quantity(default.value())) {
        found.invalid(
            &default.called_at(values),
            "default value is not valid according to the requestPolicy",
        );
    }
}

fn check_range(all: &Field<'_>, default: &Field<'_>, range: &Field<'_>, found: &mut Findings) {
    let (min, max, step) = (range.at("min"), range.at("max"), range.at("step"));
    if !min.is_set() {
        found.required(&min, "required when validRange is defined");
        return;
    }
    let of = |field: &Field<'_>| quantity(field.value());
    let mut compare = |greater: &Field<'_>, less: &Field<'_>, place: &Field<'_>, text: String| {
        if of(greater) > of(less) {
            found.invalid(place, &text);
        }
    };
    let full = |name: &str| format!("{name} is larger than capacity value: {}", all.text());
    compare(&min, all, &min, full("min"));
    let text = format!("default is less than min: {}", min.text());
    compare(&min, default, &default.called_at(&min), text);
    if max.is_set() {
        let text = format!("min is larger than max: {}", max.text());
        compare(&min, &max, &min.called_at(&max), text);
        compare(&max, all, &max, full("max"));
        let text = format!("default is more than max: {}", max.text());
        compare(default, &max, &default.called_at(&max), text);
    }
    if step.is_set() {
        check_step(all, [default, &max], &min, &step, found);
    }
}

/// Checks that values are whole steps away from the least one.
fn check_step(
    all: &Field<'_>,
    values: [&Field<'_>; 2],
    min: &Field<'_>,
    step: &Field<'_>,
    found: &mut Findings,
) {
    let mut first = quantity(min.value());
    first += &quantity(step.value());
    if first > quantity(all.value()) {
        found.invalid(
            step,
            &format!(
                "one step {first} is larger than capacity value: {}",
                all.text()
            ),
        );
    }
    let whole = |field: &Field<'_>| quantity(field.value()).as_integer().unwrap_or_default();
    let size = whole(step);
    for value in values.into_iter().filter(|value| value.is_set()) {
        if size != 0 && (whole(value) - whole(min)) % size != 0 {
            found.invalid(
                &value.called_at(step),
                &format!(
                    "value is not a multiple of a given step ({}) from ({})",
                    step.text(),
                    min.text()
                ),
            );
        }
    }
}
