//! The life of a namespace: what may be created in it, and how it goes away.
//!
//! A real cluster has a controller that empties a namespace that is deleted, and then ends it. Here a task of the server
//! does so, a moment later, so that clients see the namespace terminating. Objects with finalizers stay until these are
//! gone, and the namespace with them.

use std::time::Duration;

use serde_json::{Value, json};

use super::delete::delete_all;
use crate::{
    state::{Core, Server},
    status::{Cause, Named, Status},
    storage::{GroupResource, ObjectKey, Range, Transaction},
};

/// How long a deleted namespace keeps its contents, at least.
const EMPTIED_AFTER: Duration = Duration::from_secs(1);

/// The namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

pub(super) fn key(name: &str) -> ObjectKey {
    ObjectKey::cluster(GroupResource::new("", "namespaces"), name)
}

/// Whether `namespace` takes a new `object`: it has to be there, and to stay.
pub(super) fn check_accepts(
    tx: &Transaction<'_>,
    namespace: &str,
    object: Named<'_>,
) -> Result<(), Status> {
    let Some(found) = tx.get(&key(namespace)) else {
        return Err(Status::not_found(Named {
            resource: "namespaces",
            group: "",
            name: namespace,
        }));
    };
    if !is_terminating(&found.to_value()) {
        return Ok(());
    }
    let mut cause = Cause::new(
        "NamespaceTerminating",
        format!("namespace {namespace} is being terminated"),
    );
    cause.field = "metadata.namespace".into();
    Err(Status::forbidden(
        object,
        &format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        ),
        vec![cause],
    ))
}

/// Whether a namespace may be deleted.
pub(super) fn check_mortal(namespace: Named<'_>) -> Result<(), Status> {
    if IMMORTAL.contains(&namespace.name) {
        return Err(Status::forbidden(
            namespace,
            "this namespace may not be deleted",
            Vec::new(),
        ));
    }
    Ok(())
}

/// Makes a namespace one that is going away.
pub(super) fn mark_terminating(namespace: &mut Value, now: &str) {
    let timestamp = &mut namespace["metadata"]["deletionTimestamp"];
    if timestamp.is_null() {
        *timestamp = json!(now);
    }
    namespace["status"]["phase"] = json!("Terminating");
}

/// Lets the namespace be emptied, and ended when it is empty.
pub(super) fn empty_later(server: &Server, name: &str, uid: &str) {
    let (name, uid) = (name.to_owned(), uid.to_owned());
    server.later(EMPTIED_AFTER, move |core| empty(core, &name, &uid));
}

/// Empties the namespaces that were going away when the server stopped.
pub(super) fn resume(core: &Core) {
    let resource = GroupResource::new("", "namespaces");
    let namespaces = core.storage.view(|view| view.snapshot(&resource));
    for found in namespaces.objects(&Range::All, None) {
        if is_terminating(&found.to_value()) {
            empty(core, found.name(), found.uid());
        }
    }
}

fn empty(core: &Core, name: &str, uid: &str) {
    let now = core.clock.now_text();
    let emptied: Result<(), std::convert::Infallible> = core.storage.transact(|tx| {
        let is_same = tx.get(&key(name)).is_some_and(|found| found.uid() == uid);
        if !is_same {
            return Ok(());
        }
        delete_all(tx, tx.list_namespace(name), &now);
        end_if_empty(tx, name);
        Ok(())
    });
    let Ok(()) = emptied;
}

/// Ends the namespace if it is going away, and nothing is left in it. To be called when an object has left it.
pub(super) fn end_if_empty(tx: &mut Transaction<'_>, name: &str) {
    let key = key(name);
    let Some(found) = tx.get(&key) else { return };
    let namespace = found.to_value();
    let may_end = is_terminating(&namespace) && !has_finalizers(&namespace);
    if may_end && tx.list_namespace(name).is_empty() {
        tx.delete(&key);
    }
}

fn is_terminating(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

fn has_finalizers(object: &Value) -> bool {
    let finalizers = object["metadata"]["finalizers"].as_array();
    finalizers.is_some_and(|finalizers| !finalizers.is_empty())
}
