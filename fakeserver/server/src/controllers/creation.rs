//! Writes of workload controllers only: new objects and events.

use std::sync::Arc;

use fakeserver_kinds::{ResourceType, core};
use fakeserver_value::resource::GroupResource;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{
    cluster::{Actor, Cluster},
    correlation::{Correlator, EventText, WrittenEvent},
    kind::{EventSubject, ReconciledKind},
    meta::Meta,
    written_object,
};
use crate::{
    store::{ObjectKey, StoredObject},
    write,
};

/// The time fields of an event that are written as null if absent.
const UNSET: [&str; 3] = ["eventTime", "firstTimestamp", "lastTimestamp"];

// === impl Cluster ===

impl Cluster<'_, '_> {
    /// Creates an object, as a POST would. Nothing happens if there is one of that name, or no such resource, if its
    /// namespace is going away, or if limit ranges or quotas do not allow it.
    ///
    /// A `generateName` becomes a name that is free.
    pub fn create(
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
        // Before a name is drawn: a rejected creation must not move the generator of a seeded run.
        if namespace.as_ref().is_some_and(|it| self.terminates(it)) {
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
            // Before the object gets its defaults, as mutating admission comes before the registry.
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
        let mut object =
            written_object::created(&resource_type, actor, object, &uid, &now, complete);
        if rules.is(&core::service::KIND)
            // After the defaults, by which it is decided what to allocate.
            && let Err(why) = write::allocate_created(tx, backend.service_range(), &key, &mut object)
        {
            self.refusal = Some(why);
            return None;
        }
        self.put_admitted(&resource_type, &key, object)
    }

    /// Returns whether a namespace is going away.
    fn terminates(&self, namespace: &str) -> bool {
        let found = self.tx.get(&write::namespace_key(namespace));
        found.is_some_and(|namespace| Meta::of(&namespace).is_deleted())
    }

    /// Stores a new object, if limit ranges and quotas allow it.
    fn put_admitted(
        &mut self,
        resource_type: &ResourceType,
        key: &ObjectKey,
        object: Value,
    ) -> Option<Arc<StoredObject>> {
        let admitted = write::admit_created(self.backend, self.tx, resource_type, key, &object);
        if let Err(status) = admitted {
            self.refusal = Some(status.message);
            return None;
        }
        Some(self.tx.put(key, object))
    }

    /// Creates an event with a name as [`create`](Self::create) would, in a fraction of its time: the results of the
    /// schema and of field management are known in advance for events. A pod has six events before it is ready.
    pub fn create_event(
        &mut self,
        manager: &'static str,
        mut event: Value,
    ) -> Option<Arc<StoredObject>> {
        let storage = core::event::KIND.storage();
        let resource_type = self.resource_type(storage)?;
        let metadata = &event["metadata"];
        let namespace = metadata["namespace"].as_str()?;
        let key = ObjectKey::namespaced(storage.clone(), namespace, metadata["name"].as_str()?);
        if self.terminates(namespace) || self.tx.get(&key).is_some() {
            return None;
        }
        for field in UNSET {
            event.as_object_mut()?.entry(field).or_insert(Value::Null);
        }
        if let Some(about) = event["involvedObject"].as_object_mut() {
            about.retain(|_, value| !value.is_null());
        }
        let now = self.now_text();
        let record = json!([{
            "apiVersion": "v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": owned(&event),
            "manager": manager,
            "operation": "Update",
            "time": now,
        }]);
        let metadata = &mut event["metadata"];
        metadata["managedFields"] = record;
        metadata["uid"] = json!(self.backend.entropy.uid().to_string());
        metadata["creationTimestamp"] = json!(now);
        self.put_admitted(&resource_type, &key, event)
    }

    /// Creates a pod that `owner` manages, and records an event about that.
    pub fn create_pod(
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
    pub fn event(&mut self, kind: &ReconciledKind, object: &Value, reason: &str, message: &str) {
        self.record_event(
            kind.into(),
            object,
            &EventText::normal(reason, message),
            None,
        );
    }

    /// Records an event about a failure.
    pub fn warning<'k>(
        &mut self,
        kind: impl Into<EventSubject<'k>>,
        object: &Value,
        reason: &str,
        message: &str,
    ) {
        let text = EventText::warning(reason, message);
        self.record_event(kind.into(), object, &text, None);
    }

    /// Records an event about `object` as `correlator` decides: creates an event, increments the count of an existing
    /// one, or drops it.
    pub fn correlated_event(
        &mut self,
        correlator: &mut Correlator,
        kind: &ReconciledKind,
        object: &Value,
        text: &EventText<'_>,
    ) {
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        let Some(written) = correlator.observe(uid, text, self.now()) else {
            return;
        };
        let namespace = object["metadata"]["namespace"].as_str();
        let key = |name: &str| {
            let resource = core::event::KIND.storage().clone();
            ObjectKey::namespaced(resource, namespace.unwrap_or("default"), name)
        };
        let existing = written.name.as_deref().map(key);
        if let Some(existing) = existing.filter(|key| self.get(key).is_some()) {
            let now = self.now_text();
            self.update(&existing, Actor::CONTROLLER_MANAGER, |event| {
                event["count"] = json!(written.count);
                event["message"] = json!(written.message);
                event["lastTimestamp"] = json!(now);
            });
            return;
        }
        if let Some(name) = self.record_event(kind.into(), object, text, Some(&written)) {
            correlator.name(uid, &written, &name);
        }
    }

    /// Creates an event, and returns its name unless a quota refuses it.
    fn record_event(
        &mut self,
        kind: EventSubject<'_>,
        object: &Value,
        text: &EventText<'_>,
        written: Option<&WrittenEvent>,
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
            "kubelet" => object["spec"]["nodeName"].as_str().unwrap_or_default(),
            _ => "",
        };
        let mut event = json!({
            "metadata": {
                // The next revision is unique, and the same in each run; client-go takes the time.
                "name": format!("{name}.{:016x}", self.tx.revision()),
                "namespace": metadata["namespace"].as_str().unwrap_or("default"),
            },
            "involvedObject": {
                "apiVersion": kind.api_version,
                "kind": kind.kind,
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "resourceVersion": metadata["resourceVersion"],
                "uid": metadata["uid"],
            },
            "reason": text.reason,
            "message": written.map_or(text.message, |written| &written.message),
            "source": {"component": kind.component},
            "reportingComponent": kind.component,
            "reportingInstance": host,
            "type": text.event_type,
            "count": written.map_or(1, |written| written.count),
            "firstTimestamp": first,
            "lastTimestamp": now,
        });
        if !host.is_empty() {
            event["source"]["host"] = json!(host);
        }
        if !text.field_path.is_empty() {
            event["involvedObject"]["fieldPath"] = json!(text.field_path);
        }
        // An event that a quota refuses is lost: the refusal is not that of what the controller is about.
        let refusal = self.refusal.take();
        let created = self.create_event(manager, event);
        self.refusal = refusal;
        created.map(|event| event.name().to_owned())
    }
}

/// Returns the fields of an event that its writer owns: those that are set. The fields of `source` are owned one by
/// one, all others as a whole.
fn owned(event: &Value) -> Value {
    let says = |value: &Value| {
        !value.is_null() && value != "" && value.as_object().is_none_or(|all| !all.is_empty())
    };
    let members = |value: &Value| {
        let all = value.as_object().into_iter().flatten();
        let all = all.filter(|(_, value)| says(value));
        let all = all.map(|(field, _)| (format!("f:{field}"), json!({})));
        all.collect::<Map<String, Value>>()
    };
    let mut fields = members(event);
    fields.remove("f:metadata");
    if let Some(source) = fields.get_mut("f:source") {
        *source = members(&event["source"]).into();
    }
    fields.into()
}

/// Returns a time as objects write it.
fn text_of(time: Timestamp) -> String {
    let seconds = Timestamp::from_second(time.as_second());
    seconds.unwrap_or(time).to_string()
}
