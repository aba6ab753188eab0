//! Pods as controllers need them, parsed once a change, and indexed by owner and labels.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use fakeserver_kinds::core::{self, service::range::IpFamily};
use fakeserver_value::object::selectors::LabelSelector;
use serde::Deserialize;
use serde_json::Value;

use super::pod_claims::{ClaimStatus, PodClaim, Reference};
use crate::{
    controllers::meta::{Meta, OwnerReference},
    store::{ObjectKey, StoredObject},
};

/// A pod, as far as it matters to controllers.
#[derive(Debug)]
pub struct Pod {
    pub stored: Arc<StoredObject>,
    pub controller: Option<OwnerReference>,
    pub finalizers: Vec<String>,
    /// Empty while it is on none.
    pub node: String,
    pub phase: Phase,
    /// The primary one; empty while it has none.
    pub address: String,
    /// The one of the other family; empty without one.
    pub secondary_address: String,
    /// The name that it has below the service that is called as its subdomain, and that service; empty without one.
    pub host: [String; 2],
    pub is_ready: bool,
    /// The time at which it became ready, as objects write times.
    pub ready_since: String,
    /// The time at which it was started; empty before.
    pub started: String,
    pub generation: i64,
    pub priority: i64,
    /// The node that is cleared for it; empty without one.
    pub nominated: String,
    /// The resources that its containers have got, of those that report them.
    pub held: Vec<Value>,
    pub is_deleted: bool,
    /// The time that it may take to stop once it is deleted.
    pub grace: Duration,
    /// True if its containers are to end by themselves.
    pub ends: bool,
    /// The generation of its specification, and the one that its kubelet has observed.
    generations: [i64; 2],
    /// The conditions of others that have to be true before it is ready.
    pub gates: Vec<Gate>,
    /// The claims of devices that it refers to.
    pub device_claims: Vec<PodClaim>,
}

/// A readiness gate.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "camelCase")]
pub struct Gate {
    pub condition_type: String,
}

/// The phase of a pod's life.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    #[default]
    Pending,
    Running,
    Succeeded,
    Failed,
    #[serde(other)]
    Unknown,
}

