//! Tests of events of both groups.

use serde_json::{Value, json};

use super::KIND;
use crate::{
    events::event,
    testing::{check, check_update},
};

fn timed(more: &Value) -> Value {
    let mut event = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event",
        "metadata": {"name": "e", "namespace": "n"},
        "eventTime": "2026-01-01T00:00:00.000000Z", "regarding": {"namespace": "n"}, "type": "Normal",
        "reportingController": "c", "reportingInstance": "i", "action": "a", "reason": "r",
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        event[field] = value.clone();
    }
    event
}

#[test]
fn newer_events_have_none_of_the_older_fields() {
    check(&event::KIND, &timed(&json!({})), &[]);
    check(
        &event::KIND,
        &timed(&json!({"deprecatedCount": 1, "type": "Bad", "series": {"count": 1}})),
        &[
            "series.count: Invalid value: \"\": should be at least 2",
            "series.lastObservedTime: Required value",
            "type: Invalid value: \"\": has invalid value: Bad",
            "count: Invalid value: \"\": needs to be unset",
        ],
    );
    let core = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "n"},
        "involvedObject": {"namespace": "n"}, "count": 1, "type": "Bad",
    });
    check(&KIND, &core, &[]);
}

#[test]
fn newer_events_are_immutable() {
    check_update(
        &event::KIND,
        &timed(&json!({})),
        |event| {
            event["regarding"]["name"] = json!("p");
            event["note"] = json!("other");
            event["series"] =
                json!({"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"});
        },
        &[
            "involvedObject: Invalid value: {\"Kind\":\"\",\"Namespace\":\"n\",\"Name\":\"p\",\"UID\":\"\",\
             \"APIVersion\":\"\",\"ResourceVersion\":\"\",\"FieldPath\":\"\"}: field is immutable",
            "message: Invalid value: \"other\": field is immutable",
        ],
    );
}
