//! Requests to sign certificates.

use fakeserver_value::{
    edit::{copy, set_or_remove},
    read::{items, text},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, SelectableField, SelectableFields,
    certificates::validation,
    table::{
        age::human,
        cell::{Cells, NONE, age, name, text_or},
    },
};

/// Requests to sign certificates. Their specs do not change, and belong to no manager.
pub static KIND: Kind = Kind::new("certificates.k8s.io", "certificatesigningrequests")
    .habits(Habits {
        owns_spec: false,
        metadata_rechecks: MetadataRechecks::ALL,
        subresource_rechecks: MetadataRechecks::ALL,
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

/// Settles the conditions of a request: the approval endpoint writes only conditions, the status endpoint leaves a
/// decision unchanged, and each new condition gets its times.
pub fn settle_conditions(subresource: &str, now: &str, old: &Value, new: &mut Value) {
    let was = items(&old["status"]["conditions"]);
    let mut conditions = items(&new["status"]["conditions"]).to_vec();
    if subresource == "status" {
        for decision in ["Approved", "Denied"] {
            keep_instances(decision, was, &mut conditions);
        }
    }
    for condition in &mut conditions {
        if condition["lastUpdateTime"].is_null() {
            condition["lastUpdateTime"] = json!(now);
        }
        if condition["lastTransitionTime"].is_null() {
            let same = was.iter().find(|old| {
                old["type"] == condition["type"]
                    && old["status"] == condition["status"]
                    && !old["lastTransitionTime"].is_null()
            });
            let since = same.map(|old| old["lastTransitionTime"].clone());
            condition["lastTransitionTime"] = since.unwrap_or_else(|| json!(now));
        }
    }
    if subresource == "approval" {
        copy(old, new, "status");
    }
    let conditions = (!conditions.is_empty()).then_some(Value::Array(conditions));
    if conditions.is_some() || !new["status"].is_null() {
        set_or_remove(&mut new["status"], "conditions", conditions);
    }
}

/// Restores the conditions of a type, if there are as many as before.
fn keep_instances(kind: &str, was: &[Value], conditions: &mut [Value]) {
    let was: Vec<&Value> = was.iter().filter(|old| old["type"] == kind).collect();
    let is: Vec<&mut Value> = conditions
        .iter_mut()
        .filter(|condition| condition["type"] == kind)
        .collect();
    if was.len() == is.len() {
        for (new, old) in is.into_iter().zip(was) {
            *new = old.clone();
        }
    }
}

pub fn cells(object: &Value, now: Timestamp) -> Cells {
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
    let mut words = Vec::new();
    if has("Denied") {
        words.push("Denied");
    } else if has("Approved") {
        words.push("Approved");
    } else {
        words.push("Pending");
    }
    if has("Failed") {
        words.push("Failed");
    }
    if !text(&status["certificate"]).is_empty() {
        words.push("Issued");
    }
    words.join(",")
}
