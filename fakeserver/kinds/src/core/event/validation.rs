//! Validation of events of both groups, in the form in which the core group has them.

use fakeserver_value::{field::Field, findings::Findings, names::qualified_name_problems};
use serde_json::{Value, json};

use crate::conversion::to_stored;

const TEXT_MAX: usize = 128;

const NOTE_MAX: usize = 1_024;

const SERIES_MIN: i64 = 2;

/// The length of a time up to its microseconds: `2006-01-02T15:04:05.000000`.
const MICROSECONDS: usize = 26;

const REFERENCE: &str = "io.k8s.api.core.v1.ObjectReference";
const SOURCE: &str = "io.k8s.api.core.v1.EventSource";

/// The fields of an event of `events.k8s.io` that do not change, in the order in which they are compared.
const FIXED: [&str; 14] = [
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "reason",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
];

/// Checks an event of the core group.
pub fn check(event: &Field<'_>, found: &mut Findings) {
    check_event(event, "reportingComponent", found);
}

/// Checks the next version of an event of the core group.
pub fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
}

/// Checks a new event of `events.k8s.io`, which has none of the older fields.
pub fn check_strictly(event: &Field<'_>, found: &mut Findings) {
    let event = to_stored(event.value().clone());
    let event = Field::root(&event);
    check_event(&event, "reportingController", found);
    check_series(&event, found);
    if !event.at("eventTime").is_set() {
        found.required(&event.at("eventTime"), "");
    }
    let kind = event.at("type");
    if !matches!(kind.text(), "Normal" | "Warning") {
        let why = format!("has invalid value: {}", kind.text());
        found.invalid_as(&kind, &json!(""), &why);
    }
    let source = event.at("source");
    let names_source = source.at("component").has_text() || source.at("host").has_text();
    for (name, is_unset) in [
        ("firstTimestamp", !event.at("firstTimestamp").is_set()),
        ("lastTimestamp", !event.at("lastTimestamp").is_set()),
        ("count", event.at("count").number() == 0),
        ("source", !names_source),
    ] {
        if !is_unset {
            found.invalid_as(&event.at(name), &json!(""), "needs to be unset");
        }
    }
}

/// Checks the next version of an event of `events.k8s.io`, of which only the series may change.
pub fn check_strict_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (old, new) = (
        to_stored(old.value().clone()),
        to_stored(new.value().clone()),
    );
    let (old, new) = (Field::root(&old), Field::root(&new));
    check_event(&new, "reportingController", found);
    if old.get("series") != new.get("series") {
        check_series(&new, found);
    }
    for name in FIXED {
        check_fixed(name, &old, &new, found);
    }
}

/// Checks that a field of an event does not change.
fn check_fixed(name: &'static str, old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (was, is) = (old.at(name), new.at(name));
    let why = "field is immutable";
    match name {
        "involvedObject" | "source" | "related" => {
            let definition = if name == "source" { SOURCE } else { REFERENCE };
            // Related objects may be absent.
            let came_or_went = name == "related" && was.is_set() != is.original().is_object();
            if same(was.value(), is.value()) && !came_or_went {
                return;
            }
            if name == "related" && !is.original().is_object() {
                found.invalid(&is, why);
            } else {
                found.invalid_struct(&is, definition, why);
            }
        }
        "firstTimestamp" | "lastTimestamp" => found.immutable(&is, &was),
        "count" if was.number() != is.number() => found.invalid_number(&is, why),
        "count" => {}
        "eventTime" => {
            let cut = |time: &Field<'_>| time.text().chars().take(MICROSECONDS).collect::<String>();
            if cut(&was) != cut(&is) {
                found.invalid(&is, why);
            }
        }
        "reportingComponent" => {
            let place = is.called_at(&new.at("reportingController"));
            found.immutable_text(&place, &was);
        }
        _ => found.immutable_text(&is, &was),
    }
}

/// Returns whether two structs say the same: an absent one says nothing.
fn same(one: &Value, other: &Value) -> bool {
    let without_series = |value: &Value| -> Vec<(String, Value)> {
        let fields = value.as_object().into_iter().flatten();
        fields
            .filter(|(_, value)| **value != json!(""))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    without_series(one) == without_series(other)
}

fn check_series(event: &Field<'_>, found: &mut Findings) {
    let series = event.at("series");
    if !series.is_set() {
        return;
    }
    if series.at("count").number() < SERIES_MIN {
        found.invalid_as(&series.at("count"), &json!(""), "should be at least 2");
    }
    if !series.at("lastObservedTime").is_set() {
        found.required(&series.at("lastObservedTime"), "");
    }
}

fn check_event(event: &Field<'_>, controller_name: &'static str, found: &mut Findings) {
    let place = event.at("involvedObject").at("namespace");
    let own = event.at("metadata").at("namespace").text();
    let is_timed = event.at("eventTime").is_set();
    let is_elsewhere = match (place.text(), is_timed) {
        ("", false) => !matches!(own, "" | "default"),
        ("", true) => !matches!(own, "default" | "kube-system"),
        (version, false) => version != own,
        (_, true) => false,
    };
    if is_elsewhere {
        found.invalid_text(&place, "does not match event.namespace");
    }
    if is_timed {
        check_timed(event, controller_name, found);
    }
}

fn check_timed(event: &Field<'_>, controller_name: &'static str, found: &mut Findings) {
    let controller = event.at("reportingComponent");
    let controller = controller.called_at(&event.at(controller_name));
    if !controller.has_text() {
        found.required(&controller, "");
    }
    found.problems(&controller, qualified_name_problems(controller.text()));
    for name in ["reportingInstance", "action", "reason"] {
        let field = event.at(name);
        if !field.has_text() {
            found.required(&field, "");
        }
        if field.text().len() > TEXT_MAX {
            let why = format!("can have at most {TEXT_MAX} characters");
            found.invalid_as(&field, &json!(""), &why);
        }
    }
    let note = event.at("message");
    if note.text().len() > NOTE_MAX {
        let why = format!("can have at most {NOTE_MAX} characters");
        found.invalid_as(&note, &json!(""), &why);
    }
}
