//! Events of the core group, and those of `events.k8s.io`: the same fields under other names.

use fakeserver_value::served_form::ServedForm;
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

/// Events of the core group, the stored form.
pub(super) static CORE: ServedForm = ServedForm {
    group: "",
    version: "v1",
    api_version: "v1",
    kind: "Event",
    is_stored: true,
    other: &EVENTS,
    from_other: to_core,
    without_other: |event| event,
};

/// Events of `events.k8s.io`.
pub(super) static EVENTS: ServedForm = ServedForm {
    group: "events.k8s.io",
    version: "v1",
    api_version: "events.k8s.io/v1",
    kind: "Event",
    is_stored: false,
    other: &CORE,
    from_other: from_core,
    without_other: |event| event,
};

fn from_core(mut event: Value) -> Value {
    for (core, own) in RENAMED {
        rename(&mut event, core, own);
    }
    event
}

fn to_core(mut event: Value) -> Value {
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
