//! `token`: a token of a service account. It has the form of a real one, and only this server can verify it.

use std::sync::Arc;

use axum::response::Response;
use fakeserver_kinds::{
    core::service_account,
    core::{node, pod, secret},
};
use fakeserver_value::{
    edit::set,
    resource::GroupVersionKind,
    status::{FieldError, NamedObject, Status},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    edge::{request::write_options, response::Shape},
    store::{ObjectKey, StoredObject},
    verbs::{Api, Request, admit::admit, answer, body::receive_as},
    write::{ReceivedObject, Target, WriteOptions},
};

const GROUP: &str = "authentication.k8s.io";
const KIND: &str = "TokenRequest";
const SECONDS_DEFAULT: i64 = 3_600;
const SECONDS_MIN: i64 = 600;
const SECONDS_MAX: i64 = 1 << 32;
/// The duration of kubelets' requests: an hour, and seven seconds that distinguish it from a chosen duration.
const SECONDS_OF_KUBELETS: i64 = 3_607;
/// The duration for which the tokens of kubelets are valid: a year.
const SECONDS_EXTENDED: i64 = 365 * 24 * 3_600;

/// The account that a token is of.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
}

/// Issues a token by the `TokenRequest` in `body`.
pub(super) async fn create(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    let kind = GroupVersionKind::new(GROUP, "v1", KIND);
    let encoding = answer::encoding_of(api, request, &kind, Shape::Object)?;
    let options = write_options(&request.query, "CreateOptions")?;
    let ReceivedObject { object, warnings } =
        receive_as(request, &kind, body, options.validation())?;
    let issued = issue(api, request, &options, object).await;
    answer::answered(request, &encoding, warnings, issued)
}

/// Returns the request with its token, and the warnings of admission.
async fn issue(
    api: &Api,
    request: &Request<'_>,
    options: &WriteOptions,
    mut object: Value,
) -> Result<(Value, Vec<String>), Status> {
    request.target.set_namespace(&mut object)?;
    set(
        &mut object["spec"],
        "expirationSeconds",
        json!(SECONDS_DEFAULT),
    );
    let kind = GroupVersionKind::new(GROUP, "v1", KIND);
    let (mut token_request, admission_warnings) =
        admit(api, request, &kind, options, object).await?;
    complete(api, &request.target, &mut token_request)?;
    let seconds = token_request["spec"]["expirationSeconds"].as_i64();
    let seconds = seconds.unwrap_or(SECONDS_DEFAULT);
    check_duration(seconds)?;
    let now = api.backend.clock.now();
    let target = &request.target;
    let account = Account {
        namespace: target.path.namespace.as_deref().unwrap_or_default(),
        name: target.name(),
    };
    let claims = claims(api, account, &token_request, now.as_second())?;
    token_request["status"] = json!({
        "token": api.authenticator.signer().sign(&claims),
        "expirationTimestamp": instant(now, seconds),
    });
    Ok((token_request, admission_warnings))
}

/// Fills in the name, the uid and the audiences of the request, as far as it does not have them.
fn complete(api: &Api, target: &Target, token_request: &mut Value) -> Result<(), Status> {
    let metadata = &mut token_request["metadata"];
    set(metadata, "name", json!(target.name()));
    if metadata["name"] != target.name() {
        let why = "must match the service account name if specified";
        let error = FieldError::invalid("metadata.name", &metadata["name"], why);
        return Err(Status::invalid(KIND, GROUP, target.name(), &[error]));
    }
    let account = stored(api, &target.key(target.name()))
        .ok_or_else(|| Status::not_found(target.named(target.name())))?;
    set(metadata, "uid", json!(account.uid()));
    if metadata["uid"] != account.uid() {
        let named = NamedObject {
            resource: KIND,
            group: GROUP,
            name: target.name(),
        };
        let why = format!(
            "the UID in the token request ({}) does not match the UID of the service account ({})",
            metadata["uid"].as_str().unwrap_or_default(),
            account.uid()
        );
        return Err(Status::conflict(named, &why));
    }
    metadata["creationTimestamp"] = json!(api.backend.clock.now_text());
    let audiences = token_request["spec"]["audiences"].as_array();
    if audiences.is_none_or(Vec::is_empty) {
        token_request["spec"]["audiences"] = json!(api.authenticator.signer().audiences());
    }
    Ok(())
}

