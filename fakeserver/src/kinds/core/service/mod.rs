//! Services.

pub(crate) mod allocator;
mod cells;
mod defaults;
mod needs;
pub(crate) mod range;
pub(crate) mod validation;
mod warnings;
#[cfg(test)]
mod tests;

use crate::{
    kinds::{Habits, Kind, SelectableField, SelectableFields, Validation},
    value::names::dns_label_problems,
};

/// Services.
pub(crate) static KIND: Kind = Kind::new("", "services")
    .habits(Habits {
        creates_on_update: true,
        returns_deleted: true,
        ..Habits::COMMON
    })
    .names(dns_label_problems)
    .defaults(defaults::set_defaults)
    .keep(defaults::keep)
    .validation(
        Validation::new(validation::check, validation::check_update)
            .with(&[("status", validation::check_status)]),
    )
    .warnings(warnings::warn)
    .cells(cells::cells)
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[
    SelectableField::new("spec.clusterIP", &["spec", "clusterIP"]),
    SelectableField::new("spec.type", &["spec", "type"]),
]);
