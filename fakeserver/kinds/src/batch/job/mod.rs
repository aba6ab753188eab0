//! Jobs.

mod cells;
mod defaults;
mod indexes;
mod status;
pub mod validation;
#[cfg(test)]
mod tests;

pub(super) use self::defaults::set_failure_policy;
use crate::{
    Habits, Kind, MetadataRechecks, SelectableField, SelectableFields, Validation,
    workload::warnings,
};

/// Jobs.
pub static KIND: Kind = Kind::new("batch", "jobs")
    .pod_at("/spec/template")
    .habits(Habits {
        has_generation: true,
        orphans_by_default: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .defaults(defaults::set_defaults)
    .prepare(defaults::prepare)
    .keep(defaults::keep)
    .validation(
        Validation::new(validation::check, validation::check_update)
            .with(&[("status", status::check_status)]),
    )
    .warnings(warnings::warn)
    .cells(cells::cells)
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[SelectableField::or(
    "status.successful",
    &["status", "succeeded"],
    "0",
)])
.quoting();
