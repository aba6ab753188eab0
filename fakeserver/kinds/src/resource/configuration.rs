//! Selectors and configurations, which classes and claims have.

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::Value;

use crate::{
    formats::check_driver_name,
    resource::{expression::expression_problem, names::at_most},
};

const SELECTORS_MAX: usize = 32;

const EXPRESSION_MAX_BYTES: usize = 10 << 10;

const PARAMETERS_MAX_BYTES: usize = 10 << 10;

/// Checks the selectors of a class or of a request.
pub(super) fn check_selectors(selectors: &Field<'_>, found: &mut Findings) {
    for selector in at_most(selectors, SELECTORS_MAX, found) {
        let cel = selector.at("cel");
        if !cel.is_set() {
            found.required(&cel, "");
            continue;
        }
        let expression = cel.at("expression");
        if expression.text().len() > EXPRESSION_MAX_BYTES {
            found.too_long(&expression, EXPRESSION_MAX_BYTES);
        } else if let Some(problem) = expression_problem(expression.text()) {
            found.invalid_as(&expression, &expression.text().into(), &problem);
        }
    }
}

/// Checks a configuration: opaque parameters of a driver.
pub(super) fn check_configuration(configuration: &Field<'_>, found: &mut Findings) {
    let opaque = configuration.at("opaque");
    if !opaque.is_set() {
        found.required(&opaque, "");
        return;
    }
    check_driver_name(&opaque.at("driver"), found);
    check_raw(&opaque.at("parameters"), PARAMETERS_MAX_BYTES, found);
}

/// Checks a value that only its reader knows: a JSON object.
pub(super) fn check_raw(raw: &Field<'_>, bytes_max: usize, found: &mut Findings) {
    match raw.value() {
        Value::Null => found.required(raw, ""),
        value if value.to_string().len() > bytes_max => found.too_long(raw, bytes_max),
        Value::Object(_) => {}
        _ => found.invalid_as(
            raw,
            &"<value omitted>".into(),
            "must be a valid JSON object",
        ),
    }
}
