//! Deployments: replica sets of one template after another, each taking over from those before it.

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};

use super::{
    objects::{
        COALESCED, Condition, Kind, has_condition, hash, number, part, selector, set_condition,
        text,
    },
    replica_set::KIND as REPLICA_SET,
};
use crate::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, Observed},
        queue::Due,
    },
    deletion::{Wanted, is_deleted},
    storage::ObjectKey,
};

const KIND: Kind = Kind {
    group: "apps",
    plural: "deployments",
    kind: "Deployment",
    api_version: "apps/v1",
    component: "deployment-controller",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
const HASH: &str = "pod-template-hash";
const REVISION: &str = "deployment.kubernetes.io/revision";
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
const MAXIMUM: &str = "deployment.kubernetes.io/max-replicas";
/// Annotations that belong to an object itself, and are not handed on.
const OWN: [&str; 5] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    DESIRED,
    MAXIMUM,
    "deprecated.deployment.rollback.to",
];

/// The controller of deployments.
#[derive(Debug, Default)]
pub(super) struct Deployments {
    /// Replica sets that nobody manages.
    orphans: BTreeSet<ObjectKey>,
}

/// A replica set of a deployment.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) name: String,
    pub(super) wanted: i64,
    pub(super) ready: i64,
    pub(super) available: i64,
    pub(super) replicas: i64,
    pub(super) revision: i64,
}

/// How a deployment goes from one template to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rollout {
    pub(super) wanted: i64,
    pub(super) surge: i64,
    pub(super) unavailable: i64,
    /// All old pods go before new ones come.
    pub(super) recreates: bool,
    pub(super) is_paused: bool,
}

impl Controller for Deployments {
    fn name(&self) -> &'static str {
        "deployments"
    }

    fn observe(&mut self, change: &Observed<'_>, _index: &Index, due: &mut Due<'_>) {
        let key = change.key();
        if change.is_of(KIND.group, KIND.plural) {
            due.add(key.clone(), Duration::ZERO);
        } else if change.is_of(REPLICA_SET.group, REPLICA_SET.plural) {
            for (_, meta) in [&change.before, &change.after].into_iter().flatten() {
                let owner = meta.controller().filter(|owner| owner.kind == KIND.kind);
                if let Some(owner) = owner {
                    due.add(KIND.key(key.namespace(), &owner.name), COALESCED);
                }
            }
            let after = change.after.as_ref();
            if after.is_some_and(|(_, meta)| meta.controller().is_none()) {
                self.orphans.insert(key.clone());
            } else {
                self.orphans.remove(key);
            }
        }
    }

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, due: &mut Due<'_>) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let deployment = stored.to_value();
        if is_deleted(&deployment) {
            return;
        }
        self.adopt(cluster, &deployment);
        let mut sets = sets(cluster, &deployment);
        let template = &deployment["spec"]["template"];
        let current = sets
            .iter()
            .position(|set| without_hash(&set["spec"]["template"]) == *template)
            .map(|at| sets.remove(at));
        let rollout = Rollout::of(&deployment);
        let revision = next_revision(&sets, current.as_ref());
        if let Some(current) = current {
            roll(
                cluster,
                &deployment,
                &sets,
                Some(&current),
                rollout,
                revision,
            );
            report(cluster, key, &sets, Some(&current), rollout, revision);
            clean_up(cluster, &deployment, sets);
        } else if rollout.is_paused {
            roll(cluster, &deployment, &sets, None, rollout, revision);
            report(cluster, key, &sets, None, rollout, revision);
        } else {
            create(cluster, key, &deployment, rollout, revision);
            // What was made is looked at like everything else.
            due.add(key.clone(), COALESCED);
        }
    }
}

// === impl Deployments ===

impl Deployments {
    /// Manages from now on what `deployment` selects, and nobody manages.
    fn adopt(&self, cluster: &mut Cluster<'_, '_>, deployment: &Value) {
        let Some(selects) = selector(deployment) else {
            return;
        };
        let namespace = deployment["metadata"]["namespace"].as_str();
        let near = self.orphans.range(REPLICA_SET.key(namespace, "")..);
        for key in near.take_while(|key| key.namespace() == namespace) {
            let found = cluster.get(key);
            if found.is_some_and(|set| selects.matches(set.labels())) {
                cluster.update(key, ACTOR, |set| {
                    set["metadata"]["ownerReferences"] = json!([KIND.owner_reference(deployment)]);
                });
            }
        }
    }
}

// === impl Rollout ===

