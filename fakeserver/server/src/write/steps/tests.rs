use serde_json::json;

use super::{default_toleration_seconds::tolerate_loss, priority::set_default};

#[test]
fn a_pod_tolerates_lost_nodes_unless_it_says_otherwise() {
    let mut some =
        json!({"tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]});
    tolerate_loss(&mut some);
    assert_eq!(some["tolerations"].as_array().unwrap().len(), 2);
    assert_eq!(
        some["tolerations"][1]["key"],
        "node.kubernetes.io/unreachable"
    );
    let mut all = json!({"tolerations": [{"operator": "Exists"}]});
    tolerate_loss(&mut all);
    assert_eq!(all["tolerations"].as_array().unwrap().len(), 1);
}

#[test]
fn a_pod_without_a_class_has_no_priority() {
    let mut none = json!({});
    set_default(&mut none);
    assert_eq!(
        none,
        json!({"priority": 0, "preemptionPolicy": "PreemptLowerPriority"})
    );
    let mut system = json!({"priorityClassName": "system-node-critical"});
    set_default(&mut system);
    assert_eq!(system["priority"], 2_000_001_000);
}
