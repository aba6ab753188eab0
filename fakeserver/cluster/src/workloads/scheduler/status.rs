//! Writes of the scheduler: nodes and conditions of pods, claims and volumes, victims, events.

use fakeserver_kinds::{conditions::PodCondition, core};
use fakeserver_server::{
    controllers::cluster::{Actor, Cluster},
    store::ObjectKey,
    write::deletion::DeletionParameters,
};
use fakeserver_value::read::text;
use serde_json::{Value, json};

use super::{
    Claims,
    devices::Reservation,
    pod::PodInfo,
    preemption::Victims,
    queue::{FLUSHED_AFTER, Outcome, ReportedFailure},
    volumes::Binding,
};
use crate::workloads::{
    objects::generation,
    resource_claims::{FINALIZER, claim_key, is_reserved_for, reserve},
    volume_rules::{BY_CONTROLLER, SELECTED_NODE},
};
use tokio::time::Instant;

const ACTOR: Actor = Actor::new("kube-scheduler");
pub(super) const NAME: &str = "default-scheduler";
const SCHEDULED: &str = "PodScheduled";
/// The greatest length of the text of an event.
const NOTE_MAX: usize = 1024;

/// An event about a pod.
struct Event<'a> {
    pod: &'a Value,
    /// The other pod that it is about.
    related: Option<&'a Value>,
    is_warning: bool,
    reason: &'a str,
    action: &'a str,
    message: &'a str,
}

/// Gives a pod its node. As with a binding, the fields that are set have no owner, and the generation stays.
pub(super) fn bind(
    cluster: &mut Cluster<'_, '_>,
    key: &ObjectKey,
    pod: &Value,
    node: &str,
    claims: &Claims,
) {
    for binding in &claims.bindings {
        bind_claim(cluster, key, binding, node);
    }
    for reservation in &claims.reservations {
        reserve_claim(cluster, pod, reservation);
    }
    let now = cluster.now_text();
    let mut bound = pod.clone();
    bound["spec"]["nodeName"] = json!(node);
    let condition = PodCondition {
        kind: SCHEDULED,
        is_true: true,
        reason: "",
        message: "",
        observed_generation: None,
    };
    condition.set(&mut bound["status"], &now);
    if let Some(status) = bound["status"].as_object_mut() {
        status.remove("nominatedNodeName");
    }
    cluster.tx.put(key, bound);
    let message = format!("Successfully assigned {} to {node}", key.path());
    let event = Event {
        pod,
        related: None,
        is_warning: false,
        reason: "Scheduled",
        action: "Binding",
        message: &message,
    };
    event.record(cluster);
}

/// Reserves a volume for a claim of a pod, or selects the node for which one is to be made.
fn bind_claim(cluster: &mut Cluster<'_, '_>, pod: &ObjectKey, binding: &Binding, node: &str) {
    match binding {
        Binding::Volume { volume, claim } => {
            let kind = &core::persistent_volume::KIND;
            let key = ObjectKey::cluster(kind.storage().clone(), volume);
            let metadata = &claim["metadata"];
            cluster.update(&key, ACTOR, |volume| {
                volume["spec"]["claimRef"] = json!({
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "name": metadata["name"],
                    "namespace": metadata["namespace"],
                    "resourceVersion": metadata["resourceVersion"],
                    "uid": metadata["uid"],
                });
                volume["metadata"]["annotations"][BY_CONTROLLER] = json!("yes");
            });
        }
        Binding::New { claim } => {
            let kind = &core::persistent_volume_claim::KIND;
            let key = ObjectKey::new(kind.storage().clone(), pod.namespace(), claim);
            cluster.update(&key, ACTOR, |claim| {
                claim["metadata"]["annotations"][SELECTED_NODE] = json!(node);
            });
        }
    }
}

/// Reserves a claim for a pod, and gives it its devices if it has none.
fn reserve_claim(cluster: &mut Cluster<'_, '_>, pod: &Value, reservation: &Reservation) {
    let metadata = &pod["metadata"];
    let key = claim_key(text(&metadata["namespace"]), &reservation.claim);
    if reservation.allocation.is_some() {
        cluster.update(&key, ACTOR, |claim| {
            let finalizers = &mut claim["metadata"]["finalizers"];
            match finalizers.as_array_mut() {
                Some(all) if all.iter().any(|name| name == FINALIZER) => {}
                Some(all) => all.push(json!(FINALIZER)),
                None => *finalizers = json!([FINALIZER]),
            }
        });
    }
    cluster.update(&key, ACTOR.of_status(), |claim| {
        if let Some(allocation) = &reservation.allocation {
            claim["status"]["allocation"] = allocation.clone();
        }
        if !is_reserved_for(claim, text(&metadata["uid"])) {
            reserve(claim, pod);
        }
    });
}

/// Tells that a pod fits nowhere: as a condition, and as an event. `nominated` is the node that is cleared for it now.
/// Returns the reported failure.
pub(super) fn fail(
    cluster: &mut Cluster<'_, '_>,
    key: &ObjectKey,
    pod: &Value,
    outcome: &Outcome,
    nominated: Option<&str>,
    reported: Option<&ReportedFailure>,
) -> ReportedFailure {
    let now = cluster.now_text();
    let event = reported_event(cluster, pod, &outcome.message, reported);
    cluster.update(key, ACTOR.of_status(), |pod| {
        let condition = PodCondition {
            kind: SCHEDULED,
            is_true: false,
            reason: "Unschedulable",
            message: &outcome.message,
            observed_generation: generation(pod),
        };
        condition.set(&mut pod["status"], &now);
        match nominated {
            Some("") => {
                if let Some(status) = pod["status"].as_object_mut() {
                    status.remove("nominatedNodeName");
                }
            }
            Some(node) => pod["status"]["nominatedNodeName"] = json!(node),
            None => {}
        }
    });
    event
}

