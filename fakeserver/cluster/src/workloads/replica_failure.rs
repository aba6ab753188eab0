//! The condition `ReplicaFailure`: pods are wanted that may not be created.

use serde_json::{Value, json};

const REPLICA_FAILURE: &str = "ReplicaFailure";

/// The failure of the last attempt to have as many pods as are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure<'a> {
    None,
    /// A pod was not created, for this reason.
    Create(&'a str),
}

/// Sets the condition of a set, or removes it. The condition stays unchanged while attempts fail.
pub(super) fn set_failure(status: &mut Value, failure: Failure<'_>, now: &str) {
    match failure {
        Failure::Create(_) if failure_of(status).is_some() => {}
        Failure::Create(message) => {
            let condition = json!({
                "type": REPLICA_FAILURE,
                "status": "True",
                "lastTransitionTime": now,
                "reason": "FailedCreate",
                "message": message,
            });
            put(status, Some(condition));
        }
        Failure::None => put(status, None),
    }
}

/// Returns the condition of a set.
pub(super) fn failure_of(status: &Value) -> Option<&Value> {
    let conditions = status["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.find(|condition| condition["type"] == REPLICA_FAILURE)
}

/// Sets the condition of a deployment to that of one of its sets, or removes it.
pub(super) fn copy_failure(status: &mut Value, of_set: Option<&Value>) {
    let Some(of_set) = of_set else {
        return put(status, None);
    };
    let is_same = failure_of(status).is_some_and(|condition| {
        condition["status"] == of_set["status"] && condition["reason"] == of_set["reason"]
    });
    if !is_same {
        let mut condition = of_set.clone();
        // The set has no other time.
        condition["lastUpdateTime"] = of_set["lastTransitionTime"].clone();
        put(status, Some(condition));
    }
}

/// Puts a condition last, in the place of one that exists, or removes it.
fn put(status: &mut Value, condition: Option<Value>) {
    if condition.is_none() && failure_of(status).is_none() {
        return;
    }
    let mut conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    conditions.retain(|condition| condition["type"] != REPLICA_FAILURE);
    conditions.extend(condition);
    status["conditions"] = conditions.into();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_reported_once() {
        let mut status = json!({"conditions": [{"type": "Available"}]});
        let first = json!({
            "type": "ReplicaFailure", "status": "True", "lastTransitionTime": "1",
            "reason": "FailedCreate", "message": "a",
        });
        for (message, now) in [("a", "1"), ("b", "2")] {
            set_failure(&mut status, Failure::Create(message), now);
            assert_eq!(status["conditions"], json!([{"type": "Available"}, first]));
        }
        let mut deployment = json!({});
        copy_failure(&mut deployment, failure_of(&status));
        let mut copied = first.clone();
        copied["lastUpdateTime"] = json!("1");
        assert_eq!(deployment["conditions"], json!([copied]));
        set_failure(&mut status, Failure::None, "3");
        assert_eq!(status["conditions"], json!([{"type": "Available"}]));
        copy_failure(&mut deployment, failure_of(&status));
        assert_eq!(deployment["conditions"], json!([]));
    }
}
