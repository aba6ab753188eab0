//! Validation of namespaces.

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::json;

use crate::formats::check_qualified;

pub(super) fn check(namespace: &Field<'_>, found: &mut Findings) {
    let finalizers = namespace.at("spec").at("finalizers");
    for finalizer in finalizers.items() {
        check_finalizer(&finalizer.called_at(&finalizers), found);
    }
}

/// An update through `finalize`.
pub(super) fn check_finalize(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    for finalizer in new.at("spec").at("finalizers").items() {
        check_finalizer(&finalizer, found);
    }
}

/// An update through `status`.
pub(super) fn check_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let phase = new.at("status").at("phase");
    let place = phase.called_within(&new.at("status"), "Phase");
    let is_going = new.at("metadata").at("deletionTimestamp").is_set();
    if !is_going && phase.text() != "Active" {
        found.invalid_as(
            &place,
            &json!(phase.text()),
            "may only be 'Active' if `deletionTimestamp` is empty",
        );
    } else if is_going && phase.text() != "Terminating" {
        found.invalid_as(
            &place,
            &json!(phase.text()),
            "may only be 'Terminating' if `deletionTimestamp` is not empty",
        );
    }
}

fn check_finalizer(finalizer: &Field<'_>, found: &mut Findings) {
    check_qualified(finalizer, found);
    let standard = ["kubernetes", "orphan", "foregroundDeletion"];
    if !finalizer.text().contains('/') && !standard.contains(&finalizer.text()) {
        found.invalid(
            finalizer,
            "name is neither a standard finalizer name nor is it fully qualified",
        );
    }
}
