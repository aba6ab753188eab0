//! PUT of an object.

use axum::response::Response;
use fakeserver_value::{edit::remove, status::Status};
use http::StatusCode;
use serde_json::Value;

use super::{
    Api, Request, answer, author::author, body::receive, duplicate_owners, inert::inert_warning,
};
use crate::{
    edge::{request::write_options, response::Shape},
    write::{Attempt, AttemptError, Draft, ReceivedObject, Source, WriteOptions, data_text, run},
};

/// Replaces the object by the one in `body`.
pub(super) async fn update(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    // Before anything is written: 406 must leave the object unchanged.
    let encoding = answer::encoding(api, request, Shape::Object)?;
    let options = write_options(&request.query, "UpdateOptions")?;
    let mut received = receive(request, body, options.validation())?;
    let placed = request.target.set_namespace(&mut received.object);
    placed
        .and_then(|()| request.target.check_name(&received.object))
        .map_err(|status| status.after(&received.warnings))?;
    duplicate_owners::remove_duplicates(&mut received);
    let ReceivedObject {
        mut object,
        mut warnings,
    } = received;
    let work = |attempt: &mut Attempt<'_, '_>| {
        let object = attempt.input(&request.target, &mut object);
        let (code, draft) = draft(request, attempt, &options, object)?;
        let draft = draft.with_data_text(data_text::sent(&request.target, body));
        Ok((code, run(attempt, draft)?))
    };
    let written = api.backend.write(&request.target, &options, work).await;
    let ((code, outcome), admission_warnings) =
        written.map_err(|status| status.after(&warnings))?;
    warnings.extend(admission_warnings);
    warnings.extend(inert_warning(api, request, &outcome));
    Ok(answer::written(
        request, code, &encoding, &outcome, &warnings,
    ))
}

/// Drafts an update of the object, or its creation if it does not exist and its kind allows that.
fn draft<'a>(
    request: &'a Request<'_>,
    attempt: &mut Attempt<'_, '_>,
    options: &'a WriteOptions,
    mut object: Value,
) -> Result<(StatusCode, Draft<'a>), AttemptError> {
    let (target, author) = (&request.target, author(request, options));
    // Looked up within the attempt: whether this is an update or a creation may change between two attempts.
    if let Some(existing) = attempt.find(target)? {
        target.check_kind(&object)?;
        let draft = Draft::update(target, author, existing, object, Source::Body, attempt)?;
        return Ok((StatusCode::OK, draft));
    }
    if !target.rules().habits.creates_on_update || !target.subresource().is_empty() {
        return Err(Status::not_found(target.named(target.name())).into());
    }
    // An update that creates needs both permissions, as upstream.
    request.requester.check_create(target)?;
    // The version of an object that was deleted since: upstream's create-on-update ignores it.
    remove(&mut object["metadata"], "resourceVersion");
    let now = attempt.now_text();
    let draft = Draft::create(target, author, object, Source::Body, now);
    Ok((StatusCode::CREATED, draft))
}
