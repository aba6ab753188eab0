//! The logs of requests: a line of the program's log for each, and the audit log.

use axum::{body::Body, response::Response};
use fakeserver_kinds::rbac::policy::{Attributes, Target};
use http::request::Parts;
use tokio::time::Instant;
use tracing::{Level, enabled, info};

use super::audit::{AuditLog, AuditedRequest};
use crate::{clock::Clock, verbs::Requester};

/// The log entries of a request that is being served.
#[derive(Debug)]
pub(super) struct LoggedRequest {
    access: Option<AccessLine>,
    audited: Option<AuditedRequest>,
}

/// A request in the program's log.
#[derive(Debug)]
struct AccessLine {
    user: String,
    verb: String,
    /// The resource, or the path of a non-resource request.
    resource: String,
    began: Instant,
}

// === impl LoggedRequest ===

impl LoggedRequest {
    /// Begins the entries of a request. Without a requester, authentication has failed.
    pub(super) fn begin(
        audit: Option<&AuditLog>,
        clock: Clock,
        parts: &Parts,
        attributes: impl Fn() -> Attributes,
        requester: Option<&Requester>,
    ) -> Self {
        let is_logged = enabled!(target: "fakeserver::access", Level::INFO);
        if !is_logged && audit.is_none() {
            return Self {
                access: None,
                audited: None,
            };
        }
        let attributes = attributes();
        Self {
            audited: audit.and_then(|log| log.begin(clock, parts, &attributes, requester)),
            access: is_logged.then(|| AccessLine::of(attributes, requester)),
        }
    }

    pub(super) fn observe(&self, body: Body) -> Body {
        match &self.audited {
            Some(audited) => audited.observe(body),
            None => body,
        }
    }

    /// Logs the response.
    pub(super) fn answer(self, response: Response) -> Response {
        if let Some(access) = self.access {
            access.log(&response);
        }
        match self.audited {
            Some(audited) => audited.answer(response),
            None => response,
        }
    }

    /// Logs a response that accepts a WebSocket. The request ends when the returned body is dropped.
    pub(super) fn switch(self, accepted: Response) -> (Response, Body) {
        let (parts, body) = self.answer(accepted).into_parts();
        (Response::from_parts(parts, Body::empty()), body)
    }
}

// === impl AccessLine ===

impl AccessLine {
    fn of(attributes: Attributes, requester: Option<&Requester>) -> Self {
        let resource = match attributes.target {
            Target::Path(path) => path,
            Target::Resource(it) => {
                let parts = [it.namespace, it.resource, it.name, it.subresource];
                let parts = parts.into_iter().filter(|part| !part.is_empty());
                parts.collect::<Vec<_>>().join("/")
            }
        };
        Self {
            user: requester.map_or_else(String::new, |it| it.user.name().to_owned()),
            verb: attributes.verb,
            resource,
            began: Instant::now(),
        }
    }

    /// Writes the line. The duration of a watch is that until its first byte.
    fn log(self, response: &Response) {
        let Self {
            user,
            verb,
            resource,
            began,
        } = self;
        let (status, duration) = (response.status().as_u16(), began.elapsed());
        info!(target: "fakeserver::access", user, verb, resource, status, ?duration);
    }
}
