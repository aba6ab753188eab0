//! Printed cells of nodes.

use fakeserver_value::read::{items, text};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::cell::{Cells, NONE, age, name, or_none, text_or};

const ROLE: &str = "node-role.kubernetes.io/";

pub(super) fn cells(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let info = &status["nodeInfo"];
    let address = |kind: &str| super::address(object, kind).unwrap_or(NONE).to_owned();
    let unknown = |value: &Value| text_or(value, "<unknown>").to_owned();
    vec![
        json!(name(object)),
        json!(state(spec, status)),
        json!(roles(object)),
        json!(age(object, now)),
        json!(text(&info["kubeletVersion"])),
        json!(address("InternalIP")),
        json!(address("ExternalIP")),
        json!(unknown(&info["osImage"])),
        json!(unknown(&info["kernelVersion"])),
        json!(unknown(&info["containerRuntimeVersion"])),
    ]
}

fn state(spec: &Value, status: &Value) -> String {
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

fn roles(node: &Value) -> String {
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