/// Returns the claims of a token requested at `now`, in seconds.
fn claims(
    api: &Api,
    account: Account<'_>,
    token_request: &Value,
    now: i64,
) -> Result<Value, Status> {
    let spec = &token_request["spec"];
    let signer = api.authenticator.signer();
    let Account { namespace, name } = account;
    let mut private = json!({
        "namespace": namespace,
        "serviceaccount": {"name": name, "uid": token_request["metadata"]["uid"]},
    });
    let reference = &spec["boundObjectRef"];
    if !reference.is_null() {
        let bound = bind(api, account, reference)?;
        for (kind, object) in bound {
            private[kind] = object;
        }
    }
    let mut seconds = spec["expirationSeconds"].as_i64().unwrap_or_default();
    // The tokens that kubelets renew in time are valid for longer, in case a program does not read the new one.
    if !private["pod"].is_null()
        && seconds == SECONDS_OF_KUBELETS
        && spec["audiences"] == json!(signer.audiences())
    {
        private["warnafter"] = json!(now + seconds);
        seconds = SECONDS_EXTENDED;
    }
    Ok(json!({
        "aud": spec["audiences"],
        "exp": now + seconds,
        "iat": now,
        "iss": signer.issuer(),
        "jti": api.backend.entropy.audit_id().to_string(),
        "kubernetes.io": private,
        "nbf": now,
        "sub": format!("system:serviceaccount:{namespace}:{name}"),
    }))
}

/// Returns a token of an account as a kubelet mounts it into a pod, with an audience other than this server's if it is not
/// empty.
pub fn of_pod(
    api: &Api,
    account: Account<'_>,
    pod: &Value,
    audience: &str,
    seconds: i64,
) -> Option<String> {
    let signer = api.authenticator.signer();
    let accounts = service_account::KIND.storage().clone();
    let key = ObjectKey::namespaced(accounts, account.namespace, account.name);
    let audiences = match audience {
        "" => json!(signer.audiences()),
        audience => json!([audience]),
    };
    let metadata = &pod["metadata"];
    let token_request = json!({
        "metadata": {"uid": stored(api, &key)?.uid()},
        "spec": {
            "audiences": audiences,
            "expirationSeconds": seconds,
            "boundObjectRef": {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": metadata["name"],
                "uid": metadata["uid"],
            },
        },
    });
    let now = api.backend.clock.now();
    let claims = claims(api, account, &token_request, now.as_second()).ok()?;
    Some(signer.sign(&claims))
}

/// Returns the object that a token is bound to, by the name of its claim, and the node of a pod.
fn bind(
    api: &Api,
    account: Account<'_>,
    reference: &Value,
) -> Result<Vec<(&'static str, Value)>, Status> {
    let text = |field: &str| reference[field].as_str().unwrap_or_default();
    let version = text("apiVersion");
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let (claim, kind, namespace) = match (group, text("kind")) {
        ("", "Pod") => ("pod", &pod::KIND, Some(account.namespace)),
        ("", "Secret") => ("secret", &secret::KIND, Some(account.namespace)),
        ("", "Node") => ("node", &node::KIND, None),
        (_, kind) => {
            return Err(Status::bad_request(format!(
                "cannot bind token to object of type {group}/{version}, Kind={kind}"
            )));
        }
    };
    let name = text("name");
    let key = ObjectKey::new(kind.storage().clone(), namespace, name);
    let found = stored(api, &key).ok_or_else(|| {
        Status::not_found(NamedObject {
            resource: kind.storage().resource(),
            group,
            name,
        })
    })?;
    let mut bound = vec![(claim, json!({"name": name, "uid": found.uid()}))];
    if claim == "pod" {
        let pod = found.to_value();
        if pod["spec"]["serviceAccountName"] != account.name {
            return Err(Status::bad_request(format!(
                "cannot bind token for serviceaccount {:?} to pod running with different serviceaccount name.",
                account.name
            )));
        }
        bound.extend(node_of(api, &pod).map(|node| ("node", node)));
    }
    let uid = text("uid");
    if !uid.is_empty() && uid != found.uid() {
        let named = NamedObject {
            resource: text("kind"),
            group,
            name,
        };
        let why = format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been \
             deleted and then recreated"
        );
        return Err(Status::conflict(named, &why));
    }
    Ok(bound)
}

/// Returns the claim about the node of a pod. The node may be gone.
fn node_of(api: &Api, pod: &Value) -> Option<Value> {
    let name = pod["spec"]["nodeName"].as_str()?;
    let key = ObjectKey::cluster(node::KIND.storage().clone(), name);
    Some(match stored(api, &key) {
        Some(node) => json!({"name": name, "uid": node.uid()}),
        None => json!({"name": name}),
    })
}

fn stored(api: &Api, key: &ObjectKey) -> Option<Arc<StoredObject>> {
    api.backend.storage.view(|view| view.get(key).cloned())
}

fn check_duration(seconds: i64) -> Result<(), Status> {
    let why = if seconds < SECONDS_MIN {
        "may not specify a duration less than 10 minutes"
    } else if seconds > SECONDS_MAX {
        "may not specify a duration larger than 2^32 seconds"
    } else {
        return Ok(());
    };
    let error = FieldError::invalid("spec.expirationSeconds", &json!(seconds), why);
    Err(Status::invalid(KIND, GROUP, "", &[error]))
}

fn instant(now: Timestamp, seconds: i64) -> String {
    let whole = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let end = whole.checked_add(SignedDuration::from_secs(seconds));
    end.unwrap_or(Timestamp::MAX).to_string()
}
