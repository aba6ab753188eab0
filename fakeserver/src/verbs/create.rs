//! POST to a collection.

use axum::response::Response;
use http::StatusCode;

use super::{Call, duplicate_owners};
use crate::{
    edge::{request::write_options, response::Shape},
    value::status::Status,
    write::{Attempt, Draft, Source, WriteOptions, run},
};

/// Creates the object in `body`.
pub(super) async fn create(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding(Shape::Object)?;
    let options = write_options(&call.query, "CreateOptions")?;
    let (draft, mut warnings) = read(call, &options, body)?;
    let writer = &call.api.backend;
    let mut draft = Some(draft);
    let mut written = None;
    // Webhooks need several attempts. Otherwise the first one mostly commits, and uses up the draft.
    if !writer.has_webhooks()
        && call.target.conversion().is_none()
        && let Some(draft) = draft.take()
    {
        written = writer.write_optimistically(&options, |attempt| run(attempt, draft));
    }
    let written = if let Some(written) = written {
        written
    } else {
        let draft = match draft {
            Some(draft) => draft,
            None => read(call, &options, body)?.0,
        };
        let work = |attempt: &mut Attempt<'_, '_>| run(attempt, draft.clone());
        writer.write(&call.target, &options, work).await
    };
    let (outcome, said) = written.map_err(|status| status.after(&warnings))?;
    warnings.extend(said);
    Ok(call.answer(StatusCode::CREATED, &encoding, &outcome, &warnings))
}

/// Reads what is to be created, with the warnings about its text.
fn read<'a>(
    call: &'a Call<'_>,
    options: &'a WriteOptions,
    body: &[u8],
) -> Result<(Draft<'a>, Vec<String>), Status> {
    let mut received = call.receive(body, options.validation())?;
    call.target.place(&mut received.object)?;
    duplicate_owners::drop_sent(&mut received);
    let now = call.api.backend.clock.now_text();
    let author = call.author(options);
    let draft = Draft::create(&call.target, author, received.object, Source::Sent, &now);
    Ok((draft, received.warnings))
}
