//! Bindings of cluster roles.

use fakeserver_value::{field::Field, findings::Findings, names::path_segment_problems};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    rbac::binding::{self, check_bound, check_same_role, check_subject},
};

/// Bindings of cluster roles.
pub static KIND: Kind = Kind::new("rbac.authorization.k8s.io", "clusterrolebindings")
    .habits(Habits {
        creates_on_update: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .names(path_segment_problems)
    .defaults(binding::set_defaults)
    .validation(Validation::new(check, check_update))
    .cells(binding::cells);

pub fn check(binding: &Field<'_>, found: &mut Findings) {
    check_bound(binding, &["ClusterRole"], found);
    for subject in binding.at("subjects").items() {
        check_subject(&subject, false, found);
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    check_same_role(old, new, found);
}
