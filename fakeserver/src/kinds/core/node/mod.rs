//! Nodes.

mod cells;
mod defaults;
mod validation;

use crate::kinds::{Habits, Kind, MetadataRechecks, SelectableField, SelectableFields, Validation};

/// Nodes.
pub(crate) static KIND: Kind = Kind::new("", "nodes")
    .habits(Habits {
        is_created_with_status: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .defaults(defaults::set_defaults)
    .validation(
        Validation::new(validation::check, validation::check_update)
            .with(&[("status", validation::check_update)]),
    )
    .cells(cells::cells)
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[SelectableField::or(
    "spec.unschedulable",
    &["spec", "unschedulable"],
    "false",
)]);
