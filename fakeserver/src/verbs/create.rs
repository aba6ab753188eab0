//! POST to a collection.

use axum::response::Response;
use http::StatusCode;

use super::{Api, Request, answer, author::author, body::receive, duplicate_owners};
use crate::{
    edge::{request::write_options, response::Shape},
    value::status::Status,
    write::{Attempt, Draft, Source, WriteOptions, run},
};

/// Creates the object in `body`.
pub(super) async fn create(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    let encoding = answer::encoding(api, request, Shape::Object)?;
    let options = write_options(&request.query, "CreateOptions")?;
    let (draft, mut warnings) = read(api, request, &options, body)?;
    let backend = &api.backend;
    let mut draft = Some(draft);
    let mut written = None;
    // Webhooks need several attempts. Otherwise the first one mostly commits, and uses up the draft.
    if !backend.has_webhooks()
        && request.target.conversion().is_none()
        && let Some(draft) = draft.take()
    {
        written = backend.write_optimistically(&options, |attempt| run(attempt, draft));
    }
    let written = if let Some(written) = written {
        written
    } else {
        let draft = match draft {
            Some(draft) => draft,
            None => read(api, request, &options, body)?.0,
        };
        let work = |attempt: &mut Attempt<'_, '_>| run(attempt, draft.clone());
        backend.write(&request.target, &options, work).await
    };
    let (outcome, said) = written.map_err(|status| status.after(&warnings))?;
    warnings.extend(said);
    Ok(answer::written(
        request,
        StatusCode::CREATED,
        &encoding,
        &outcome,
        &warnings,
    ))
}

/// Reads what is to be created, with the warnings about its text.
fn read<'a>(
    api: &Api,
    request: &'a Request<'_>,
    options: &'a WriteOptions,
    body: &[u8],
) -> Result<(Draft<'a>, Vec<String>), Status> {
    let mut received = receive(request, body, options.validation())?;
    request.target.place(&mut received.object)?;
    duplicate_owners::drop_sent(&mut received);
    let now = api.backend.clock.now_text();
    let author = author(request, options);
    let draft = Draft::create(&request.target, author, received.object, Source::Sent, &now);
    Ok((draft, received.warnings))
}
