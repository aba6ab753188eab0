//! The audit log: events of requests at their stages, selected by a policy.

mod policy;
mod event;
mod log;
mod body;

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{body::Body, response::Response};
use fakeserver_kinds::rbac::policy::{Attributes, Target};
use fakeserver_value::audit_annotations::AuditAnnotations;
use http::{HeaderValue, StatusCode, header, request::Parts};
use serde_json::Value;

use self::{
    body::{Observer, RecordedBody},
    event::{Event, RequestInfo},
    policy::{Decision, Level, Stage},
};
pub use self::{
    log::{AuditLog, AuditLogError},
    policy::{AuditPolicy, AuditPolicyError},
};
use super::{FakeServerBuilder, observed_body::observe};
use crate::{clock::Clock, edge::request::query_text, verbs::Requester};

const DECISION: &str = "authorization.k8s.io/decision";
/// The subresources of long-running requests.
const LONG: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The id of a request, among its extensions.
#[derive(Clone, Debug)]
pub(super) struct AuditId(pub(super) HeaderValue);

/// The address of a client, among the extensions of its requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct RemoteAddress(pub(super) IpAddr);

/// A request in the audit log. A drop before its end means that its handler has panicked or its client has
/// disconnected.
#[derive(Debug)]
pub(super) struct AuditedRequest {
    log: AuditLog,
    clock: Clock,
    decision: Decision,
    event: Event,
    is_long: bool,
    is_deletion: bool,
    /// The body of the request as far as it was read, and whether it is YAML.
    request: Arc<Mutex<RecordedBody>>,
    annotations: AuditAnnotations,
    status: Option<StatusCode>,
    is_complete: bool,
}

// === impl FakeServerBuilder ===

impl FakeServerBuilder {
    /// Logs requests. By default none are logged.
    #[doc(alias = "audit-log-path")]
    pub fn with_audit_log(mut self, log: AuditLog) -> Self {
        self.audit_log = Some(log);
        self
    }
}

// === impl AuditLog ===

impl AuditLog {
    /// Begins the events of a request that the policy selects. Without a requester, authentication has failed.
    pub(super) fn begin(
        &self,
        clock: Clock,
        parts: &Parts,
        attributes: &Attributes,
        requester: Option<&Requester>,
    ) -> Option<AuditedRequest> {
        let user = requester.map(|it| &*it.user);
        let decision = self.policy.decide(user, attributes);
        // Before anything is copied: most policies leave most requests out.
        if decision.level == Level::None {
            return None;
        }
        let query = query_text(&parts.uri, &parts.extensions);
        let query = query.map_or_else(String::new, |query| format!("?{query}"));
        let event = Event::new(RequestInfo {
            level: decision.level,
            audit_id: parts
                .extensions
                .get::<AuditId>()
                .map_or_else(String::new, |id| text(Some(&id.0))),
            uri: format!("{}{query}", parts.uri.path()),
            attributes,
            user,
            impersonator: requester.and_then(|it| it.impersonator.as_deref()),
            sources: sources(parts),
            agent: text(parts.headers.get(header::USER_AGENT)),
            at: clock.now(),
        });
        let subresource = match &attributes.target {
            Target::Resource(resource) => &*resource.subresource,
            Target::Path(_) => "",
        };
        let kind = text(parts.headers.get(header::CONTENT_TYPE));
        let mut audited = AuditedRequest {
            log: self.clone(),
            clock,
            decision,
            event,
            is_long: attributes.verb == "watch" || LONG.contains(&subresource),
            is_deletion: attributes.verb.starts_with("delete"),
            request: Arc::new(Mutex::new(RecordedBody::of(&kind))),
            annotations: parts.extensions.get().cloned().unwrap_or_default(),
            status: None,
            is_complete: false,
        };
        if let Some(requester) = requester {
            // Before the request is served, so that a request that never ends is in the log. Without a user there is no
            // such event: authentication has failed already.
            audited.write(Stage::RequestReceived);
            let decision = if requester.is_denied() {
                "forbid"
            } else {
                "allow"
            };
            audited.event.annotate(DECISION, decision);
        }
        Some(audited)
    }
}