impl Rollout {
    fn of(deployment: &Value) -> Self {
        let spec = &deployment["spec"];
        let wanted = number(&spec["replicas"], 1);
        let strategy = &spec["strategy"];
        let rolling = &strategy["rollingUpdate"];
        let surge = part(&rolling["maxSurge"], wanted, true);
        let unavailable = part(&rolling["maxUnavailable"], wanted, false).min(wanted);
        let is_stuck = surge == 0 && unavailable == 0;
        Self {
            wanted,
            surge,
            unavailable: if is_stuck { 1 } else { unavailable },
            recreates: strategy["type"] == "Recreate",
            is_paused: spec["paused"] == true,
        }
    }

    fn maximum(self) -> i64 {
        if self.recreates {
            self.wanted
        } else {
            self.wanted + self.surge
        }
    }

    /// How many replicas each set is to have: the old ones, oldest first, and the current one.
    pub(super) fn plan(self, old: &[Set], current: Option<&Set>) -> (Vec<i64>, i64) {
        let mut olds: Vec<i64> = old.iter().map(|set| set.wanted).collect();
        let old_total: i64 = olds.iter().sum();
        let Some(current) = current else {
            // A deployment that is paused before its first roll-out: the newest of the old is scaled.
            if let Some(last) = olds.last_mut().filter(|_| old_total != self.wanted) {
                *last = (*last + self.wanted - old_total).max(0);
            }
            return (olds, 0);
        };
        if self.is_paused {
            let own = if old_total == 0 {
                self.wanted
            } else {
                (self.wanted - old_total).max(0)
            };
            return (olds, own);
        }
        if self.recreates {
            let has_old_pods = old.iter().any(|set| set.replicas > 0);
            olds.fill(0);
            let own = if has_old_pods || old_total > 0 {
                current.wanted.min(self.wanted)
            } else {
                self.wanted
            };
            return (olds, own);
        }
        let room = self.maximum() - old_total - current.wanted;
        let own = if current.wanted > self.wanted {
            self.wanted
        } else {
            current.wanted + room.clamp(0, self.wanted - current.wanted)
        };
        self.scale_down(old, &mut olds, current);
        (olds, own)
    }

    /// Takes from the old sets what may go: first what is not available anyhow.
    fn scale_down(self, old: &[Set], olds: &mut [i64], current: &Set) {
        let minimum = self.wanted - self.unavailable;
        let total: i64 = olds.iter().sum::<i64>() + current.wanted;
        let missing = (current.wanted - current.available).max(0);
        let mut may_go = total - minimum - missing;
        for (set, wanted) in old.iter().zip(olds.iter_mut()) {
            let broken = (*wanted - set.available).clamp(0, may_go.max(0));
            *wanted -= broken;
            may_go -= broken;
        }
        let available: i64 = old
            .iter()
            .zip(olds.iter())
            .map(|(set, wanted)| set.available.min(*wanted))
            .sum();
        let mut spare = (available + current.available - minimum).max(0);
        for wanted in olds.iter_mut() {
            let gone = (*wanted).min(spare);
            *wanted -= gone;
            spare -= gone;
        }
    }
}

// === impl Set ===

impl Set {
    fn of(set: &Value) -> Self {
        let status = &set["status"];
        Self {
            name: text(&set["metadata"]["name"]).to_owned(),
            wanted: number(&set["spec"]["replicas"], 1),
            ready: number(&status["readyReplicas"], 0),
            available: number(&status["availableReplicas"], 0),
            replicas: number(&status["replicas"], 0),
            revision: revision_of(set),
        }
    }
}

/// The replica sets of a deployment, the oldest first.
fn sets(cluster: &Cluster<'_, '_>, deployment: &Value) -> Vec<Value> {
    let uid = text(&deployment["metadata"]["uid"]);
    let owned = cluster.index.dependents(uid);
    let mut sets: Vec<Value> = owned
        .filter(|(key, _)| *key.resource() == REPLICA_SET.resource())
        .filter_map(|(key, _)| Some(cluster.get(key)?.to_value()))
        .filter(|set| !is_deleted(set))
        .collect();
    sets.sort_by_key(|set| (revision_of(set), text(&set["metadata"]["name"]).to_owned()));
    sets
}

fn revision_of(set: &Value) -> i64 {
    let revision = &set["metadata"]["annotations"][REVISION];
    text(revision).parse().unwrap_or_default()
}

/// The revision of the current template: that of its set, if no other set came after it.
fn next_revision(old: &[Value], current: Option<&Value>) -> i64 {
    let last = old.iter().map(revision_of).max().unwrap_or_default();
    let own = current.map_or(0, revision_of);
    if own > last { own } else { last + 1 }
}

fn without_hash(template: &Value) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
        labels.remove(HASH);
    }
    template
}

