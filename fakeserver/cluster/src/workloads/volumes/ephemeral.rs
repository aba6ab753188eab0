//! Ephemeral volumes: a claim is made for each of them, which belongs to its pod and ends with it.

use std::time::Duration;

use fakeserver_kinds::core;
use fakeserver_server::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::deletion::is_deleted,
};
use fakeserver_value::read::text;
use serde_json::{Value, json};

use super::CLAIM;
use crate::workloads::objects::ReconciledKind;

const POD: ReconciledKind = ReconciledKind {
    kind: &core::pod::KIND,
    name: "Pod",
    api_version: "v1",
    component: "ephemeral_volume",
};

/// Makes the claims of ephemeral volumes, as the ephemeral volume controller of 1.36 does.
#[derive(Debug)]
pub(in crate::workloads) struct EphemeralVolumes;

fn ephemeral(pod: &Value) -> impl Iterator<Item = &Value> {
    let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
    volumes.filter(|volume| volume["ephemeral"].is_object())
}

impl Controller for EphemeralVolumes {
    fn name(&self) -> &'static str {
        "ephemeral volumes"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(POD.kind) && change.before.is_none() {
            due.add(change.key().clone(), Duration::ZERO);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        let Some(pod) = cluster.get(key).map(|stored| stored.to_value()) else {
            return;
        };
        if is_deleted(&pod) {
            return;
        }
        for volume in ephemeral(&pod) {
            let name = format!("{}-{}", key.name(), text(&volume["name"]));
            let claim = claim(&pod, volume, &name);
            match cluster.get(&CLAIM.key(key.namespace(), &name)) {
                None => {
                    cluster.create(CLAIM.kind.storage(), Actor::CONTROLLER_MANAGER, claim);
                }
                Some(found) if !is_owned(&found.to_value(), &pod) => {
                    let (claim, path) = (found.key().path(), key.path());
                    let message =
                        format!("PVC {claim} was not created for pod {path} (pod is not owner)");
                    cluster.warning(&POD, &pod, "FailedBinding", &message);
                }
                Some(_) => {}
            }
        }
    }
}

fn is_owned(claim: &Value, pod: &Value) -> bool {
    let owners = claim["metadata"]["ownerReferences"].as_array();
    let mut owners = owners.into_iter().flatten();
    owners.any(|owner| owner["uid"] == pod["metadata"]["uid"])
}

/// Returns the claim of an ephemeral volume.
fn claim(pod: &Value, volume: &Value, name: &str) -> Value {
    let template = &volume["ephemeral"]["volumeClaimTemplate"];
    let mut metadata = json!({
        "name": name,
        "namespace": pod["metadata"]["namespace"],
        "ownerReferences": [POD.owner_reference(pod)],
    });
    for field in ["labels", "annotations"] {
        if let Some(value) = template["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    json!({"metadata": metadata, "spec": template["spec"]})
}
