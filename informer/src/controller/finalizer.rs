//! Finalizers: work that has to be done before an object goes.

use std::sync::Arc;

use kube::{
    Client, Resource,
    api::{Patch, PatchParams},
    core::ObjectMeta,
};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::request::{Failure, Request};
use crate::object::ObjectKey;

/// The most attempts to take a finalizer off while others write to the object.
const ATTEMPTS_MAX: usize = 5;

/// The name of a finalizer, and how it is put on and taken off.
///
/// A [`Controller`](super::Controller) does both by itself
/// ([`with_finalizer`](super::Controller::with_finalizer)); other loops ask [`next_step`](Self::next_step) first.
///
/// Every write names the version that it was decided on, so that no finalizer of others is lost. Both can be repeated: a
/// lost answer does no harm. What is done at the end may be done twice, as any reconcile.
#[doc(alias = "controllerutil.AddFinalizer")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finalizer(Arc<str>);

/// The next step for an object that needs a finalizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: what an object is, with and without its finalizer"
)]
pub enum FinalizerStep {
    /// Put the finalizer on, before anything is made that it has to clean up.
    Add,
    /// Bring the cluster to the state that the object asks for.
    Apply,
    /// Clean up, then take the finalizer off.
    Cleanup,
    /// Nothing: the object goes, and the finalizer is off.
    Done,
}

// === impl Finalizer ===

impl Finalizer {
    /// Creates a finalizer by its name, with a domain, as in `example.com/website`.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Returns the next step for an object with this metadata.
    pub fn next_step(&self, object: &ObjectMeta) -> FinalizerStep {
        match (object.deletion_timestamp.is_some(), self.is_on(object)) {
            (false, false) => FinalizerStep::Add,
            (false, true) => FinalizerStep::Apply,
            (true, true) => FinalizerStep::Cleanup,
            (true, false) => FinalizerStep::Done,
        }
    }

    /// Puts the finalizer on `object`, and returns what the server answers.
    ///
    /// # Errors
    ///
    /// The object has changed since (409), or is about to be deleted (422): reconcile it again. Other errors are those of the
    /// request.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the finalizer may be on, or not.
    pub async fn add<K>(&self, client: &Client, object: &K) -> Result<K, kube::Error>
    where
        K: Resource<DynamicType: Default> + DeserializeOwned,
    {
        let meta = object.meta();
        let others = meta.finalizers.iter().flatten().map(String::as_str);
        let finalizers: Vec<&str> = others.chain([&*self.0]).collect();
        self.write(client, meta, &finalizers).await
    }

    /// Takes the finalizer off the object `key`, if its uid is `uid`; true if it was on. Others may write meanwhile.
    ///
    /// # Errors
    ///
    /// Those of the requests, and a conflict if others wrote each time: try again.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the finalizer may be off, or not.
    pub async fn remove<K>(
        &self,
        client: &Client,
        key: &ObjectKey,
        uid: &str,
    ) -> Result<bool, kube::Error>
    where
        K: Resource<DynamicType: Default> + DeserializeOwned,
    {
        let mut attempt = 0;
        loop {
            attempt += 1;
            // Of the server, not of a cache: the finalizer may be off already, by a write whose answer was lost.
            let found = Request::<K>::new(client, key.namespace())
                .get(key.name())
                .await?;
            let Some(found) = found else {
                return Ok(false);
            };
            let meta = found.meta();
            if meta.uid.as_deref() != Some(uid) || !self.is_on(meta) {
                return Ok(false);
            }
            let finalizers = meta.finalizers.iter().flatten().map(String::as_str);
            let others: Vec<&str> = finalizers.filter(|name| **name != *self.0).collect();
            match self.write::<K>(client, meta, &others).await {
                Ok(_) => return Ok(true),
                Err(error) if error.is_gone() => return Ok(false),
                Err(error) if error.is_conflict() && attempt < ATTEMPTS_MAX => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn write<K>(
        &self,
        client: &Client,
        meta: &ObjectMeta,
        finalizers: &[&str],
    ) -> Result<K, kube::Error>
    where
        K: Resource<DynamicType: Default> + DeserializeOwned,
    {
        let patch = json!({"metadata": {
            "finalizers": finalizers,
            "resourceVersion": meta.resource_version,
            "uid": meta.uid,
        }});
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let name = meta.name.as_deref().unwrap_or_default();
        let request = Request::<K>::new(client, namespace);
        request
            .patch(name, None, &PatchParams::default(), &Patch::Merge(patch))
            .await
    }

    fn is_on(&self, meta: &ObjectMeta) -> bool {
        let mut finalizers = meta.finalizers.iter().flatten();
        finalizers.any(|name| **name == *self.0)
    }
}
