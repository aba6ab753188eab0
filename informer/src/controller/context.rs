//! The surroundings of a reconcile.

use std::{
    any::{Any, TypeId, type_name},
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{
    Client, Resource,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    ConsistencyGate, ControllerKind,
    owned_fields::{is_applied, is_merged},
    request::{Failure, Request},
};
use crate::{
    events::{EventRecorder, EventType},
    factory::ScopedLister,
    object::{Object, ObjectKey},
};

/// The surroundings of a reconcile: the object as the cache has it, the caches of all kinds that the controller follows, and writes
/// that the next reconcile of the key will see.
///
/// Writes are noted in the controller's [`ConsistencyGate`]. Those that would change nothing are not sent.
pub struct Context<K> {
    pub(super) parts: Arc<Parts>,
    pub(super) key: ObjectKey,
    pub(super) object: Option<Object<K>>,
    pub(super) is_cleanup: bool,
}

/// A kind that the controller does not follow. Follow it with `owns`, `watches` or `reads`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the controller {controller} has no cache of {kind}: follow it with `owns`, `watches` or `reads`"
)]
#[non_exhaustive]
pub struct UnknownKind {
    /// The name of the controller.
    pub controller: Arc<str>,
    /// The Rust type.
    pub kind: &'static str,
}

/// The parts that all reconciles of a controller share.
pub(super) struct Parts {
    pub(super) client: Client,
    pub(super) controller: Arc<str>,
    pub(super) cluster: Option<Arc<str>>,
    pub(super) listers: Listers,
    pub(super) gate: ConsistencyGate,
    /// Made when the first event is recorded.
    pub(super) recorder: OnceLock<EventRecorder>,
}

/// The listers of a controller, by the types of their objects.
#[derive(Default)]
pub(super) struct Listers(BTreeMap<TypeId, Box<dyn Any + Send + Sync>>);

// === impl Context ===

impl<K: ControllerKind> Context<K> {
    /// Returns the object as the cache has it; `None` if there is none of that key.
    pub fn object(&self) -> Option<&Object<K>> {
        self.object.as_ref()
    }

    /// Returns true if the object is about to be deleted and has the controller's finalizer, which is taken off once this reconcile
    /// returns `Action::AwaitChange`.
    pub fn is_cleanup(&self) -> bool {
        self.is_cleanup
    }

    /// Returns the reference by which an object says that the reconciled one controls it; `None` if that is gone.
    #[doc(alias = "SetControllerReference")]
    pub fn owner_reference(&self) -> Option<OwnerReference> {
        self.object()?
            .get()
            .controller_owner_ref(&K::DynamicType::default())
    }

    /// Records an event about the object, if there is one, as the controller. It is written in the background; similar ones are
    /// combined, and too many are dropped ([`events`](crate::events)).
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time enabled.
    #[doc(alias = "Eventf")]
    pub fn event(&self, kind: EventType, reason: &str, message: &str) {
        let Some(object) = &self.object else {
            return;
        };
        let parts = &self.parts;
        let recorder = parts
            .recorder
            .get_or_init(|| EventRecorder::new(parts.client.clone(), &*parts.controller));
        recorder.event(&**object.get(), kind, reason, message);
    }

    /// Writes the status of the object, if it differs from the cached one; true if it was written.
    ///
    /// Others' changes of the status that the cache does not show yet are kept where `status` does not name the field.
    ///
    /// # Errors
    ///
    /// Those of the request. Retry the reconcile.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the status may be written, or not.
    pub async fn set_status(&self, status: impl Serialize) -> Result<bool, kube::Error>
    where
        K: Serialize,
    {
        let patch = json!({"status": status});
        if let Some(object) = &self.object {
            let live = serde_json::to_value(&**object.get()).map_err(kube::Error::SerdeError)?;
            if is_merged(&live, &patch) {
                return Ok(false);
            }
        }
        let namespace = self.key.namespace();
        let request = Request::<K>::new(self.client(), namespace);
        let patch = Patch::Merge(patch);
        let params = PatchParams::default();
        let unknown = self.unknown::<K>(namespace, Some(self.key.name()));
        let write = request.patch(self.key.name(), Some("status"), &params, &patch);
        self.noted(unknown, write.await).map(|_| true)
    }
}

