//! Taints of devices, and tolerations of requests.

use fakeserver_value::{field::Field, findings::Findings, names::qualified_name_problems};
use serde_json::json;

use crate::formats::check_label_value;

const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];

const OPERATORS: [&str; 2] = ["Equal", "Exists"];

/// Checks the taint of a device.
pub(super) fn check_taint(taint: &Field<'_>, found: &mut Findings) {
    check_label_key(&taint.at("key"), found);
    check_label_value(&taint.at("value"), found);
    found.one_of(&taint.at("effect"), &EFFECTS);
}

/// Checks a toleration of a request.
pub(super) fn check_toleration(toleration: &Field<'_>, found: &mut Findings) {
    if toleration.at("key").has_text() {
        check_label_key(&toleration.at("key"), found);
    }
    let (operator, value) = (toleration.at("operator"), toleration.at("value"));
    match operator.text() {
        "Exists" if value.has_text() => {
            found.invalid(&value, "must be empty for operator `Exists`");
        }
        "Equal" => check_label_value(&value, found),
        _ => found.one_of(&operator, &OPERATORS),
    }
    if toleration.at("effect").has_text() {
        found.one_of(&toleration.at("effect"), &EFFECTS);
    }
}

/// Checks the key of a label, of a taint or of a condition, which has to be there.
pub(super) fn check_label_key(key: &Field<'_>, found: &mut Findings) {
    for problem in qualified_name_problems(key.text()) {
        found.invalid_as(key, &json!(key.text()), &problem);
    }
}
