//! Disruption budgets: the number of pods that may be evicted now, which each eviction reduces.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use fakeserver_kinds::{core, policy};
use fakeserver_server::{
    controllers::pods::Pod,
    controllers::{
        cluster::{Actor, Cluster, Owner},
        controller::Controller,
        index::{Index, ObjectChange},
        meta::{Meta, OwnerReference},
        queue::KeyQueue,
    },
    store::ObjectKey,
};
use fakeserver_value::read::text;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::{
    deployment::KIND as DEPLOYMENT,
    objects::{
        Condition, ReconciledKind, count, look_again, number, part, selector, set_condition, truth,
    },
    replica_set::KIND as REPLICA_SET,
    selectors::Selectors,
};

const KIND: ReconciledKind = ReconciledKind {
    kind: &policy::pod_disruption_budget::KIND,
    name: "PodDisruptionBudget",
    api_version: "policy/v1",
    component: "controllermanager",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
/// The longest time between an eviction and the deletion of its pod.
#[doc(alias = "DeletionTimeout")]
const EVICTION_LIMIT: SignedDuration = SignedDuration::from_mins(2);

/// The controller of disruption budgets.
#[derive(Debug, Default)]
pub(super) struct Disruption {
    budgets: Selectors,
}

/// The counts of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sum {
    expected: i64,
    desired: i64,
    healthy: i64,
}

impl Controller for Disruption {
    fn name(&self) -> &'static str {
        "disruption budgets"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if change.is_of(KIND.kind) {
            let after = change.after.as_ref();
            let selects = after.and_then(|(budget, _)| selector(&budget.to_value()));
            self.budgets.set(key, selects);
            due.add(key.clone(), Duration::ZERO);
        } else if change.is_of(&core::pod::KIND) {
            for budget in self.budgets.selecting(&KIND, change) {
                due.add(budget.clone(), Duration::ZERO);
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let Some(budget) = cluster.get(key).map(|stored| stored.to_value()) else {
            return;
        };
        let namespace = key.namespace().unwrap_or_default();
        let pods = match self.budgets.get(key) {
            Some(selects) => cluster.index.pods.selected(namespace, selects),
            None => Vec::new(),
        };
        let now = cluster.now();
        let (disrupted, next) = still_disrupted(&budget, &pods, now);
        let sum = Sum::of(cluster, &budget, &pods, &disrupted);
        let now_text = cluster.now_text();
        cluster.update(key, ACTOR.of_status(), |budget| {
            report(budget, &sum, disrupted, &now_text);
        });
        look_again(key, next, now, due);
    }
}

// === impl Sum ===

impl Sum {
    /// Counts `pods`. What is wrong with them is a sentence.
    fn of(
        cluster: &Cluster<'_, '_>,
        budget: &Value,
        pods: &[Arc<Pod>],
        disrupted: &Map<String, Value>,
    ) -> Result<Self, String> {
        let spec = &budget["spec"];
        let healthy = pods
            .iter()
            .filter(|pod| pod.is_ready && !pod.is_deleted && !disrupted.contains_key(pod.name()));
        let healthy = count(healthy.count());
        let unavailable = &spec["maxUnavailable"];
        let available = &spec["minAvailable"];
        let (expected, desired) = if !unavailable.is_null() {
            let expected = expected_pods(cluster, pods)?;
            (expected, expected - part(unavailable, expected, true))
        } else if available.is_string() {
            let expected = expected_pods(cluster, pods)?;
            (expected, part(available, expected, true))
        } else {
            (count(pods.len()), number(available, 0))
        };
        Ok(Self {
            expected,
            desired: desired.max(0),
            healthy,
        })
    }

