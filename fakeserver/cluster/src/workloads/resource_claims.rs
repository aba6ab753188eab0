//! Claims of devices: they are made of templates for pods, reserved for pods that have a node, and given back when no pod needs
//! them any more.
//!
//! Upstream: `pkg/controller/resourceclaim` of 1.36. The scheduler allocates devices and reserves them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use fakeserver_kinds::{
    core,
    resource::{resource_claim, resource_claim_template},
};
use fakeserver_server::{
    controllers::pod_claims::{ClaimName, PodClaim},
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::deletion::{DeletionParameters, is_deleted},
};
use fakeserver_value::read::{items, text};
use serde_json::{Value, json};

use super::objects::ReconciledKind;

const POD: ReconciledKind = ReconciledKind {
    kind: &core::pod::KIND,
    name: "Pod",
    api_version: "v1",
    component: "resource_claim",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
/// The manager of the status of pods.
const STATUS_MANAGER: &str = "ResourceClaimController";
/// The annotation of a claim that was made for a pod: its name within the pod.
const POD_CLAIM: &str = "resource.kubernetes.io/pod-claim-name";
/// The finalizer of a claim that has devices.
pub(super) const FINALIZER: &str = "resource.kubernetes.io/delete-protection";
/// The number of pods that a claim can be reserved for.
pub(super) const RESERVED_MAX: usize = 256;
/// The length of the beginning of the name of a claim that is made.
const BASE_MAX_BYTES: usize = 57;

/// Makes and releases claims.
///
/// # Memory
///
/// An entry for each pod that refers to claims.
#[derive(Debug, Default)]
pub(super) struct ResourceClaims {
    /// The claims of pods.
    claims: BTreeMap<ObjectKey, Vec<ObjectKey>>,
    /// The pods whose template is not there.
    waiting: BTreeSet<ObjectKey>,
}

// === impl ResourceClaims ===

impl ResourceClaims {
    fn observe_pod(&mut self, key: &ObjectKey, index: &Index, due: &mut KeyQueue<'_>) {
        let pod = index.pods.get(key);
        let pod = pod.filter(|pod| !pod.device_claims.is_empty());
        let ends = pod.is_none_or(|pod| pod.is_finished() || pod.is_deleted);
        if ends {
            self.waiting.remove(key);
            for claim in self.claims.get(key).into_iter().flatten() {
                due.add(claim.clone(), Duration::ZERO);
            }
        }
        let Some(pod) = pod else {
            self.claims.remove(key);
            return;
        };
        let namespace = key.namespace().unwrap_or_default();
        let names = pod.device_claims.iter().filter_map(PodClaim::name);
        let claims = names.map(|name| claim_key(namespace, name)).collect();
        self.claims.insert(key.clone(), claims);
        if !ends {
            due.add(key.clone(), Duration::ZERO);
        }
    }

    /// Makes the claims of a pod that are missing, and reserves those that have devices.
    fn sync_pod(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey) {
        let Some(pod) = cluster.get(key).map(|stored| stored.to_value()) else {
            return;
        };
        if is_deleted(&pod) || is_done(&pod) {
            return;
        }
        let claims = PodClaim::all(&pod);
        let mut made = Vec::new();
        let mut has_new = false;
        for claim in claims.iter().filter(|claim| claim.template.is_some()) {
            match made_claim(cluster, &pod, claim) {
                Ok(Some((name, is_new))) => {
                    has_new |= is_new;
                    made.push(json!({"name": claim.name, "resourceClaimName": name}));
                }
                Ok(None) => made.push(json!({"name": claim.name})),
                Err(why) => {
                    // Once for each obstacle: any template of the namespace has the pod looked at again.
                    if self.waiting.insert(key.clone()) {
                        let message = format!("PodResourceClaim {}: {why}", claim.name);
                        cluster.warning(&POD, &pod, "FailedResourceClaimCreation", &message);
                    }
                    return;
                }
            }
        }
        self.waiting.remove(key);
        if has_new {
            let status = json!({"resourceClaimStatuses": made});
            cluster.apply_status(key, STATUS_MANAGER, &status);
        }
        if !text(&pod["spec"]["nodeName"]).is_empty() {
            let namespace = key.namespace().unwrap_or_default();
            for name in claims.iter().filter_map(PodClaim::name) {
                reserve_for(cluster, &claim_key(namespace, name), &pod);
            }
        }
    }
}

impl Controller for ResourceClaims {
    fn name(&self) -> &'static str {
        "resource claims"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if change.is_of(POD.kind) {
            self.observe_pod(key, index, due);
        } else if change.is_of(&resource_claim::KIND) {
            if change.after.is_some() {
                due.add(key.clone(), Duration::ZERO);
            } else if let Some((_, meta)) = &change.before
                && let Some(owner) = meta.controller().filter(|owner| owner.kind == POD.name)
            {
                // One that was deleted by mistake is made again.
                due.add(POD.key(key.namespace(), &owner.name), Duration::ZERO);
            }
        } else if change.is_of(&resource_claim_template::KIND) {
            for pod in &self.waiting {
                if pod.namespace() == key.namespace() {
                    due.add(pod.clone(), Duration::ZERO);
                }
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        if key.resource() == POD.kind.storage() {
            self.sync_pod(cluster, key);
        } else {
            sync_claim(cluster, key);
        }
    }
}

/// Returns the key of a claim.
pub(super) fn claim_key(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::namespaced(resource_claim::KIND.storage().clone(), namespace, name)
}

/// Returns whether a claim was made for a pod.
pub(super) fn is_for_pod(claim: &Value, uid: &str) -> bool {
    let mut owners = items(&claim["metadata"]["ownerReferences"]).iter();
    owners.any(|owner| owner["uid"] == uid && owner["controller"] == true)
}

/// Returns whether a claim is reserved for a pod.
pub(super) fn is_reserved_for(claim: &Value, uid: &str) -> bool {
    items(&claim["status"]["reservedFor"])
        .iter()
        .any(|consumer| consumer["uid"] == uid)
}

/// Returns whether a claim can be reserved for one more pod.
pub(super) fn can_be_reserved(claim: &Value) -> bool {
    items(&claim["status"]["reservedFor"]).len() < RESERVED_MAX
}

/// Reserves a claim for a pod.
pub(super) fn reserve(claim: &mut Value, pod: &Value) {
    let metadata = &pod["metadata"];
    let consumer = json!({"resource": "pods", "name": metadata["name"], "uid": metadata["uid"]});
    let reserved = &mut claim["status"]["reservedFor"];
    match reserved.as_array_mut() {
        Some(reserved) => reserved.push(consumer),
        None => *reserved = json!([consumer]),
    }
}

/// Returns the name of the claim that was made for a pod, or is made now, and whether the pod does not say it yet; nothing if
/// it needs none.
fn made_claim(
    cluster: &mut Cluster<'_, '_>,
    pod: &Value,
    claim: &PodClaim,
) -> Result<Option<(String, bool)>, String> {
    let metadata = &pod["metadata"];
    let (namespace, uid) = (text(&metadata["namespace"]), text(&metadata["uid"]));
    match &claim.claim {
        ClaimName::NotNeeded => return Ok(None),
        ClaimName::Named(name) => {
            let found = cluster.get(&claim_key(namespace, name));
            if found.is_some_and(|found| is_for_pod(&found.to_value(), uid)) {
                return Ok(Some((name.clone(), false)));
            }
        }
        ClaimName::NotCreated => {}
    }
    // A claim that was made before its name was in the pod's status is found by its annotation.
    let is_own = |found: &Value| {
        is_for_pod(found, uid) && found["metadata"]["annotations"][POD_CLAIM] == *claim.name
    };
    let resource = resource_claim::KIND.storage();
    let stored = cluster.tx.list(resource, Some(namespace));
    let mut orphans = stored.iter().map(|stored| stored.to_value());
    if let Some(orphan) = orphans.find(is_own) {
        return Ok(Some((text(&orphan["metadata"]["name"]).to_owned(), true)));
    }
    let name = claim.template.as_deref().unwrap_or_default();
    let templates = resource_claim_template::KIND.storage().clone();
    let template = cluster.get(&ObjectKey::namespaced(templates, namespace, name));
    let template = template.ok_or_else(|| {
        format!(
            "resource claim template {name:?}: resourceclaimtemplate.resource.k8s.io {name:?} not found"
        )
    })?;
    let new = claim_of(pod, &claim.name, &template.to_value()["spec"]);
    let created = cluster.create(resource, ACTOR, new);
    let why = cluster.refusal.clone().unwrap_or_default();
    let created = created.ok_or_else(|| format!("create ResourceClaim : {why}"))?;
    Ok(Some((created.name().to_owned(), true)))
}

/// Returns the claim that is made of a template for a pod.
fn claim_of(pod: &Value, pod_claim: &str, template: &Value) -> Value {
    let metadata = &pod["metadata"];
    let mut annotations = template["metadata"]["annotations"].clone();
    annotations[POD_CLAIM] = json!(pod_claim);
    let mut claim = json!({
        "metadata": {
            "generateName": generated_base(text(&metadata["name"]), pod_claim),
            "namespace": metadata["namespace"],
            "annotations": annotations,
            "ownerReferences": [POD.owner_reference(pod)],
        },
        "spec": template["spec"],
    });
    if let Some(labels) = template["metadata"].get("labels") {
        claim["metadata"]["labels"] = labels.clone();
    }
    claim
}

/// Returns the beginning of the name of a claim: both names, each as much shorter as they are too long together.
fn generated_base(pod: &str, pod_claim: &str) -> String {
    let whole = format!("{pod}-{pod_claim}-");
    if whole.len() <= BASE_MAX_BYTES {
        return whole;
    }
    let part = |name: &str| {
        let end = name.len() * BASE_MAX_BYTES / whole.len();
        name[..name.floor_char_boundary(end)].to_owned()
    };
    format!("{}-{}", part(pod), part(pod_claim))
}

/// Reserves a claim that has devices for a pod on a node, unless it is.
fn reserve_for(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, pod: &Value) {
    let Some(claim) = cluster.get(key).map(|stored| stored.to_value()) else {
        return;
    };
    let uid = text(&pod["metadata"]["uid"]);
    let is_free = !claim["status"]["allocation"].is_null()
        && !is_reserved_for(&claim, uid)
        && can_be_reserved(&claim);
    if is_free {
        cluster.update(key, ACTOR.of_status(), |claim| reserve(claim, pod));
    }
}

/// Takes a claim from pods that are done, gives its devices back when it is reserved for none, and deletes it if its pod is
/// done.
fn sync_claim(cluster: &mut Cluster<'_, '_>, key: &ObjectKey) {
    let Some(claim) = cluster.get(key).map(|stored| stored.to_value()) else {
        return;
    };
    let namespace = key.namespace().unwrap_or_default();
    let find = |name: &str, uid: &str| {
        let pod = cluster.get(&POD.key(Some(namespace), name))?.to_value();
        (pod["metadata"]["uid"] == uid).then_some(pod)
    };
    let needs = |consumer: &&Value| {
        let is_pod = consumer["resource"] == "pods" && text(&consumer["apiGroup"]).is_empty();
        let pod = || find(text(&consumer["name"]), text(&consumer["uid"]));
        !is_pod || pod().is_some_and(|pod| !is_done(&pod))
    };
    let reserved: Vec<&Value> = items(&claim["status"]["reservedFor"]).iter().collect();
    let valid: Vec<Value> = reserved.iter().copied().filter(needs).cloned().collect();
    let is_protected = items(&claim["metadata"]["finalizers"])
        .iter()
        .any(|name| name == FINALIZER);
    let is_released = valid.len() < reserved.len();
    let is_unused = valid.is_empty();
    let is_going = is_deleted(&claim);
    let owner = items(&claim["metadata"]["ownerReferences"])
        .iter()
        .find(|owner| owner["controller"] == true && owner["kind"] == POD.name);
    let is_over = owner.is_some_and(|owner| {
        let stored = cluster.get(&POD.key(Some(namespace), text(&owner["name"])));
        // The garbage collector deletes those of pods that are gone.
        stored.is_some_and(|pod| pod.uid() != owner["uid"] || is_done(&pod.to_value()))
    });
    let gives_back = is_protected && is_unused && (is_released || is_going);
    if is_released || gives_back {
        cluster.update(key, ACTOR.of_status(), |claim| {
            let status = &mut claim["status"];
            status["reservedFor"] = json!(valid);
            if let Some(status) = status.as_object_mut()
                && gives_back
            {
                status.remove("allocation");
            }
        });
    }
    if gives_back {
        cluster.update(key, ACTOR, |claim| {
            if let Some(finalizers) = claim["metadata"]["finalizers"].as_array_mut() {
                finalizers.retain(|name| name != FINALIZER);
            }
        });
    }
    if is_unused && is_over && !is_going {
        cluster.delete(key, DeletionParameters::default());
    }
}

/// Returns whether no container of a pod runs, or ever will.
fn is_done(pod: &Value) -> bool {
    let is_over = matches!(text(&pod["status"]["phase"]), "Succeeded" | "Failed");
    is_over || (is_deleted(pod) && text(&pod["spec"]["nodeName"]).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_claim_has_parts_of_both_names() {
        assert_eq!(generated_base("web", "gpu"), "web-gpu-");
        let base = generated_base(&"p".repeat(60), &"c".repeat(20));
        assert!(base.len() <= BASE_MAX_BYTES, "{base}");
        let (pod, claim) = base.split_once('-').unwrap();
        assert_eq!((pod.len(), claim.len()), (41, 13));
    }

    #[test]
    fn a_claim_is_made_of_a_template() {
        let pod = json!({"metadata": {"name": "web", "namespace": "default", "uid": "1"}});
        let template = json!({
            "metadata": {"labels": {"a": "b"}, "annotations": {"x": "y"}},
            "spec": {"devices": {}},
        });
        let claim = claim_of(&pod, "gpu", &template);
        let metadata = &claim["metadata"];
        assert_eq!(metadata["labels"], json!({"a": "b"}));
        assert_eq!(metadata["annotations"], json!({"x": "y", POD_CLAIM: "gpu"}));
        assert_eq!(claim["spec"], template["spec"]);
        assert!(is_for_pod(&claim, "1") && !is_for_pod(&claim, "2"));
        let mut claim = claim;
        reserve(&mut claim, &pod);
        assert!(is_reserved_for(&claim, "1") && can_be_reserved(&claim));
        assert!(!is_reserved_for(&claim, "2"));
    }
}
