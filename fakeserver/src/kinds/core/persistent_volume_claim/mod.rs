//! Claims of persistent volumes.

mod cells;
pub(crate) mod defaults;
pub(crate) mod request;
pub(crate) mod validation;
pub(crate) mod warnings;

use crate::kinds::{Habits, Kind, MetadataRechecks, Validation};

/// Claims of persistent volumes.
pub(crate) static KIND: Kind = Kind::new("", "persistentvolumeclaims")
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
            .with(&[("status", validation::check_status)]),
    )
    .warnings(warnings::warn)
    .cells(cells::cells);