impl<K> Context<K> {
    /// Returns the key that is reconciled.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// Returns the name of the cluster that is reconciled in a
    /// [`MultiClusterManager`](crate::multi_cluster::MultiClusterManager); `None` elsewhere.
    pub fn cluster(&self) -> Option<&str> {
        self.parts.cluster.as_deref()
    }

    /// Returns the client, for requests that are not here. What they write is not noted in the [`gate`](Self::gate).
    pub fn client(&self) -> &Client {
        &self.parts.client
    }

    /// Returns the gate, in which other writes can be noted.
    pub fn gate(&self) -> &ConsistencyGate {
        &self.parts.gate
    }

    /// Returns the lister of a kind that the controller follows. Reading from it costs no request.
    ///
    /// # Errors
    ///
    /// The controller does not follow the kind: a mistake of the program.
    pub fn lister<T: 'static>(&self) -> Result<&ScopedLister<T>, UnknownKind> {
        self.parts.listers.get().ok_or_else(|| UnknownKind {
            controller: Arc::clone(&self.parts.controller),
            kind: type_name::<T>(),
        })
    }

    /// Applies an object on the server's side, as the controller, unless the cache shows that this would change nothing; returns the
    /// resulting object. Conflicts are resolved in favour of the controller.
    ///
    /// Without a namespace it is of the reconciled key's. To see that nothing would change, the cached object needs its
    /// `managedFields`; otherwise the server finds out.
    ///
    /// # Errors
    ///
    /// Those of the request. Retry the reconcile.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the object may be applied, or not.
    #[doc(alias = "Patch")]
    pub async fn apply<T>(&self, desired: &T) -> Result<Arc<T>, kube::Error>
    where
        T: Resource<DynamicType: Default> + Serialize + DeserializeOwned + Clone + 'static,
    {
        let namespace = self.namespace_of(desired);
        let name = desired.meta().name.as_deref().unwrap_or_default();
        let mut body = serde_json::to_value(desired).map_err(kube::Error::SerdeError)?;
        complete::<T>(&mut body);
        if let Some(live) = self.cached::<T>(&namespace, name) {
            let as_json = serde_json::to_value(&*live).map_err(kube::Error::SerdeError)?;
            if is_applied(&as_json, &body, &self.parts.controller) {
                return Ok(live);
            }
        }
        let params = PatchParams::apply(&self.parts.controller).force();
        let request = Request::<T>::new(self.client(), &namespace);
        let patch = Patch::Apply(body);
        let unknown = self.unknown::<T>(&namespace, Some(name));
        let write = request.patch(name, None, &params, &patch);
        self.noted(unknown, write.await).map(Arc::new)
    }

    /// Creates an object; without a namespace, in that of the reconciled key.
    ///
    /// # Errors
    ///
    /// Those of the request. If the answer was lost, the next reconcile of the key waits until the cache shows what became of it.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the object may be created, or not.
    pub async fn create<T>(&self, object: &T) -> Result<T, kube::Error>
    where
        T: Resource<DynamicType: Default> + Serialize + DeserializeOwned + 'static,
    {
        let namespace = self.namespace_of(object);
        let request = Request::<T>::new(self.client(), &namespace);
        let params = PostParams {
            field_manager: Some(self.parts.controller.to_string()),
            ..PostParams::default()
        };
        let unknown = self.unknown::<T>(&namespace, object.meta().name.as_deref());
        let write = request.create(&params, object);
        self.noted(unknown, write.await)
    }

    /// Deletes the object that was read, and no other one of its name; true unless it is gone already.
    ///
    /// # Errors
    ///
    /// Those of the request; a conflict if another object has the name by now.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the object may be deleted, or not.
    pub async fn delete<T>(&self, object: &T) -> Result<bool, kube::Error>
    where
        T: Resource<DynamicType: Default> + DeserializeOwned + 'static,
    {
        let meta = object.meta();
        let namespace = self.namespace_of(object);
        let params = DeleteParams {
            preconditions: Some(kube::api::Preconditions {
                uid: meta.uid.clone(),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        let request = Request::<T>::new(self.client(), &namespace);
        let name = meta.name.as_deref().unwrap_or_default();
        let unknown = self.unknown::<T>(&namespace, Some(name));
        match request.delete(name, &params).await {
            // It is gone, and the answer has no version: the next reconcile waits until the cache shows that.
            Ok(None) => Ok(true),
            Ok(Some(left)) => self.noted(unknown, Ok(left)).map(|_| true),
            Err(error) if error.is_gone() => {
                unknown.disarm();
                Ok(false)
            }
            Err(error) => self.noted::<T>(unknown, Err(error)).map(|_| true),
        }
    }

    fn cached<T: 'static>(&self, namespace: &str, name: &str) -> Option<Arc<T>> {
        let lister = self.lister::<T>().ok()?;
        let found = if namespace.is_empty() {
            lister.get(name)
        } else {
            lister.namespaced(namespace).ok()?.get(name)
        };
        Some(Arc::clone(found.ok()?.get()))
    }

    fn namespace_of<T: Resource + 'static>(&self, object: &T) -> String {
        let own = object.meta().namespace.clone();
        let is_namespaced = crate::factory::is_namespaced::<T>();
        own.unwrap_or_else(|| {
            if is_namespaced {
                self.key.namespace().to_owned()
            } else {
                String::new()
            }
        })
    }

    /// Notes a write as lost when it is dropped, unless there is an answer.
    fn unknown<T: Resource + 'static>(
        &self,
        namespace: &str,
        name: Option<&str>,
    ) -> OnDrop<impl FnOnce()> {
        OnDrop(Some(move || {
            self.parts.gate.lost_of::<T>(&self.key, namespace, name);
        }))
    }

    /// Notes the outcome of a write in the gate.
    fn noted<T: Resource + 'static>(
        &self,
        unknown: OnDrop<impl FnOnce()>,
        outcome: Result<T, kube::Error>,
    ) -> Result<T, kube::Error> {
        match &outcome {
            Ok(answer) => {
                unknown.disarm();
                self.parts.gate.wrote(&self.key, answer);
            }
            Err(error) if error.is_lost() => drop(unknown),
            Err(_) => unknown.disarm(),
        }
        outcome
    }
}

