//! Conditions in a status.
//!
//! The rule of those of pods is that of upstream's `UpdatePodCondition`: a type has one condition, which keeps its place, and its time of
//! transition while its status stays.

use serde_json::{Value, json};

/// A condition of a pod, as its writer wants it.
#[derive(Clone, Copy, Debug)]
pub struct PodCondition<'a> {
    pub kind: &'a str,
    pub is_true: bool,
    /// Empty without one.
    pub reason: &'a str,
    /// Empty without one.
    pub message: &'a str,
    /// The generation of the pod that its writer has seen; `None` if the writer does not tell it.
    pub observed_generation: Option<i64>,
}

// === impl PodCondition ===

impl PodCondition<'_> {
    /// Sets the condition in a status. An equal one, by status, reason and message, stays unchanged, and so does the generation
    /// that it observed: nothing is written for that alone.
    #[doc(alias = "UpdatePodCondition")]
    pub fn set(&self, status: &mut Value, now: &str) {
        if !find(status, self.kind).is_some_and(|existing| self.matches(existing)) {
            self.renew(status, now);
        }
    }

    /// Sets the condition in a status as the latest observation, with its generation, even if it is unchanged.
    pub fn renew(&self, status: &mut Value, now: &str) {
        let existing = find(status, self.kind);
        let since = match existing {
            Some(existing) if existing["status"] == self.truth() => {
                existing["lastTransitionTime"].clone()
            }
            _ => json!(now),
        };
        let written = self.written(&since);
        let conditions = &mut status["conditions"];
        if !conditions.is_array() {
            *conditions = json!([]);
        }
        let Some(all) = conditions.as_array_mut() else {
            return;
        };
        // Replaced in its place: the order of conditions is the order in which they first came.
        match all
            .iter_mut()
            .find(|existing| existing["type"] == self.kind)
        {
            Some(existing) => *existing = written,
            None => all.push(written),
        }
    }

    fn truth(&self) -> &'static str {
        if self.is_true { "True" } else { "False" }
    }

    fn matches(&self, existing: &Value) -> bool {
        let text = |field: &str| existing[field].as_str().unwrap_or_default();
        existing["status"] == self.truth()
            && text("reason") == self.reason
            && text("message") == self.message
    }

    fn written(&self, since: &Value) -> Value {
        let mut written = json!({
            "type": self.kind,
            "status": self.truth(),
            "lastProbeTime": null,
            "lastTransitionTime": since,
        });
        for (field, text) in [("reason", self.reason), ("message", self.message)] {
            if !text.is_empty() {
                written[field] = json!(text);
            }
        }
        if let Some(generation) = self.observed_generation {
            written["observedGeneration"] = json!(generation);
        }
        written
    }
}

/// Returns the condition of a type that a status has.
#[doc(alias = "GetPodCondition")]
pub fn find<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    let mut conditions = status["conditions"].as_array()?.iter();
    conditions.find(|condition| condition["type"] == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: PodCondition<'static> = PodCondition {
        kind: "Ready",
        is_true: true,
        reason: "",
        message: "",
        observed_generation: None,
    };

    fn unready(reason: &str, generation: i64) -> PodCondition<'_> {
        PodCondition {
            is_true: false,
            reason,
            observed_generation: Some(generation),
            ..READY
        }
    }

    fn condition(kind: &str, status: &str, since: &str) -> Value {
        json!({"type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": since})
    }

    #[test]
    fn a_condition_keeps_its_place_and_its_time_while_its_status_stays() {
        let mut status = json!({"phase": "Pending"});
        READY.set(&mut status, "1");
        assert_eq!(
            status,
            json!({"phase": "Pending", "conditions": [condition("Ready", "True", "1")]})
        );
        let other = PodCondition {
            kind: "Initialized",
            ..READY
        };
        other.set(&mut status, "2");
        unready("Slow", 4).set(&mut status, "3");
        unready("Slower", 5).set(&mut status, "4");
        let mut unready = condition("Ready", "False", "3");
        unready["reason"] = json!("Slower");
        unready["observedGeneration"] = json!(5);
        assert_eq!(
            status["conditions"],
            json!([unready, condition("Initialized", "True", "2")])
        );
    }

    #[test]
    fn an_equal_condition_is_written_only_on_renewal() {
        let mut status = json!({});
        unready("Slow", 1).set(&mut status, "1");
        let before = status.clone();
        unready("Slow", 2).set(&mut status, "2");
        assert_eq!(status, before);
        unready("Slow", 2).renew(&mut status, "2");
        let after = find(&status, "Ready").unwrap();
        assert_eq!(after["lastTransitionTime"], "1");
        assert_eq!(after["observedGeneration"], 2);
    }
}
