//! Templates of claims of devices.

use crate::kinds::{Habits, Kind};

/// Templates of claims of devices.
pub(crate) static KIND: Kind =
    Kind::new("resource.k8s.io", "resourceclaimtemplates").habits(Habits {
        returns_deleted: true,
        ..Habits::COMMON
    });
