//! Objects that come from behind the API: those of a test, of a manifest, of a dump.
//!
//! They are read, completed and validated as those of a client are, strictly, and take revisions as every write does. No
//! fault rule, hook or policy of access stands between, and nothing is counted. A namespace that is not there is made.

use std::sync::Arc;

use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::{
    Call, Requester, Verb,
    apply::apply_in,
    attempt::{Attempt, Halt},
    create::{Draft, create_in},
    definitions, delete, namespaces,
    update::{Existing, replace},
    write::{Outcome, Source, remove},
};
use crate::{
    controllers,
    request::{FieldValidation, Query, ResourcePath, WriteOptions},
    resource::{ResourceType, api_version},
    snapshot::{Restart, Snapshot},
    state::{Core, Server},
    status::Status,
    storage::StoredObject,
};

/// Who owns the fields of these objects.
const MANAGER: &str = "fakeserver";
const DEFAULT_NAMESPACE: &str = "default";

/// What only a server sets, and an object keeps that comes from another one.
#[derive(Clone, Debug, Default)]
pub(super) struct Brought {
    metadata: Map<String, Value>,
    status: Option<Value>,
}

/// Makes `object` what the server has under its name, with its status.
///
/// A new object keeps the uid, the time of its creation, the generation and the status that it brings, so that what refers
/// to it still does. Its version and its managers are new ones, and it is not being deleted.
pub(crate) fn load(server: &Server, object: &Value) -> Result<Arc<StoredObject>, Status> {
    let target = Target::of(server, object)?;
    let headers = HeaderMap::new();
    let call = target.call(server, &headers, None)?;
    let mut received = call.receive(object.to_string().as_bytes(), FieldValidation::Strict)?;
    call.place(&mut received.object)?;
    let object = received.object;
    let options = options();
    make_namespace(&call)?;
    let stored = call.write_unreviewed(&options, |tx| {
        let key = call.key(call.name());
        let Some(stored) = tx.get(&key) else {
            let mut object = object;
            remove(&mut object["metadata"], "resourceVersion");
            remove(&mut object["metadata"], "managedFields");
            let draft = Draft::new(&call, &options, object, Source::Loaded, tx.now_text());
            let outcome = create_in(&call, tx, &options, draft)?;
            return Ok(stored_of(outcome)?);
        };
        let status = object.get("status").cloned();
        let shown = call.shown(&stored);
        let existing = Existing { key, stored, shown };
        let mut object = without_identity(object);
        // Some types have to say which version an update is based on.
        let version = &existing.shown["metadata"]["resourceVersion"];
        object["metadata"]["resourceVersion"] = version.clone();
        let outcome = replace(&call, tx, &options, existing, object, Source::Loaded)?;
        let stored = stored_of(outcome)?;
        match status.filter(|_| has_own_status(&call)) {
            Some(status) => set_status(&target, server, tx, &stored, status),
            None => Ok(stored),
        }
    })?;
    settle(&call);
    Ok(stored)
}

/// Goes on with what `snapshot` holds: serves what it defines, and ends what was going away.
pub(crate) fn restore(core: &Core, snapshot: &Snapshot, restart: Restart) {
    core.restore(snapshot, restart, || definitions::serve_defined(core));
    controllers::namespaces::resume(core);
    definitions::resume(core);
}

/// Goes back by so many revisions, and goes on from there.
pub(crate) fn roll_back(core: &Core, revisions: u64) {
    core.storage.roll_back(revisions);
    core.storage
        .view(|view| core.leases.renew(view, Instant::now()));
    definitions::serve_defined(core);
    controllers::namespaces::resume(core);
    definitions::resume(core);
}

/// Applies `object` by server-side apply with force, and then its status, if it brings one.
pub(crate) fn apply(server: &Server, object: Value) -> Result<Value, Status> {
    let target = Target::of(server, &object)?;
    let headers = HeaderMap::new();
    let call = target.call(server, &headers, None)?;
    let object = without_identity(object);
    // What is applied is not read strictly by itself: its fields would fall away without a word.
    call.receive(object.to_string().as_bytes(), FieldValidation::Strict)?;
    make_namespace(&call)?;
    let options = options();
    let stored = call.write_unreviewed(&options, |tx| {
        let (_, outcome): (StatusCode, _) = apply_in(&call, tx, &options, &object, None)?;
        let stored = stored_of(outcome)?;
        if object.get("status").is_none_or(Value::is_null) || !has_own_status(&call) {
            return Ok(stored);
        }
        let status = target.call(server, &headers, Some("status"))?;
        let (_, outcome) = apply_in(&status, tx, &options, &object, None)?;
        Ok(stored_of(outcome)?)
    })?;
    settle(&call);
    Ok(call.shown(&stored))
}