    fn allowed(self) -> i64 {
        if self.expected <= 0 {
            return 0;
        }
        (self.healthy - self.desired).max(0)
    }
}

/// The evictions that were allowed and are not seen yet in their pods, and when the next of them is given up.
fn still_disrupted(
    budget: &Value,
    pods: &[Arc<Pod>],
    now: Timestamp,
) -> (Map<String, Value>, Option<Timestamp>) {
    let mut next = None;
    let mut left = Map::new();
    let named = budget["status"]["disruptedPods"].as_object();
    for (name, since) in named.into_iter().flatten() {
        let is_waited_for = pods.iter().any(|pod| pod.name() == name && !pod.is_deleted);
        let limit = text(since).parse::<Timestamp>().ok();
        let limit = limit.and_then(|since| since.checked_add(EVICTION_LIMIT).ok());
        if let Some(limit) = limit.filter(|limit| is_waited_for && now < *limit) {
            left.insert(name.clone(), since.clone());
            next = [next, Some(limit)].into_iter().flatten().min();
        }
    }
    (left, next)
}

/// Returns the number of expected pods by their controllers. Pods without a controller do not count.
#[doc(alias = "getExpectedScale")]
fn expected_pods(cluster: &Cluster<'_, '_>, pods: &[Arc<Pod>]) -> Result<i64, String> {
    let mut scales = BTreeMap::new();
    for pod in pods {
        let Some(controller) = &pod.controller else {
            continue;
        };
        if !scales.contains_key(&controller.uid) {
            let (uid, scale) = scale_of(cluster, controller, pod)?;
            scales.insert(uid, scale);
            // A replica set whose scale is its deployment's is noted as seen, and adds nothing.
            scales.entry(controller.uid.clone()).or_insert(0);
        }
    }
    Ok(scales.values().sum())
}

/// The uid and the scale of what manages a pod: of the deployment where it is one of its replica sets.
fn scale_of(
    cluster: &Cluster<'_, '_>,
    controller: &OwnerReference,
    pod: &Pod,
) -> Result<(String, i64), String> {
    let namespace = pod.key().namespace();
    let found = |owner: &OwnerReference| match cluster.owner(owner, namespace) {
        Owner::At(key) => cluster.get(&key).filter(|stored| stored.uid() == owner.uid),
        Owner::Unknown => None,
    };
    let missing = || {
        let OwnerReference { kind, name, .. } = controller;
        format!(
            "the pod {} is managed by {kind} {name}, which is not there",
            pod.name()
        )
    };
    let stored = found(controller).ok_or_else(missing)?;
    let above = Meta::of(&stored).controller().cloned();
    let is_set = controller.kind == REPLICA_SET.name;
    let above = above.filter(|above| is_set && above.kind == DEPLOYMENT.name);
    let scaled = above.and_then(|above| found(&above)).unwrap_or(stored);
    let replicas = scaled.to_value()["spec"]["replicas"].as_i64();
    let replicas = replicas.ok_or_else(|| {
        let resource = scaled.key().resource();
        let (plural, group) = (resource.resource(), resource.group());
        format!("{plural}.{group} does not implement the scale subresource")
    })?;
    Ok((scaled.uid().to_owned(), replicas))
}

/// Writes `sum` into the status. If it is an error, no pod may be evicted.
fn report(budget: &mut Value, sum: &Result<Sum, String>, disrupted: Map<String, Value>, now: &str) {
    let generation = budget["metadata"]["generation"].clone();
    let status = &mut budget["status"];
    let condition = match sum {
        Ok(sum) => {
            status["currentHealthy"] = json!(sum.healthy);
            status["desiredHealthy"] = json!(sum.desired);
            status["expectedPods"] = json!(sum.expected);
            let is_true = sum.allowed() > 0;
            Condition {
                kind: "DisruptionAllowed",
                status: truth(is_true),
                reason: if is_true {
                    "SufficientPods"
                } else {
                    "InsufficientPods"
                },
                message: "",
            }
        }
        Err(why) => Condition {
            kind: "DisruptionAllowed",
            status: "False",
            reason: "SyncFailed",
            message: why,
        },
    };
    status["disruptionsAllowed"] = json!(sum.as_ref().map_or(0, |sum| sum.allowed()));
    status["disruptedPods"] = disrupted.into();
    status["observedGeneration"] = generation.clone();
    set_condition(status, condition, now, None);
    if let Some(conditions) = status["conditions"].as_array_mut() {
        for condition in conditions {
            condition["observedGeneration"] = generation.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn healthy_pods_above_the_minimum_may_be_evicted() {
        let allowed = |expected, desired, healthy| {
            let sum = Sum {
                expected,
                desired,
                healthy,
            };
            sum.allowed()
        };
        assert_eq!(allowed(3, 2, 3), 1);
        assert_eq!(allowed(3, 2, 1), 0);
        assert_eq!(allowed(3, 0, 2), 2);
        assert_eq!(allowed(0, 0, 2), 0, "pods that nobody counts on");
    }
}
