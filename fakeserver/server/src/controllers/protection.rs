//! Protection of volumes, claims and classes of volume attributes: their deletion waits while they are in use.
//!
//! A claim is used by pods that are on a node, a volume by the claim that it is bound to, a class by volumes and claims.

use std::{collections::BTreeSet, time::Duration};

use fakeserver_kinds::{core, storage};

use super::{
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, ObjectChange},
    meta::Meta,
    queue::KeyQueue,
};

use crate::{
    store::ObjectKey,
    write::deletion::{CLAIM_PROTECTION, CLASS_PROTECTION, VOLUME_PROTECTION, without},
};

/// The minimum time for which an unused object keeps its finalizer, so that clients see it.
const RELEASED_AFTER: Duration = Duration::from_secs(1);

/// The controller that takes their finalizers away.
#[derive(Debug, Default)]
pub(super) struct Protection {
    /// The deleted objects that may be in use.
    waiting: BTreeSet<ObjectKey>,
}

// === impl Protection ===

impl Controller for Protection {
    fn name(&self) -> &'static str {
        "protection"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if let Some(finalizer) = finalizer_of(key) {
            let after = change.after.as_ref();
            if after.is_some_and(|(_, meta)| awaits(meta, finalizer)) {
                self.waiting.insert(key.clone());
                due.add(key.clone(), RELEASED_AFTER);
            } else {
                self.waiting.remove(key);
            }
        } else if change.is_of(&core::pod::KIND) {
            let claims = self.waiting.iter();
            for claim in claims.filter(|claim| claim.namespace() == key.namespace()) {
                due.add(claim.clone(), RELEASED_AFTER);
            }
        }
        if change.is_of(&core::persistent_volume::KIND)
            || change.is_of(&core::persistent_volume_claim::KIND)
        {
            let class = storage::volume_attributes_class::KIND.storage();
            for key in self.waiting.iter().filter(|key| key.resource() == class) {
                due.add(key.clone(), RELEASED_AFTER);
            }
        }
    }

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, _: &mut KeyQueue<'_>) {
        let Some((finalizer, stored)) = finalizer_of(key).zip(cluster.get(key)) else {
            return;
        };
        let is_used = match finalizer {
            VOLUME_PROTECTION => stored.to_value()["status"]["phase"] == "Bound",
            CLASS_PROTECTION => is_class_used(cluster, key),
            _ => is_claim_used(cluster, key),
        };
        if awaits(&Meta::of(&stored), finalizer) && !is_used {
            let actor = Actor::CONTROLLER_MANAGER;
            cluster.update(key, actor, |object| without(object, finalizer));
        }
    }
}

fn finalizer_of(key: &ObjectKey) -> Option<&'static str> {
    let finalizers = [
        (&core::persistent_volume_claim::KIND, CLAIM_PROTECTION),
        (&core::persistent_volume::KIND, VOLUME_PROTECTION),
        (&storage::volume_attributes_class::KIND, CLASS_PROTECTION),
    ];
    let mut finalizers = finalizers.into_iter();
    let found = finalizers.find(|(kind, _)| key.resource() == kind.storage());
    found.map(|(_, finalizer)| finalizer)
}

fn awaits(meta: &Meta, finalizer: &str) -> bool {
    meta.is_deleted() && meta.has_finalizer(finalizer)
}

/// Returns whether a pod that is on a node has the claim among its volumes.
fn is_claim_used(cluster: &Cluster<'_, '_>, claim: &ObjectKey) -> bool {
    let pods = cluster
        .tx
        .list(core::pod::KIND.storage(), claim.namespace());
    pods.iter().map(|pod| pod.to_value()).any(|pod| {
        let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
        let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
        let mut names = volumes.map(|volume| &volume["persistentVolumeClaim"]["claimName"]);
        !node.is_empty() && names.any(|name| *name == claim.name())
    })
}

/// Returns whether a volume or a claim has the class.
fn is_class_used(cluster: &Cluster<'_, '_>, class: &ObjectKey) -> bool {
    let kinds = [
        &core::persistent_volume::KIND,
        &core::persistent_volume_claim::KIND,
    ];
    kinds.iter().any(|kind| {
        let objects = cluster.tx.list(kind.storage(), None);
        let mut objects = objects.iter().map(|object| object.to_value());
        objects.any(|object| object["spec"]["volumeAttributesClassName"] == class.name())
    })
}
