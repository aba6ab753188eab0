//! Printed cells of events of both groups.

use fakeserver_value::read::{number, text};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::{
    age::since,
    cell::{Cells, name},
};

/// An event of either group: they name the same things differently.
pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let either = |new: &str, old: &str| match &object[new] {
        Value::Null => object[old].clone(),
        value => value.clone(),
    };
    let regarding = either("regarding", "involvedObject");
    let series = &object["series"];
    let first = [
        &object["firstTimestamp"],
        &object["deprecatedFirstTimestamp"],
        &object["eventTime"],
    ]
    .into_iter()
    .find(|time| !time.is_null());
    let last = [
        &series["lastObservedTime"],
        &object["lastTimestamp"],
        &object["deprecatedLastTimestamp"],
    ]
    .into_iter()
    .find(|time| !time.is_null());
    let first = first.map_or("<unknown>".to_owned(), |time| since(time, now));
    let count = [
        &series["count"],
        &object["count"],
        &object["deprecatedCount"],
    ]
    .into_iter()
    .map(number)
    .find(|count| *count > 0)
    .unwrap_or(1);
    let target = match text(&regarding["name"]) {
        "" => text(&regarding["kind"]).to_lowercase(),
        name => format!("{}/{name}", text(&regarding["kind"]).to_lowercase()),
    };
    let source = either("deprecatedSource", "source");
    let component = match text(&source["component"]) {
        "" => [
            &object["reportingComponent"],
            &object["reportingController"],
        ]
        .into_iter()
        .map(text)
        .find(|component| !component.is_empty())
        .unwrap_or_default(),
        component => component,
    };
    let host = match text(&source["host"]) {
        "" => text(&object["reportingInstance"]),
        host => host,
    };
    let comma = if host.is_empty() { "" } else { ", " };
    vec![
        json!(last.map_or(first.clone(), |time| since(time, now))),
        json!(text(&object["type"])),
        json!(text(&object["reason"])),
        json!(target),
        json!(text(&regarding["fieldPath"])),
        json!(format!("{component}{comma}{host}")),
        json!(text(&either("note", "message")).trim()),
        json!(first),
        json!(count),
        json!(name(object)),
    ]
}
