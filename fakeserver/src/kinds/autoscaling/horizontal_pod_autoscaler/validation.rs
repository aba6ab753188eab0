//! Validation of autoscalers.

use crate::value::{field::Field, findings::Findings, names::path_segment_problems};

pub(crate) fn check(autoscaler: &Field<'_>, found: &mut Findings) {
    let spec = autoscaler.at("spec");
    let (least, most) = (spec.at("minReplicas"), spec.at("maxReplicas"));
    if least.is_set() && least.number() < 1 {
        found.invalid(&least, "must be greater than or equal to 1");
    }
    if most.number() < 1 {
        found.invalid_as(&most, &most.number().into(), "must be greater than 0");
    }
    if least.is_set() && most.number() < least.number() {
        found.invalid_as(
            &most,
            &most.number().into(),
            "must be greater than or equal to `minReplicas`",
        );
    }
    let target = spec.at("scaleTargetRef");
    for name in ["kind", "name"] {
        let field = target.at(name);
        if field.has_text() {
            found.problems(&field, path_segment_problems(field.text()));
        } else {
            found.required(&field, "");
        }
    }
}

pub(crate) fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
}
