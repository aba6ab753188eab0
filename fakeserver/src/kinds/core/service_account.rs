//! Service accounts.

use crate::kinds::{Habits, Kind, MetadataRechecks, Validation};

/// Service accounts.
pub(crate) static KIND: Kind = Kind::new("", "serviceaccounts")
    .habits(Habits {
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .validation(Validation::METADATA);