// === impl AuditedRequest ===

impl AuditedRequest {
    /// Returns the body, of which the log keeps what is read.
    pub(super) fn observe(&self, body: Body) -> Body {
        observe(body, Observer::Request(Arc::clone(&self.request)))
    }

    /// Notes the answer, and its end once its body has been read or dropped.
    pub(super) fn answer(mut self, response: Response) -> Response {
        let status = response.status();
        self.status = Some(status);
        let kind = text(response.headers().get(header::CONTENT_TYPE));
        let is_met = status.is_success() || status == StatusCode::SWITCHING_PROTOCOLS;
        // A watch has a stage of its own at its start, since its end may be hours away.
        if self.is_long && is_met {
            self.take_bodies(None);
            self.write(Stage::ResponseStarted);
        }
        let is_whole = self.decision.level == Level::RequestResponse;
        let is_kept = is_whole && !self.is_long || self.is_deletion || !is_met;
        let kept = match is_kept {
            true => RecordedBody::of(&kind),
            // Wrapped even if nothing is recorded: the end of the body is the end of the request.
            false if self.is_long => RecordedBody::nothing(),
            false => {
                self.complete(None);
                return response;
            }
        };
        response.map(|body| observe(body, Observer::Response(kept, Box::new(self))))
    }

    /// Ends the request, whose answer had this body.
    fn complete(&mut self, response: Option<Value>) {
        if !self.is_complete {
            self.take_bodies(response);
            self.write(Stage::ResponseComplete);
            self.is_complete = true;
        }
    }

    /// Adds the bodies of the request and the response to the event.
    fn take_bodies(&mut self, response: Option<Value>) {
        let level = self.decision.level;
        let request = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(body) = request.value() {
            self.event.take_request(body, level >= Level::Request);
        }
        drop(request);
        // At the end: admission annotates while the request is served.
        let annotations = self.annotations.logged(level >= Level::Request);
        self.event.annotate_all(annotations);
        let status = self.status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        self.event.take_status(status, response.as_ref());
        if let Some(body) = response.filter(|_| level == Level::RequestResponse && !self.is_long) {
            self.event.take_response(body);
        }
        // After all bodies are in the event.
        if self.decision.omit_managed_fields {
            self.event.remove_managed_fields();
        }
    }

    fn write(&mut self, stage: Stage) {
        if !self.decision.omit_stages.contains(&stage) {
            self.event.enter(stage, self.clock.now());
            self.log.write(&self.event);
        }
    }
}

impl Drop for AuditedRequest {
    fn drop(&mut self) {
        if self.is_complete {
            return;
        }
        // Dropped by unwinding: the handler has panicked. Otherwise the client has disconnected, and the request is
        // complete.
        if self.status.is_none() && std::thread::panicking() {
            self.take_bodies(None);
            self.write(Stage::Panic);
        } else {
            self.complete(None);
        }
    }
}

/// Returns the addresses of a client: those that proxies name, and that of the connection.
fn sources(parts: &Parts) -> Vec<String> {
    let forwarded = text(parts.headers.get(FORWARDED_FOR));
    let named = forwarded.split(',').map(str::trim);
    let mut all: Vec<String> = named
        .filter(|address| address.parse::<IpAddr>().is_ok())
        .map(str::to_owned)
        .collect();
    // A client in process is on this machine.
    let remote = parts.extensions.get::<RemoteAddress>();
    let remote = remote.map_or_else(|| "127.0.0.1".to_owned(), |remote| remote.0.to_string());
    if !all.contains(&remote) {
        all.push(remote);
    }
    all
}

fn text(value: Option<&HeaderValue>) -> String {
    let bytes = value.map(HeaderValue::as_bytes).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}
