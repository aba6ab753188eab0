//! `token`: a token of a service account. It has the form of a real one, and only this server can verify it.

use axum::response::Response;
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::{
    edge::{authentication::ISSUER, request::write_options, response::Shape},
    value::{
        resource::GroupVersionKind,
        status::{FieldError, Status},
    },
    verbs::{Api, Request, admit::admit, answer, body::receive_as},
    write::Outcome,
};

const GROUP: &str = "authentication.k8s.io";
const KIND: &str = "TokenRequest";
const SECONDS_DEFAULT: i64 = 3_600;
const SECONDS_MIN: i64 = 600;
const SECONDS_MAX: i64 = 1 << 32;

/// Issues the token that the request in `body` asks for.
pub(super) async fn create(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    let kind = GroupVersionKind::new(GROUP, "v1", KIND);
    let encoding = answer::encoding_of(api, request, &kind, Shape::Object)?;
    let options = write_options(&request.query, "CreateOptions")?;
    let mut received = receive_as(request, &kind, body, options.validation())?;
    request.target.place(&mut received.object)?;
    let object = std::mem::take(&mut received.object);
    let (mut asked, said) = admit(api, request, &kind, &options, object).await?;
    received.warnings.extend(said);
    let target = &request.target;
    let key = target.key(target.name());
    let account = api.backend.storage.view(|view| view.get(&key).cloned());
    let account = account.ok_or_else(|| Status::not_found(target.named(target.name())))?;

    let seconds = asked["spec"]["expirationSeconds"]
        .as_i64()
        .unwrap_or(SECONDS_DEFAULT);
    check_duration(seconds)?;
    let has_audiences = asked["spec"]["audiences"]
        .as_array()
        .is_some_and(|audiences| !audiences.is_empty());
    if !has_audiences {
        asked["spec"]["audiences"] = json!([ISSUER]);
    }
    asked["spec"]["expirationSeconds"] = json!(seconds);
    let now = api.backend.clock.now();
    let expires = now.as_second() + seconds;
    let namespace = target.path.namespace.as_deref().unwrap_or_default();
    let claims = json!({
        "aud": asked["spec"]["audiences"],
        "exp": expires,
        "iat": now.as_second(),
        "iss": ISSUER,
        "jti": api.backend.entropy.audit_id().to_string(),
        "kubernetes.io": {
            "namespace": namespace,
            "serviceaccount": {"name": target.name(), "uid": account.uid()},
        },
        "nbf": now.as_second(),
        "sub": format!("system:serviceaccount:{namespace}:{}", target.name()),
    });
    asked["metadata"] = json!({
        "name": target.name(),
        "namespace": namespace,
        "creationTimestamp": api.backend.clock.now_text(),
    });
    asked["status"] = json!({
        "token": api.authenticator.signer().sign(&claims),
        "expirationTimestamp": instant(now, seconds),
    });
    let outcome = Outcome::Shown(asked);
    Ok(answer::written(
        request,
        StatusCode::CREATED,
        &encoding,
        &outcome,
        &received.warnings,
    ))
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
