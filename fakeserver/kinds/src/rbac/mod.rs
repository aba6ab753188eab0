//! The group `rbac.authorization.k8s.io`: roles and their bindings.

pub mod policy;
pub mod cluster_role;
pub mod cluster_role_binding;
mod binding;
pub mod role;
pub mod role_binding;
mod rule;

use fakeserver_value::names::path_segment_problems;

use crate::{Habits, Kind, MetadataRechecks, Validation};

/// Creates a kind of this group with the rules that all of them share.
const fn kind(plural: &'static str, validation: Validation) -> Kind {
    Kind::new("rbac.authorization.k8s.io", plural)
        .habits(Habits {
            creates_on_update: true,
            metadata_rechecks: MetadataRechecks::ALL,
            ..Habits::COMMON
        })
        .names(path_segment_problems)
        .validation(validation)
}
