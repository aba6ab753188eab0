//! Tests of flow schemas and priority levels.

use serde_json::{Value, json};

use super::{flow_schema, priority_level_configuration};
use crate::testing::check;

#[test]
fn priority_levels_are_checked() {
    let level = |spec: Value| json!({"metadata": {"name": "l"}, "spec": spec});
    let queued = |queuing: Value| {
        level(
            json!({"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": queuing}}}),
        )
    };
    let cases: [(Value, &[&str]); 6] = [
        (queued(json!({})), &[]),
        (
            queued(json!({"queues": 4})),
            &[
                "spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (4)",
            ],
        ),
        (
            queued(json!({"queues": 1000})),
            &[
                "spec.limited.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 1000 and handSize 8 should not be greater than 60",
            ],
        ),
        (
            queued(Value::Null),
            &[
                "spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited",
            ],
        ),
        (
            level(json!({"type": "Limited", "exempt": {}})),
            &[
                "spec.exempt: Forbidden: must be nil if the type is Limited",
                "spec.limited: Required value: must not be empty when type is Limited",
            ],
        ),
        (
            level(json!({"type": "x"})),
            &["spec.type: Unsupported value: \"x\": supported values: \"Exempt\", \"Limited\""],
        ),
    ];
    for (object, expected) in cases {
        check(&priority_level_configuration::KIND, &object, expected);
    }
}

#[test]
fn flow_schemas_are_checked() {
    let schema = |rule: Value| {
        json!({"metadata": {"name": "s"}, "spec": {
            "priorityLevelConfiguration": {"name": "l"}, "rules": [rule],
        }})
    };
    let subject = json!({"kind": "User", "user": {"name": "u"}});
    let good = json!({"subjects": [subject], "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/a/*"]}]});
    check(&flow_schema::KIND, &schema(good), &[]);
    let bad = json!({
        "subjects": [{"kind": "User", "group": {"name": "g"}}],
        "resourceRules": [{"verbs": ["x"], "apiGroups": ["*", "apps"], "resources": ["pods"]}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["a"]}],
    });
    check(
        &flow_schema::KIND,
        &schema(bad),
        &[
            "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
            "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
            "spec.rules[0].resourceRules[0].verbs: Unsupported value: [\"x\"]: supported values: \"create\", \"delete\", \"deletecollection\", \"get\", \"list\", \"patch\", \"proxy\", \"update\", \"watch\"",
            "spec.rules[0].resourceRules[0].apiGroups: Invalid value: [\"*\",\"apps\"]: if '*' is present, must not specify other api groups",
            "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace",
            "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: \"a\": must start with slash",
        ],
    );
}
