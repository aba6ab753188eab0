//! Persistent volumes: claims are bound to them, made for classes, expanded, and reclaimed.
//!
//! The rules are those of the persistent volume controller of 1.36. In the place of a driver's provisioner and resizer there
//! is one for all classes, which makes volumes at once and without bounds; only `kubernetes.io/no-provisioner` makes none.
//! Volumes have no topology: any node reaches them.

mod binding;
mod provisioning;
mod class;
mod ephemeral;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use fakeserver_kinds::{
    core::{self, persistent_volume_claim::request::class_of},
    storage,
};
use fakeserver_server::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        correlation::{self, Correlator},
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::deletion::{DeletionParameters, is_deleted},
};
use fakeserver_value::read::text;
use serde_json::{Value, json};
use tokio::time::Instant;

pub(super) use self::ephemeral::EphemeralVolumes;

use self::{
    binding::{
        BindingContext, Candidate, ClaimEvent, ClaimStep, VolumeStep, claim_step, volume_step,
    },
    provisioning::{ask, name_of, provisioned, reference, wanted_size},
};
use super::{
    objects::{ReconciledKind, selector},
    volume_rules::{BOUND, BY_CONTROLLER, is_bound},
};
use crate::workloads::Workloads;

const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
const PROVISIONER: Actor = Actor::new("csi-provisioner");
const RESIZER: Actor = Actor::new("csi-resizer");
const CLAIM: ReconciledKind = ReconciledKind {
    kind: &core::persistent_volume_claim::KIND,
    name: "PersistentVolumeClaim",
    api_version: "v1",
    component: "persistentvolume-controller",
};
const VOLUME: ReconciledKind = ReconciledKind {
    kind: &core::persistent_volume::KIND,
    name: "PersistentVolume",
    api_version: "v1",
    component: "persistentvolume-controller",
};

/// The kind that events of those who let volumes grow are about.
const GROWN: ReconciledKind = ReconciledKind {
    component: "external-resizer",
    ..CLAIM
};
/// The time after which a claim that waits is looked at again.
const RESYNC: Duration = Duration::from_secs(15);

/// The key under which the classes of an empty cluster are looked after. No class can have that name.
const ALL: &str = "";

/// Binds claims and volumes.
///
/// # Memory
///
/// A key for each claim that waits, for each volume without a claim, and for each volume by the claim that it names; the recent
/// events about each claim.
#[derive(Debug)]
pub(super) struct Volumes {
    makes_class: bool,
    class_count: usize,
    waiting: BTreeSet<ObjectKey>,
    free: BTreeSet<ObjectKey>,
    /// The volumes that name a claim.
    by_claim: BTreeMap<ObjectKey, BTreeSet<ObjectKey>>,
    /// The last event of each waiting claim and its time, so that the event is not repeated before the next resync.
    reported: BTreeMap<ObjectKey, (ClaimEvent, Instant)>,
    /// The events about claims.
    events: Correlator,
}

/// Returns the key of the claim that a volume names.
fn claim_of(volume: &Value) -> Option<ObjectKey> {
    let owner = &volume["spec"]["claimRef"];
    let namespace = owner["namespace"].as_str();
    Some(CLAIM.key(namespace, owner["name"].as_str()?))
}

// === impl Volumes ===

impl Volumes {
    pub(super) fn new(options: &Workloads) -> Self {
        Self {
            makes_class: options.has_storage_class,
            class_count: 0,
            waiting: BTreeSet::new(),
            free: BTreeSet::new(),
            by_claim: BTreeMap::new(),
            reported: BTreeMap::new(),
            events: Correlator::default(),
        }
    }

    fn observe_class(&mut self, change: &ObjectChange<'_>, due: &mut KeyQueue<'_>) {
        match (&change.before, &change.after) {
            (None, Some(_)) => self.class_count += 1,
            (Some(_), None) => self.class_count = self.class_count.saturating_sub(1),
            _ => {}
        }
        for claim in &self.waiting {
            due.add(claim.clone(), Duration::ZERO);
        }
    }

