//! `ServiceAccount`: a pod runs as a service account of its namespace, and has the token and the pull secrets of it.

mod secrets;
mod token;

use fakeserver_kinds::core::{
    pod,
    service_account::{self, DEFAULT, ENFORCES_SECRETS},
};
use fakeserver_value::status::{NamedObject, Status};
use serde_json::{Value, json};

use super::items;
use crate::{
    store::ObjectKey,
    store::Transaction,
    write::Backend,
    write::{Attempt, AttemptError, Target, Write, admission::Operation, chain::Step},
};

pub(in crate::write) const STEP: Step = Step::both(NAME, mutate, validate);

const NAME: &str = "ServiceAccount";

/// The annotation of mirror pods.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Sets the account of a new pod, and what the pod has of it.
fn mutate(write: &mut Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    if !write.creates(&pod::KIND) || write.is_import() {
        return Ok(());
    }
    if is_mirror(&write.new) {
        return Ok(check_mirror(write)?);
    }
    name_account(&mut write.new["spec"]);
    let account = account_of(write, attempt)?;
    add_credentials(&mut write.new["spec"], &account, || {
        attempt.volume_suffix().to_owned()
    });
    Ok(check_secrets(write, &account)?)
}

/// Gives a pod that a controller makes what the plugin gives to others, if it is on and the account exists.
pub fn complete(backend: &Backend, tx: &Transaction<'_>, pod: &mut Value) {
    if !backend.steps.has(&STEP) || is_mirror(pod) {
        return;
    }
    name_account(&mut pod["spec"]);
    let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default();
    if let Some(account) = tx.get(&key(namespace, name_of_account(&pod["spec"]))) {
        let suffix = || backend.entropy.name_suffix();
        add_credentials(&mut pod["spec"], &account.to_value(), suffix);
    }
}

fn name_account(spec: &mut Value) {
    if name_of_account(spec).is_empty() {
        for field in ["serviceAccountName", "serviceAccount"] {
            spec[field] = json!(DEFAULT);
        }
    }
}

/// Gives a pod the token and the pull secrets of its account. `suffix` makes the name of a volume.
fn add_credentials(spec: &mut Value, account: &Value, suffix: impl FnOnce() -> String) {
    let field = "automountServiceAccountToken";
    let mounts = spec[field].as_bool().or(account[field].as_bool());
    if mounts.unwrap_or(true) {
        token::mount(spec, suffix);
    }
    let pulls = |object: &Value| {
        object["imagePullSecrets"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    let of_account = pulls(account);
    if pulls(spec).is_empty() && !of_account.is_empty() {
        spec["imagePullSecrets"] = json!(of_account);
    }
}

/// Returns whether the plugin looks for the account of an object of `target`.
pub(in crate::write) fn concerns(target: &Target) -> bool {
    target.rules().is(&pod::KIND)
}

/// Checks the account of a new pod, and the secrets that its containers use.
fn validate(write: &Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    if write.is_import() || !concerns(write.target) {
        return Ok(());
    }
    let target = write.target;
    match (write.operation(), target.subresource()) {
        (Operation::Create, "") if is_mirror(&write.new) => Ok(check_mirror(write)?),
        (Operation::Create, "") => {
            let account = account_of(write, attempt)?;
            Ok(check_secrets(write, &account)?)
        }
        (Operation::Update, "ephemeralcontainers") => {
            let account = account_of(write, attempt)?;
            if enforces_secrets(&account) {
                // Upstream returns this error without wrapping it as forbidden.
                secrets::check_ephemeral(&write.new["spec"], &account)
                    .map_err(Status::unclassified)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns the account of a pod. That of pods that name none may come a moment later.
fn account_of(write: &Write<'_>, attempt: &Attempt<'_, '_>) -> Result<Value, AttemptError> {
    let namespace = write.target.path.namespace.as_deref().unwrap_or_default();
    let name = name_of_account(&write.new["spec"]);
    if name.is_empty() {
        let pod = write.new_name();
        let why = format!("no service account specified for pod {namespace}/{pod}");
        return Err(forbidden(write, &why).into());
    }
    if let Some(stored) = attempt.get(&key(namespace, name)) {
        return Ok(stored.to_value());
    }
    let comes = name == DEFAULT && attempt.steps().awaits_accounts;
    if comes && !attempt.is_reviewed {
        // A writer behind the API does not wait for the controller.
        return Ok(Value::Null);
    }
    let missing = Status::not_found(NamedObject {
        resource: "serviceaccount",
        group: "",
        name,
    });
    let why = format!(
        "error looking up service account {namespace}/{name}: {}",
        missing.message
    );
    let status = forbidden(write, &why);
    Err(if comes {
        AttemptError::NotYet(status)
    } else {
        status.into()
    })
}

fn key(namespace: &str, name: &str) -> ObjectKey {
    let accounts = service_account::KIND.storage().clone();
    ObjectKey::new(accounts, Some(namespace), name)
}

fn check_secrets(write: &Write<'_>, account: &Value) -> Result<(), Status> {
    if !enforces_secrets(account) {
        return Ok(());
    }
    let checked = secrets::check(&write.new["spec"], account);
    checked.map_err(|why| forbidden(write, &why))
}

/// Refuses a mirror pod that uses what only this server could give it.
fn check_mirror(write: &Write<'_>) -> Result<(), Status> {
    let spec = &write.new["spec"];
    let uses_token = items(&spec["volumes"])
        .flat_map(|volume| items(&volume["projected"]["sources"]))
        .any(|source| !source["serviceAccountToken"].is_null());
    let why = if !name_of_account(spec).is_empty() {
        "a mirror pod may not reference service accounts"
    } else if secrets::uses_secrets(spec) {
        "a mirror pod may not reference secrets"
    } else if uses_token {
        "a mirror pod may not use ServiceAccountToken volume projections"
    } else {
        return Ok(());
    };
    Err(forbidden(write, why))
}

/// Returns whether an account restricts the secrets of its pods: by one of the words that Go takes for true.
fn enforces_secrets(account: &Value) -> bool {
    let annotation = account["metadata"]["annotations"][ENFORCES_SECRETS].as_str();
    matches!(annotation, Some("1" | "t" | "T" | "true" | "TRUE" | "True"))
}

fn is_mirror(pod: &Value) -> bool {
    !pod["metadata"]["annotations"][MIRROR].is_null()
}

fn name_of_account(spec: &Value) -> &str {
    spec["serviceAccountName"].as_str().unwrap_or_default()
}

fn forbidden(write: &Write<'_>, why: &str) -> Status {
    Status::forbidden(write.named(), why, Vec::new())
}