/// What is under the kind and name of `object`, if anything is.
#[cfg(feature = "client")]
pub(crate) fn find(server: &Server, object: &Value) -> Result<Option<Value>, Status> {
    let target = Target::of(server, object)?;
    let headers = HeaderMap::new();
    let call = target.call(server, &headers, None)?;
    let key = call.key(call.name());
    let stored = server.core.storage.view(|view| view.get(&key).cloned());
    Ok(stored.map(|stored| call.shown(&stored)))
}

/// Deletes what is under the kind and name of `object`, as a client would without options.
pub(crate) fn delete(server: &Server, object: &Value) -> Result<(), Status> {
    let target = Target::of(server, object)?;
    let headers = HeaderMap::new();
    let call = target.call(server, &headers, None)?;
    delete::delete_unreviewed(&call)?;
    settle(&call);
    Ok(())
}

/// Where an object belongs, by what it says of itself.
#[derive(Debug)]
struct Target {
    resource: Arc<ResourceType>,
    namespace: Option<String>,
    name: String,
}

// === impl Target ===

impl Target {
    fn of(server: &Server, object: &Value) -> Result<Self, Status> {
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
        let registry = server.core.registry();
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
        server: &'a Server,
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
        Call::new(
            server,
            Requester::internal(),
            path,
            Query::default(),
            headers,
        )
    }
}

// === impl Brought ===

impl Brought {
    /// What `object` brings, before it is made an object of this server.
    pub(super) fn of(call: &Call<'_>, object: &Value) -> Self {
        let metadata = &object["metadata"];
        let kept = ["uid", "creationTimestamp", "generation"].into_iter();
        let kept = kept.filter_map(|field| {
            let value = metadata.get(field)?;
            let says_something = !value.is_null() && *value != json!("") && *value != json!(0);
            says_something.then(|| (field.to_owned(), value.clone()))
        });
        let status = object.get("status").filter(|_| has_own_status(call));
        Self {
            metadata: kept.collect(),
            status: status.cloned(),
        }
    }

    /// Gives it back to the object, which is complete by now.
    pub(super) fn restore(self, object: &mut Value) {
        for (field, value) in self.metadata {
            object["metadata"][field] = value;
        }
        let has_status = self.status.as_ref().and_then(Value::as_object);
        if has_status.is_some_and(|status| !status.is_empty()) {
            object["status"] = self.status.unwrap_or_default();
        }
    }
}

/// Whether the status of these objects is taken from whoever brings it: the server itself keeps that of the others.
fn has_own_status(call: &Call<'_>) -> bool {
    let strategy = call.strategy();
    call.resource.has_status() && !strategy.is_namespace() && !strategy.is_definition()
}

fn options() -> WriteOptions {
    WriteOptions {
        field_manager: MANAGER.to_owned(),
        field_validation: FieldValidation::Strict,
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

fn set_status(
    target: &Target,
    server: &Server,
    tx: &mut Attempt<'_, '_>,
    stored: &Arc<StoredObject>,
    status: Value,
) -> Result<Arc<StoredObject>, Halt> {
    let headers = HeaderMap::new();
    let call = target.call(server, &headers, Some("status"))?;
    let shown = call.shown(stored);
    let mut object = shown.clone();
    object["status"] = status;
    let existing = Existing {
        key: stored.key().clone(),
        stored: Arc::clone(stored),
        shown,
    };
    let outcome = replace(&call, tx, &options(), existing, object, Source::Loaded)?;
    Ok(stored_of(outcome)?)
}

/// Makes the namespace that the object is to be in, unless it is there.
fn make_namespace(call: &Call<'_>) -> Result<(), Status> {
    let Some(name) = call.path.namespace.as_deref() else {
        return Ok(());
    };
    let is_there = |view: crate::storage::View<'_>| view.get(&namespaces::key(name)).is_some();
    if call.server.core.storage.view(is_there) {
        return Ok(());
    }
    let namespace = json!({
        "kind": "Namespace",
        "apiVersion": api_version("", "v1"),
        "metadata": {"name": name},
    });
    load(call.server, &namespace).map(drop)
}

/// What is stored. A finalizer that was the last one may have ended the object instead.
fn stored_of(outcome: Outcome) -> Result<Arc<StoredObject>, Status> {
    match outcome {
        Outcome::Stored(stored) => Ok(stored),
        Outcome::Shown(_) => Err(Status::bad_request(
            "the object was being deleted, and went away with its last finalizer".to_owned(),
        )),
    }
}

fn settle(call: &Call<'_>) {
    if call.concerns_definitions(Verb::Update) {
        definitions::settle(&call.server.core);
    }
}
