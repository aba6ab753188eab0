//! Rules shared by both kinds of webhook configurations.

mod defaults;
mod validation;

pub(super) use self::defaults::{set_defaults, set_mutating_defaults};

use serde_json::Value;

use crate::{Habits, Kind, MetadataRechecks, admission::cells};

/// Creates a kind of webhook configurations.
pub(super) const fn kind(plural: &'static str, set_defaults: fn(&mut Value)) -> Kind {
    Kind::new("admissionregistration.k8s.io", plural)
        .habits(Habits {
            has_generation: true,
            counts_empty: true,
            requires_version: true,
            is_exempt_from_webhooks: true,
            metadata_rechecks: MetadataRechecks::WHOLE,
            checks_finalizers: false,
            ..Habits::COMMON
        })
        .validation(validation::VALIDATION)
        .cells(cells::webhooks)
        .defaults(set_defaults)
}
