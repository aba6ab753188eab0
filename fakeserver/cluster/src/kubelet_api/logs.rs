//! `log`: the lines that a container has written.

use std::convert::Infallible;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use fakeserver_server::verbs::{Api, LogOptions, Request};
use fakeserver_value::status::Status;
use futures::stream;
use http::header;
use serde_json::Value;

use super::status::{is_between_runs, log_problem};
use crate::containers::Containers;

/// Answers with the log of a container, up to now or to its end.
pub(crate) fn serve(
    api: &Api,
    request: &Request<'_>,
    containers: &Containers,
    pod: &Value,
    container: &str,
    options: &LogOptions,
) -> Result<Response, Status> {
    let is_previous = options.is_previous;
    if let Some(problem) = log_problem(pod, container, is_previous) {
        return Err(Status::bad_request(problem));
    }
    let is_previous = is_previous && !is_between_runs(pod, container);
    let backend = &api.backend;
    let key = request.target.key(request.target.name());
    let log = backend.storage.view(|view| {
        let is_stored = view.get(&key).is_some();
        is_stored.then(|| containers.log(&key, container, is_previous))
    });
    let log = log.ok_or_else(|| Status::not_found(request.target.named(key.name())))?;
    // The container may have run before this server started, and then has a status but no log.
    let log = log.unwrap_or_default();
    let selection = options.selection(backend.clock.now());
    let body = if options.follows {
        let follower = log.follow(selection, containers.leave_token());
        Body::from_stream(stream::unfold(follower, |mut follower| async move {
            let text = follower.next_text().await?;
            Some((Ok::<_, Infallible>(text), follower))
        }))
    } else {
        let pieces = log.read(selection);
        Body::from_stream(stream::iter(pieces.into_iter().map(Ok::<_, Infallible>)))
    };
    Ok(([(header::CONTENT_TYPE, "text/plain")], body).into_response())
}
