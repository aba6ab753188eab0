//! The logs of requests: a line of the program's log for each, and the audit log.

use axum::{body::Body, response::Response};
use fakeserver_kinds::rbac::policy::{Attributes, Target};
use http::request::Parts;
use tokio::time::Instant;
use tracing::{Level, enabled, info};

use super::{assembly::Server, audit::Audited};
use crate::verbs::Requester;

/// A request on its way, as far as somebody logs it.
#[derive(Debug)]
pub(super) struct Logged {
    access: Option<Access>,
    audited: Option<Audited>,
}

/// A request in the program's log.
#[derive(Debug)]
struct Access {
    user: String,
    verb: String,
    /// The resource, or the path that is none.
    resource: String,
    began: Instant,
}

// === impl Logged ===

impl Logged {
    /// Notes a request that has come. Without a requester its authentication has failed.
    pub(super) fn begin(
        server: &Server,
        parts: &Parts,
        attributes: impl Fn() -> Attributes,
        requester: Option<&Requester>,
    ) -> Self {
        let is_told = enabled!(target: "fakeserver::access", Level::INFO);
        if !is_told && server.audit.is_none() {
            return Self {
                access: None,
                audited: None,
            };
        }
        let attributes = attributes();
        let clock = server.backend().clock;
        let audit = server.audit.as_ref();
        Self {
            audited: audit.and_then(|log| log.begin(clock, parts, &attributes, requester)),
            access: is_told.then(|| Access::of(attributes, requester)),
        }
    }

    pub(super) fn observe(&self, body: Body) -> Body {
        match &self.audited {
            Some(audited) => audited.observe(body),
            None => body,
        }
    }

    /// Notes the answer.
    pub(super) fn answer(self, response: Response) -> Response {
        if let Some(access) = self.access {
            access.tell(&response);
        }
        match self.audited {
            Some(audited) => audited.answer(response),
            None => response,
        }
    }

    /// Notes an answer that accepts a WebSocket. The request ends when the body is dropped that comes with the answer.
    pub(super) fn switch(self, accepted: Response) -> (Response, Body) {
        let (parts, body) = self.answer(accepted).into_parts();
        (Response::from_parts(parts, Body::empty()), body)
    }
}

// === impl Access ===

impl Access {
    fn of(attributes: Attributes, requester: Option<&Requester>) -> Self {
        let resource = match attributes.target {
            Target::Path(path) => path,
            Target::Resource(it) => {
                let parts = [it.namespace, it.resource, it.name, it.subresource];
                let said = parts.into_iter().filter(|part| !part.is_empty());
                said.collect::<Vec<_>>().join("/")
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
    fn tell(self, response: &Response) {
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
