//! Who may do what, what goes first, and what may be disturbed.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    age::human,
    cell::{Cells, NONE, age, items, name, number, text, text_or},
    workloads::bound,
};

pub(super) fn disruption_budget(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    vec![
        json!(name(object)),
        json!(bound(&spec["minAvailable"])),
        json!(bound(&spec["maxUnavailable"])),
        json!(number(&object["status"]["disruptionsAllowed"])),
        json!(age(object, now)),
    ]
}

/// A binding of a role, in a namespace or in the cluster.
pub(super) fn binding(object: &Value, now: Timestamp) -> Cells {
    let role = &object["roleRef"];
    let subjects = |kind: &str| {
        let subjects = items(&object["subjects"]).iter();
        let named = subjects
            .filter(|subject| subject["kind"] == kind)
            .map(|subject| match (kind, text(&subject["namespace"])) {
                ("ServiceAccount", namespace) if !namespace.is_empty() => {
                    format!("{namespace}/{}", text(&subject["name"]))
                }
                _ => text(&subject["name"]).to_owned(),
            });
        named.collect::<Vec<_>>().join(", ")
    };
    vec![
        json!(name(object)),
        json!(format!("{}/{}", text(&role["kind"]), text(&role["name"]))),
        json!(age(object, now)),
        json!(subjects("User")),
        json!(subjects("Group")),
        json!(subjects("ServiceAccount")),
    ]
}

pub(super) fn priority_class(object: &Value, now: Timestamp) -> Cells {
    vec![
        json!(name(object)),
        json!(number(&object["value"])),
        json!(object["globalDefault"] == true),
        json!(age(object, now)),
        json!(text(&object["preemptionPolicy"])),
    ]
}

pub(super) fn runtime_class(object: &Value, now: Timestamp) -> Cells {
    let handler = text(&object["handler"]);
    vec![json!(name(object)), json!(handler), json!(age(object, now))]
}

pub(super) fn signing_request(object: &Value, now: Timestamp) -> Cells {
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
        json!(signing_state(&object["status"])),
    ]
}

fn signing_state(status: &Value) -> String {
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

pub(super) fn api_service(object: &Value, now: Timestamp) -> Cells {
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
