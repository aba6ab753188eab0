//! Capacities of storage.

use crate::kinds::{Habits, Kind};

/// Capacities of storage.
pub(crate) static KIND: Kind = Kind::new("storage.k8s.io", "csistoragecapacities").habits(Habits {
    requires_version: true,
    ..Habits::COMMON
});
