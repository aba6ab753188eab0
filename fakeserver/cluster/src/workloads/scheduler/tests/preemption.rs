//! Preemption.

use fakeserver_kinds::policy::pod_disruption_budget;
use serde_json::{Value, json};

use super::{Fixture, requesting};

/// A pod with a priority, that takes a processor.
fn ranked(name: &str, priority: i64) -> Value {
    let mut pod = requesting(name, json!({"cpu": "1"}));
    pod["spec"]["priority"] = json!(priority);
    pod["metadata"]["labels"] = json!({"app": name});
    pod
}

/// Returns the node from which pods go for a pod, and those pods.
fn victims(cluster: &Fixture, pod: &Value) -> (String, Vec<String>) {
    let failure = cluster.attempt(pod).unwrap_err();
    let victims = failure.victims.unwrap();
    let names = victims.pods.iter().map(|pod| pod.key.name().to_owned());
    (victims.node.to_string(), names.collect())
}

fn goes(node: &str, pods: &[&str]) -> (String, Vec<String>) {
    let pods = pods.iter().map(|&name| name.to_owned());
    (node.to_owned(), pods.collect())
}

#[test]
fn as_few_and_as_unimportant_pods_go_as_possible() {
    let cluster = Fixture::of_nodes(1)
        .on("a", &ranked("low", 1))
        .on("a", &ranked("middle", 5));
    let high = ranked("p", 10);
    assert_eq!(victims(&cluster, &high), goes("a", &["low"]));
    let failure = cluster.attempt(&high).unwrap_err();
    assert_eq!(
        failure.outcome.message,
        "0/1 nodes are available: 1 Insufficient cpu."
    );
    let mut both = high.clone();
    both["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("2");
    assert_eq!(victims(&cluster, &both), goes("a", &["middle", "low"]));
    let equal = ranked("p", 1);
    assert!(
        cluster
            .place(&equal)
            .unwrap_err()
            .ends_with("1 No preemption victims found for incoming pod.")
    );
}

#[test]
fn the_older_of_two_equal_pods_stays() {
    let started = |name: &str, at: &str| {
        let mut pod = ranked(name, 1);
        pod["status"]["startTime"] = json!(at);
        pod
    };
    let cluster = Fixture::of_nodes(1)
        .on("a", &started("old", "2026-01-01T00:00:00Z"))
        .on("a", &started("new", "2026-01-01T00:30:00Z"));
    assert_eq!(victims(&cluster, &ranked("p", 2)), goes("a", &["new"]));
}

#[test]
fn candidates_are_compared_by_budgets_then_priorities_then_numbers_then_start() {
    let both = |name: &str, priority: i64| {
        let mut pod = ranked(name, priority);
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("2");
        pod
    };
    let high = both("p", 10);
    let budget = |app: &str| {
        json!({
            "metadata": {"name": app, "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": app}}},
            "status": {"disruptionsAllowed": 0},
        })
    };
    // The lowest highest priority.
    let cluster = Fixture::of_nodes(2)
        .on("a", &ranked("a1", 3))
        .on("a", &ranked("a2", 1))
        .on("b", &both("b1", 2));
    assert_eq!(victims(&cluster, &high), goes("b", &["b1"]));
    // A budget comes first.
    let cluster = cluster.with(&pod_disruption_budget::KIND, budget("b1"));
    assert_eq!(victims(&cluster, &high), goes("a", &["a1", "a2"]));
    // With the same highest priority, the least sum, which fewer pods have.
    let cluster = Fixture::of_nodes(2)
        .on("a", &ranked("a1", 2))
        .on("a", &ranked("a2", 1))
        .on("b", &both("b1", 2));
    assert_eq!(victims(&cluster, &high), goes("b", &["b1"]));
    // The latest start.
    let started = |name: &str, at: &str| {
        let mut pod = both(name, 1);
        pod["status"]["startTime"] = json!(at);
        pod
    };
    let cluster = Fixture::of_nodes(2)
        .on("a", &started("a1", "2026-01-01T00:00:00Z"))
        .on("b", &started("b1", "2026-01-01T00:30:00Z"));
    assert_eq!(victims(&cluster, &high), goes("b", &["b1"]));
}

#[test]
fn a_pod_that_a_budget_protects_goes_last() {
    let budget = json!({
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "safe"}}},
        "status": {"disruptionsAllowed": 0},
    });
    let cluster = Fixture::of_nodes(1)
        .with(&pod_disruption_budget::KIND, budget)
        .on("a", &ranked("safe", 1))
        .on("a", &ranked("other", 3));
    assert_eq!(victims(&cluster, &ranked("p", 5)), goes("a", &["other"]));
}

#[test]
fn a_pod_waits_for_those_that_it_has_preempted() {
    let mut going = ranked("going", 1);
    going["metadata"]["deletionTimestamp"] = json!(super::NOW);
    going["status"]["conditions"] = json!([{
        "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
    }]);
    let cluster = Fixture::of_nodes(1)
        .on("a", &going)
        .on("a", &ranked("stays", 1));
    let mut high = ranked("p", 10);
    high["status"]["nominatedNodeName"] = json!("a");
    assert_eq!(
        cluster.place(&high).unwrap_err(),
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, \
         preemption: not eligible due to a terminating pod on the nominated node."
    );
}

#[test]
fn a_cleared_node_is_kept_for_its_pod() {
    let mut cluster = Fixture::of_nodes(1).on("a", &ranked("q", 1));
    let mut first = ranked("first", 10);
    first["status"]["nominatedNodeName"] = json!("a");
    let info = std::sync::Arc::new(super::PodInfo::of(&first));
    let snapshot = &mut cluster.scheduler.snapshot;
    snapshot.nominate(&info.key, Some((&info, "a")));
    assert_eq!(cluster.place(&first).unwrap(), "a");
    assert!(cluster.place(&ranked("p", 5)).is_err());
    assert!(cluster.place(&ranked("p", 10)).is_err());
    assert_eq!(cluster.place(&ranked("p", 11)).unwrap(), "a");
}
