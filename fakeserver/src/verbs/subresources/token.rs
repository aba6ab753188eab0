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
    verbs::Call,
    write::Outcome,
};

const GROUP: &str = "authentication.k8s.io";
const KIND: &str = "TokenRequest";
const SECONDS_DEFAULT: i64 = 3_600;
const SECONDS_MIN: i64 = 600;
const SECONDS_MAX: i64 = 1 << 32;

/// Issues the token that the request in `body` asks for.
pub(super) async fn create(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let kind = GroupVersionKind::new(GROUP, "v1", KIND);
    let encoding = call.encoding_of(&kind, Shape::Object)?;
    let options = write_options(&call.query, "CreateOptions")?;
    let mut received = call.receive_as(&kind, body, options.validation())?;
    call.target.place(&mut received.object)?;
    let object = std::mem::take(&mut received.object);
    let (mut request, said) = call.admit(&kind, &options, object).await?;
    received.warnings.extend(said);
    let key = call.target.key(call.target.name());
    let account = call
        .api
        .backend
        .storage
        .view(|view| view.get(&key).cloned());
    let account =
        account.ok_or_else(|| Status::not_found(call.target.named(call.target.name())))?;

    let seconds = request["spec"]["expirationSeconds"]
        .as_i64()
        .unwrap_or(SECONDS_DEFAULT);
    check_duration(seconds)?;
    let has_audiences = request["spec"]["audiences"]
        .as_array()
        .is_some_and(|audiences| !audiences.is_empty());
    if !has_audiences {
        request["spec"]["audiences"] = json!([ISSUER]);
    }
    request["spec"]["expirationSeconds"] = json!(seconds);
    let now = call.api.backend.clock.now();
    let expires = now.as_second() + seconds;
    let namespace = call.target.path.namespace.as_deref().unwrap_or_default();
    let claims = json!({
        "aud": request["spec"]["audiences"],
        "exp": expires,
        "iat": now.as_second(),
        "iss": ISSUER,
        "jti": call.api.backend.entropy.audit_id().to_string(),
        "kubernetes.io": {
            "namespace": namespace,
            "serviceaccount": {"name": call.target.name(), "uid": account.uid()},
        },
        "nbf": now.as_second(),
        "sub": format!("system:serviceaccount:{namespace}:{}", call.target.name()),
    });
    request["metadata"] = json!({
        "name": call.target.name(),
        "namespace": namespace,
        "creationTimestamp": call.api.backend.clock.now_text(),
    });
    request["status"] = json!({
        "token": call.api.authenticator.signer().sign(&claims),
        "expirationTimestamp": instant(now, seconds),
    });
    let outcome = Outcome::Shown(request);
    Ok(call.answer(StatusCode::CREATED, &encoding, &outcome, &received.warnings))
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
