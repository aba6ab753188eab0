//! Claims of pods: which nodes their volumes allow, and what becomes of claims that wait for a pod.
//!
//! Upstream: the plugins `VolumeBinding`, `VolumeRestrictions` (claims for a single pod) and `VolumeZone`. Storage
//! capacities, limits of drivers, and disks that are named in the pod itself are not looked at.

mod unbound;

use std::collections::BTreeSet;

use fakeserver_kinds::{
    core::{
        persistent_volume,
        persistent_volume_claim::{self, request::class_of},
    },
    storage::storage_class,
};
use fakeserver_value::{
    object::Pairs,
    read::{items, text},
};
use serde_json::Value;

pub(super) use self::unbound::Binding;
use self::unbound::UnboundClaim;
use super::{
    node::{Node, pairs},
    node_affinity::NodeSelector,
    objects::Objects,
    pod::PodInfo,
    rejection::Rejection,
};
use crate::workloads::volume_rules::{access_modes, delays_binding, is_bound};

const WRONG_NODE: &str = "node(s) didn't match PersistentVolume's node affinity";
const WRONG_ZONE: &str = "node(s) had no available volume zone";
const IN_USE: &str = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";
const UNBOUND: &str = "pod has unbound immediate PersistentVolumeClaims";
/// The topology labels of nodes and volumes: deprecated names and their present ones.
const ZONES: [(&str, &str); 4] = [
    (
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/region",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "topology.kubernetes.io/zone",
    ),
    (
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/region",
    ),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
];

/// A claim that a pod uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimUse {
    pub(super) name: String,
    /// True if the claim is made for the pod, and ends with it.
    is_ephemeral: bool,
}

/// The volumes of a pod, as far as they decide about nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Volumes {
    /// The affinities of bound volumes.
    affinities: Vec<NodeSelector>,
    /// The zones of bound volumes: a label, and its possible values.
    zones: Vec<(usize, BTreeSet<String>)>,
    unbound: Vec<UnboundClaim>,
    /// Claims that another pod on a node has for itself.
    is_in_use: bool,
}

// === impl ClaimUse ===

impl ClaimUse {
    pub(super) fn all(pod: &Value) -> Vec<Self> {
        let name = text(&pod["metadata"]["name"]);
        let read = |volume: &Value| {
            if let Some(claim) = volume["persistentVolumeClaim"]["claimName"].as_str() {
                return Some(Self {
                    name: claim.to_owned(),
                    is_ephemeral: false,
                });
            }
            volume["ephemeral"].is_object().then(|| Self {
                name: format!("{name}-{}", text(&volume["name"])),
                is_ephemeral: true,
            })
        };
        items(&pod["spec"]["volumes"])
            .iter()
            .filter_map(read)
            .collect()
    }
}

// === impl Volumes ===

impl Volumes {
    /// Reads the volumes of a pod. `is_used` tells whether a pod on a node uses a claim.
    ///
    /// # Errors
    ///
    /// The pod cannot be on any node.
    pub(super) fn of(
        pod: &PodInfo,
        objects: &dyn Objects,
        is_used: impl Fn(&str) -> bool,
    ) -> Result<Self, String> {
        let mut volumes = Self::default();
        let mut is_waiting = false;
        for claim in &pod.claims {
            let found = find(pod, claim, objects)?;
            let is_single = access_modes(&found).any(|mode| mode == "ReadWriteOncePod");
            volumes.is_in_use |= is_single && is_used(&claim.name);
            let volume = text(&found["spec"]["volumeName"]);
            if !volume.is_empty() && is_bound(&found) {
                let kind = &persistent_volume::KIND;
                let stored = objects.get(kind, None, volume);
                let stored =
                    stored.ok_or_else(|| format!("persistentvolume \"{volume}\" not found"))?;
                volumes.bind(&stored);
            } else if let Some(unbound) = UnboundClaim::of(&found, objects)
                && volume.is_empty()
            {
                volumes.unbound.push(unbound);
            } else {
                is_waiting = true;
            }
        }
        if is_waiting {
            return Err(UNBOUND.to_owned());
        }
        UnboundClaim::find_volumes(&mut volumes.unbound, objects);
        Ok(volumes)
    }

