//! Pods.

mod annotations;
mod cells;
pub mod defaults;
mod qos;
mod status;
mod update;
mod validation;
mod warnings;
#[cfg(test)]
mod tests;

pub use self::qos::qos_class;
use crate::{
    Habits, Kind, MetadataRechecks, PreservedMetadata, Removal, SelectableField, SelectableFields,
    Validation,
};

/// Pods.
pub static KIND: Kind = Kind::new("", "pods")
    .pod_at("")
    .habits(Habits {
        has_generation: true,
        returns_deleted: true,
        kept_by_status: PreservedMetadata {
            owners: true,
            ..PreservedMetadata::NONE
        },
        metadata_rechecks: MetadataRechecks::ALL,
        removal: Removal::Graceful,
        ..Habits::COMMON
    })
    .defaults(defaults::set_defaults)
    .prepare(defaults::prepare)
    .prepare_update(defaults::prepare_update)
    .status(defaults::complete_status)
    .validation(
        Validation::new(validation::check, update::check_update).with(&[
            ("status", status::check_status),
            ("ephemeralcontainers", update::check_ephemeral_update),
            ("resize", update::check_resize),
        ]),
    )
    .warnings(warnings::warn)
    .cells(cells::cells)
    .row_conditions(cells::conditions)
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[
    SelectableField::new("spec.nodeName", &["spec", "nodeName"]),
    SelectableField::alias("spec.host", "spec.nodeName"),
    SelectableField::new("spec.restartPolicy", &["spec", "restartPolicy"]),
    SelectableField::new("spec.schedulerName", &["spec", "schedulerName"]),
    SelectableField::new("spec.serviceAccountName", &["spec", "serviceAccountName"]),
    SelectableField::or("spec.hostNetwork", &["spec", "hostNetwork"], "false"),
    SelectableField::new("status.phase", &["status", "phase"]),
    SelectableField::new("status.podIP", &["status", "podIP"]),
    SelectableField::alias("status.podIPs", "status.podIP"),
    SelectableField::new("status.nominatedNodeName", &["status", "nominatedNodeName"]),
]);
