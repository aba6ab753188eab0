//! The group `flowcontrol.apiserver.k8s.io`: priority and fairness.

mod conditions;
pub mod flow_schema;
pub mod priority_level_configuration;
#[cfg(test)]
mod tests;

use self::conditions::check_conditions;
use crate::{Habits, Kind, MetadataRechecks, PreservedMetadata, Validation};

/// Creates a kind of this group with the rules that both share.
const fn kind(plural: &'static str, validation: Validation) -> Kind {
    Kind::new("flowcontrol.apiserver.k8s.io", plural)
        .habits(Habits {
            has_generation: true,
            metadata_rechecks: MetadataRechecks::WHOLE,
            kept_by_status: PreservedMetadata::ALL,
            ..Habits::COMMON
        })
        .validation(validation.with(&[("status", |_, new, found| check_conditions(new, found))]))
}
