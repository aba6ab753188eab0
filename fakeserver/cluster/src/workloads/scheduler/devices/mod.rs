//! Device claims: the nodes that satisfy those of a pod, and the writes after one is chosen.
//!
//! Upstream: the plugin `DynamicResources` of 1.36. Devices that share counters or capacities, and such as have to be bound, are
//! taken for others.

mod pools;
mod requests;
mod allocator;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::Arc};

use fakeserver_kinds::resource::{resource_claim, resource_slice};
use fakeserver_server::controllers::pod_claims::ClaimName;
use fakeserver_value::read::{items, text};
use serde_json::{Value, json};

use self::{
    allocator::allocate,
    pools::{DeviceId, Pool, gather, nodes_of},
    requests::Claim,
};
use super::{
    node::Node,
    node_affinity::NodeSelector,
    objects::Objects,
    pod::PodInfo,
    rejection::{Reason, Rejection},
};
use crate::workloads::resource_claims::{can_be_reserved, is_for_pod, is_reserved_for};

const NOT_ENOUGH: &str = "cannot allocate all claims";
const ELSEWHERE: &str = "resourceclaim not available on the node";
const FULL: &str = "resourceclaim in use";

/// The claims of a pod, as far as they decide about nodes.
#[derive(Debug, Default)]
pub(super) struct Devices {
    /// The claims that have devices, with the nodes of these; none for all nodes.
    allocated: Vec<(String, Option<NodeSelector>)>,
    /// The claims that need devices.
    pending: Vec<Claim>,
    pools: Vec<Pool>,
    in_use: BTreeSet<DeviceId>,
}

/// The reason why a pod with claims is on no node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoDevices {
    /// A claim does not exist. No event reports this; upstream keeps such a pod out of its queue.
    Unmade,
    /// Something is wrong on all nodes.
    Refused(String),
}

/// A claim that is to be reserved for a pod, with its devices if it has none yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reservation {
    pub(super) claim: String,
    pub(super) allocation: Option<Value>,
}

// === impl Devices ===

impl Devices {
    /// Reads the claims of a pod.
    ///
    /// # Errors
    ///
    /// The pod can be on no node for now.
    pub(super) fn of(pod: &PodInfo, objects: &dyn Objects) -> Result<Self, NoDevices> {
        let mut devices = Self::default();
        let mut pending = Vec::new();
        for reference in &pod.device_claims {
            let name = match &reference.claim {
                ClaimName::Named(name) => name,
                ClaimName::NotNeeded => continue,
                ClaimName::NotCreated => return Err(NoDevices::Unmade),
            };
            let found = objects.get(&resource_claim::KIND, Some(pod.namespace()), name);
            let claim = found.filter(|claim| {
                let is_own = reference.template.is_none() || is_for_pod(claim, &pod.uid);
                is_own && claim["metadata"]["deletionTimestamp"].is_null()
            });
            let claim = claim.ok_or(NoDevices::Unmade)?;
            let allocation = &claim["status"]["allocation"];
            if allocation.is_null() {
                pending.push(claim);
            } else if can_be_reserved(&claim) || is_reserved_for(&claim, &pod.uid) {
                let nodes = &allocation["nodeSelector"];
                let nodes = (!nodes.is_null()).then(|| NodeSelector::of(nodes));
                devices.allocated.push((name.clone(), nodes));
            } else {
                return Err(NoDevices::Refused(FULL.to_owned()));
            }
        }
        if !pending.is_empty() {
            devices.pools = gather(&objects.list(&resource_slice::KIND));
            devices.in_use = in_use(&objects.list(&resource_claim::KIND));
            let claims = pending
                .iter()
                .map(|claim| Claim::of(claim, &devices.pools, objects));
            devices.pending = claims
                .collect::<Result<_, _>>()
                .map_err(NoDevices::Refused)?;
        }
        Ok(devices)
    }

    /// Returns whether the pod has claims.
    pub(super) fn is_some(&self) -> bool {
        !self.allocated.is_empty() || !self.pending.is_empty()
    }

    pub(super) fn reject(&self, node: &Node) -> Option<Rejection> {
        let is_elsewhere = |nodes: &NodeSelector| !nodes.matches(&node.name, &node.labels);
        let allocations = if self.pending.is_empty() {
            Ok(Some(Vec::new()))
        } else {
            allocate(&self.pending, &self.pools, &self.in_use, node)
        };
        let reason: Reason = match allocations {
            Err(why) => why.into(),
            Ok(None) => NOT_ENOUGH.into(),
            Ok(Some(_)) => {
                let mut nodes = self
                    .allocated
                    .iter()
                    .filter_map(|(_, nodes)| nodes.as_ref());
                if !nodes.any(is_elsewhere) {
                    return None;
                }
                ELSEWHERE.into()
            }
        };
        Some(Rejection {
            reasons: vec![reason],
            is_final: true,
        })
    }

    /// Returns the writes that precede the binding of the pod to a node that was not rejected.
    pub(super) fn reservations(&self, node: &Node) -> Vec<Reservation> {
        let allocated = self.allocated.iter().map(|(claim, _)| Reservation {
            claim: claim.clone(),
            allocation: None,
        });
        let found = allocate(&self.pending, &self.pools, &self.in_use, node);
        let found = found.ok().flatten().unwrap_or_default();
        let new = self.pending.iter().zip(found).map(|(claim, found)| {
            let choices = found.choices.iter();
            let results: Vec<Value> = choices
                .clone()
                .map(|choice| choice.request.result(choice.device))
                .collect();
            let mut allocation = json!({"devices": {"results": results}});
            let config = claim.config(&found.requests);
            if !config.is_empty() {
                allocation["devices"]["config"] = config.into();
            }
            let devices: Vec<_> = choices.map(|choice| choice.device).collect();
            let nodes = nodes_of(&devices);
            if !nodes.is_null() {
                allocation["nodeSelector"] = nodes;
            }
            Reservation {
                claim: claim.name.clone(),
                allocation: Some(allocation),
            }
        });
        allocated.chain(new).collect()
    }
}

/// Returns the devices that claims have, but for those of administrators, which others may have too.
fn in_use(claims: &[Value]) -> BTreeSet<DeviceId> {
    let results = claims
        .iter()
        .flat_map(|claim| items(&claim["status"]["allocation"]["devices"]["results"]));
    let exclusive = results.filter(|result| result["adminAccess"] != true);
    let ids = exclusive.map(|result| {
        ["driver", "pool", "device"].map(|field| Arc::<str>::from(text(&result[field])))
    });
    ids.collect()
}
