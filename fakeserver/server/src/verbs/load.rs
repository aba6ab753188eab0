//! Objects that are loaded behind the API: from a test, a manifest, or a dump.
//!
//! They are parsed, completed and validated strictly, as those of a client are, and take revisions as every write does.
//! Fault rules, hooks and authorization do not apply to them, and they are not counted. A missing namespace is created.

use std::sync::Arc;

use fakeserver_kinds::ResourceType;
use fakeserver_value::{
    audit_annotations::AuditAnnotations, edit::remove, resource::api_version,
    resource_path::ResourcePath, status::Status,
};
use http::HeaderMap;
use serde_json::{Value, json};

use super::{
    Request, Requester, Verb, apply,
    author::{author, deleter},
    body::receive,
    delete::delete_named,
    request::{concerns_definitions, find_target},
};
use crate::{
    edge::request::{Features, MediaTypes, Query},
    faults::Connection,
    store::StoredObject,
    write::{
        Attempt, AttemptError, Backend, DeleteOptions, Draft, ExistingObject, FieldValidation,
        Outcome, Source, Target, WriteOptions, definitions, namespace_key, run,
    },
};

/// The manager of the fields of these objects.
const MANAGER: &str = "fakeserver";
const DEFAULT_NAMESPACE: &str = "default";

/// Creates or replaces `object`, including its status.
///
/// A new object keeps its uid, creation time, generation and status, so that references to it stay valid. Its version
/// and its managers are new, and it is not being deleted.
pub(crate) fn load(backend: &Backend, object: &Value) -> Result<Arc<StoredObject>, Status> {
    let place = ObjectLocation::of(backend, object)?;
    let headers = HeaderMap::new();
    let request = place.request(backend, &headers, None)?;
    let mut received = receive(
        &request,
        object.to_string().as_bytes(),
        FieldValidation::Strict,
    )?;
    request.target.set_namespace(&mut received.object)?;
    let object = received.object;
    let options = options();
    make_namespace(backend, &request.target)?;
    let stored = backend.write_unreviewed(&options, |attempt| {
        let (target, author) = (&request.target, author(&request, &options));
        let Some(existing) = attempt.find(target)? else {
            let mut object = object.clone();
            remove(&mut object["metadata"], "resourceVersion");
            remove(&mut object["metadata"], "managedFields");
            let now = attempt.now_text();
            let draft = Draft::create(target, author, object, Source::Import, now);
            return Ok(stored_of(run(attempt, draft)?)?);
        };
        let status = object.get("status").cloned();
        let object = replacing(&existing, without_identity(object.clone()));
        let draft = Draft::update(target, author, existing, object, Source::Import, attempt)?;
        let stored = stored_of(run(attempt, draft)?)?;
        match status.filter(|_| target.imports_status()) {
            Some(status) => set_status(
                &place.request(backend, &headers, Some("status"))?,
                attempt,
                status,
            ),
            None => Ok(stored),
        }
    })?;
    settle(backend, &request.target);
    Ok(stored)
}

/// Applies `object` by server-side apply with force, and then its status, if it has one.
pub(crate) fn apply(backend: &Backend, object: Value) -> Result<Value, Status> {
    let place = ObjectLocation::of(backend, &object)?;
    let headers = HeaderMap::new();
    let request = place.request(backend, &headers, None)?;
    let object = without_identity(object);
    // A configuration is not read strictly by itself: its unknown fields would be dropped in silence.
    receive(
        &request,
        object.to_string().as_bytes(),
        FieldValidation::Strict,
    )?;
    make_namespace(backend, &request.target)?;
    let options = options();
    let apply_by = |request: &Request<'_>, attempt: &mut Attempt<'_, '_>| {
        let (_, draft) = apply::draft(request, attempt, &options, &object, None)?;
        Ok(stored_of(run(attempt, draft)?)?)
    };
    let stored = backend.write_unreviewed(&options, |attempt| {
        let stored = apply_by(&request, attempt)?;
        if object.get("status").is_none_or(Value::is_null) || !request.target.imports_status() {
            return Ok(stored);
        }
        apply_by(&place.request(backend, &headers, Some("status"))?, attempt)
    })?;
    settle(backend, &request.target);
    Ok(backend.api_object(&request.target, &stored))
}

/// Returns the object under the kind and name of `object`, if there is one.
#[cfg(feature = "client")]
pub fn find(backend: &Backend, object: &Value) -> Result<Option<Value>, Status> {
    let place = ObjectLocation::of(backend, object)?;
    let headers = HeaderMap::new();
    let request = place.request(backend, &headers, None)?;
    let key = request.target.key(request.target.name());
    let stored = backend.storage.view(|view| view.get(&key).cloned());
    Ok(stored.map(|stored| backend.api_object(&request.target, &stored)))
}

/// Deletes the object of the kind and name of `object`, as a client would without options.
pub(crate) fn delete(backend: &Backend, object: &Value) -> Result<(), Status> {
    let place = ObjectLocation::of(backend, object)?;
    let headers = HeaderMap::new();
    let request = place.request(backend, &headers, None)?;
    let (options, author) = (DeleteOptions::default(), deleter(&request));
    backend.write_unreviewed(&options, |attempt| {
        delete_named(&request.target, author, attempt, &options)
    })?;
    settle(backend, &request.target);
    Ok(())
}