fn annotations(deployment: &Value, rollout: Rollout, revision: i64) -> Value {
    let mut annotations = deployment["metadata"]["annotations"].clone();
    if let Some(all) = annotations.as_object_mut() {
        all.retain(|name, _| !OWN.contains(&name.as_str()));
    }
    annotations[REVISION] = json!(revision.to_string());
    annotations[DESIRED] = json!(rollout.wanted.to_string());
    annotations[MAXIMUM] = json!(rollout.maximum().to_string());
    annotations
}

/// Makes the replica set of the current template, without replicas: it is scaled like every other.
fn create(
    cluster: &mut Cluster<'_, '_>,
    key: &ObjectKey,
    deployment: &Value,
    rollout: Rollout,
    revision: i64,
) {
    let collisions = number(&deployment["status"]["collisionCount"], 0);
    let hash = hash(&deployment["spec"]["template"], collisions);
    let mut template = deployment["spec"]["template"].clone();
    template["metadata"]["labels"][HASH] = json!(hash);
    let mut selects = deployment["spec"]["selector"].clone();
    selects["matchLabels"][HASH] = json!(hash);
    let name = format!("{}-{hash}", key.name());
    let set = json!({
        "metadata": {
            "name": name,
            "namespace": deployment["metadata"]["namespace"],
            "labels": template["metadata"]["labels"],
            "annotations": annotations(deployment, rollout, revision),
            "ownerReferences": [KIND.owner_reference(deployment)],
        },
        "spec": {
            "replicas": 0,
            "minReadySeconds": number(&deployment["spec"]["minReadySeconds"], 0),
            "selector": selects,
            "template": template,
        },
    });
    if cluster
        .create(&REPLICA_SET.resource(), ACTOR, set)
        .is_none()
    {
        // Somebody else has the name: the next one is tried.
        cluster.update(key, ACTOR.of_status(), |deployment| {
            deployment["status"]["collisionCount"] = json!(collisions + 1);
        });
    }
}

/// Scales the sets as far as the strategy allows.
fn roll(
    cluster: &mut Cluster<'_, '_>,
    deployment: &Value,
    old: &[Value],
    current: Option<&Value>,
    rollout: Rollout,
    revision: i64,
) {
    let olds: Vec<Set> = old.iter().map(Set::of).collect();
    let own = current.map(Set::of);
    let (old_counts, own_count) = rollout.plan(&olds, own.as_ref());
    let namespace = deployment["metadata"]["namespace"].as_str();
    let scaled = olds
        .iter()
        .zip(old_counts)
        .chain(own.iter().zip([own_count]));
    for (set, wanted) in scaled {
        let key = REPLICA_SET.key(namespace, &set.name);
        let is_current = own.as_ref().is_some_and(|own| own.name == set.name);
        let annotations = annotations(deployment, rollout, revision);
        cluster.update(&key, ACTOR, |set| {
            set["spec"]["replicas"] = json!(wanted);
            if is_current {
                set["metadata"]["annotations"] = annotations;
            }
        });
        if wanted != set.wanted {
            let direction = if wanted > set.wanted { "up" } else { "down" };
            let message = format!(
                "Scaled {direction} replica set {} from {} to {wanted}",
                set.name, set.wanted
            );
            cluster.event(&KIND, deployment, "ScalingReplicaSet", &message);
        }
    }
}

/// Deletes the oldest sets that nobody needs but for going back to them.
fn clean_up(cluster: &mut Cluster<'_, '_>, deployment: &Value, old: Vec<Value>) {
    let limit = number(&deployment["spec"]["revisionHistoryLimit"], 10);
    let limit = usize::try_from(limit).unwrap_or_default();
    let surplus = old.len().saturating_sub(limit);
    let namespace = deployment["metadata"]["namespace"].as_str();
    for set in old.iter().take(surplus).map(Set::of) {
        if set.wanted == 0 && set.replicas == 0 {
            let key = REPLICA_SET.key(namespace, &set.name);
            cluster.delete(&key, Wanted::default());
        }
    }
}

