//! Roles.

use fakeserver_value::{field::Field, findings::Findings, names::path_segment_problems};

use crate::{Habits, Kind, MetadataRechecks, Validation, rbac::rule::check_rule};

/// Roles.
pub static KIND: Kind = Kind::new("rbac.authorization.k8s.io", "roles")
    .habits(Habits {
        creates_on_update: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .names(path_segment_problems)
    .validation(Validation::new(check, check_update));

pub fn check(role: &Field<'_>, found: &mut Findings) {
    for rule in role.at("rules").items() {
        check_rule(&rule, true, found);
    }
}

pub fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
}
