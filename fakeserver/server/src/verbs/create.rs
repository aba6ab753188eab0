//! POST to a collection.

use axum::response::Response;
use fakeserver_value::status::Status;
use http::StatusCode;
use serde_json::Value;

use super::{
    Api, Request, answer, author::author, body::receive, duplicate_owners, inert::inert_warning,
};
use crate::{
    edge::{request::write_options, response::Shape},
    write::{Attempt, Draft, Outcome, ReceivedObject, Source, WriteOptions, data_text, run},
};

/// Creates the object in `body`.
pub(super) async fn create(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    // Before anything is written: 406 must leave no object behind.
    let encoding = answer::encoding(api, request, Shape::Object)?;
    let options = write_options(&request.query, "CreateOptions")?;
    let ReceivedObject {
        object,
        mut warnings,
    } = read(request, body, &options)?;
    let written = write(api, request, &options, (object, body)).await;
    let (outcome, admission_warnings) = written.map_err(|status| status.after(&warnings))?;
    warnings.extend(admission_warnings);
    warnings.extend(inert_warning(api, request, &outcome));
    Ok(answer::written(
        request,
        StatusCode::CREATED,
        &encoding,
        &outcome,
        &warnings,
    ))
}

/// Reads the object in `body`, which fits the path of the request.
fn read(
    request: &Request<'_>,
    body: &[u8],
    options: &WriteOptions,
) -> Result<ReceivedObject, Status> {
    let mut received = receive(request, body, options.validation())?;
    let placed = request.target.set_namespace(&mut received.object);
    let checked = placed.and_then(|()| request.target.check_kind(&received.object));
    checked.map_err(|status| status.after(&received.warnings))?;
    duplicate_owners::remove_duplicates(&mut received);
    Ok(received)
}

/// Creates `object`, decoded from `body`: optimistically if no webhook is called; otherwise, or after a conflict, with
/// the store locked.
async fn write(
    api: &Api,
    request: &Request<'_>,
    options: &WriteOptions,
    (mut object, body): (Value, &[u8]),
) -> Result<(Outcome, Vec<String>), Status> {
    let (backend, target) = (&api.backend, &request.target);
    let (author, now) = (author(request, options), backend.clock.now_text());
    let make = |object| {
        let draft = Draft::create(target, author, object, Source::Body, &now);
        draft.with_data_text(data_text::sent(target, body))
    };
    // A webhook cannot be awaited within an optimistic transaction, and one that is only found out about then costs a
    // second attempt.
    if !backend.has_webhooks() && target.conversion().is_none() {
        let draft = make(object);
        let written = backend.write_optimistically(options, |attempt| run(attempt, draft));
        if let Some(written) = written {
            return written;
        }
        // Decoded again: a copy kept for the rare conflict would cost every create.
        object = read(request, body, options)?.object;
    }
    let draft = make(object);
    let work = |attempt: &mut Attempt<'_, '_>| run(attempt, draft.clone());
    backend.write(target, options, work).await
}