impl<K> fmt::Debug for Context<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("controller", &self.parts.controller)
            .field("key", &self.key)
            .field("is_cleanup", &self.is_cleanup)
            .finish_non_exhaustive()
    }
}

/// Calls a function when it is dropped, unless it is disarmed before.
struct OnDrop<F: FnOnce()>(Option<F>);

/// Says the kind of an object that is applied, and leaves out what the server sets.
fn complete<T: Resource<DynamicType: Default>>(body: &mut Value) {
    let kind = T::DynamicType::default();
    body["apiVersion"] = T::api_version(&kind).into();
    body["kind"] = T::kind(&kind).into();
    if let Some(meta) = body["metadata"].as_object_mut() {
        for field in [
            "managedFields",
            "resourceVersion",
            "uid",
            "generation",
            "creationTimestamp",
        ] {
            meta.remove(field);
        }
    }
    if let Some(object) = body.as_object_mut() {
        object.remove("status");
    }
}

// === impl OnDrop ===

impl<F: FnOnce()> OnDrop<F> {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        if let Some(function) = self.0.take() {
            function();
        }
    }
}

// === impl Listers ===

impl Listers {
    pub(super) fn add<T: Send + Sync + 'static>(&mut self, lister: ScopedLister<T>) {
        self.0.insert(TypeId::of::<T>(), Box::new(lister));
    }

    pub(super) fn get<T: 'static>(&self) -> Option<&ScopedLister<T>> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }
}
