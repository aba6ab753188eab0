//! Pods as the scheduler reads them: the effects of a pod on a node, and the requirements of a pod without a node.

use std::sync::Arc;

use fakeserver_kinds::{conditions, core};
use fakeserver_server::{controllers::pod_claims::PodClaim, store::ObjectKey};
use fakeserver_value::{
    object::Pairs,
    read::{items, text},
};
use serde_json::Value;

use super::{
    node::pairs,
    node_affinity::{RequiredNodes, Term},
    pod_affinity::AffinityTerm,
    ports::HostPort,
    resources::Resources,
    spread::Constraint,
    taints::Toleration,
    volumes::ClaimUse,
};
use crate::workloads::objects::number;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// A pod, as far as it matters to other pods that are placed.
#[derive(Clone, Debug)]
pub(super) struct PodInfo {
    pub(super) key: ObjectKey,
    pub(super) uid: String,
    pub(super) labels: Pairs,
    pub(super) generation: i64,
    pub(super) priority: i64,
    /// The time at which it was started, as objects write times; empty before.
    pub(super) started: String,
    pub(super) is_deleted: bool,
    /// True if the scheduler has deleted it in favour of another.
    pub(super) is_preempted: bool,
    /// The resources that its containers have got, of those that report them.
    pub(super) held: Vec<Value>,
    pub(super) requests: Resources,
    pub(super) ports: Vec<HostPort>,
    /// The required terms, each shared by all pods that have it.
    pub(super) anti_affinity: Vec<Arc<AffinityTerm>>,
    pub(super) claims: Vec<ClaimUse>,
    /// The claims of devices that it refers to.
    pub(super) device_claims: Vec<PodClaim>,
}

/// A pod without a node, its requirements and preferences.
#[derive(Clone, Debug)]
pub(super) struct UnscheduledPod {
    pub(super) info: Arc<PodInfo>,
    pub(super) nodes: RequiredNodes,
    pub(super) tolerations: Vec<Toleration>,
    pub(super) affinity: Vec<AffinityTerm>,
    pub(super) spread: Vec<Constraint>,
    pub(super) preferences: Preferences,
    /// The node that is cleared for it; empty if none is.
    pub(super) nominated: String,
    pub(super) may_preempt: bool,
}

/// The preferences of a pod, with their weights.
#[derive(Clone, Debug, Default)]
pub(super) struct Preferences {
    pub(super) nodes: Vec<(i64, Term)>,
    /// Negative weights are those of pods to be kept away from.
    pub(super) pods: Vec<(i64, AffinityTerm)>,
    pub(super) spread: Vec<Constraint>,
}

// === impl PodInfo ===

impl PodInfo {
    pub(super) fn of(pod: &Value) -> Self {
        let (metadata, spec, status) = (&pod["metadata"], &pod["spec"], &pod["status"]);
        let namespace = text(&metadata["namespace"]);
        let labels = pairs(&metadata["labels"]);
        let is_deleted = !metadata["deletionTimestamp"].is_null();
        let anti = items(&spec["affinity"]["podAntiAffinity"][REQUIRED]).iter();
        let anti = anti.map(|term| Arc::new(AffinityTerm::of(term, namespace, &labels)));
        let statuses = ["containerStatuses", "initContainerStatuses"];
        let statuses = statuses.iter().flat_map(|list| items(&status[*list]));
        let held = statuses.map(|status| status["resources"].clone());
        Self {
            key: ObjectKey::namespaced(
                core::pod::KIND.storage().clone(),
                namespace,
                text(&metadata["name"]),
            ),
            uid: text(&metadata["uid"]).to_owned(),
            generation: number(&metadata["generation"], 0),
            priority: number(&spec["priority"], 0),
            started: text(&status["startTime"]).to_owned(),
            is_deleted,
            is_preempted: is_deleted && is_preempted(status),
            held: held.filter(|resources| !resources.is_null()).collect(),
            requests: Resources::requested(pod),
            ports: HostPort::all(spec),
            anti_affinity: anti.collect(),
            claims: ClaimUse::all(pod),
            device_claims: PodClaim::all(pod),
            labels,
        }
    }

