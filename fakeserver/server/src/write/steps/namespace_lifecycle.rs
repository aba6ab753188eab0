//! `NamespaceLifecycle`: nothing is created in a namespace that is missing or terminating, and some namespaces stay.

use fakeserver_kinds::{authorization::local_subject_access_review, core::namespace};
use fakeserver_value::status::{Cause, NamedObject, Status};
use serde::{Deserialize, de::IgnoredAny};

use crate::{
    store::{ObjectKey, StoredObject},
    write::{Attempt, AttemptError, Write, admission::Operation, chain::Step},
};

pub(in crate::write) const STEP: Step = Step::mutating("NamespaceLifecycle", admit);

/// The namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

fn admit(write: &mut Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    let target = write.target;
    match write.operation() {
        Operation::Delete if target.rules().is(&namespace::KIND) => {
            check_mortal(target.named(target.name()))?;
        }
        // A local access review names a namespace, but creates nothing in it.
        Operation::Create if !target.rules().is(&local_subject_access_review::KIND) => {
            if let Some(namespace) = target.path.namespace.as_deref() {
                check_accepts(attempt, namespace, write.named())?;
            }
        }
        Operation::Create | Operation::Update | Operation::Delete => {}
    }
    Ok(())
}

/// Returns the key of a namespace.
pub fn key(name: &str) -> ObjectKey {
    ObjectKey::cluster(namespace::KIND.storage().clone(), name)
}

fn check_accepts(
    attempt: &Attempt<'_, '_>,
    namespace: &str,
    object: NamedObject<'_>,
) -> Result<(), Status> {
    let Some(found) = attempt.get(&key(namespace)) else {
        return Err(Status::not_found(NamedObject {
            resource: "namespaces",
            group: "",
            name: namespace,
        }));
    };
    if !is_deleted(&found) {
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

/// Returns whether the namespace is terminating. Every creation checks this, so only the needed fields are parsed.
fn is_deleted(namespace: &StoredObject) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        deletion_timestamp: Option<IgnoredAny>,
    }
    let metadata: Metadata =
        serde_json::from_slice(&namespace.metadata_json()).expect("stored metadata is an object");
    metadata.deletion_timestamp.is_some()
}

fn check_mortal(namespace: NamedObject<'_>) -> Result<(), Status> {
    if IMMORTAL.contains(&namespace.name) {
        return Err(Status::forbidden(
            namespace,
            "this namespace may not be deleted",
            Vec::new(),
        ));
    }
    Ok(())
}
