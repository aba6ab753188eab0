//! Writes of workload controllers only: new objects and events.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    correlation::{Correlator, Told, Written},
    objects::text,
};
use crate::{
    controllers::{
        cluster::{Actor, Cluster},
        kind::ReconciledKind,
        meta::Meta,
        written,
    },
    kinds::core,
    store::{ObjectKey, StoredObject},
    value::resource::GroupResource,
    write,
};

// === impl Cluster ===

impl Cluster<'_, '_> {
    /// Creates an object, as a POST would. Nothing happens if there is one of that name, or no such resource, if its
    /// namespace is going away, or if limit ranges or quotas do not allow it.
    ///
    /// A `generateName` becomes a name that is free.
    pub(in crate::controllers) fn create(
        &mut self,
        resource: &GroupResource,
        actor: Actor,
        mut object: Value,
    ) -> Option<Arc<StoredObject>> {
        /// The number of attempts at a generated name.
        const NAMES_TRIED: usize = 8;
        let resource_type = self.resource_type(resource)?;
        let prefix = object["metadata"]["generateName"].as_str().unwrap_or("");
        let prefix = prefix.to_owned();
        let namespace = object["metadata"]["namespace"].as_str().map(str::to_owned);
        let terminates = |name: &String| {
            let found = self.tx.get(&write::namespace_key(name));
            found.is_some_and(|namespace| Meta::of(&namespace).is_deleted())
        };
        if namespace.as_ref().is_some_and(terminates) {
            return None;
        }
        let key = |name: &str| ObjectKey::new(resource.clone(), namespace.as_deref(), name);
        if object["metadata"]["name"].is_null() {
            let name = (0..NAMES_TRIED)
                .map(|_| format!("{prefix}{}", self.backend.entropy.name_suffix()))
                .find(|name| self.tx.get(&key(name)).is_none())?;
            object["metadata"]["name"] = json!(name);
        }
        let key = key(object["metadata"]["name"].as_str()?);
        if self.tx.get(&key).is_some() {
            return None;
        }
        let uid = self.backend.entropy.uid().to_string();
        let (backend, rules) = (self.backend, &resource_type.rules);
        let tx = &*self.tx;
        if rules.is(&core::pod::KIND) {
            let prioritized = write::complete_priority(backend, tx, key.name(), &mut object);
            if let Err(status) = prioritized {
                self.refusal = Some(status.message);
                return None;
            }
        }
        let complete = |object: &mut Value| {
            write::complete_by_ranges(backend, tx, rules, key.namespace(), object);
            write::complete_protection(backend, rules, object);
            if rules.is(&core::pod::KIND) {
                write::complete_account(backend, tx, object);
            }
        };
        let now = self.now_text();
        let mut object = written::created(&resource_type, actor, object, &uid, &now, complete);
        if rules.is(&core::service::KIND)
            && let Err(why) = write::allocate_created(tx, &key, &mut object)
        {
            self.refusal = Some(why);
            return None;
        }
        let admitted = write::admit_created(backend, self.tx, &resource_type, &key, &object);
        if let Err(status) = admitted {
            self.refusal = Some(status.message);
            return None;
        }
        Some(self.tx.put(&key, object))
    }

    /// Creates a pod that `owner` manages, and records an event about that.
    pub(super) fn create_pod(
        &mut self,
        kind: &ReconciledKind,
        owner: &Value,
        pod: Value,
    ) -> Option<Arc<StoredObject>> {
        let actor = Actor::CONTROLLER_MANAGER;
        let created = self.create(core::pod::KIND.storage(), actor, pod);
        if let Some(pod) = &created {
            let message = format!("Created pod: {}", pod.name());
            self.event(kind, owner, "SuccessfulCreate", &message);
        } else if let Some(why) = &self.refusal {
            let message = format!("Error creating: {why}");
            self.warning(kind, owner, "FailedCreate", &message);
        }
        created
    }

