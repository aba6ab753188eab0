//! Eviction by taints: a pod goes when its node has a taint `NoExecute` that it does not tolerate, or no longer.
//!
//! The rules are those of the taint eviction controller of 1.36. The time of toleration begins when the taint was added, or
//! with the first look at it where the taint does not say.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::{
    objects::{ReconciledKind, generation, text},
    scheduler::{Taint, Toleration},
};
use crate::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, Observed},
        queue::Due,
    },
    kinds::core::{self, pod::condition::PodCondition},
    store::ObjectKey,
    write::deletion::{Wanted, is_deleted},
};

const POD: ReconciledKind = ReconciledKind {
    kind: &core::pod::KIND,
    name: "Pod",
    api_version: "v1",
    component: "taint-eviction-controller",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;

/// The controller that evicts pods from tainted nodes.
#[derive(Debug)]
pub(super) struct TaintEviction;

/// The time that a pod may stay on its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stay {
    ForEver,
    /// It goes after so much more time, or now.
    For(Duration),
}

impl Controller for TaintEviction {
    fn name(&self) -> &'static str {
        "taint eviction"
    }

    fn observe(&mut self, change: &Observed<'_>, index: &Index, due: &mut Due<'_>) {
        let key = change.key();
        if change.is_of(&core::node::KIND) {
            let sides = [&change.before, &change.after].into_iter().flatten();
            if sides
                .into_iter()
                .any(|(node, _)| executes(&node.to_value()))
            {
                for pod in index.pods.on_node(key.name()) {
                    due.add(pod.key().clone(), Duration::ZERO);
                }
            }
        } else if change.is_of(POD.kind)
            && index.pods.get(key).is_some_and(|pod| !pod.node.is_empty())
        {
            due.add(key.clone(), Duration::ZERO);
        }
    }

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, due: &mut Due<'_>) {
        let Some(pod) = cluster.index.pods.get(key) else {
            return;
        };
        let node = ObjectKey::cluster(core::node::KIND.storage().clone(), &pod.node);
        let Some(node) = cluster.get(&node).map(|stored| stored.to_value()) else {
            return;
        };
        if !executes(&node) || pod.is_finished() {
            return;
        }
        let pod = pod.stored.to_value();
        if is_deleted(&pod) {
            return;
        }
        match stay(&pod["spec"], &node, cluster.now()) {
            Stay::ForEver => {}
            Stay::For(Duration::ZERO) => evict(cluster, key, &pod),
            Stay::For(time) => due.add(key.clone(), time),
        }
    }
}

fn executing(node: &Value) -> impl Iterator<Item = &Value> {
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    taints.filter(|taint| taint["effect"] == "NoExecute")
}

fn executes(node: &Value) -> bool {
    executing(node).next().is_some()
}

/// Decides how long a pod of this specification may stay on a node.
fn stay(spec: &Value, node: &Value, now: Timestamp) -> Stay {
    let tolerations = spec["tolerations"].as_array();
    let mut left: Option<Duration> = None;
    for taint in executing(node) {
        let all = tolerations.into_iter().flatten();
        let read = Taint::of(taint);
        let mut matching = all
            .filter(|toleration| Toleration::of(toleration).tolerates(&read))
            .peekable();
        if matching.peek().is_none() {
            return Stay::For(Duration::ZERO);
        }
        let added = text(&taint["timeAdded"]).parse().unwrap_or(now);
        let age = Duration::try_from(now.duration_since(added)).unwrap_or_default();
        for toleration in matching {
            let Some(seconds) = toleration["tolerationSeconds"].as_i64() else {
                continue;
            };
            let limit = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
            let rest = limit.saturating_sub(age);
            left = Some(left.map_or(rest, |left| left.min(rest)));
        }
    }
    left.map_or(Stay::ForEver, Stay::For)
}

fn evict(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, pod: &Value) {
    let message = format!("Marking for deletion Pod {}", key.path());
    cluster.event(&POD, pod, "TaintManagerEviction", &message);
    let now = cluster.now_text();
    cluster.update(key, ACTOR.of_status(), |pod| {
        let condition = PodCondition {
            kind: "DisruptionTarget",
            is_true: true,
            reason: "DeletionByTaintManager",
            message: "Taint manager: deleting due to NoExecute taint",
            observed_generation: generation(pod),
        };
        condition.set(&mut pod["status"], &now);
    });
    cluster.delete(key, Wanted::default());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pod_stays_as_long_as_it_tolerates_every_taint() {
        let node = json!({"spec": {"taints": [
            {"key": "a", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"},
            {"key": "b", "effect": "NoSchedule"},
        ]}});
        let now: Timestamp = "2026-01-01T00:00:10Z".parse().unwrap();
        let check = |tolerations: Value| stay(&json!({"tolerations": tolerations}), &node, now);
        let tolerates = json!({"key": "a", "operator": "Exists"});
        let until =
            |seconds: i64| json!({"key": "a", "operator": "Exists", "tolerationSeconds": seconds});
        assert_eq!(check(json!([])), Stay::For(Duration::ZERO));
        assert_eq!(
            check(json!([{"key": "b", "operator": "Exists"}])),
            Stay::For(Duration::ZERO)
        );
        assert_eq!(check(json!([tolerates])), Stay::ForEver);
        assert_eq!(
            check(json!([until(30)])),
            Stay::For(Duration::from_secs(20))
        );
        assert_eq!(
            check(json!([until(30), until(12)])),
            Stay::For(Duration::from_secs(2))
        );
        assert_eq!(check(json!([until(10)])), Stay::For(Duration::ZERO));
        assert_eq!(check(json!([until(-1)])), Stay::For(Duration::ZERO));
    }
}
