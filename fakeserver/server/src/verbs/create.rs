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
    write::{Attempt, Draft, Outcome, Received, Source, WriteOptions, data_text, run},
};

/// Creates the object in `body`.
pub(super) async fn create(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    let encoding = answer::encoding(api, request, Shape::Object)?;
    let options = write_options(&request.query, "CreateOptions")?;
    let Received {
        object,
        mut warnings,
    } = read(request, body, &options)?;
    let written = write(api, request, &options, (object, body)).await;
    let (outcome, said) = written.map_err(|status| status.after(&warnings))?;
    warnings.extend(said);
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
fn read(request: &Request<'_>, body: &[u8], options: &WriteOptions) -> Result<Received, Status> {
    let mut received = receive(request, body, options.validation())?;
    let placed = request.target.place(&mut received.object);
    let checked = placed.and_then(|()| request.target.check_kind(&received.object));
    checked.map_err(|status| status.after(&received.warnings))?;
    duplicate_owners::drop_sent(&mut received);
    Ok(received)
}

/// Creates `object`, which was read from `body`: while others write, if no webhook is asked, and otherwise, or if others were
/// faster, alone.
async fn write(
    api: &Api,
    request: &Request<'_>,
    options: &WriteOptions,
    (mut object, body): (Value, &[u8]),
) -> Result<(Outcome, Vec<String>), Status> {
    let (backend, target) = (&api.backend, &request.target);
    let (author, now) = (author(request, options), backend.clock.now_text());
    let make = |object| {
        let draft = Draft::create(target, author, object, Source::Sent, &now);
        draft.with_data_text(data_text::sent(target, body))
    };
    if !backend.has_webhooks() && target.conversion().is_none() {
        let draft = make(object);
        let written = backend.write_optimistically(options, |attempt| run(attempt, draft));
        if let Some(written) = written {
            return written;
        }
        object = read(request, body, options)?.object;
    }
    let draft = make(object);
    let work = |attempt: &mut Attempt<'_, '_>| run(attempt, draft.clone());
    backend.write(target, options, work).await
}
