//! Requests to evict something, or not any more.

use fakeserver_value::{field::Field, findings::Findings};

use super::target::{INTENTS, check_progress, check_target, check_target_update};
use crate::{
    Habits, Kind, PreservedMetadata, Validation,
    declared::{Format, check_immutable, check_required},
};

/// Requests to evict something.
pub static KIND: Kind = Kind::new("lifecycle.k8s.io", "evictionrequests")
    .habits(Habits {
        has_generation: true,
        requires_version: true,
        kept_by_status: PreservedMetadata::ALL,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update).with(&[("status", check_progress)]));

fn check(request: &Field<'_>, found: &mut Findings) {
    check_target(request, found);
    let spec = request.at("spec");
    check_required(&spec.at("requester"), Format::PrefixedKey, found);
    found.one_of(&spec.at("intent"), &INTENTS);
}

fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    check_target_update(old, new, found);
    let [was, is] = [old, new].map(|request| request.at("spec").at("requester"));
    check_immutable(&was, &is, found);
}
