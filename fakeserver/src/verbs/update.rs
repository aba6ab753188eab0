//! PUT of an object.

use axum::response::Response;
use http::StatusCode;
use serde_json::Value;

use super::{Call, duplicate_owners};
use crate::{
    edge::{request::write_options, response::Shape},
    value::status::Status,
    write::{Attempt, AttemptError, Draft, Received, Source, WriteOptions, remove, run},
};

/// Replaces the object by the one in `body`.
pub(super) async fn update(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding(Shape::Object)?;
    let options = write_options(&call.query, "UpdateOptions")?;
    let mut received = call.receive(body, options.validation())?;
    call.target.place(&mut received.object)?;
    call.target.check_name(&received.object)?;
    duplicate_owners::drop_sent(&mut received);
    let Received {
        mut object,
        mut warnings,
    } = received;
    let work = |attempt: &mut Attempt<'_, '_>| {
        let object = attempt.input(&call.target, &mut object);
        let (code, draft) = draft(call, attempt, &options, object)?;
        Ok((code, run(attempt, draft)?))
    };
    let writer = &call.api.backend;
    let written = writer.write(&call.target, &options, work).await;
    let ((code, outcome), said) = written.map_err(|status| status.after(&warnings))?;
    warnings.extend(said);
    Ok(call.answer(code, &encoding, &outcome, &warnings))
}

/// Makes an update of the object, or its creation, if there is none and its kind allows that.
fn draft<'a>(
    call: &'a Call<'_>,
    attempt: &mut Attempt<'_, '_>,
    options: &'a WriteOptions,
    mut object: Value,
) -> Result<(StatusCode, Draft<'a>), AttemptError> {
    let (target, author) = (&call.target, call.author(options));
    if let Some(existing) = attempt.find(target)? {
        let now = attempt.now_text();
        let draft = Draft::update(target, author, existing, object, Source::Sent, now)?;
        return Ok((StatusCode::OK, draft));
    }
    if !target.rules().habits.creates_on_update || !target.subresource().is_empty() {
        return Err(Status::not_found(target.named(target.name())).into());
    }
    call.requester.check_create(target)?;
    remove(&mut object["metadata"], "resourceVersion");
    let now = attempt.now_text();
    let draft = Draft::create(target, author, object, Source::Sent, now);
    Ok((StatusCode::CREATED, draft))
}
