//! `log`: the lines that a container has written.

use std::convert::Infallible;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use futures::stream;
use http::header;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::status::{is_between_runs, log_problem};
use crate::{
    containers::{Containers, LogSelection},
    value::{
        schema::{Precision, parse_time},
        status::{FieldError, Status},
    },
    verbs::{Api, Request},
};

const NOT_NEGATIVE: &str = "must be greater than or equal to 0";
const POSITIVE: &str = "must be greater than 0";

/// The parameters of a request for a log.
#[derive(Debug, Default)]
pub(in super::super) struct LogOptions {
    follows: bool,
    is_previous: bool,
    since_seconds: Option<i64>,
    /// Lines, their times and their number, but for `since_seconds`.
    selection: LogSelection,
}

// === impl LogOptions ===

impl LogOptions {
    /// Reads the parameters, and checks them as a real server does.
    pub(super) fn of(request: &Request<'_>) -> Result<Self, Status> {
        let query = &request.query;
        let since_seconds = query.integer("sinceSeconds")?;
        let since_time = since_time(query.all("sinceTime").next())?;
        let tail = query.integer("tailLines")?;
        let limit = query.integer("limitBytes")?;
        let mut errors = Vec::new();
        let mut check = |name: &str, number: Option<i64>, min: i64, why: &str| {
            if let Some(number) = number.filter(|number| *number < min) {
                errors.push(FieldError::invalid(name, &json!(number), why));
            }
        };
        check("tailLines", tail, 0, NOT_NEGATIVE);
        check("limitBytes", limit, 1, POSITIVE);
        if since_time.is_none() {
            check("sinceSeconds", since_seconds, 1, POSITIVE);
        } else if since_seconds.is_some() {
            let why = "at most one of `sinceTime` or `sinceSeconds` may be specified";
            errors.push(FieldError::forbidden("", why));
        }
        if query.all("stream").next().is_some() {
            // Streams are told apart by a feature gate that is off.
            errors.push(FieldError::forbidden("stream", "may not be specified"));
        }
        if !errors.is_empty() {
            let name = request.target.name();
            return Err(Status::invalid("PodLogOptions", "", name, &errors));
        }
        let is_set = |name: &str| query.bool(name).unwrap_or_default();
        Ok(Self {
            follows: is_set("follow"),
            is_previous: is_set("previous"),
            since_seconds,
            selection: LogSelection {
                has_timestamps: is_set("timestamps"),
                tail: tail.and_then(|count| u64::try_from(count).ok()),
                since: since_time,
                limit_bytes: limit.and_then(|bytes| u64::try_from(bytes).ok()),
            },
        })
    }

    /// Returns the lines that are selected at `now`.
    fn selection(&self, now: Timestamp) -> LogSelection {
        let mut selection = self.selection.clone();
        if let Some(seconds) = self.since_seconds {
            let since = now.checked_sub(SignedDuration::from_secs(seconds));
            selection.since = since.ok();
        }
        selection
    }
}

/// Reads the time from which lines are wanted; `null` is none.
fn since_time(text: Option<&str>) -> Result<Option<Timestamp>, Status> {
    match text {
        None => Ok(None),
        Some("" | "null") => Ok(Some(Timestamp::MIN)),
        Some(text) => match parse_time(text, Precision::Seconds) {
            Ok(time) => Ok(Some(time)),
            Err(error) => Err(Status::bad_request(error.to_string())),
        },
    }
}

/// Answers with the log of a container, up to now or to its end.
pub(super) fn serve(
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
    // The status tells of a run before this server's.
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