    pub(super) fn namespace(&self) -> &str {
        self.key.namespace().unwrap_or_default()
    }

    /// Returns whether a claim, or an object without a namespace, may be about its volumes.
    pub(super) fn may_use_volume(&self, namespace: Option<&str>, name: &str) -> bool {
        let mut claims = self.claims.iter();
        match namespace {
            Some(namespace) => {
                self.namespace() == namespace && claims.any(|claim| claim.name == name)
            }
            None => !self.claims.is_empty(),
        }
    }
}

// === impl UnscheduledPod ===

impl UnscheduledPod {
    pub(super) fn of(pod: &Value) -> Self {
        let info = PodInfo::of(pod);
        let (spec, status) = (&pod["spec"], &pod["status"]);
        let terms = |terms: &Value| {
            let read = |term: &Value| AffinityTerm::of(term, info.namespace(), &info.labels);
            items(terms).iter().map(read).collect()
        };
        let affinity = terms(&spec["affinity"]["podAffinity"][REQUIRED]);
        let (spread, loose) = Constraint::all(spec, &info.labels);
        let preferences = Preferences::of(&spec["affinity"], loose, &info);
        Self {
            nodes: RequiredNodes::of(spec),
            tolerations: Toleration::all(spec),
            affinity,
            spread,
            preferences,
            nominated: text(&status["nominatedNodeName"]).to_owned(),
            may_preempt: spec["preemptionPolicy"] != "Never",
            info: Arc::new(info),
        }
    }

    /// Returns whether the placement depends on other pods in more than the resources that they take.
    pub(super) fn depends_on_others(&self) -> bool {
        !(self.affinity.is_empty() && self.info.anti_affinity.is_empty() && self.spread.is_empty())
    }
}

// === impl Preferences ===

impl Preferences {
    fn of(affinity: &Value, spread: Vec<Constraint>, pod: &PodInfo) -> Self {
        let weight = |weighted: &Value| number(&weighted["weight"], 0);
        let nodes = items(&affinity["nodeAffinity"][PREFERRED]).iter();
        let nodes = nodes.map(|term| (weight(term), Term::of(&term["preference"])));
        let pods = [("podAffinity", 1), ("podAntiAffinity", -1)];
        let pods = pods.iter().flat_map(|(kind, sign)| {
            items(&affinity[*kind][PREFERRED])
                .iter()
                .map(move |weighted| {
                    let term = &weighted["podAffinityTerm"];
                    let term = AffinityTerm::of(term, pod.namespace(), &pod.labels);
                    (sign * weight(weighted), term)
                })
        });
        Self {
            nodes: nodes.collect(),
            pods: pods.collect(),
            spread,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.pods.is_empty() && self.spread.is_empty()
    }
}

/// Returns whether a status says that the scheduler has deleted the pod.
fn is_preempted(status: &Value) -> bool {
    conditions::find(status, "DisruptionTarget").is_some_and(|condition| {
        condition["status"] == "True" && condition["reason"] == "PreemptionByScheduler"
    })
}

/// Returns everything that decides where a pod may be, as text: pods with the same fit the same nodes.
pub(super) fn class(pod: &Value, info: &PodInfo) -> Arc<str> {
    let spec = &pod["spec"];
    let fields = [
        &pod["metadata"]["labels"],
        &spec["nodeSelector"],
        &spec["affinity"],
        &spec["tolerations"],
        &spec["topologySpreadConstraints"],
        &spec["preemptionPolicy"],
    ];
    let mut class = format!(
        "{} {} {:?} {:?} {:?}",
        info.namespace(),
        info.priority,
        info.requests,
        info.ports,
        info.claims,
    );
    for field in fields {
        class.push(' ');
        class.push_str(&field.to_string());
    }
    if !info.device_claims.is_empty() {
        // Its claims are its own, or may have devices of which there is one.
        class.push(' ');
        class.push_str(&info.uid);
    }
    class.into()
}
