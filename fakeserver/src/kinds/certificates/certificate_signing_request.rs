//! Requests to sign certificates.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    kinds::{
        Habits, Kind, MetadataRechecks, SelectableField, SelectableFields,
        certificates::validation,
        table::{
            age::human,
            cell::{Cells, NONE, age, items, name, text, text_or},
        },
    },
    value::edit::copy,
};

/// Requests to sign certificates. Their specs do not change, and belong to no manager.
pub(crate) static KIND: Kind = Kind::new("certificates.k8s.io", "certificatesigningrequests")
    .habits(Habits {
        status_writes_metadata: true,
        owns_spec: false,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .names(|_| Vec::new())
    .keep(|old, new| copy(old, new, "spec"))
    .validation(validation::VALIDATION)
    .cells(cells)
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[SelectableField::new(
    "spec.signerName",
    &["spec", "signerName"],
)]);

pub(crate) fn cells(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    let duration = spec["expirationSeconds"].as_i64();
    let duration = duration.map_or(NONE.to_owned(), |seconds| {
        human(SignedDuration::from_secs(seconds))
    });
    vec![
        json!(name(object)),
        json!(age(object, now)),
        json!(text_or(&spec["signerName"], NONE)),
        json!(text(&spec["username"])),
        json!(duration),
        json!(state(&object["status"])),
    ]
}

fn state(status: &Value) -> String {
    let has = |kind: &str| {
        let mut conditions = items(&status["conditions"]).iter();
        conditions.any(|condition| condition["type"] == kind)
    };
    let mut shown = Vec::new();
    if has("Denied") {
        shown.push("Denied");
    } else if has("Approved") {
        shown.push("Approved");
    } else {
        shown.push("Pending");
    }
    if has("Failed") {
        shown.push("Failed");
    }
    if !text(&status["certificate"]).is_empty() {
        shown.push("Issued");
    }
    shown.join(",")
}
