//! `allOf`, `anyOf`, `oneOf` and `not`.

use fakeserver_value::go_text::quote;
use serde_json::Value;

use super::{
    check,
    correlation::Correlation,
    outcome::{Outcome, ValueLocation},
};

/// Checks a value by the alternatives of its schema. If none fits, the errors of the nearest alternative are reported as well.
pub(super) fn check_alternatives(
    value: &Value,
    schema: &Value,
    place: ValueLocation<'_>,
    correlation: Option<Correlation<'_>>,
) -> Outcome {
    let mut outcome = Outcome::default();
    let branch = |branch: &Value| check(value, branch, place, correlation);
    let branches = |name: &str| {
        let branches = schema[name].as_array();
        branches.map(Vec::as_slice).unwrap_or_default()
    };
    check_any(branches("anyOf"), branch, place, &mut outcome);
    check_one(branches("oneOf"), branch, place, &mut outcome);
    check_all(branches("allOf"), branch, place, &mut outcome);
    if schema["not"].is_object() && branch(&schema["not"]).is_valid() {
        let message = format!("{} must not validate the schema (not)", quote(place.name));
        place.refuse_whole(message, &mut outcome);
    }
    outcome.matches += 1;
    outcome
}

fn check_any(
    branches: &[Value],
    check: impl Fn(&Value) -> Outcome,
    place: ValueLocation<'_>,
    outcome: &mut Outcome,
) {
    let mut nearest: Option<Outcome> = None;
    for branch in branches {
        let found = check(branch);
        if found.is_valid() {
            return outcome.merge(found);
        }
        if nearest
            .as_ref()
            .is_none_or(|best| found.matches > best.matches)
        {
            nearest = Some(found);
        }
    }
    if let Some(nearest) = nearest {
        let message = format!(
            "{} must validate at least one schema (anyOf)",
            quote(place.name)
        );
        place.refuse_whole(message, outcome);
        outcome.merge(nearest);
    }
}

fn check_one(
    branches: &[Value],
    check: impl Fn(&Value) -> Outcome,
    place: ValueLocation<'_>,
    outcome: &mut Outcome,
) {
    if branches.is_empty() {
        return;
    }
    let (mut nearest, mut first, mut valid) = (None::<Outcome>, None::<Outcome>, 0);
    for branch in branches {
        let found = check(branch);
        if found.is_valid() {
            valid += 1;
            nearest = None;
            first = first.or(Some(found));
        } else if valid == 0
            && nearest
                .as_ref()
                .is_none_or(|best| found.matches > best.matches)
        {
            nearest = Some(found);
        }
    }
    if valid == 1 {
        return outcome.merge(first.unwrap_or_default());
    }
    let why = match valid {
        0 => "Found none valid".to_owned(),
        valid => format!("Found {valid} valid alternatives"),
    };
    let message = format!(
        "{} must validate one and only one schema (oneOf). {why}",
        quote(place.name)
    );
    place.refuse_whole(message, outcome);
    outcome.merge(nearest.unwrap_or_default());
}

fn check_all(
    branches: &[Value],
    check: impl Fn(&Value) -> Outcome,
    place: ValueLocation<'_>,
    outcome: &mut Outcome,
) {
    let mut valid = 0;
    for branch in branches {
        let found = check(branch);
        valid += usize::from(found.is_valid());
        outcome.merge(found);
    }
    if valid != branches.len() {
        let why = if valid == 0 { ". None validated" } else { "" };
        let message = format!(
            "{} must validate all the schemas (allOf){why}",
            quote(place.name)
        );
        place.refuse_whole(message, outcome);
    }
}
