//! Services.

pub mod allocator;
mod cells;
mod defaults;
pub mod families;
mod needs;
pub mod range;
pub mod validation;
mod warnings;
#[cfg(test)]
mod tests;

use fakeserver_value::names::{dns_label_problems, service_name_problems};

use crate::{Habits, Kind, SelectableField, SelectableFields, Validation};

/// Services.
pub static KIND: Kind = Kind::new("", "services")
    .habits(Habits {
        creates_on_update: true,
        returns_deleted: true,
        ..Habits::COMMON
    })
    .names(dns_label_problems)
    .names_without("RelaxedServiceNameValidation", service_name_problems)
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
