//! Daemon sets: one pod on every node that takes it.

mod backoff;
mod rollout;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use fakeserver_kinds::{apps, core};
use fakeserver_server::{
    controllers::pods::{Phase, Pod},
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::deletion::{DeletionParameters, is_deleted},
};
use fakeserver_value::read::text;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use self::{
    backoff::Pauses,
    rollout::{ByNode, Changes, Rollout, by_age},
};
use super::{
    nodes::UNSCHEDULABLE,
    objects::{
        BURST, COALESCED, ReconciledKind, claim, count, count_available, enqueue_owners, hash,
        look_again, number, selector,
    },
    revisions::{Naming, record},
    scheduler::Node,
};

const KIND: ReconciledKind = ReconciledKind {
    kind: &apps::daemon_set::KIND,
    name: "DaemonSet",
    api_version: "apps/v1",
    component: "daemonset-controller",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
const HASH: &str = "controller-revision-hash";
/// The taints that daemons tolerate: they run where other pods do not.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    (UNSCHEDULABLE, "NoSchedule"),
];

/// The controller of daemon sets.
///
/// # Memory
///
/// What matters of each node, and for each set the nodes on which its pods have failed.
#[derive(Debug, Default)]
pub(super) struct DaemonSets {
    nodes: BTreeMap<String, Node>,
    sets: BTreeMap<ObjectKey, Pauses>,
}

