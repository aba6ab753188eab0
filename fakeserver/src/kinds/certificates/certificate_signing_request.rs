//! Requests to sign certificates.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::kinds::{
    Kind, SelectableField, SelectableFields,
    table::{
        age::human,
        cell::{Cells, NONE, age, items, name, text, text_or},
    },
};

/// Requests to sign certificates.
pub(crate) static KIND: Kind = Kind::new("certificates.k8s.io", "certificatesigningrequests")
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
