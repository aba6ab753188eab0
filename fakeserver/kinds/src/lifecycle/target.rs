//! Targets, intents and progress, which evictions and requests of them share.

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::Value;

use crate::{
    declared::{Format, check_immutable, check_required, check_union},
    formats::check_conditions,
};

const CONDITIONS_MAX: usize = 100;

/// The actions that a requester can intend.
pub(super) const INTENTS: [&str; 2] = ["Eviction", "Withdrawn"];

/// Checks the name and the target.
pub(super) fn check_target(object: &Field<'_>, found: &mut Findings) {
    let target = object.at("spec").at("target");
    check_union(&target, &["pod"], found);
    if target.at("pod").is_set() {
        check_required(&target.at("pod").at("name"), Format::LongName, found);
        check_required(&target.at("pod").at("uid"), Format::Uuid, found);
    }
}

/// Checks that the target is unchanged.
pub(super) fn check_target_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let [was, is] = [old, new].map(|object| object.at("spec").at("target"));
    check_immutable(&was, &is, found);
}

/// Checks the conditions and the generation that was seen.
pub(super) fn check_progress(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (status, old) = (new.at("status"), old.at("status"));
    let conditions = status.at("conditions");
    if conditions.len() > CONDITIONS_MAX {
        found.too_many(&conditions, CONDITIONS_MAX);
    } else {
        check_conditions(&conditions, found);
    }
    let (was, is) = (
        old.at("observedGeneration"),
        status.at("observedGeneration"),
    );
    if was.is_set() && !is.is_set() {
        found.invalid_as(&is, &Value::Null, "field cannot be cleared once set");
    } else if is.is_set() && is.number() < 1 {
        found.invalid(&is, "must be greater than or equal to 1");
    } else if is.number() < was.number() {
        let why = format!("may not be decreased from {}", was.number());
        found.invalid(&is, &why);
    }
}