/// Records that a pod fits nowhere, or counts that once more.
fn reported_event(
    cluster: &mut Cluster<'_, '_>,
    pod: &Value,
    message: &str,
    reported: Option<&ReportedFailure>,
) -> ReportedFailure {
    let at = Instant::now();
    let mut same = reported
        .filter(|reported| reported.message == message)
        .cloned();
    if let Some(reported) = &mut same {
        if reported.at + FLUSHED_AFTER > at {
            return reported.clone();
        }
        (reported.count, reported.at) = (reported.count + 1, at);
        let series = json!({"count": reported.count, "lastObservedTime": micros(cluster)});
        let counted = reported
            .event
            .as_ref()
            .and_then(|event| cluster.update(event, ACTOR, |event| event["series"] = series));
        if counted.is_some() {
            return reported.clone();
        }
    }
    let event = Event {
        pod,
        related: None,
        is_warning: true,
        reason: "FailedScheduling",
        action: "Scheduling",
        message,
    };
    ReportedFailure {
        message: message.to_owned(),
        event: event.record(cluster),
        count: 1,
        at,
    }
}

/// Deletes pods in favour of `pod`.
pub(super) fn evict(cluster: &mut Cluster<'_, '_>, pod: &Value, victims: &Victims) {
    let now = cluster.now_text();
    let scheduler = text(&pod["spec"]["schedulerName"]);
    let scheduler = if scheduler.is_empty() {
        NAME
    } else {
        scheduler
    };
    let uid = text(&pod["metadata"]["uid"]);
    let message = format!("Preempted by pod {uid} on node {}", victims.node);
    let why = format!("{scheduler}: preempting to accommodate a higher priority pod");
    for victim in victims.pods.iter().filter(|victim| !victim.is_deleted) {
        let key = &victim.key;
        let changed = cluster.update(key, ACTOR.of_status(), |victim| {
            let condition = PodCondition {
                kind: "DisruptionTarget",
                is_true: true,
                reason: "PreemptionByScheduler",
                message: &why,
                observed_generation: generation(victim),
            };
            condition.set(&mut victim["status"], &now);
        });
        let Some(victim) = changed else { continue };
        cluster.delete(key, DeletionParameters::default());
        let event = Event {
            pod: &victim.to_value(),
            related: Some(pod),
            is_warning: false,
            reason: "Preempted",
            action: "Preempting",
            message: &message,
        };
        event.record(cluster);
    }
}

/// Takes the nodes from pods that were cleared for them.
pub(super) fn clear_nominations(cluster: &mut Cluster<'_, '_>, pods: &[ObjectKey]) {
    for key in pods {
        cluster.update(key, ACTOR.of_status(), |pod| {
            if let Some(status) = pod["status"].as_object_mut() {
                status.remove("nominatedNodeName");
            }
        });
    }
}

/// Returns the pods of lower priority for which the node of a pod is cleared.
pub(super) fn outranked<'a>(
    nominated: impl Iterator<Item = &'a std::sync::Arc<PodInfo>>,
    pod: &PodInfo,
) -> Vec<ObjectKey> {
    let lower = nominated.filter(|other| other.priority < pod.priority);
    lower.map(|other| other.key.clone()).collect()
}

// === impl Event ===

impl Event<'_> {
    /// Records the event in the form of `events.k8s.io`, as the core group shows it.
    fn record(&self, cluster: &mut Cluster<'_, '_>) -> Option<ObjectKey> {
        let metadata = &self.pod["metadata"];
        let name = text(&metadata["name"]);
        let mut event = json!({
            "metadata": {
                "name": format!("{name}.{:016x}", cluster.tx.revision()),
                "namespace": metadata["namespace"],
            },
            "involvedObject": reference(self.pod),
            "reason": self.reason,
            "action": self.action,
            "message": truncated(self.message),
            "type": if self.is_warning { "Warning" } else { "Normal" },
            "eventTime": micros(cluster),
            "reportingComponent": NAME,
            "reportingInstance": NAME,
            "source": {},
            "firstTimestamp": null,
            "lastTimestamp": null,
        });
        if let Some(related) = self.related {
            event["related"] = reference(related);
        }
        // An event that a quota refuses is lost: the refusal is not that of the pod.
        let refusal = cluster.refusal.take();
        let created = cluster.create_event(ACTOR.manager, event);
        cluster.refusal = refusal;
        created.map(|event| event.key().clone())
    }
}

fn reference(pod: &Value) -> Value {
    let metadata = &pod["metadata"];
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "resourceVersion": metadata["resourceVersion"],
        "uid": metadata["uid"],
    })
}

fn micros(cluster: &Cluster<'_, '_>) -> String {
    format!("{:.6}", cluster.now())
}

/// Cuts a text that is too long for an event.
fn truncated(message: &str) -> String {
    const END: &str = " ...";
    if message.len() <= NOTE_MAX {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(NOTE_MAX - END.len());
    format!("{}{END}", &message[..end])
}