    fn observe_volume(&mut self, change: &ObjectChange<'_>, due: &mut KeyQueue<'_>) {
        let key = change.key();
        due.add(key.clone(), Duration::ZERO);
        if let Some((before, _)) = &change.before
            && let Some(claim) = claim_of(&before.to_value())
        {
            due.add(claim.clone(), Duration::ZERO);
            if let Some(volumes) = self.by_claim.get_mut(&claim) {
                volumes.remove(key);
                if volumes.is_empty() {
                    self.by_claim.remove(&claim);
                }
            }
        }
        self.free.remove(key);
        let Some((after, meta)) = &change.after else {
            return;
        };
        let volume = after.to_value();
        let is_taken = !text(&volume["spec"]["claimRef"]["uid"]).is_empty();
        if let Some(claim) = claim_of(&volume) {
            due.add(claim.clone(), Duration::ZERO);
            self.by_claim.entry(claim).or_default().insert(key.clone());
        } else if !meta.is_deleted() {
            // The new volume may fit any waiting claim.
            for claim in &self.waiting {
                due.add(claim.clone(), Duration::ZERO);
            }
        }
        if !meta.is_deleted() && !is_taken {
            self.free.insert(key.clone());
        }
    }

    fn observe_claim(&mut self, change: &ObjectChange<'_>, due: &mut KeyQueue<'_>) {
        let key = change.key();
        due.add(key.clone(), Duration::ZERO);
        for volume in self.by_claim.get(key).into_iter().flatten() {
            due.add(volume.clone(), Duration::ZERO);
        }
        let is_waiting = change
            .after
            .as_ref()
            .is_some_and(|(claim, meta)| !meta.is_deleted() && !is_bound(&claim.to_value()));
        if is_waiting {
            self.waiting.insert(key.clone());
        } else {
            self.waiting.remove(key);
            self.reported.remove(key);
        }
        if change.after.is_none() {
            self.events.forget(change.subject().uid());
        }
    }

    fn reconcile_claim(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        claim: &Value,
        due: &mut KeyQueue<'_>,
    ) {
        // The default class is written first: the change brings the claim back, and the class decides then.
        if self.waiting.contains(key) && class::set_default(cluster, key, claim) {
            return;
        }
        match self.step(cluster, key, claim) {
            ClaimStep::Nothing => {}
            ClaimStep::Wait(event) => {
                self.record_event(cluster, key, claim, event);
                due.add(key.clone(), RESYNC);
            }
            ClaimStep::Bind(volume) => {
                let volume = VOLUME.key(None, &volume);
                bind(cluster, key, &volume, claim);
                self.expand(cluster, key, &volume);
            }
            ClaimStep::Provision => self.provision(cluster, key, claim),
            ClaimStep::Lose(event) => {
                if claim["status"]["phase"] != "Lost" {
                    cluster.correlated_event(&mut self.events, &CLAIM, claim, &event.as_event());
                    cluster.update(key, ACTOR.of_status(), |claim| {
                        claim["status"] = json!({"phase": "Lost"});
                    });
                }
            }
        }
    }

    fn step(&self, cluster: &Cluster<'_, '_>, key: &ObjectKey, claim: &Value) -> ClaimStep {
        let value = |key: &ObjectKey| cluster.get(key).map(|stored| stored.to_value());
        let named = match text(&claim["spec"]["volumeName"]) {
            "" => None,
            name => value(&VOLUME.key(None, name)),
        };
        let own = self.by_claim.get(key);
        // A claim that names its volume takes no other one.
        let others = self.free.iter().filter(|_| named.is_none());
        let free: BTreeSet<&ObjectKey> = own.into_iter().flatten().chain(others).collect();
        let selects = selector(claim);
        let has_selector = !claim["spec"]["selector"].is_null();
        let free: Vec<(Value, bool)> = free
            .into_iter()
            .filter_map(|key| cluster.get(key))
            .map(|volume| {
                let matches = selects
                    .as_ref()
                    .is_some_and(|it| it.matches(volume.labels()));
                (volume.to_value(), matches || !has_selector)
            })
            .collect();
        let free: Vec<Candidate<'_>> = free
            .iter()
            .map(|(volume, is_selected)| Candidate {
                volume,
                is_selected: *is_selected,
            })
            .collect();
        let class = class::find(cluster, class_of(claim));
        let around = BindingContext {
            named: named.as_ref(),
            free: &free,
            class: class.as_ref(),
        };
        claim_step(claim, around)
    }

