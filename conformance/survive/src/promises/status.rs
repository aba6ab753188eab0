//! The status does not say ready for a generation that the subject has not read.

use serde_json::Value;

use super::Case;
use crate::finding::{Finding, Promise};

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let outcome = case.outcome;
    let mut findings = Vec::new();
    for write in outcome.trace.writes.iter().filter(|write| write.is_point()) {
        let (Some(seen), Some(revision)) = (&write.seen, write.revision) else {
            continue;
        };
        if seen.generation == 0 {
            continue;
        }
        let changes = &outcome.history.changes;
        let place = changes.binary_search_by_key(&revision, |it| it.change.revision());
        let after = place.ok().and_then(|place| changes[place].change.after());
        let Some(object) = after.map(|after| after.to_value()) else {
            continue;
        };
        let generation = ready_generation(&object["status"]);
        if let Some(generation) = generation.filter(|generation| *generation > seen.generation) {
            let text = format!(
                "{} says ready for generation {generation}, and generation {} was read",
                write.point.key, seen.generation
            );
            findings.push(Finding::new(Promise::Status, text).at(write.at));
        }
    }
    findings
}

/// Returns the generation for which a status says ready.
fn ready_generation(status: &Value) -> Option<u64> {
    let conditions = status["conditions"].as_array()?;
    let ready = conditions.iter().find(|condition| {
        matches!(condition["type"].as_str(), Some("Ready" | "Available"))
            && condition["status"] == "True"
    })?;
    let own = ready["observedGeneration"].as_u64();
    own.or_else(|| status["observedGeneration"].as_u64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ready_generation;

    #[test]
    fn the_generation_is_that_of_the_condition_or_of_the_status() {
        let ready = json!({"type": "Ready", "status": "True", "observedGeneration": 3});
        let status = json!({"observedGeneration": 2, "conditions": [ready]});
        assert_eq!(ready_generation(&status), Some(3));
        let ready = json!({"type": "Available", "status": "True"});
        let status = json!({"observedGeneration": 2, "conditions": [ready]});
        assert_eq!(ready_generation(&status), Some(2));
        let not = json!({"type": "Ready", "status": "False"});
        assert_eq!(ready_generation(&json!({"conditions": [not]})), None);
    }
}
