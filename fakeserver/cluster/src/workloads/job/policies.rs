//! The policies of a job: which failures of pods count, and which successes are enough.

use fakeserver_value::read::text;
use serde_json::Value;

use super::indexes::Indexes;
use crate::workloads::objects::number;

/// The effect of a pod's failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The failure counts, as without a policy.
    Counts,
    Ignored,
    /// The index of the pod is not tried again.
    FailsIndex,
    /// The job fails, as this message says.
    FailsJob(String),
}

/// Decides the effect of a pod's failure by the first rule that matches it.
pub(super) fn failure(policy: &Value, pod: &Value) -> Failure {
    let rules = policy["rules"].as_array().into_iter().flatten();
    for (at, rule) in rules.enumerate() {
        let on_codes = &rule["onExitCodes"];
        let matched = if on_codes.is_null() {
            matching_condition(rule, pod)
        } else {
            matching_exit(on_codes, pod)
        };
        let Some(what) = matched else { continue };
        return match text(&rule["action"]) {
            "Ignore" => Failure::Ignored,
            "FailIndex" => Failure::FailsIndex,
            "FailJob" => Failure::FailsJob(format!("{what} matching FailJob rule at index {at}")),
            _ => Failure::Counts,
        };
    }
    Failure::Counts
}

fn path(pod: &Value) -> String {
    let metadata = &pod["metadata"];
    format!(
        "{}/{}",
        text(&metadata["namespace"]),
        text(&metadata["name"])
    )
}

/// Describes the container whose exit code a rule names.
fn matching_exit(rule: &Value, pod: &Value) -> Option<String> {
    let values = rule["values"].as_array()?;
    let wants_listed = rule["operator"] == "In";
    let fields = ["containerStatuses", "initContainerStatuses"];
    let mut all = fields
        .iter()
        .flat_map(|field| pod["status"][*field].as_array().into_iter().flatten());
    all.find_map(|status| {
        let code = number(&status["state"]["terminated"]["exitCode"], 0);
        let name = &rule["containerName"];
        let is_named = name.is_null() || *name == status["name"];
        let is_listed = values.iter().any(|value| value.as_i64() == Some(code));
        (code != 0 && is_named && is_listed == wants_listed).then(|| {
            let (container, pod) = (text(&status["name"]), path(pod));
            format!("Container {container} for pod {pod} failed with exit code {code}")
        })
    })
}

/// Describes the condition of a pod that a rule names.
fn matching_condition(rule: &Value, pod: &Value) -> Option<String> {
    let patterns = rule["onPodConditions"].as_array()?;
    let conditions = pod["status"]["conditions"].as_array()?;
    patterns.iter().find_map(|pattern| {
        let status = match text(&pattern["status"]) {
            "" => "True",
            status => status,
        };
        let mut all = conditions.iter();
        all.any(|it| it["type"] == pattern["type"] && it["status"] == status)
            .then(|| format!("Pod {} has condition {}", path(pod), text(&pattern["type"])))
    })
}

/// Returns the number of the first rule by which the succeeded indexes are enough.
pub(super) fn success(policy: &Value, succeeded: &Indexes, completions: i64) -> Option<usize> {
    let mut rules = policy["rules"].as_array()?.iter();
    rules.position(|rule| {
        let wanted = match rule["succeededIndexes"].as_str() {
            Some(indexes) => Indexes::parse(indexes, completions),
            None => Indexes::parse(&format!("0-{completions}"), completions),
        };
        let enough = number(&rule["succeededCount"], wanted.count());
        succeeded.within(&wanted).count() >= enough
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_rule_that_matches_decides() {
        let policy = json!({"rules": [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
            {"action": "FailJob", "onExitCodes": {"containerName": "main", "operator": "In", "values": [42]}},
            {"action": "FailIndex", "onExitCodes": {"operator": "NotIn", "values": [1]}},
        ]});
        let pod = |container: &str, code: i64, conditions: Value| {
            json!({
                "metadata": {"namespace": "n", "name": "p"},
                "status": {
                    "conditions": conditions,
                    "containerStatuses": [
                        {"name": container, "state": {"terminated": {"exitCode": code}}},
                    ],
                },
            })
        };
        let message =
            "Container main for pod n/p failed with exit code 42 matching FailJob rule at index 1";
        let disrupted = json!([{"type": "DisruptionTarget", "status": "True"}]);
        for (pod, expected) in [
            (
                pod("main", 42, json!([])),
                Failure::FailsJob(message.to_owned()),
            ),
            (pod("other", 42, json!([])), Failure::FailsIndex),
            (pod("main", 1, json!([])), Failure::Counts),
            (pod("main", 42, disrupted), Failure::Ignored),
        ] {
            assert_eq!(failure(&policy, &pod), expected);
        }
    }

    #[test]
    fn a_rule_of_success_names_indexes_or_their_number() {
        let check = |rule: Value, succeeded: &str| {
            let policy = json!({"rules": [rule]});
            success(&policy, &Indexes::parse(succeeded, 9), 9)
        };
        assert_eq!(
            check(json!({"succeededIndexes": "0,2-3"}), "0,2,3"),
            Some(0)
        );
        assert_eq!(check(json!({"succeededIndexes": "0,2-3"}), "0,2,4"), None);
        assert_eq!(check(json!({"succeededCount": 2}), "7-8"), Some(0));
        let both = json!({"succeededIndexes": "0-4", "succeededCount": 2});
        assert_eq!(check(both, "4-8"), None);
    }
}
