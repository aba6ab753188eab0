//! Claims of devices.

use crate::kinds::{Habits, Kind};

/// Claims of devices.
pub(crate) static KIND: Kind = Kind::new("resource.k8s.io", "resourceclaims").habits(Habits {
    returns_deleted: true,
    ..Habits::COMMON
});
