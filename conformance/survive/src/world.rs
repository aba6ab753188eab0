//! The server of a run, as its user and its plan use it: behind the tap.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use fakeserver::{Clock, FakeServer, StoredObject, faults::RequestFacts};
use serde_json::Value;
use support::call::{open, read};

use super::kinds::{ObjectKey, ObjectRef, ServedKinds};

/// The server of a run, and the kinds that it serves.
pub(super) struct World {
    pub(super) server: FakeServer,
    pub(super) kinds: ServedKinds,
    /// The clock of the server.
    pub(super) clock: Clock,
}

// === impl World ===

impl World {
    /// Applies an object as the user. In a namespace that is not there it is refused, as by a real server.
    pub(super) fn apply(&self, object: &Value) -> Result<(), String> {
        if let Some(namespace) = self.missing_namespace(&ObjectRef::to(object)) {
            return Err(format!(
                "the answer is 404: namespaces {namespace:?} not found: create it with an apply of a Namespace before"
            ));
        }
        let stored = self.server.apply(object);
        stored
            .map(|_| ())
            .map_err(|error| support::call::whole(&error))
    }

    /// Returns the namespace of an object if it has one that is not there.
    pub(super) fn missing_namespace<'a>(&self, object: &'a ObjectRef) -> Option<&'a str> {
        let kind = self.kinds.of(&object.api_version, &object.kind);
        let is_namespaced = kind.is_none_or(|kind| kind.is_namespaced);
        let namespace = Some(&*object.namespace).filter(|name| is_namespaced && !name.is_empty());
        let is_missing = |name: &&str| self.find(("", "v1", "namespaces"), "", name).is_none();
        namespace.filter(is_missing)
    }

    /// Sends a request as the user. The error tells the status and the reason of a refusal.
    pub(super) async fn request(
        &self,
        method: &str,
        path: &str,
        media_type: &str,
        body: Vec<u8>,
    ) -> Result<(), String> {
        let headers = [
            ("Content-Type".to_owned(), media_type.to_owned()),
            ("User-Agent".to_owned(), "survive".to_owned()),
        ];
        let answer = read(open(&self.server.router(), method, path, &headers, body).await).await;
        if answer.status < 300 {
            return Ok(());
        }
        let status: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let message = status["message"].as_str().unwrap_or("no reason is given");
        Err(format!(
            "{method} {path} is answered with {}: {message}",
            answer.status
        ))
    }

    /// Returns the path of an object. The error names a kind that is not served.
    pub(super) fn path(&self, object: &ObjectRef) -> Result<String, String> {
        let kind = self.kinds.find(object)?;
        let namespace = namespace_of(kind.is_namespaced, &object.namespace);
        Ok(kind.path(namespace, &object.name))
    }

    /// Returns the present state of an object.
    pub(super) fn object(&self, object: &ObjectRef) -> Option<Value> {
        let kind = self.kinds.of(&object.api_version, &object.kind)?;
        let namespace = namespace_of(kind.is_namespaced, &object.namespace);
        let collection = (&*kind.group, &*kind.version, &*kind.resource);
        let found = self.find(collection, namespace, &object.name)?;
        Some(found.to_value())
    }

    /// Returns the object that a request is about.
    pub(super) fn stored(
        &self,
        facts: &RequestFacts,
        place: &ObjectKey,
    ) -> Option<Arc<StoredObject>> {
        let (_, namespace, name) = place;
        let collection = (&*facts.group, &*facts.version, &*facts.resource);
        self.find(collection, namespace, name)
    }

    /// Finds an object in a collection, which group, version and resource name.
    fn find(
        &self,
        (group, version, resource): (&str, &str, &str),
        namespace: &str,
        name: &str,
    ) -> Option<Arc<StoredObject>> {
        let objects = self.server.objects(group, version, resource);
        objects.into_iter().find(|stored| {
            stored.name() == name && stored.namespace().unwrap_or_default() == namespace
        })
    }

    /// Returns those of `own` as they are now.
    pub(super) fn leases(&self, own: &BTreeSet<ObjectKey>) -> Vec<Value> {
        if own.is_empty() {
            return Vec::new();
        }
        let leases = self.server.objects("coordination.k8s.io", "v1", "leases");
        let is_own = |namespace: &str, name: &str| {
            own.iter()
                .any(|(_, of, named)| of == namespace && named == name)
        };
        leases
            .iter()
            .filter(|lease| is_own(lease.namespace().unwrap_or_default(), lease.name()))
            .map(|lease| lease.to_value())
            .collect()
    }

    /// Returns the longest duration of `own`.
    pub(super) fn lease_duration(&self, own: &BTreeSet<ObjectKey>) -> Option<Duration> {
        let leases = self.leases(own);
        let seconds = leases
            .iter()
            .filter_map(|lease| lease["spec"]["leaseDurationSeconds"].as_u64());
        seconds.max().map(Duration::from_secs)
    }

    /// Returns the identities that hold `own` now.
    pub(super) fn lease_holders(&self, own: &BTreeSet<ObjectKey>) -> Vec<String> {
        let leases = self.leases(own);
        let holders = leases
            .iter()
            .filter_map(|lease| lease["spec"]["holderIdentity"].as_str());
        holders.map(ToOwned::to_owned).collect()
    }
}

fn namespace_of(is_namespaced: bool, namespace: &str) -> &str {
    match (is_namespaced, namespace) {
        (true, "") => "default",
        (true, namespace) => namespace,
        (false, _) => "",
    }
}