/// The pods of a cluster.
///
/// # Memory
///
/// Some entries for each pod, and the pod itself, which the store holds anyway.
#[derive(Debug, Default)]
pub struct Pods {
    by_key: BTreeMap<ObjectKey, Arc<Pod>>,
    /// By the uid of the controller.
    by_controller: BTreeMap<String, BTreeSet<ObjectKey>>,
    /// The active pods by node.
    by_node: BTreeMap<String, BTreeSet<ObjectKey>>,
    /// The terminated pods by node.
    ended_by_node: BTreeMap<String, BTreeSet<ObjectKey>>,
    /// The pods without a controller.
    orphans: BTreeSet<ObjectKey>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PodFields {
    metadata: MetadataFields,
    spec: SpecFields,
    status: StatusFields,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct MetadataFields {
    deletion_grace_period_seconds: Option<u64>,
    generation: i64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SpecFields {
    node_name: String,
    restart_policy: String,
    priority: i64,
    hostname: String,
    subdomain: String,
    readiness_gates: Vec<Gate>,
    resource_claims: Vec<Reference>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct StatusFields {
    phase: Phase,
    observed_generation: i64,
    #[serde(rename = "podIP")]
    pod_ip: String,
    #[serde(rename = "podIPs")]
    pod_ips: Vec<AddressFields>,
    conditions: Vec<ConditionFields>,
    start_time: String,
    nominated_node_name: String,
    container_statuses: Vec<ContainerFields>,
    init_container_statuses: Vec<ContainerFields>,
    resource_claim_statuses: Vec<ClaimStatus>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AddressFields {
    ip: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ContainerFields {
    resources: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ConditionFields {
    r#type: String,
    status: String,
    last_transition_time: Value,
}

// === impl Pod ===

impl Pod {
    fn of(stored: &Arc<StoredObject>, meta: &Meta) -> Self {
        let read: PodFields = serde_json::from_slice(&stored.json()).unwrap_or_default();
        let grace = read.metadata.deletion_grace_period_seconds;
        let StatusFields {
            container_statuses,
            init_container_statuses,
            resource_claim_statuses: made,
            pod_ips,
            ..
        } = read.status;
        let statuses = container_statuses
            .into_iter()
            .chain(init_container_statuses);
        let held = statuses.map(|status| status.resources);
        let secondary = pod_ips.into_iter().nth(1).unwrap_or_default();
        let mut conditions = read.status.conditions.into_iter();
        let ready =
            conditions.find(|condition| condition.r#type == "Ready" && condition.status == "True");
        Self {
            stored: Arc::clone(stored),
            controller: meta.controller().cloned(),
            finalizers: meta.finalizers().to_vec(),
            node: read.spec.node_name,
            phase: read.status.phase,
            address: read.status.pod_ip,
            secondary_address: secondary.ip,
            host: [read.spec.hostname, read.spec.subdomain],
            is_ready: ready.is_some(),
            ready_since: ready
                .and_then(|ready| ready.last_transition_time.as_str().map(str::to_owned))
                .unwrap_or_default(),
            started: read.status.start_time,
            generation: read.metadata.generation,
            priority: read.spec.priority,
            nominated: read.status.nominated_node_name,
            held: held.filter(|resources| !resources.is_null()).collect(),
            is_deleted: meta.is_deleted(),
            grace: Duration::from_secs(grace.unwrap_or_default()),
            ends: !matches!(&*read.spec.restart_policy, "" | "Always"),
            generations: [read.metadata.generation, read.status.observed_generation],
            gates: read.spec.readiness_gates,
            device_claims: PodClaim::of(read.spec.resource_claims, &made),
        }
    }

    pub fn key(&self) -> &ObjectKey {
        self.stored.key()
    }

    pub fn name(&self) -> &str {
        self.stored.name()
    }

    pub fn label(&self, name: &str) -> &str {
        self.stored.labels().get(name).unwrap_or_default()
    }

    /// Returns its address of a family, if it has one.
    pub fn address_of(&self, family: IpFamily) -> Option<&str> {
        let mut addresses = [&*self.address, &self.secondary_address].into_iter();
        addresses.find(|address| !address.is_empty() && IpFamily::of_text(address) == family)
    }

    /// Returns whether it has ended by itself.
    pub fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    /// Returns whether the kubelet has not observed the current specification.
    pub fn is_unobserved(&self) -> bool {
        self.generations[0] != self.generations[1]
    }

    /// Returns the use that it is of where there are too many: those go first that are on no node, not running, not ready,
    /// ready only lately, made lately.
    #[doc(alias = "ActivePods")]
    pub fn usefulness(&self) -> impl Ord + use<> {
        (
            !self.node.is_empty(),
            self.phase == Phase::Running,
            self.is_ready,
            Reverse(self.ready_since.clone()),
            Reverse(self.stored.revision()),
        )
    }

    /// Returns whether it counts as a wanted replica.
    pub fn is_active(&self) -> bool {
        !self.is_finished() && !self.is_deleted
    }
}

// === impl Pods ===

impl Pods {
    /// Takes a change of a pod in.
    pub fn apply(&mut self, key: &ObjectKey, after: Option<(&Arc<StoredObject>, &Meta)>) {
        if let Some(before) = self.by_key.remove(key) {
            if let Some(controller) = &before.controller {
                remove(&mut self.by_controller, &controller.uid, key);
            }
            remove(&mut self.by_node, &before.node, key);
            remove(&mut self.ended_by_node, &before.node, key);
            self.orphans.remove(key);
        }
        let Some((stored, meta)) = after else { return };
        let pod = Pod::of(stored, meta);
        match &pod.controller {
            Some(controller) => insert(&mut self.by_controller, &controller.uid, key),
            None => {
                self.orphans.insert(key.clone());
            }
        }
        if pod.is_finished() {
            insert(&mut self.ended_by_node, &pod.node, key);
        } else if !pod.node.is_empty() {
            insert(&mut self.by_node, &pod.node, key);
        }
        self.by_key.insert(key.clone(), Arc::new(pod));
    }

    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Pod>> {
        self.by_key.get(key)
    }

    /// The pods that the controller of that uid manages, in the order of their names.
    pub fn of_controller(&self, uid: &str) -> Vec<Arc<Pod>> {
        let keys = self.by_controller.get(uid).into_iter().flatten();
        keys.filter_map(|key| self.get(key).cloned()).collect()
    }

    /// Returns the pods of a namespace that have no controller.
    pub fn orphans(&self, namespace: &str) -> Vec<Arc<Pod>> {
        let first = ObjectKey::namespaced(core::pod::KIND.storage().clone(), namespace, "");
        let keys = self.orphans.range(first..);
        keys.take_while(|key| key.namespace() == Some(namespace))
            .filter_map(|key| self.get(key).cloned())
            .collect()
    }

    /// The pods of a namespace that `selects` selects.
    pub fn selected(&self, namespace: &str, selects: &LabelSelector) -> Vec<Arc<Pod>> {
        let first = ObjectKey::namespaced(core::pod::KIND.storage().clone(), namespace, "");
        let near = self.by_key.range(first..);
        near.take_while(|(key, _)| key.namespace() == Some(namespace))
            .filter(|(_, pod)| selects.matches(pod.stored.labels()))
            .map(|(_, pod)| Arc::clone(pod))
            .collect()
    }

    /// Returns the pods on a node that have not ended, in the order of their keys.
    pub fn on_node(&self, node: &str) -> Vec<Arc<Pod>> {
        let keys = self.by_node.get(node).into_iter().flatten();
        keys.filter_map(|key| self.get(key).cloned()).collect()
    }

    /// Returns all pods of a node: those on it, and those that have ended there.
    pub fn assigned_to(&self, node: &str) -> Vec<Arc<Pod>> {
        let mut pods = self.on_node(node);
        let ended = self.ended_by_node.get(node).into_iter().flatten();
        pods.extend(ended.filter_map(|key| self.get(key).cloned()));
        pods
    }
}

fn insert(index: &mut BTreeMap<String, BTreeSet<ObjectKey>>, value: &str, key: &ObjectKey) {
    let keys = match index.get_mut(value) {
        Some(keys) => keys,
        None => index.entry(value.to_owned()).or_default(),
    };
    keys.insert(key.clone());
}

fn remove(index: &mut BTreeMap<String, BTreeSet<ObjectKey>>, value: &str, key: &ObjectKey) {
    if let Some(keys) = index.get_mut(value) {
        keys.remove(key);
        if keys.is_empty() {
            index.remove(value);
        }
    }
}
