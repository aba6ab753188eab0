//! Eviction by taints: a pod is deleted when its node has a taint `NoExecute` that the pod does not, or no longer, tolerate.
//!
//! The rules are those of the taint eviction controller of 1.36. The time of toleration begins when the controller first sees
//! the pod and the taint together, whatever `timeAdded` says, and begins again after a restart of the server.

use std::{collections::BTreeMap, time::Duration};

use fakeserver_kinds::{conditions::PodCondition, core};
use fakeserver_server::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::deletion::{DeletionParameters, is_deleted},
};
use serde_json::Value;
use tokio::time::Instant;

use super::{
    objects::{ReconciledKind, generation},
    scheduler::{Taint, Toleration},
};

const POD: ReconciledKind = ReconciledKind {
    kind: &core::pod::KIND,
    name: "Pod",
    api_version: "v1",
    component: "taint-eviction-controller",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;

/// The controller that evicts pods from tainted nodes.
///
/// # Memory
///
/// An entry for each pod that tolerates a taint of its node for a limited time.
#[derive(Debug, Default)]
pub(super) struct TaintEviction {
    /// The times of the evictions that are scheduled. Other taints do not change one, unless they end or cancel it.
    scheduled: BTreeMap<ObjectKey, Instant>,
}

/// The time for which a pod tolerates the taints of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TolerationPeriod {
    ForEver,
    /// The pod is evicted after this time, or at once if the time is 0.
    For(Duration),
}

impl Controller for TaintEviction {
    fn name(&self) -> &'static str {
        "taint eviction"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if change.is_of(&core::node::KIND) {
            // Both sides: evictions are cancelled when a taint is removed.
            let sides = [&change.before, &change.after].into_iter().flatten();
            if sides
                .into_iter()
                .any(|(node, _)| executes(&node.to_value()))
            {
                for pod in index.pods.on_node(key.name()) {
                    due.add(pod.key().clone(), Duration::ZERO);
                }
            }
        } else if change.is_of(POD.kind) {
            if change.after.is_none() {
                self.scheduled.remove(key);
            } else if index.pods.get(key).is_some_and(|pod| !pod.node.is_empty()) {
                due.add(key.clone(), Duration::ZERO);
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let Some(pod) = cluster.index.pods.get(key) else {
            return;
        };
        let node = ObjectKey::cluster(core::node::KIND.storage().clone(), &pod.node);
        let Some(node) = cluster.get(&node).map(|stored| stored.to_value()) else {
            return;
        };
        let is_finished = pod.is_finished();
        let pod = pod.stored.to_value();
        if is_finished || is_deleted(&pod) {
            self.scheduled.remove(key);
            return;
        }
        match stay(&pod["spec"], &node) {
            TolerationPeriod::ForEver => self.cancel(cluster, key, &pod),
            TolerationPeriod::For(Duration::ZERO) => {
                self.cancel(cluster, key, &pod);
                evict(cluster, key, &pod);
            }
            TolerationPeriod::For(time) => {
                let now = Instant::now();
                // The first look sets the time: later changes of the pod or the node do not put it off.
                let at = *self.scheduled.entry(key.clone()).or_insert(now + time);
                if at > now {
                    due.add(key.clone(), at - now);
                } else {
                    self.scheduled.remove(key);
                    evict(cluster, key, &pod);
                }
            }
        }
    }
}

// === impl TaintEviction ===

impl TaintEviction {
    /// Cancels a scheduled eviction, and records an event.
    fn cancel(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, pod: &Value) {
        if self.scheduled.remove(key).is_some() {
            let message = format!("Cancelling deletion of Pod {}", key.path());
            cluster.event(&POD, pod, "TaintManagerEviction", &message);
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

/// Decides how long a pod of this specification may stay on a node. Of the tolerations that match a taint the first counts.
fn stay(spec: &Value, node: &Value) -> TolerationPeriod {
    let tolerations = spec["tolerations"].as_array();
    let mut shortest: Option<Duration> = None;
    for taint in executing(node) {
        let read = Taint::of(taint);
        let mut all = tolerations.into_iter().flatten();
        let Some(toleration) = all.find(|toleration| Toleration::of(toleration).tolerates(&read))
        else {
            return TolerationPeriod::For(Duration::ZERO);
        };
        if let Some(seconds) = toleration["tolerationSeconds"].as_i64() {
            let limit = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
            shortest = Some(shortest.map_or(limit, |shortest| shortest.min(limit)));
        }
    }
    shortest.map_or(TolerationPeriod::ForEver, TolerationPeriod::For)
}

fn evict(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, pod: &Value) {
    let message = format!("Marking for deletion Pod {}", key.path());
    cluster.event(&POD, pod, "TaintManagerEviction", &message);
    let now = cluster.now_text();
    // Before the deletion: a controller that sees the pod end finds the reason there.
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
    cluster.delete(key, DeletionParameters::default());
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
            {"key": "c", "effect": "NoExecute"},
        ]}});
        let check = |tolerations: Value| stay(&json!({"tolerations": tolerations}), &node);
        let tolerates = |key: &str| json!({"key": key, "operator": "Exists"});
        let until = |key: &str, seconds: i64| json!({"key": key, "operator": "Exists", "tolerationSeconds": seconds});
        let seconds = |seconds| TolerationPeriod::For(Duration::from_secs(seconds));
        assert_eq!(check(json!([])), seconds(0));
        assert_eq!(check(json!([tolerates("b")])), seconds(0));
        assert_eq!(check(json!([until("a", 30)])), seconds(0));
        let [a, c] = ["a", "c"].map(tolerates);
        assert_eq!(check(json!([a, c])), TolerationPeriod::ForEver);
        assert_eq!(check(json!([a, until("c", 20)])), seconds(20));
        assert_eq!(check(json!([until("a", 30), until("c", 20)])), seconds(20));
        assert_eq!(
            check(json!([until("a", 30), until("a", 12), c])),
            seconds(30)
        );
        assert_eq!(check(json!([until("a", -1), c])), seconds(0));
    }
}
