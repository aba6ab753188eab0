//! The garbage collector of pods: those of nodes that are gone go, too.
//!
//! The rule is that of the pod garbage collector of 1.36, which waits for 40 s and looks every 20 s. Pods that have ended are
//! kept, however many they are.

use std::time::Duration;

use fakeserver_kinds::{conditions::PodCondition, core};
use fakeserver_server::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::deletion::DeletionParameters,
};
use serde_json::json;

use super::objects::generation;

const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
/// The time for which a node has to be missing.
const QUARANTINE: Duration = Duration::from_secs(5);

/// The controller that deletes pods of nodes that are gone.
#[derive(Debug)]
pub(super) struct PodGarbageCollector;

fn node(name: &str) -> ObjectKey {
    ObjectKey::cluster(core::node::KIND.storage().clone(), name)
}

impl Controller for PodGarbageCollector {
    fn name(&self) -> &'static str {
        "pod garbage collector"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if change.is_of(&core::node::KIND) && change.after.is_none() {
            due.add(key.clone(), QUARANTINE);
        } else if change.is_of(&core::pod::KIND)
            && let Some(pod) = index.pods.get(key)
            && !pod.node.is_empty()
            && change
                .before
                .as_ref()
                .is_none_or(|(before, _)| before.field("spec.nodeName").is_empty())
        {
            // The pod may have been bound to a node that does not exist.
            due.add(node(&pod.node), QUARANTINE);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        // The node has come back meanwhile.
        if cluster.get(key).is_some() {
            return;
        }
        let now = cluster.now_text();
        for pod in cluster.index.pods.assigned_to(key.name()) {
            if !pod.is_finished() {
                cluster.update(pod.key(), ACTOR.of_status(), |pod| {
                    let observed_generation = generation(pod);
                    let status = &mut pod["status"];
                    status["phase"] = json!("Failed");
                    let condition = PodCondition {
                        kind: "DisruptionTarget",
                        is_true: true,
                        reason: "DeletionByPodGC",
                        message: "PodGC: node no longer exists",
                        observed_generation,
                    };
                    condition.set(status, &now);
                });
            }
            // Without a grace period: the kubelet that would confirm the end is gone with its node.
            let wanted = DeletionParameters {
                grace_period_seconds: Some(0),
                ..DeletionParameters::default()
            };
            cluster.delete(pod.key(), wanted);
        }
    }
}
