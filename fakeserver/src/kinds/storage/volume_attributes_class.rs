//! Classes of volume attributes.

use crate::kinds::{Habits, Kind};

/// Classes of volume attributes.
pub(crate) static KIND: Kind =
    Kind::new("storage.k8s.io", "volumeattributesclasses").habits(Habits {
        returns_deleted: true,
        ..Habits::COMMON
    });
