//! Deployments: a sequence of replica sets, one for each template, of which the newest replaces the others.

mod rollout;
mod status;

use std::{collections::BTreeSet, time::Duration};

use fakeserver_kinds::apps;
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
use fakeserver_value::{apply::LAST_APPLIED_CONFIGURATION, read::text};
use serde_json::{Value, json};

use self::{
    rollout::{ReplicaSetState, Rollout, revision_of},
    status::{set_pause, set_status},
};
use super::{
    objects::{COALESCED, ReconciledKind, adopt, enqueue_owners, hash, number, selector},
    replica_set::KIND as REPLICA_SET,
};

pub(super) const KIND: ReconciledKind = ReconciledKind {
    kind: &apps::deployment::KIND,
    name: "Deployment",
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
    LAST_APPLIED_CONFIGURATION,
    REVISION,
    DESIRED,
    MAXIMUM,
    "deprecated.deployment.rollback.to",
];

/// The controller of deployments.
#[derive(Debug, Default)]
pub(super) struct Deployments {
    /// Replica sets without a controller.
    orphans: BTreeSet<ObjectKey>,
}

impl Controller for Deployments {
    fn name(&self) -> &'static str {
        "deployments"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if change.is_of(KIND.kind) {
            due.add(key.clone(), Duration::ZERO);
        } else if change.is_of(REPLICA_SET.kind) {
            enqueue_owners(&KIND, change, due);
            let after = change.after.as_ref();
            if after.is_some_and(|(_, meta)| meta.controller().is_none()) {
                self.orphans.insert(key.clone());
            } else {
                self.orphans.remove(key);
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let deployment = stored.to_value();
        if is_deleted(&deployment) {
            return;
        }
        self.adopt(cluster, &deployment);
        note_pause(cluster, key);
        let mut sets = sets(cluster, &deployment);
        let current = place_of_current(&sets, &deployment).map(|at| sets.remove(at));
        let rollout = Rollout::of(&deployment);
        let revision = next_revision(&sets, current.as_ref());
        let olds: Vec<ReplicaSetState> = sets.iter().map(ReplicaSetState::of).collect();
        let own = current.as_ref().map(ReplicaSetState::of);
        if own.is_none() && !rollout.is_paused {
            // Planned for an empty set: a new one begins with the pods for which the surge has room.
            let (_, count) = rollout.plan(&olds, Some(&ReplicaSetState::default()));
            create(cluster, key, &deployment, rollout, (revision, count));
            // What was made is looked at like everything else.
            due.add(key.clone(), COALESCED);
            return;
        }
        roll(cluster, &deployment, &olds, own.as_ref(), rollout, revision);
        let now = cluster.now();
        let mut deadline = None;
        cluster.update(key, ACTOR.of_status(), |deployment| {
            deadline = set_status(deployment, &olds, own.as_ref(), rollout, revision, now);
        });
        if let Some(deadline) = deadline {
            due.add(key.clone(), deadline);
        }
        // A paused deployment may have no set of its template: then the old ones are what it runs.
        if own.is_some() {
            clean_up(cluster, &deployment, &olds);
        }
    }
}

// === impl Deployments ===

impl Deployments {
    /// Adopts the replica sets that `deployment` selects and that have no controller.
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
                    if !is_deleted(set) {
                        adopt(set, &KIND, deployment);
                    }
                });
            }
        }
    }
}

/// Notes in the status that a deployment is paused or resumed.
fn note_pause(cluster: &mut Cluster<'_, '_>, key: &ObjectKey) {
    let now = cluster.now();
    cluster.update(key, ACTOR.of_status(), |deployment| {
        set_pause(deployment, now);
    });
}

/// The replica sets of a deployment, the oldest first.
fn sets(cluster: &Cluster<'_, '_>, deployment: &Value) -> Vec<Value> {
    let uid = text(&deployment["metadata"]["uid"]);
    let owned = cluster.index.dependents(uid);
    let mut sets: Vec<Value> = owned
        .filter(|(key, _)| key.resource() == REPLICA_SET.kind.storage())
        .filter_map(|(key, _)| Some(cluster.get(key)?.to_value()))
        .filter(|set| !is_deleted(set))
        .collect();
    sets.sort_by_key(|set| (revision_of(set), text(&set["metadata"]["name"]).to_owned()));
    sets
}

