//! Ranges of service addresses.

use crate::kinds::{Habits, KeptByStatus, Kind};

/// Ranges of service addresses.
pub(crate) static KIND: Kind = Kind::new("networking.k8s.io", "servicecidrs").habits(Habits {
    kept_by_status: KeptByStatus::ALL,
    ..Habits::COMMON
});
