//! Slices of devices.

use crate::kinds::{Habits, Kind, SelectableField, SelectableFields};

/// Slices of devices.
pub(crate) static KIND: Kind = Kind::new("resource.k8s.io", "resourceslices")
    .habits(Habits {
        returns_deleted: true,
        ..Habits::COMMON
    })
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[
    SelectableField::new("spec.nodeName", &["spec", "nodeName"]),
    SelectableField::new("spec.driver", &["spec", "driver"]),
])
.naming_kind();
