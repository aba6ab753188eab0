//! Requests and the log of the store: nothing leaves the server before it is on the disk.
//!
//! While the log does not advance, writes are refused, and reads see the last state that is on the disk.

use axum::response::Response;
use fakeserver_datalog::Durability;
use fakeserver_value::{revision::Revision, status::Status};
use tracing::warn;

use super::{Request, Verb};
use crate::write::Backend;

/// Returns the newest revision that a request may see, if the log does not advance.
///
/// # Errors
///
/// The request is a write, or reads what no past state has.
pub(super) fn admit(
    backend: &Backend,
    request: &Request<'_>,
    verb: Verb,
) -> Result<Option<Revision>, Status> {
    let Some(log) = backend.durability() else {
        return Ok(None);
    };
    let Some(reason) = log.stall() else {
        return Ok(None);
    };
    let refused = |what: &str| {
        log.count_refusal();
        warn!(verb = verb.name(), resource = %request.target.resource.rules.storage(), %reason, "request refused: {what}");
        Err(Status::log_stalled(what, &reason))
    };
    if !is_read(verb) {
        return refused("nothing was written");
    }
    // The object of a subresource is read as it is now.
    if request.target.path.subresource.is_some() {
        return refused("the object may not be on the disk yet");
    }
    let durable = Revision::new(log.durable().revision);
    let resource = request.target.group_resource();
    let is_there = |view: crate::store::View<'_>| view.snapshot_at(&resource, durable).is_ok();
    if durable == Revision::default() || !backend.storage.view(is_there) {
        return refused("the state on the disk is not in the history any more");
    }
    Ok(Some(durable))
}

/// Waits until all that the answer may show is on the disk.
///
/// # Errors
///
/// The log does not advance. A write may still take effect.
///
/// # Cancel safety
///
/// The request has been served, and its client receives nothing.
pub(super) async fn settle(
    log: &Durability,
    verb: Verb,
    answer: Result<Response, Status>,
) -> Result<Response, Status> {
    let Err(error) = log.settled().await else {
        return answer;
    };
    log.count_refusal();
    let reason = &error.reason;
    if is_read(verb) {
        warn!(verb = verb.name(), %reason, "answer held back: it may not be on the disk yet");
        return Err(Status::log_stalled("nothing was read", reason));
    }
    warn!(verb = verb.name(), %reason, "answer held back: the outcome of the write is unknown");
    Err(Status::outcome_unknown(reason))
}

fn is_read(verb: Verb) -> bool {
    matches!(verb, Verb::Get | Verb::List | Verb::Watch)
}
