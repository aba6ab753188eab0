//! Slices of endpoints: written in the place of those that there are.

use std::collections::BTreeMap;

use fakeserver_kinds::{core::service::range::IpFamily, discovery};
use fakeserver_server::{
    controllers::cluster::Cluster,
    store::ObjectKey,
    write::deletion::{DeletionParameters, is_deleted},
};
use fakeserver_value::read::text;
use serde_json::{Map, Value, json};

use super::{
    super::objects::ReconciledKind,
    ACTOR, CHANGED_AT, HEADLESS,
    addresses::{Endpoint, Group},
    is_headless,
};

/// The label by which a slice names its controller.
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// The largest number of endpoints in a slice.
const ENDPOINTS_MAX: usize = 100;

/// The owner of slices: a service, or endpoints that a user has written.
pub(super) struct Owner<'a> {
    pub(super) kind: ReconciledKind,
    pub(super) object: &'a Value,
    pub(super) manager: &'static str,
}

/// The contents of a slice: ports and endpoints.
type Contents = (Value, Value);

/// The endpoints of an owner in each of its families.
pub(super) type FamilyGroups = Vec<(IpFamily, Vec<Group>)>;

/// Writes the slices of an owner, each of one family, and deletes those of other families.
pub(super) fn write_slices(
    cluster: &mut Cluster<'_, '_>,
    owner: &Owner<'_>,
    groups: &FamilyGroups,
) {
    let is_of = |slice: &Value, family: IpFamily| slice["addressType"] == family.name();
    let mut slices = Vec::new();
    for key in owner.slices(cluster) {
        let slice = cluster.get(&key).map(|slice| slice.to_value());
        let Some(slice) = slice.filter(|slice| !is_deleted(slice)) else {
            continue;
        };
        if groups.iter().any(|(family, _)| is_of(&slice, *family)) {
            slices.push((key, slice));
        } else {
            cluster.delete(&key, DeletionParameters::default());
        }
    }
    for (family, groups) in groups {
        let of_family = slices.iter().filter(|(_, slice)| is_of(slice, *family));
        let of_family: Vec<_> = of_family.cloned().collect();
        write_family(cluster, owner, *family, (groups, of_family));
    }
}

/// Writes the slices of an owner in a family. Without endpoints there is one, which has none.
///
/// A slice that is not wanted any more becomes one that is, so that watchers see no moment with both or with none.
fn write_family(
    cluster: &mut Cluster<'_, '_>,
    owner: &Owner<'_>,
    family: IpFamily,
    (groups, slices): (&[Group], Vec<(ObjectKey, Value)>),
) {
    let mut wanted = contents(groups);
    let labels = owner.labels();
    let mut spare = Vec::new();
    let mut kept: BTreeMap<ObjectKey, Contents> = BTreeMap::new();
    for (key, slice) in slices {
        let ports = slice.get("ports").cloned().unwrap_or_default();
        match wanted.iter().position(|(wanted, _)| *wanted == ports) {
            Some(place) => drop(kept.insert(key, wanted.remove(place))),
            None => spare.push(key),
        }
    }
    spare.retain(|key| {
        if wanted.is_empty() {
            return true;
        }
        kept.insert(key.clone(), wanted.remove(0));
        false
    });
    let now = cluster.now_text();
    for (key, (ports, endpoints)) in kept {
        cluster.update(&key, ACTOR, |slice| {
            // Compared here, since the time in the annotation would make a change of each write.
            let is_same = slice.get("endpoints").unwrap_or(&Value::Null) == &endpoints
                && slice.get("ports").unwrap_or(&Value::Null) == &ports
                && slice["metadata"]["labels"] == json!(labels);
            if !is_same {
                slice["metadata"]["labels"] = json!(labels);
                slice["metadata"]["annotations"][CHANGED_AT] = json!(now);
                slice["endpoints"] = endpoints;
                slice["ports"] = ports;
            }
        });
    }
    for (ports, endpoints) in wanted {
        let metadata = &owner.object["metadata"];
        let slice = json!({
            "metadata": {
                "generateName": format!("{}-", text(&metadata["name"])),
                "namespace": metadata["namespace"],
                "labels": labels,
                "annotations": {CHANGED_AT: now},
                "ownerReferences": [owner.kind.owner_reference(owner.object)],
            },
            "addressType": family.name(),
            "endpoints": endpoints,
            "ports": ports,
        });
        let storage = discovery::endpoint_slice::KIND.storage();
        cluster.create(storage, ACTOR, slice);
    }
    for key in spare {
        cluster.delete(&key, DeletionParameters::default());
    }
}

/// Returns the contents of all slices.
fn contents(groups: &[Group]) -> Vec<Contents> {
    let slices = groups.iter().flat_map(|group| {
        let ports = Value::from(group.ports.clone());
        let chunks = group.endpoints.chunks(ENDPOINTS_MAX);
        chunks.map(move |chunk| {
            let endpoints = chunk.iter().map(Endpoint::in_slice);
            (ports.clone(), endpoints.collect())
        })
    });
    let slices: Vec<Contents> = slices.collect();
    if slices.is_empty() {
        return vec![(Value::Null, Value::Null)];
    }
    slices
}

// === impl Owner ===

impl Owner<'_> {
    /// Returns the labels of the slices.
    fn labels(&self) -> Map<String, Value> {
        let metadata = &self.object["metadata"];
        let mut labels = metadata["labels"].as_object().cloned().unwrap_or_default();
        labels.insert(
            discovery::endpoint_slice::SERVICE_NAME.to_owned(),
            metadata["name"].clone(),
        );
        labels.insert(MANAGED_BY.to_owned(), json!(self.manager));
        if is_headless(self.object) {
            labels.insert(HEADLESS.to_owned(), json!(""));
        }
        labels
    }

    /// Returns the slices that it has.
    fn slices(&self, cluster: &Cluster<'_, '_>) -> Vec<ObjectKey> {
        let uid = text(&self.object["metadata"]["uid"]);
        let dependents = cluster.index.dependents(uid);
        let slices = discovery::endpoint_slice::KIND.storage();
        dependents
            .filter(|(key, _)| key.resource() == slices)
            .map(|(key, _)| key.clone())
            .collect()
    }
}
