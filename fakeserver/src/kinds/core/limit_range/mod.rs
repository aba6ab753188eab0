//! Limit ranges.

mod defaults;
mod validation;
#[cfg(test)]
mod tests;

use crate::kinds::{Habits, Kind, MetadataRechecks, Validation};

/// Limit ranges.
pub(crate) static KIND: Kind = Kind::new("", "limitranges")
    .habits(Habits {
        creates_on_update: true,
        metadata_rechecks: MetadataRechecks::WHOLE,
        ..Habits::COMMON
    })
    .defaults(defaults::set_defaults)
    .validation(Validation::new(validation::check, validation::check_update));
