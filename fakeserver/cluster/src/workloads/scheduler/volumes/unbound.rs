//! Claims that are bound once a pod that uses them has a node: to volumes that can be used there, or to new ones.

use fakeserver_kinds::core::{persistent_volume, persistent_volume_claim::request::size_of};
use fakeserver_value::{
    object::Pairs,
    read::{items, text},
};
use serde_json::Value;

use super::{affinity_of, delaying_class, labels_of};
use crate::workloads::{
    scheduler::{node::Node, node_affinity::NodeSelector, objects::Objects, selection::Selection},
    volume_rules::{NO_PROVISIONER, VolumeOwner, capacity, mismatch, owner_of, selected_node},
};

pub(super) const NO_VOLUME: &str = "node(s) didn't find available persistent volumes to bind";

/// A claim that waits for a pod.
#[derive(Clone, Debug)]
pub(super) struct UnboundClaim {
    claim: Value,
    /// The node that was selected for it; empty if none was.
    selected: String,
    /// The volumes that it could have, the smallest first.
    volumes: Vec<Volume>,
    /// The nodes for which a volume can be made; `None` if none can.
    topologies: Option<Vec<Topology>>,
}

/// A volume that no claim has.
#[derive(Clone, Debug)]
struct Volume {
    name: String,
    affinity: Option<NodeSelector>,
}

/// Labels of nodes, with the values of which they must have one.
#[derive(Clone, Debug)]
struct Topology(Vec<(String, Vec<String>)>);

/// A write for a claim whose pod has a node.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::workloads::scheduler) enum Binding {
    /// The volume is reserved for the claim.
    Volume { volume: String, claim: Value },
    /// A volume is to be made for the claim.
    New { claim: String },
}

// === impl UnboundClaim ===

impl UnboundClaim {
    /// Returns the claim, if it waits for a pod.
    pub(super) fn of(claim: &Value, objects: &dyn Objects) -> Option<Self> {
        let class = delaying_class(claim, objects)?;
        let is_made = !matches!(text(&class["provisioner"]), "" | NO_PROVISIONER);
        let topologies = items(&class["allowedTopologies"]).iter().map(Topology::of);
        Some(Self {
            claim: claim.clone(),
            selected: selected_node(claim).to_owned(),
            volumes: Vec::new(),
            topologies: is_made.then(|| topologies.collect()),
        })
    }

    /// Finds the volumes that claims could have.
    pub(super) fn find_volumes(claims: &mut [Self], objects: &dyn Objects) {
        if claims.iter().all(|claim| !claim.selected.is_empty()) {
            return;
        }
        let mut volumes = objects.list(&persistent_volume::KIND);
        volumes.sort_by_cached_key(capacity);
        for claim in claims.iter_mut() {
            let fitting = volumes.iter().filter(|volume| claim.fits(volume));
            let fitting = fitting.map(|volume| Volume {
                name: text(&volume["metadata"]["name"]).to_owned(),
                affinity: affinity_of(volume),
            });
            claim.volumes = fitting.collect();
        }
        claims.sort_by_cached_key(|claim| size_of(&claim.claim));
    }

    /// Returns whether the claim may have a volume.
    fn fits(&self, volume: &Value) -> bool {
        let is_free = matches!(
            text(&volume["status"]["phase"]),
            "" | "Pending" | "Available"
        ) && volume["metadata"]["deletionTimestamp"].is_null()
            && owner_of(volume, &self.claim) != VolumeOwner::Another;
        let selector = &self.claim["spec"]["selector"];
        is_free
            && mismatch(volume, &self.claim).is_none()
            && (selector.is_null() || Selection::of(selector).matches(&labels_of(volume)))
    }

    /// Returns what binds all claims if their pod goes to a node; `None` if one cannot be bound there.
    pub(super) fn choose(claims: &[Self], node: &Node) -> Option<Vec<Binding>> {
        let mut taken: Vec<&str> = Vec::new();
        let mut bindings = Vec::new();
        for unbound in claims {
            if !unbound.selected.is_empty() {
                if unbound.selected != *node.name {
                    return None;
                }
                continue;
            }
            let mut volumes = unbound.volumes.iter();
            let volume = volumes.find(|volume| {
                !taken.contains(&&*volume.name) && is_near(volume.affinity.as_ref(), node)
            });
            if let Some(volume) = volume {
                taken.push(&volume.name);
                bindings.push(Binding::Volume {
                    volume: volume.name.clone(),
                    claim: unbound.claim.clone(),
                });
            } else if unbound.can_be_made_for(&node.labels) {
                let claim = text(&unbound.claim["metadata"]["name"]).to_owned();
                bindings.push(Binding::New { claim });
            } else {
                return None;
            }
        }
        Some(bindings)
    }

    fn can_be_made_for(&self, labels: &Pairs) -> bool {
        let Some(topologies) = &self.topologies else {
            return false;
        };
        topologies.is_empty() || topologies.iter().any(|topology| topology.includes(labels))
    }
}

// === impl Topology ===

impl Topology {
    fn of(term: &Value) -> Self {
        let labels = items(&term["matchLabelExpressions"])
            .iter()
            .map(|expression| {
                let values = items(&expression["values"])
                    .iter()
                    .map(|value| text(value).to_owned());
                (text(&expression["key"]).to_owned(), values.collect())
            });
        Self(labels.collect())
    }

    fn includes(&self, labels: &Pairs) -> bool {
        self.0.iter().all(|(label, values)| {
            let own = labels.get(label);
            own.is_some_and(|own| values.iter().any(|value| value == own))
        })
    }
}

fn is_near(affinity: Option<&NodeSelector>, node: &Node) -> bool {
    affinity.is_none_or(|affinity| affinity.matches(&node.name, &node.labels))
}