    /// Notes where a bound volume can be used.
    fn bind(&mut self, volume: &Value) {
        self.affinities.extend(affinity_of(volume));
        let labels = &volume["metadata"]["labels"];
        for (place, (label, _)) in ZONES.iter().enumerate() {
            if let Some(zones) = labels[*label].as_str() {
                let zones = zones.split("__").map(|zone| zone.trim().to_owned());
                self.zones.push((place, zones.collect()));
            }
        }
    }

    pub(super) fn reject(&self, node: &Node) -> Option<Rejection> {
        if self.is_in_use {
            return Some(Rejection::for_now(IN_USE));
        }
        let labels = &node.labels;
        let mut reasons = Vec::new();
        let mut affinities = self.affinities.iter();
        if !affinities.all(|affinity| affinity.matches(&node.name, labels)) {
            reasons.push(WRONG_NODE.into());
        }
        if UnboundClaim::choose(&self.unbound, node).is_none() {
            reasons.push(unbound::NO_VOLUME.into());
        }
        if !reasons.is_empty() {
            return Some(Rejection {
                reasons,
                is_final: true,
            });
        }
        (!self.allow_zone(labels)).then(|| Rejection::for_good(WRONG_ZONE))
    }

    /// Returns whether the volumes are where a node with these labels is.
    fn allow_zone(&self, labels: &Pairs) -> bool {
        if ZONES.iter().all(|(label, _)| labels.get(label).is_none()) {
            return true;
        }
        self.zones.iter().all(|(place, zones)| {
            let (label, now) = ZONES[*place];
            let own = labels.get(label).or_else(|| labels.get(now));
            own.is_some_and(|zone| zones.contains(zone))
        })
    }

    /// Returns the writes that precede the binding of the pod to a node that was not rejected.
    pub(super) fn bindings(&self, node: &Node) -> Vec<Binding> {
        UnboundClaim::choose(&self.unbound, node).unwrap_or_default()
    }
}

/// Finds a claim of a pod.
fn find(pod: &PodInfo, claim: &ClaimUse, objects: &dyn Objects) -> Result<Value, String> {
    let (namespace, name) = (pod.namespace(), &claim.name);
    let kind = &persistent_volume_claim::KIND;
    let Some(found) = objects.get(kind, Some(namespace), name) else {
        return Err(if claim.is_ephemeral {
            format!(
                "waiting for ephemeral volume controller to create the persistentvolumeclaim \"{name}\""
            )
        } else {
            format!("persistentvolumeclaim \"{name}\" not found")
        });
    };
    if found["status"]["phase"] == "Lost" {
        let volume = text(&found["spec"]["volumeName"]);
        return Err(format!(
            "persistentvolumeclaim \"{name}\" bound to non-existent persistentvolume \"{volume}\""
        ));
    }
    if !found["metadata"]["deletionTimestamp"].is_null() {
        return Err(format!("persistentvolumeclaim \"{name}\" is being deleted"));
    }
    let is_own = items(&found["metadata"]["ownerReferences"])
        .iter()
        .any(|owner| owner["uid"] == pod.uid);
    if claim.is_ephemeral && !is_own {
        let pod = pod.key.path();
        return Err(format!(
            "PVC {namespace}/{name} was not created for pod {pod} (pod is not owner)"
        ));
    }
    Ok(found)
}

/// Returns the class of a claim, if that waits for a pod.
fn delaying_class(claim: &Value, objects: &dyn Objects) -> Option<Value> {
    let class = objects.get(&storage_class::KIND, None, class_of(claim))?;
    delays_binding(&class).then_some(class)
}

/// Returns the nodes from which a volume can be used; `None` if from any.
fn affinity_of(volume: &Value) -> Option<NodeSelector> {
    let required = &volume["spec"]["nodeAffinity"]["required"];
    (!required.is_null()).then(|| NodeSelector::of(required))
}

/// Returns the labels of an object.
fn labels_of(object: &Value) -> Pairs {
    pairs(&object["metadata"]["labels"])
}
