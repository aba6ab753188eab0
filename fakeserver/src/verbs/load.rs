//! Objects that come from behind the API: those of a test, of a manifest, of a dump.
//!
//! They are read, completed and validated as those of a client are, strictly, and take revisions as every write does. No
//! fault rule, hook or policy of access stands between, and nothing is counted. A namespace that is not there is made.

use std::sync::Arc;

use http::HeaderMap;
use serde_json::{Value, json};

use super::{Api, Call, Requester, Verb, apply, delete::delete_named};
use crate::{
    edge::request::Query,
    kinds::ResourceType,
    store::StoredObject,
    value::{resource::api_version, resource_path::ResourcePath, status::Status},
    write::{
        Attempt, AttemptError, DeleteOptions, Draft, Existing, FieldValidation, Outcome, Source,
        WriteOptions, definitions, namespace_key, remove, run,
    },
};

/// The manager of the fields of these objects.
const MANAGER: &str = "fakeserver";
const DEFAULT_NAMESPACE: &str = "default";

/// Makes `object` what the server has under its name, with its status.
///
/// A new object keeps the uid, the time of its creation, the generation and the status that it brings, so that references
/// to it stay valid. Its version and its managers are new, and it is not being deleted.
pub(crate) fn load(api: &Api, object: &Value) -> Result<Arc<StoredObject>, Status> {
    let place = Place::of(api, object)?;
    let headers = HeaderMap::new();
    let call = place.call(api, &headers, None)?;
    let mut received = call.receive(object.to_string().as_bytes(), FieldValidation::Strict)?;
    call.target.place(&mut received.object)?;
    let object = received.object;
    let options = options();
    make_namespace(&call)?;
    let writer = &call.api.backend;
    let stored = writer.write_unreviewed(&options, |attempt| {
        let (target, author) = (&call.target, call.author(&options));
        let Some(existing) = attempt.find(target)? else {
            let mut object = object;
            remove(&mut object["metadata"], "resourceVersion");
            remove(&mut object["metadata"], "managedFields");
            let now = attempt.now_text();
            let draft = Draft::create(target, author, object, Source::Import, now);
            return Ok(stored_of(run(attempt, draft)?)?);
        };
        let status = object.get("status").cloned();
        let object = replacing(&existing, without_identity(object));
        let now = attempt.now_text();
        let draft = Draft::update(target, author, existing, object, Source::Import, now)?;
        let stored = stored_of(run(attempt, draft)?)?;
        match status.filter(|_| target.imports_status()) {
            Some(status) => {
                set_status(&place.call(api, &headers, Some("status"))?, attempt, status)
            }
            None => Ok(stored),
        }
    })?;
    settle(&call);
    Ok(stored)
}

/// Applies `object` by server-side apply with force, and then its status, if it has one.
pub(crate) fn apply(api: &Api, object: Value) -> Result<Value, Status> {
    let place = Place::of(api, &object)?;
    let headers = HeaderMap::new();
    let call = place.call(api, &headers, None)?;
    let object = without_identity(object);
    // A configuration is not read strictly by itself: its unknown fields would be dropped in silence.
    call.receive(object.to_string().as_bytes(), FieldValidation::Strict)?;
    make_namespace(&call)?;
    let options = options();
    let apply_by = |call: &Call<'_>, attempt: &mut Attempt<'_, '_>| {
        let (_, draft) = apply::draft(call, attempt, &options, &object, None)?;
        Ok(stored_of(run(attempt, draft)?)?)
    };
    let writer = &call.api.backend;
    let stored = writer.write_unreviewed(&options, |attempt| {
        let stored = apply_by(&call, attempt)?;
        if object.get("status").is_none_or(Value::is_null) || !call.target.imports_status() {
            return Ok(stored);
        }
        apply_by(&place.call(api, &headers, Some("status"))?, attempt)
    })?;
    settle(&call);
    Ok(call.target.shown(&stored))
}