/// Writes the status of a deployment, and its revision.
fn report(
    cluster: &mut Cluster<'_, '_>,
    key: &ObjectKey,
    old: &[Value],
    current: Option<&Value>,
    rollout: Rollout,
    revision: i64,
) {
    let now = cluster.now_text();
    let own = current.map(Set::of);
    let all: Vec<Set> = old.iter().map(Set::of).chain(own.clone()).collect();
    cluster.update(key, ACTOR.of_status(), |deployment| {
        if own.is_some() {
            // Through the status, where annotations are no change of what is wanted.
            deployment["metadata"]["annotations"][REVISION] = json!(revision.to_string());
        }
        let generation = deployment["metadata"]["generation"].clone();
        let status = &mut deployment["status"];
        let sum = |part: fn(&Set) -> i64| all.iter().map(part).sum::<i64>();
        let replicas = sum(|set| set.replicas);
        let available = sum(|set| set.available);
        let updated = own.as_ref().map_or(0, |set| set.replicas);
        status["observedGeneration"] = generation;
        status["replicas"] = json!(replicas);
        status["updatedReplicas"] = json!(updated);
        status["readyReplicas"] = json!(sum(|set| set.ready));
        status["availableReplicas"] = json!(available);
        status["unavailableReplicas"] = json!(
            (all.iter()
                .map(|set| set.wanted)
                .sum::<i64>()
                .max(rollout.wanted)
                - available)
                .max(0)
        );
        let is_available = available >= rollout.wanted - rollout.unavailable;
        set_condition(
            status,
            availability(is_available),
            &now,
            Some("lastUpdateTime"),
        );
        let is_complete =
            updated == rollout.wanted && replicas == rollout.wanted && available >= rollout.wanted;
        if let Some(own) = &own {
            set_progress(status, key.name(), own, is_complete, &now);
        }
    });
}

fn availability(is_available: bool) -> Condition<'static> {
    if is_available {
        Condition {
            kind: "Available",
            is_true: true,
            reason: "MinimumReplicasAvailable",
            message: "Deployment has minimum availability.",
        }
    } else {
        Condition {
            kind: "Available",
            is_true: false,
            reason: "MinimumReplicasUnavailable",
            message: "Deployment does not have minimum availability.",
        }
    }
}

/// Tells how far the roll-out is. What was complete stays so until there is another template.
fn set_progress(status: &mut Value, name: &str, own: &Set, is_complete: bool, now: &str) {
    let set = &own.name;
    let done = format!("ReplicaSet \"{set}\" has successfully progressed.");
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let was_done = has_condition(status, "Progressing")
        && conditions
            .filter(|condition| condition["type"] == "Progressing")
            .any(|condition| condition["message"] == done.as_str());
    if was_done && !is_complete {
        return;
    }
    let going = format!("ReplicaSet \"{set}\" is progressing.");
    debug_assert!(
        set.starts_with(name) || own.revision > 0,
        "a set has a name or a history"
    );
    let (reason, message) = if is_complete {
        ("NewReplicaSetAvailable", &done)
    } else {
        ("ReplicaSetUpdated", &going)
    };
    let condition = Condition {
        kind: "Progressing",
        is_true: true,
        reason,
        message,
    };
    set_condition(status, condition, now, Some("lastUpdateTime"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(wanted: i64, available: i64) -> Set {
        Set {
            name: "s".to_owned(),
            wanted,
            ready: available,
            available,
            replicas: wanted,
            revision: 1,
        }
    }

    /// What `rollout` makes of old sets and a current one, each with wanted and available replicas.
    fn check(rollout: Rollout, old: &[(i64, i64)], own: (i64, i64)) -> (Vec<i64>, i64) {
        let old: Vec<Set> = old.iter().map(|(wanted, up)| set(*wanted, *up)).collect();
        rollout.plan(&old, Some(&set(own.0, own.1)))
    }

    const ROLLING: Rollout = Rollout {
        wanted: 4,
        surge: 1,
        unavailable: 1,
        recreates: false,
        is_paused: false,
    };

    #[test]
    fn a_roll_out_stays_between_its_bounds() {
        assert_eq!(check(ROLLING, &[], (0, 0)), (vec![], 4));
        assert_eq!(check(ROLLING, &[], (6, 6)), (vec![], 4));
        // One more than wanted, one less available.
        assert_eq!(check(ROLLING, &[(4, 4)], (0, 0)), (vec![3], 1));
        assert_eq!(check(ROLLING, &[(3, 3)], (1, 0)), (vec![3], 2));
        assert_eq!(check(ROLLING, &[(3, 3)], (2, 2)), (vec![1], 2));
        assert_eq!(check(ROLLING, &[(1, 1)], (4, 4)), (vec![0], 4));
        // What is broken goes first, whatever else is there.
        assert_eq!(check(ROLLING, &[(3, 0), (2, 2)], (0, 0)), (vec![1, 2], 0));
    }

    #[test]
    fn a_paused_roll_out_is_only_scaled() {
        let paused = Rollout {
            is_paused: true,
            ..ROLLING
        };
        assert_eq!(check(paused, &[(3, 3)], (1, 1)), (vec![3], 1));
        assert_eq!(check(paused, &[(0, 0)], (1, 1)), (vec![0], 4));
    }

    #[test]
    fn what_is_recreated_goes_before_it_comes() {
        let recreated = Rollout {
            recreates: true,
            ..ROLLING
        };
        assert_eq!(check(recreated, &[(4, 4)], (0, 0)), (vec![0], 0));
        assert_eq!(check(recreated, &[], (0, 0)), (vec![], 4));
    }
}
