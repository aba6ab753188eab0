//! Events, as `events.k8s.io` has them: those of the core group under other names.

use crate::{
    Habits, Kind, SelectableField, SelectableFields, Validation,
    core::{self, event},
};

/// Events, as `events.k8s.io` has them: those of the core group under other names.
pub static KIND: Kind = Kind::new("events.k8s.io", "events")
    .habits(Habits {
        creates_on_update: true,
        is_garbage_collected: false,
        ..Habits::COMMON
    })
    .stored_as(&core::event::KIND)
    .validation(Validation::new(
        event::validation::check_strictly,
        event::validation::check_strict_update,
    ))
    .cells(event::cells::cells)
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[
    SelectableField::alias("regarding.kind", "involvedObject.kind"),
    SelectableField::alias("regarding.namespace", "involvedObject.namespace"),
    SelectableField::alias("regarding.name", "involvedObject.name"),
    SelectableField::alias("regarding.uid", "involvedObject.uid"),
    SelectableField::alias("regarding.apiVersion", "involvedObject.apiVersion"),
    SelectableField::alias(
        "regarding.resourceVersion",
        "involvedObject.resourceVersion",
    ),
    SelectableField::alias("regarding.fieldPath", "involvedObject.fieldPath"),
    SelectableField::new("reason", &["reason"]),
    SelectableField::alias("reportingController", "reportingComponent"),
    SelectableField::new("type", &["type"]),
]);
