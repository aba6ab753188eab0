//! API services.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kinds::{
    Habits, Kind,
    table::cell::{Cells, age, items, name, text},
};

/// API services.
pub(crate) static KIND: Kind = Kind::new("apiregistration.k8s.io", "apiservices")
    .habits(Habits {
        requires_version: true,
        checks_finalizers: false,
        ..Habits::COMMON
    })
    .cells(cells);

pub(crate) fn cells(object: &Value, now: Timestamp) -> Cells {
    let service = &object["spec"]["service"];
    let service = if service.is_null() {
        "Local".to_owned()
    } else {
        format!("{}/{}", text(&service["namespace"]), text(&service["name"]))
    };
    let available = items(&object["status"]["conditions"])
        .iter()
        .find(|condition| condition["type"] == "Available");
    let available = match available {
        None => "Unknown".to_owned(),
        Some(condition) if condition["status"] == "True" => "True".to_owned(),
        Some(condition) => {
            format!(
                "{} ({})",
                text(&condition["status"]),
                text(&condition["reason"])
            )
        }
    };
    vec![
        json!(name(object)),
        json!(service),
        json!(available),
        json!(age(object, now)),
    ]
}
