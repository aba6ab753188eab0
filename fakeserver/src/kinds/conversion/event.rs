//! Events of the core group, and those of `events.k8s.io`: the same fields under other names.

use serde_json::Value;

/// The names of fields in the core group, and in the other one.
const RENAMED: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

pub(super) fn from_core(mut event: Value) -> Value {
    for (core, own) in RENAMED {
        rename(&mut event, core, own);
    }
    event
}

pub(super) fn to_core(mut event: Value) -> Value {
    for (core, own) in RENAMED {
        rename(&mut event, own, core);
    }
    event
}

fn rename(event: &mut Value, from: &str, to: &str) {
    let Some(fields) = event.as_object_mut() else {
        return;
    };
    if let Some(value) = fields.remove(from) {
        fields.insert(to.to_owned(), value);
    }
}
