//! Namespaces.

mod cells;
mod defaults;
mod validation;
#[cfg(test)]
mod tests;

use fakeserver_value::names::dns_label_problems;

use crate::{
    Habits, Kind, MetadataRechecks, Removal, SelectableField, SelectableFields, Validation,
};

/// Namespaces.
pub static KIND: Kind = Kind::new("", "namespaces")
    .habits(Habits {
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::ALL,
        removal: Removal::AfterContent,
        ..Habits::COMMON
    })
    .names(dns_label_problems)
    .defaults(defaults::set_defaults)
    .prepare(defaults::prepare)
    .prepare_update(defaults::keep)
    .validation(Validation::new(validation::check, |_, _, _| {}).with(&[
        ("status", validation::check_status),
        ("finalize", validation::check_finalize),
    ]))
    .cells(cells::cells)
    .fields(&FIELDS);

static FIELDS: SelectableFields =
    SelectableFields::new(&[SelectableField::new("status.phase", &["status", "phase"])]);