/// The type, namespace and name of an object, from its kind, apiVersion and metadata.
#[derive(Debug)]
struct ObjectLocation {
    resource: Arc<ResourceType>,
    namespace: Option<String>,
    name: String,
}

// === impl ObjectLocation ===

impl ObjectLocation {
    fn of(backend: &Backend, object: &Value) -> Result<Self, Status> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (kind, said_version) = (text(&object["kind"]), text(&object["apiVersion"]));
        if kind.is_empty() || said_version.is_empty() {
            let missing = if kind.is_empty() {
                "kind"
            } else {
                "apiVersion"
            };
            return Err(Status::bad_request(format!("{missing}: Required value")));
        }
        let name = text(&object["metadata"]["name"]);
        if name.is_empty() {
            return Err(Status::bad_request(
                "metadata.name: Required value".to_owned(),
            ));
        }
        let (group, version) = said_version.split_once('/').unwrap_or(("", &said_version));
        let registry = backend.registry();
        let group_version = registry.version(group, version);
        let mut resources = group_version
            .into_iter()
            .flat_map(|version| &version.resources);
        let resource = resources.find(|resource| *resource.kind == *kind);
        let resource = resource.map(Arc::clone).ok_or_else(|| {
            Status::bad_request(format!(
                "no matches for kind {kind:?} in version {said_version:?}: a custom resource needs its \
                 CustomResourceDefinition first"
            ))
        })?;
        let namespace = text(&object["metadata"]["namespace"]);
        let namespace = match namespace.as_str() {
            "" => DEFAULT_NAMESPACE.to_owned(),
            _ => namespace,
        };
        Ok(Self {
            namespace: resource.is_namespaced.then_some(namespace),
            resource,
            name,
        })
    }

    fn request<'a>(
        &self,
        backend: &Backend,
        headers: &'a HeaderMap,
        subresource: Option<&str>,
    ) -> Result<Request<'a>, Status> {
        let path = ResourcePath {
            group: self.resource.group.to_string(),
            version: self.resource.version.to_string(),
            namespace: self.namespace.clone(),
            resource: self.resource.plural.to_string(),
            name: Some(self.name.clone()),
            subresource: subresource.map(str::to_owned),
            is_watch: false,
        };
        Ok(Request {
            media_types: MediaTypes::default(),
            has_shards: false,
            features: Features::default(),
            peer: None,
            target: find_target(&backend.registry(), path)?,
            requester: Requester::internal(),
            query: Query::default(),
            headers,
            uri: http::Uri::default(),
            connection: Connection::default(),
            audit: AuditAnnotations::default(),
        })
    }
}

fn options() -> WriteOptions {
    WriteOptions {
        field_manager: MANAGER.to_owned(),
        field_validation: Some(FieldValidation::Strict),
        is_forced: true,
        ..WriteOptions::default()
    }
}

/// Returns the object without the fields that only a server sets, so that any version of it can be loaded.
fn without_identity(mut object: Value) -> Value {
    for field in [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "generation",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "managedFields",
    ] {
        remove(&mut object["metadata"], field);
    }
    object
}

/// Returns `object` as an update of `existing`: the updates of some types have to name a version.
fn replacing(existing: &ExistingObject, mut object: Value) -> Value {
    let version = &existing.object["metadata"]["resourceVersion"];
    object["metadata"]["resourceVersion"] = version.clone();
    object
}

/// Sets the status of the object of `request`, which is about its subresource.
fn set_status(
    request: &Request<'_>,
    attempt: &mut Attempt<'_, '_>,
    status: Value,
) -> Result<Arc<StoredObject>, AttemptError> {
    let (target, options) = (&request.target, options());
    let existing = attempt.existing(target)?;
    let mut object = existing.object.clone();
    object["status"] = status;
    let author = author(request, &options);
    let draft = Draft::update(target, author, existing, object, Source::Import, attempt)?;
    Ok(stored_of(run(attempt, draft)?)?)
}

/// Makes the namespace that the object is to be in, unless it is there.
fn make_namespace(backend: &Backend, target: &Target) -> Result<(), Status> {
    let Some(name) = target.path.namespace.as_deref() else {
        return Ok(());
    };
    let is_there = |view: crate::store::View<'_>| view.get(&namespace_key(name)).is_some();
    if backend.storage.view(is_there) {
        return Ok(());
    }
    let namespace = json!({
        "kind": "Namespace",
        "apiVersion": api_version("", "v1"),
        "metadata": {"name": name},
    });
    load(backend, &namespace).map(drop)
}

/// Returns the stored object. The removal of its last finalizer may have ended it instead.
fn stored_of(outcome: Outcome) -> Result<Arc<StoredObject>, Status> {
    match outcome {
        Outcome::Stored(stored) => Ok(stored),
        Outcome::Object(_) | Outcome::Deleted(_) => Err(Status::bad_request(
            "the object was being deleted, and went away with its last finalizer".to_owned(),
        )),
    }
}

/// Updates the served custom resources, if a write to `target` may have changed a definition.
fn settle(backend: &Backend, target: &Target) {
    if concerns_definitions(target, Verb::Update) {
        definitions::settle_blocking(backend);
    }
}