impl Controller for DaemonSets {
    fn name(&self) -> &'static str {
        "daemon sets"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if change.is_of(KIND.kind) {
            if change.after.is_some() {
                self.sets.entry(key.clone()).or_default();
                due.add(key.clone(), Duration::ZERO);
            } else {
                self.sets.remove(key);
            }
        } else if change.is_of(&core::node::KIND) {
            if let Some((node, _)) = &change.after {
                let node = Node::of(&node.to_value());
                self.nodes.insert(key.name().to_owned(), node);
            } else {
                self.nodes.remove(key.name());
                for pauses in self.sets.values_mut() {
                    pauses.retain(|node| node != key.name());
                }
            }
            for set in self.sets.keys() {
                due.add(set.clone(), COALESCED);
            }
        } else if change.is_of(&core::pod::KIND) {
            enqueue_owners(&KIND, change, due);
            let after = change.after.as_ref();
            if after.is_some_and(|(_, meta)| meta.controller().is_none()) {
                let near = self.sets.range(KIND.key(key.namespace(), "")..);
                let near = near.map(|(set, _)| set);
                for set in near.take_while(|set| set.namespace() == key.namespace()) {
                    due.add(set.clone(), COALESCED);
                }
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
        let set = stored.to_value();
        let Some(selects) = selector(&set).filter(|_| !is_deleted(&set)) else {
            return;
        };
        let hash = hash(&set["spec"]["template"], 0);
        let template = daemon(&set["spec"]["template"], &hash);
        let pods = claim(cluster, &KIND, &set, &selects, |pod| !pod.is_deleted);
        let revision = |hash: &str| format!("{}-{hash}", key.name());
        let used: Vec<String> = pods.iter().map(|pod| revision(pod.label(HASH))).collect();
        let used: Vec<&str> = used.iter().map(String::as_str).collect();
        let naming = Naming {
            name: &revision(&hash),
            label: HASH,
            hash: &hash,
        };
        record(cluster, &KIND, &set, naming, &used);
        let mut by_node = ByNode::new();
        for pod in pods {
            by_node.entry(target(&pod)).or_default().push(pod);
        }
        for pods in by_node.values_mut().filter(|pods| pods.len() > 1) {
            pods.sort_by(by_age);
        }
        let spec = &template["spec"];
        let nodes = |fits: &dyn Fn(&Node) -> bool| -> BTreeSet<String> {
            let fitting = self.nodes.values().filter(|node| fits(node));
            fitting.map(|node| node.name.to_string()).collect()
        };
        // Two sets of nodes: a taint can keep a new pod away without ending the one that is there.
        let wanted = nodes(&|node| node.accepts(spec));
        let kept = nodes(&|node| node.keeps(spec));
        let now = cluster.now();
        let rollout = Rollout::of(&set, &hash, count(wanted.len()), now);
        let mut placed = rollout.placed(&wanted, &kept, &by_node);
        let pauses = self.sets.entry(key.clone()).or_default();
        if let Some(pause) = replace_ended(cluster, &set, &mut placed, (&kept, pauses)) {
            due.add(key.clone(), pause);
        }
        // Pods are replaced where they are as they should be.
        let changes = if placed.is_empty() {
            rollout.replaced(&wanted, &by_node)
        } else {
            placed
        };
        if carry_out(cluster, &set, &template, &changes) == BURST {
            due.add(key.clone(), Duration::ZERO);
        }
        let next = report(cluster, key, &hash, &wanted, &by_node, now);
        look_again(key, next, now, due);
    }
}

/// The template of the pods of a set: labelled, and tolerant.
fn daemon(template: &Value, hash: &str) -> Value {
    let mut template = template.clone();
    template["metadata"]["labels"][HASH] = json!(hash);
    let tolerations = &mut template["spec"]["tolerations"];
    let mut all = tolerations.as_array().cloned().unwrap_or_default();
    all.extend(
        TOLERATED
            .iter()
            .map(|(key, effect)| json!({"key": key, "operator": "Exists", "effect": effect})),
    );
    *tolerations = all.into();
    template
}

/// The node that a pod is on, or is to be on.
fn target(pod: &Pod) -> String {
    if !pod.node.is_empty() {
        return pod.node.clone();
    }
    let pod = pod.stored.to_value();
    let affinity = &pod["spec"]["affinity"]["nodeAffinity"];
    let terms = &affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
    text(&terms[0]["matchFields"][0]["values"][0]).to_owned()
}

/// Records which pods are replaced because they have ended, and leaves out those that have failed too lately. Returns how long
/// the next of these stays. Pods of nodes where none is kept go anyway.
fn replace_ended(
    cluster: &mut Cluster<'_, '_>,
    set: &Value,
    changes: &mut Changes,
    (kept, pauses): (&BTreeSet<String>, &mut Pauses),
) -> Option<Duration> {
    let generation = number(&set["metadata"]["generation"], 0);
    let now = Instant::now();
    let mut next: Option<Duration> = None;
    changes.deleted.retain(|pod| {
        let node = target(pod);
        if !pod.is_finished() || !kept.contains(&node) {
            return true;
        }
        let path = pod.key().path();
        if pod.phase != Phase::Failed {
            let message =
                format!("Found succeeded daemon pod {path} on node {node}, will try to delete it");
            cluster.event(&KIND, set, "SucceededDaemonPod", &message);
            return true;
        }
        let left = pauses.left(&node, generation, now);
        if !left.is_zero() {
            next = Some(next.map_or(left, |next| next.min(left)));
            return false;
        }
        let message = format!("Found failed daemon pod {path} on node {node}, will try to kill it");
        cluster.warning(&KIND, set, "FailedDaemonPod", &message);
        true
    });
    next
}

/// Creates and deletes pods. Returns how many were created.
fn carry_out(
    cluster: &mut Cluster<'_, '_>,
    set: &Value,
    template: &Value,
    changes: &Changes,
) -> usize {
    let mut created = 0;
    for node in changes.created.iter().take(BURST) {
        let mut pod = KIND.pod(set, template);
        let name = text(&set["metadata"]["name"]);
        pod["metadata"]["generateName"] = json!(format!("{name}-"));
        pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json!({"nodeSelectorTerms": [{"matchFields": [
            {"key": "metadata.name", "operator": "In", "values": [node]},
        ]}]});
        if cluster.create_pod(&KIND, set, pod).is_none() {
            break;
        }
        created += 1;
    }
    for pod in &changes.deleted {
        cluster.delete(pod.key(), DeletionParameters::default());
        let message = format!("Deleted pod: {}", pod.name());
        cluster.event(&KIND, set, "SuccessfulDelete", &message);
    }
    created
}

/// Writes the status. Returns when it changes by itself.
fn report(
    cluster: &mut Cluster<'_, '_>,
    key: &ObjectKey,
    hash: &str,
    wanted: &BTreeSet<String>,
    by_node: &ByNode,
    now: Timestamp,
) -> Option<Timestamp> {
    let mut next = None;
    cluster.update(key, ACTOR.of_status(), |set| {
        let min_ready = number(&set["spec"]["minReadySeconds"], 0);
        let generation = set["metadata"]["generation"].clone();
        let mine: Vec<&Arc<Pod>> = wanted
            .iter()
            .filter_map(|node| by_node.get(node)?.iter().find(|pod| pod.is_active()))
            .collect();
        let counted =
            |which: &dyn Fn(&Pod) -> bool| count(mine.iter().filter(|pod| which(pod)).count());
        let ready = counted(&|pod| pod.is_ready);
        let up;
        (up, next) = count_available(mine.iter().copied(), min_ready, now);
        let desired = count(wanted.len());
        let strays = by_node.keys().filter(|node| !wanted.contains(*node));
        let status = &mut set["status"];
        status["currentNumberScheduled"] = json!(count(mine.len()));
        status["desiredNumberScheduled"] = json!(desired);
        status["numberMisscheduled"] = json!(count(strays.count()));
        status["numberReady"] = json!(ready);
        status["numberAvailable"] = json!(up);
        status["numberUnavailable"] = json!(desired - up);
        status["updatedNumberScheduled"] = json!(counted(&|pod| pod.label(HASH) == hash));
        status["observedGeneration"] = generation;
    });
    next
}