/// Returns the object under the kind and name of `object`, if there is one.
#[cfg(feature = "client")]
pub(crate) fn find(api: &Api, object: &Value) -> Result<Option<Value>, Status> {
    let place = Place::of(api, object)?;
    let headers = HeaderMap::new();
    let call = place.call(api, &headers, None)?;
    let key = call.target.key(call.target.name());
    let stored = api.backend.storage.view(|view| view.get(&key).cloned());
    Ok(stored.map(|stored| call.target.shown(&stored)))
}

/// Deletes the object of the kind and name of `object`, as a client would without options.
pub(crate) fn delete(api: &Api, object: &Value) -> Result<(), Status> {
    let place = Place::of(api, object)?;
    let headers = HeaderMap::new();
    let call = place.call(api, &headers, None)?;
    let (options, author) = (DeleteOptions::default(), call.deleter());
    let writer = &call.api.backend;
    writer.write_unreviewed(&options, |attempt| {
        delete_named(&call.target, author, attempt, &options)
    })?;
    settle(&call);
    Ok(())
}

/// The type, namespace and name of an object, by what it says of itself.
#[derive(Debug)]
struct Place {
    resource: Arc<ResourceType>,
    namespace: Option<String>,
    name: String,
}

// === impl Place ===

impl Place {
    fn of(api: &Api, object: &Value) -> Result<Self, Status> {
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
        let registry = api.backend.registry();
        let known = registry.version(group, version);
        let mut resources = known.into_iter().flat_map(|version| &version.resources);
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

    fn call<'a>(
        &self,
        api: &'a Api,
        headers: &'a HeaderMap,
        subresource: Option<&str>,
    ) -> Result<Call<'a>, Status> {
        let path = ResourcePath {
            group: self.resource.group.to_string(),
            version: self.resource.version.to_string(),
            namespace: self.namespace.clone(),
            resource: self.resource.plural.to_string(),
            name: Some(self.name.clone()),
            subresource: subresource.map(str::to_owned),
            is_watch: false,
        };
        Call::new(api, Requester::internal(), path, Query::default(), headers)
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

/// The object as it says what is wanted: no matter which version of it, or whose, it was made of.
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
fn replacing(existing: &Existing, mut object: Value) -> Value {
    let version = &existing.shown["metadata"]["resourceVersion"];
    object["metadata"]["resourceVersion"] = version.clone();
    object
}

/// Sets the status of the object of `call`, which is about its subresource.
fn set_status(
    call: &Call<'_>,
    attempt: &mut Attempt<'_, '_>,
    status: Value,
) -> Result<Arc<StoredObject>, AttemptError> {
    let (target, options) = (&call.target, options());
    let existing = attempt.existing(target)?;
    let mut object = existing.shown.clone();
    object["status"] = status;
    let (author, now) = (call.author(&options), attempt.now_text());
    let draft = Draft::update(target, author, existing, object, Source::Import, now)?;
    Ok(stored_of(run(attempt, draft)?)?)
}

/// Makes the namespace that the object is to be in, unless it is there.
fn make_namespace(call: &Call<'_>) -> Result<(), Status> {
    let Some(name) = call.target.path.namespace.as_deref() else {
        return Ok(());
    };
    let is_there = |view: crate::store::View<'_>| view.get(&namespace_key(name)).is_some();
    if call.api.backend.storage.view(is_there) {
        return Ok(());
    }
    let namespace = json!({
        "kind": "Namespace",
        "apiVersion": api_version("", "v1"),
        "metadata": {"name": name},
    });
    load(call.api, &namespace).map(drop)
}

/// Returns the stored object. The removal of its last finalizer may have ended it instead.
fn stored_of(outcome: Outcome) -> Result<Arc<StoredObject>, Status> {
    match outcome {
        Outcome::Stored(stored) => Ok(stored),
        Outcome::Shown(_) | Outcome::Deleted(_) => Err(Status::bad_request(
            "the object was being deleted, and went away with its last finalizer".to_owned(),
        )),
    }
}

fn settle(call: &Call<'_>) {
    if call.concerns_definitions(Verb::Update) {
        definitions::settle(&call.api.backend);
    }
}
