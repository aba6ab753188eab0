//! Events, as the core group has them.
//!
//! [`events::event`](crate::events::event) has the same objects with other field names.

pub mod cells;
#[cfg(test)]
mod tests;
pub mod validation;

use fakeserver_value::names::path_segment_problems;

use crate::{Habits, Kind, MetadataRechecks, SelectableField, SelectableFields, Validation};

/// Events, as the core group has them.
pub static KIND: Kind = Kind::new("", "events")
    .habits(Habits {
        creates_on_update: true,
        is_garbage_collected: false,
        checks_finalizers: false,
        metadata_rechecks: MetadataRechecks::NONE,
        ..Habits::COMMON
    })
    .names(path_segment_problems)
    .validation(Validation::new(validation::check, validation::check_update))
    .cells(cells::cells)
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[
    SelectableField::new("involvedObject.kind", &["involvedObject", "kind"]),
    SelectableField::new("involvedObject.namespace", &["involvedObject", "namespace"]),
    SelectableField::new("involvedObject.name", &["involvedObject", "name"]),
    SelectableField::new("involvedObject.uid", &["involvedObject", "uid"]),
    SelectableField::new(
        "involvedObject.apiVersion",
        &["involvedObject", "apiVersion"],
    ),
    SelectableField::new(
        "involvedObject.resourceVersion",
        &["involvedObject", "resourceVersion"],
    ),
    SelectableField::new("involvedObject.fieldPath", &["involvedObject", "fieldPath"]),
    SelectableField::new("reason", &["reason"]),
    SelectableField::new("reportingComponent", &["reportingComponent"]),
    // The source of an event that names none is the component that reports it.
    SelectableField::either("source", &["source", "component"], &["reportingComponent"]),
    SelectableField::new("type", &["type"]),
]);
