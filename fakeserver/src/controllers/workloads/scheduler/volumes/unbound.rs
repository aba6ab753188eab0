//! Claims that are bound once a pod that uses them has a node: to volumes that can be used there, or to new ones.

use serde_json::Value;

use super::{class_of, delaying_class, labels_of};
use crate::{
    controllers::workloads::{
        objects::text,
        scheduler::{
            node::Node, node_affinity::NodeSelector, objects::Objects, pod::items,
            selection::Selection,
        },
    },
    kinds::{core::persistent_volume, formats::quantity},
    value::{object::Pairs, schema::Quantity},
};

pub(super) const NO_VOLUME: &str = "node(s) didn't find available persistent volumes to bind";
/// The annotation by which the scheduler tells for which node a volume is to be made.
pub(in crate::controllers::workloads::scheduler) const SELECTED_NODE: &str =
    "volume.kubernetes.io/selected-node";
/// Of classes whose volumes are made by hand.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// A claim that waits for a pod.
#[derive(Clone, Debug)]
pub(super) struct Unbound {
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
pub(in crate::controllers::workloads::scheduler) enum Binding {
    /// The volume is reserved for the claim.
    Volume { volume: String, claim: Value },
    /// A volume is to be made for the claim.
    New { claim: String },
}

// === impl Unbound ===

impl Unbound {
    /// Returns the claim, if it waits for a pod.
    pub(super) fn of(claim: &Value, objects: &dyn Objects) -> Option<Self> {
        let class = delaying_class(claim, objects)?;
        let is_made = !matches!(text(&class["provisioner"]), "" | NO_PROVISIONER);
        let topologies = items(&class["allowedTopologies"]).map(Topology::of);
        Some(Self {
            claim: claim.clone(),
            selected: text(&claim["metadata"]["annotations"][SELECTED_NODE]).to_owned(),
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
        volumes.sort_by_cached_key(|volume| capacity(&volume["spec"]["capacity"]));
        for claim in claims.iter_mut() {
            let fitting = volumes.iter().filter(|volume| claim.fits(volume));
            let fitting = fitting.map(|volume| Volume {
                name: text(&volume["metadata"]["name"]).to_owned(),
                affinity: affinity_of(volume),
            });
            claim.volumes = fitting.collect();
        }
        claims.sort_by_cached_key(|claim| capacity(&claim.claim["spec"]["resources"]["requests"]));
    }

    /// Returns whether the claim may have a volume.
    fn fits(&self, volume: &Value) -> bool {
        let (wanted, offered) = (&self.claim["spec"], &volume["spec"]);
        let mode = |spec: &Value| match text(&spec["volumeMode"]) {
            "" => "Filesystem".to_owned(),
            mode => mode.to_owned(),
        };
        let holder = &offered["claimRef"];
        let is_own = ["namespace", "name"]
            .iter()
            .all(|field| holder[*field] == self.claim["metadata"][*field]);
        let is_free = matches!(
            text(&volume["status"]["phase"]),
            "" | "Pending" | "Available"
        ) && volume["metadata"]["deletionTimestamp"].is_null()
            && (holder.is_null() || is_own);
        let offers = |wanted: &Value| items(&offered["accessModes"]).any(|mode| mode == wanted);
        let selector = &wanted["selector"];
        is_free
            && class_of(&self.claim) == class_of(volume)
            && mode(wanted) == mode(offered)
            && items(&wanted["accessModes"]).all(offers)
            && capacity(&wanted["resources"]["requests"]) <= capacity(&offered["capacity"])
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
        let labels = items(&term["matchLabelExpressions"]).map(|expression| {
            let values = items(&expression["values"]).map(|value| text(value).to_owned());
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

fn affinity_of(volume: &Value) -> Option<NodeSelector> {
    let required = &volume["spec"]["nodeAffinity"]["required"];
    (!required.is_null()).then(|| NodeSelector::of(required))
}

fn is_near(affinity: Option<&NodeSelector>, node: &Node) -> bool {
    affinity.is_none_or(|affinity| affinity.matches(&node.name, &node.labels))
}

fn capacity(amounts: &Value) -> Quantity {
    quantity(&amounts["storage"])
}
