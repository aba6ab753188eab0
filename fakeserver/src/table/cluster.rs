//! Nodes, namespaces, and what holds data or tells what happened.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    age::since,
    cell::{Cells, NONE, age, items, name, number, or_none, plain, text, text_or},
};

const ROLE: &str = "node-role.kubernetes.io/";

pub(super) fn node(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let info = &status["nodeInfo"];
    let address = |kind: &str| {
        let mut addresses = items(&status["addresses"]).iter();
        let found = addresses.find(|address| address["type"] == kind);
        found
            .map_or(NONE, |address| text(&address["address"]))
            .to_owned()
    };
    let unknown = |value: &Value| text_or(value, "<unknown>").to_owned();
    vec![
        json!(name(object)),
        json!(node_state(spec, status)),
        json!(node_roles(object)),
        json!(age(object, now)),
        json!(text(&info["kubeletVersion"])),
        json!(address("InternalIP")),
        json!(address("ExternalIP")),
        json!(unknown(&info["osImage"])),
        json!(unknown(&info["kernelVersion"])),
        json!(unknown(&info["containerRuntimeVersion"])),
    ]
}

fn node_state(spec: &Value, status: &Value) -> String {
    let ready = items(&status["conditions"])
        .iter()
        .find(|condition| condition["type"] == "Ready");
    let mut state = match ready.map(|condition| text(&condition["status"])) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if spec["unschedulable"] == true {
        state.push_str(",SchedulingDisabled");
    }
    state
}

fn node_roles(node: &Value) -> String {
    let labels = node["metadata"]["labels"].as_object();
    let mut roles: Vec<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(|(label, value)| match label.strip_prefix(ROLE) {
            Some(role) => Some(role),
            None => (label == "kubernetes.io/role").then(|| text(value)),
        })
        .filter(|role| !role.is_empty())
        .collect();
    roles.sort_unstable();
    roles.dedup();
    or_none(roles.join(","))
}

pub(super) fn namespace(object: &Value, now: Timestamp) -> Cells {
    let phase = text(&object["status"]["phase"]);
    vec![json!(name(object)), json!(phase), json!(age(object, now))]
}

pub(super) fn config_map(object: &Value, now: Timestamp) -> Cells {
    let entries = entries(&object["data"]) + entries(&object["binaryData"]);
    vec![json!(name(object)), json!(entries), json!(age(object, now))]
}

pub(super) fn secret(object: &Value, now: Timestamp) -> Cells {
    vec![
        json!(name(object)),
        json!(text(&object["type"])),
        json!(entries(&object["data"])),
        json!(age(object, now)),
    ]
}

fn entries(map: &Value) -> usize {
    map.as_object().map_or(0, serde_json::Map::len)
}

/// An event of either group: they name the same things differently.
pub(super) fn event(object: &Value, now: Timestamp) -> Cells {
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

pub(super) fn resource_quota(object: &Value, now: Timestamp) -> Cells {
    let (hard, used) = (&object["status"]["hard"], &object["status"]["used"]);
    let mut requests = Vec::new();
    let mut limits = Vec::new();
    for (resource, most) in hard.as_object().into_iter().flatten() {
        let now = match &used[resource] {
            Value::Null => "0".to_owned(),
            used => plain(used),
        };
        let shown = format!("{resource}: {now}/{}", plain(most));
        if resource.starts_with("limits.") {
            limits.push(shown);
        } else {
            requests.push(shown);
        }
    }
    vec![
        json!(name(object)),
        json!(requests.join(", ")),
        json!(limits.join(", ")),
        json!(age(object, now)),
    ]
}

pub(super) fn lease(object: &Value, now: Timestamp) -> Cells {
    let holder = text(&object["spec"]["holderIdentity"]);
    vec![json!(name(object)), json!(holder), json!(age(object, now))]
}