    /// Records why a claim waits, unless that was the last event about it and is recent.
    fn record_event(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        claim: &Value,
        event: ClaimEvent,
    ) {
        let now = Instant::now();
        let last = self.reported.get(key);
        if last.is_some_and(|(last, at)| *last == event && now - *at < RESYNC) {
            return;
        }
        cluster.correlated_event(&mut self.events, &CLAIM, claim, &event.as_event());
        self.reported.insert(key.clone(), (event, now));
    }

    /// Expands the volume of a claim to the requested size.
    fn expand(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, volume_key: &ObjectKey) {
        let value = |key| cluster.get(key).map(|stored| stored.to_value());
        let (Some(claim), Some(volume)) = (value(key), value(volume_key)) else {
            return;
        };
        let Some(size) = wanted_size(&claim, &volume) else {
            return;
        };
        let allows = class::find(cluster, class_of(&claim));
        if allows.is_none_or(|class| class["allowVolumeExpansion"] != true) {
            return;
        }
        // The volume grows before its claim says so.
        cluster.update(volume_key, RESIZER, |volume| {
            volume["spec"]["capacity"]["storage"] = size.clone();
        });
        cluster.update(key, RESIZER.of_status(), |claim| {
            claim["status"]["capacity"]["storage"] = size.clone();
            claim["status"]["allocatedResources"]["storage"] = size.clone();
        });
        let controller = ReconciledKind {
            component: "volume_expand",
            ..CLAIM
        };
        let waits = "waiting for an external controller to expand this PVC";
        let grows = format!("External resizer is resizing volume {}", volume_key.name());
        for (kind, reason, message) in [
            (&controller, "ExternalExpanding", waits),
            (&GROWN, "Resizing", &grows),
            (&GROWN, "VolumeResizeSuccessful", "Resize volume succeeded"),
        ] {
            let event = correlation::EventText::normal(reason, message);
            cluster.correlated_event(&mut self.events, kind, &claim, &event);
        }
    }

    /// Makes the volume of a claim, which then binds the claim.
    fn provision(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, claim: &Value) {
        let Some(class) = class::find(cluster, class_of(claim)) else {
            return;
        };
        cluster.update(key, ACTOR, |claim| ask(claim, &class));
        let mut record_event = |cluster: &mut Cluster<'_, '_>, reason: &str, message: &str| {
            let event = correlation::EventText::normal(reason, message);
            cluster.correlated_event(&mut self.events, &CLAIM, claim, &event);
        };
        let message = format!(
            "Waiting for a volume to be created either by the external provisioner '{}' or manually by the system \
             administrator. If volume creation is delayed, please verify that the provisioner is running and correctly \
             registered.",
            text(&class["provisioner"])
        );
        record_event(cluster, "ExternalProvisioning", &message);
        let path = key.path();
        let message = format!("External provisioner is provisioning volume for claim \"{path}\"");
        record_event(cluster, "Provisioning", &message);
        let volume = provisioned(claim, &class);
        let created = cluster.create(VOLUME.kind.storage(), PROVISIONER, volume);
        if created.is_some() {
            let message = format!("Successfully provisioned volume {}", name_of(claim));
            record_event(cluster, "ProvisioningSucceeded", &message);
        }
    }
}

impl Controller for Volumes {
    fn name(&self) -> &'static str {
        "persistent volumes"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(VOLUME.kind) {
            self.observe_volume(change, due);
        } else if change.is_of(CLAIM.kind) {
            self.observe_claim(change, due);
        } else if change.is_of(&storage::storage_class::KIND) {
            self.observe_class(change, due);
        }
    }

    fn started(&mut self, due: &mut KeyQueue<'_>) {
        if self.makes_class && self.class_count == 0 {
            due.add(class::key(ALL), Duration::ZERO);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        if *key == class::key(ALL) && self.class_count == 0 {
            class::create_default(cluster);
        }
        let Some(object) = cluster.get(key).map(|stored| stored.to_value()) else {
            return;
        };
        if key.resource() == CLAIM.kind.storage() {
            if !is_deleted(&object) {
                self.reconcile_claim(cluster, key, &object, due);
            }
        } else {
            // A deleted volume is protected until it is released.
            reconcile_volume(cluster, key, &object);
        }
    }
}

