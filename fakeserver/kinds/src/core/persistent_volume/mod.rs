//! Persistent volumes.

pub mod cells;
mod defaults;
mod validation;
mod warnings;

use crate::{Habits, Kind, MetadataRechecks, Validation};

/// Persistent volumes.
pub static KIND: Kind = Kind::new("", "persistentvolumes")
    .habits(Habits {
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::WHOLE_TWICE,
        ..Habits::COMMON
    })
    .defaults(defaults::set_defaults)
    .prepare(defaults::prepare)
    .status(defaults::set_phase)
    .validation(Validation::new(validation::check, validation::check_update))
    .warnings(warnings::warn)
    .cells(cells::cells);
