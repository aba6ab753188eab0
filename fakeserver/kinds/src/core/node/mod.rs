//! Nodes.

mod cells;
mod defaults;
mod validation;

use serde_json::Value;

use crate::{
    AcceptedObject, Habits, Kind, MetadataRechecks, SelectableField, SelectableFields, Validation,
    addresses::warn_of_cidr,
};

/// Nodes.
pub static KIND: Kind = Kind::new("", "nodes")
    .habits(Habits {
        is_created_with_status: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .defaults(defaults::set_defaults)
    .prepare(defaults::prepare)
    .prepare_update(defaults::prepare_update)
    .warnings(warn)
    .validation(
        Validation::new(validation::check, validation::check_update)
            .with(&[("status", validation::check_status)]),
    )
    .cells(cells::cells)
    .fields(&FIELDS);

/// Returns the first address of a type that a node has.
pub fn address<'a>(node: &'a Value, kind: &str) -> Option<&'a str> {
    let mut addresses = node["status"]["addresses"].as_array()?.iter();
    let found = addresses.find(|address| address["type"] == kind);
    found?["address"].as_str()
}

/// Warns of fields that do nothing.
fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    let spec = accepted.object.at("spec");
    if spec.at("configSource").is_set() {
        warnings.push("spec.configSource: the feature is removed".to_owned());
    }
    if spec.at("externalID").has_text() {
        let why = "spec.externalID: this field is deprecated, and is unused by Kubernetes";
        warnings.push(why.to_owned());
    }
    for range in spec.at("podCIDRs").items() {
        warn_of_cidr(&range, warnings);
    }
}

static FIELDS: SelectableFields = SelectableFields::new(&[SelectableField::or(
    "spec.unschedulable",
    &["spec", "unschedulable"],
    "false",
)]);