/// Binds a claim and a volume to each other, or completes a partial binding.
fn bind(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, volume_key: &ObjectKey, claim: &Value) {
    cluster.update(volume_key, ACTOR, |volume| {
        let owner = &mut volume["spec"]["claimRef"];
        if owner.is_null() {
            volume["metadata"]["annotations"][BY_CONTROLLER] = json!("yes");
            volume["spec"]["claimRef"] = reference(claim);
        } else if text(&owner["uid"]).is_empty() {
            *owner = reference(claim);
        }
    });
    // The volume before the claim: a client that sees a bound claim finds its volume bound.
    set_phase(cluster, volume_key, "Bound", "");
    let Some(volume) = cluster.get(volume_key).map(|stored| stored.to_value()) else {
        return;
    };
    cluster.update(key, ACTOR, |claim| {
        if text(&claim["spec"]["volumeName"]).is_empty() {
            claim["spec"]["volumeName"] = volume["metadata"]["name"].clone();
            claim["metadata"]["annotations"][BY_CONTROLLER] = json!("yes");
        }
        claim["metadata"]["annotations"][BOUND] = json!("yes");
    });
    let attributes = &volume["spec"]["volumeAttributesClassName"];
    cluster.update(key, ACTOR.of_status(), |claim| {
        let status = &mut claim["status"];
        if status["phase"] != "Bound" {
            status["phase"] = json!("Bound");
            status["accessModes"] = volume["spec"]["accessModes"].clone();
            status["capacity"] = volume["spec"]["capacity"].clone();
            if !attributes.is_null() {
                status["currentVolumeAttributesClassName"] = attributes.clone();
            }
        }
    });
}

fn reconcile_volume(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, volume: &Value) {
    let claim = claim_of(volume).and_then(|key| cluster.get(&key));
    let claim = claim.map(|stored| stored.to_value());
    match volume_step(volume, claim.as_ref()) {
        VolumeStep::Nothing => {}
        VolumeStep::Offer => set_phase(cluster, key, "Available", ""),
        VolumeStep::Confirm => set_phase(cluster, key, "Bound", ""),
        VolumeStep::Release => set_phase(cluster, key, "Released", ""),
        VolumeStep::Delete => {
            cluster.delete(key, DeletionParameters::default());
        }
        VolumeStep::Fail(event) => {
            set_phase(cluster, key, "Failed", &event.message);
            cluster.warning(&VOLUME, volume, event.reason, &event.message);
        }
        VolumeStep::Unbind => {
            cluster.update(key, ACTOR, |volume| {
                let annotations = volume["metadata"]["annotations"].as_object_mut();
                let by_controller = annotations.and_then(|all| all.remove(BY_CONTROLLER));
                if by_controller.is_some() {
                    if let Some(spec) = volume["spec"].as_object_mut() {
                        spec.remove("claimRef");
                    }
                } else if let Some(owner) = volume["spec"]["claimRef"].as_object_mut() {
                    owner.remove("uid");
                }
            });
            set_phase(cluster, key, "Available", "");
        }
    }
}

/// Sets the phase of a volume, with the reason for it.
fn set_phase(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, phase: &str, message: &str) {
    let now = cluster.now_text();
    cluster.update(key, ACTOR.of_status(), |volume| {
        let status = &mut volume["status"];
        if status["phase"] == phase {
            return;
        }
        status["phase"] = json!(phase);
        status["lastPhaseTransitionTime"] = json!(now);
        if message.is_empty() {
            if let Some(status) = status.as_object_mut() {
                status.remove("message");
            }
        } else {
            status["message"] = json!(message);
        }
    });
}