    /// Records an event about `object`.
    pub(super) fn event(
        &mut self,
        kind: &ReconciledKind,
        object: &Value,
        reason: &str,
        message: &str,
    ) {
        self.record_event(kind, object, &Told::normal(reason, message), None);
    }

    /// Records an event about a failure.
    pub(super) fn warning(
        &mut self,
        kind: &ReconciledKind,
        object: &Value,
        reason: &str,
        message: &str,
    ) {
        self.record_event(kind, object, &Told::warning(reason, message), None);
    }

    /// Records an event about `object` as `correlator` says: as a new one, as one more of one that is there, or not at all.
    pub(super) fn correlated_event(
        &mut self,
        correlator: &mut Correlator,
        kind: &ReconciledKind,
        object: &Value,
        told: &Told<'_>,
    ) {
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        let Some(written) = correlator.observe(uid, told, self.now()) else {
            return;
        };
        let namespace = object["metadata"]["namespace"].as_str();
        let key = |name: &str| {
            let resource = core::event::KIND.storage().clone();
            ObjectKey::namespaced(resource, namespace.unwrap_or("default"), name)
        };
        let known = written.name.as_deref().map(key);
        if let Some(known) = known.filter(|key| self.get(key).is_some()) {
            let now = self.now_text();
            self.update(&known, Actor::CONTROLLER_MANAGER, |event| {
                event["count"] = json!(written.count);
                event["message"] = json!(written.message);
                event["lastTimestamp"] = json!(now);
            });
            return;
        }
        if let Some(name) = self.record_event(kind, object, told, Some(&written)) {
            correlator.name(uid, &written, &name);
        }
    }

    /// Creates an event, and returns its name unless a quota refuses it.
    fn record_event(
        &mut self,
        kind: &ReconciledKind,
        object: &Value,
        told: &Told<'_>,
        written: Option<&Written>,
    ) -> Option<String> {
        let metadata = &object["metadata"];
        let now = self.now_text();
        let first = written.map_or_else(|| now.clone(), |written| text_of(written.first));
        let manager = match kind.component {
            "kubelet" => "kubelet",
            "default-scheduler" => "kube-scheduler",
            _ => Actor::CONTROLLER_MANAGER.manager,
        };
        let name = metadata["name"].as_str().unwrap_or_default();
        // Which of the machines it was.
        let host = match kind.component {
            "kubelet" => text(&object["spec"]["nodeName"]),
            _ => "",
        };
        let mut event = json!({
            "metadata": {
                "name": format!("{name}.{:016x}", self.tx.revision()),
                "namespace": metadata["namespace"].as_str().unwrap_or("default"),
            },
            "involvedObject": {
                "apiVersion": kind.api_version,
                "kind": kind.name,
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "resourceVersion": metadata["resourceVersion"],
                "uid": metadata["uid"],
            },
            "reason": told.reason,
            "message": written.map_or(told.message, |written| &written.message),
            "source": {"component": kind.component},
            "reportingComponent": kind.component,
            "reportingInstance": host,
            "type": told.event_type,
            "count": written.map_or(1, |written| written.count),
            "firstTimestamp": first,
            "lastTimestamp": now,
        });
        if !host.is_empty() {
            event["source"]["host"] = json!(host);
        }
        if !told.field_path.is_empty() {
            event["involvedObject"]["fieldPath"] = json!(told.field_path);
        }
        // An event that a quota refuses is lost: the refusal is not that of what the controller is about.
        let refusal = self.refusal.take();
        let created = self.create(core::event::KIND.storage(), Actor::new(manager), event);
        self.refusal = refusal;
        created.map(|event| event.name().to_owned())
    }
}

/// Returns a time as objects write it.
fn text_of(time: Timestamp) -> String {
    let seconds = Timestamp::from_second(time.as_second());
    seconds.unwrap_or(time).to_string()
}
