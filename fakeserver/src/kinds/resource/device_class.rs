//! Classes of devices.

use crate::kinds::{Habits, Kind};

/// Classes of devices.
pub(crate) static KIND: Kind = Kind::new("resource.k8s.io", "deviceclasses").habits(Habits {
    returns_deleted: true,
    ..Habits::COMMON
});
