//! Claims of persistent volumes.

mod cells;
pub mod defaults;
pub mod request;
pub mod validation;
pub mod warnings;

use crate::{Habits, Kind, MetadataRechecks, Validation};

/// Claims of persistent volumes.
pub static KIND: Kind = Kind::new("", "persistentvolumeclaims")
    .habits(Habits {
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .defaults(defaults::set_defaults)
    .prepare(defaults::prepare)
    .prepare_update(defaults::prepare_update)
    .status(defaults::set_status_defaults)
    .validation(
        Validation::new(validation::check, validation::check_update)
            .repeated_without("PersistentVolumeClaimUpdateCheckedOnce", validation::check)
            .with(&[("status", validation::check_status)]),
    )
    .warnings(warnings::warn)
    .cells(cells::cells);