/// Returns the index of the oldest set that has the deployment's template, regardless of revisions.
#[doc(alias = "FindNewReplicaSet")]
fn place_of_current(sets: &[Value], deployment: &Value) -> Option<usize> {
    let template = &deployment["spec"]["template"];
    let age = |set: &Value| {
        let metadata = &set["metadata"];
        let [created, name] =
            ["creationTimestamp", "name"].map(|field| text(&metadata[field]).to_owned());
        (created, name)
    };
    let alike = sets.iter().enumerate();
    let alike = alike.filter(|(_, set)| without_hash(&set["spec"]["template"]) == *template);
    alike.min_by_key(|(_, set)| age(set)).map(|(at, _)| at)
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

/// Creates the replica set of the current template, with a revision and a number of replicas.
fn create(
    cluster: &mut Cluster<'_, '_>,
    key: &ObjectKey,
    deployment: &Value,
    rollout: Rollout,
    (revision, count): (i64, i64),
) {
    let collisions = number(&deployment["status"]["collisionCount"], 0);
    let hash = hash(&deployment["spec"]["template"], collisions);
    let mut template = deployment["spec"]["template"].clone();
    template["metadata"]["labels"][HASH] = json!(hash);
    let mut selects = deployment["spec"]["selector"].clone();
    // By the hash the sets of one deployment do not select each other's pods.
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
            "replicas": count,
            "minReadySeconds": number(&deployment["spec"]["minReadySeconds"], 0),
            "selector": selects,
            "template": template,
        },
    });
    if cluster
        .create(REPLICA_SET.kind.storage(), ACTOR, set)
        .is_none()
    {
        // The name is taken by another object: the next one is tried.
        cluster.update(key, ACTOR.of_status(), |deployment| {
            deployment["status"]["collisionCount"] = json!(collisions + 1);
        });
    } else if count > 0 {
        let message = format!("Scaled up replica set {name} from 0 to {count}");
        cluster.event(&KIND, deployment, "ScalingReplicaSet", &message);
    }
}

/// Scales the sets as far as the strategy allows.
fn roll(
    cluster: &mut Cluster<'_, '_>,
    deployment: &Value,
    olds: &[ReplicaSetState],
    own: Option<&ReplicaSetState>,
    rollout: Rollout,
    revision: i64,
) {
    let (old_counts, own_count) = rollout.plan(olds, own);
    let namespace = deployment["metadata"]["namespace"].as_str();
    let scaled = olds
        .iter()
        .zip(old_counts)
        .chain(own.into_iter().zip([own_count]));
    for (set, wanted) in scaled {
        let key = REPLICA_SET.key(namespace, &set.name);
        let is_current = own.is_some_and(|own| own.name == set.name);
        let annotations = annotations(deployment, rollout, revision);
        cluster.update(&key, ACTOR, |set| {
            set["spec"]["replicas"] = json!(wanted);
            // Old sets keep their revisions: the newest one is that of the current template.
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

/// Deletes the oldest sets beyond the revision history limit.
fn clean_up(cluster: &mut Cluster<'_, '_>, deployment: &Value, old: &[ReplicaSetState]) {
    let limit = number(&deployment["spec"]["revisionHistoryLimit"], 10);
    let limit = usize::try_from(limit).unwrap_or_default();
    let surplus = old.len().saturating_sub(limit);
    let namespace = deployment["metadata"]["namespace"].as_str();
    for set in old.iter().take(surplus) {
        // A surplus set that still has pods is being scaled down, and goes at a later look.
        if set.wanted == 0 && set.replicas == 0 {
            let key = REPLICA_SET.key(namespace, &set.name);
            cluster.delete(&key, DeletionParameters::default());
        }
    }
}
