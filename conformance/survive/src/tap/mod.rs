//! The listener of one replica in front of the server: records each request, and holds a write until the plan's orders are done.

mod answers;
mod body;
mod open_read;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
};
use bytes::Bytes;
use fakeserver::{
    Certificates, Listener, UserInfo,
    faults::{Connection, RequestFacts, SeveredConnection},
};
use futures::StreamExt;
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use http_body_util::BodyExt;
use serde_json::Value;
use support::{request_facts::facts, task::TaskSet};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use self::{
    answers::{expired_watch, refusal_answer, respond},
    body::Names,
    open_read::OpenRead,
};
use super::{
    client_view::Query,
    director::WriteVerdict,
    kinds::full_name,
    recorder::{Arrival, Recorder},
    run::Run,
    trace::{Effect, WriteKey, WriteOutcome},
    watch_rules::SUBJECT,
};

/// The longest body of a write that is taken.
const BODY_MAX: usize = 16 << 20;

/// A listener for one replica. Dropping it breaks its connections.
#[derive(Debug)]
pub(super) struct Tap {
    pub(super) address: SocketAddr,
    _serving: TaskSet,
}

/// A write in progress, which ends without an answer if it is dropped.
struct OpenWrite {
    recorder: Arc<Recorder>,
    number: usize,
    is_open: bool,
}

/// The state of a tap's handlers.
#[derive(Clone)]
struct TapState {
    run: Arc<Run>,
    replica: usize,
    router: Router,
}

// === impl Tap ===

impl Tap {
    /// Listens on a free port of this machine, by TLS if there are certificates.
    pub(super) async fn open(
        run: Arc<Run>,
        replica: usize,
        certificates: Option<&Certificates>,
    ) -> std::io::Result<Self> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = socket.local_addr()?;
        let mut listener = Listener::new(socket).with_gate(run.world.server.faults().listen_gate());
        if let Some(certificates) = certificates {
            listener = listener.with_certificates(certificates);
        }
        let router = router(&run, replica);
        Ok(Self {
            address,
            _serving: TaskSet::of(listener.serve(router, CancellationToken::new())),
        })
    }
}

/// Returns the router of a replica in front of the server.
pub(super) fn router(run: &Arc<Run>, replica: usize) -> Router {
    let user = UserInfo::new(SUBJECT).with_groups(["system:masters", "system:authenticated"]);
    let router = run.world.server.router_as(user);
    let state = TapState {
        run: Arc::clone(run),
        replica,
        router,
    };
    Router::new().fallback(handle).with_state(state)
}

async fn handle(State(state): State<TapState>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let revision = state.run.world.server.revision();
    let Some(facts) = facts(&parts, revision) else {
        return state.forward(parts, body).await;
    };
    if !facts.is_write() {
        prefer_json(&mut parts.headers);
        return state.read(parts, body, &facts).await;
    }
    let query = parts.uri.query().unwrap_or_default();
    // A dry run changes nothing and a stream is no write: no plan is about either.
    if query.contains("dryRun=") || is_streamed(&facts) {
        return state.forward(parts, body).await;
    }
    prefer_json(&mut parts.headers);
    let connection = parts.extensions.get::<Connection>().cloned();
    let connection = connection.unwrap_or_default();
    let Ok(body) = axum::body::to_bytes(body, BODY_MAX).await else {
        return broken(&connection);
    };
    state.write(parts, body, &facts, &connection).await
}

/// Breaks the connection of a request: by TCP, or in process by what stands for an answer.
fn broken(connection: &Connection) -> Response {
    connection.reset();
    let mut response = Response::default();
    let severed = SeveredConnection(io::ErrorKind::ConnectionReset);
    response.extensions_mut().insert(severed);
    response
}

/// Returns whether the request becomes another protocol.
fn is_streamed(facts: &RequestFacts) -> bool {
    let subresource = facts.subresource.as_deref();
    matches!(
        subresource,
        Some("exec" | "attach" | "portforward" | "proxy" | "log")
    )
}

/// Lets answers be JSON, which the record reads. Clients of other encodings take it, too.
fn prefer_json(headers: &mut HeaderMap) {
    headers.remove(header::ACCEPT_ENCODING);
    let accept = headers.get(header::ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok());
    let Some(accept) = accept.filter(|accept| !accept.starts_with("application/json")) else {
        return;
    };
    let ranges = accept.split(',').map(str::trim);
    let json: Vec<String> = ranges
        .map(|range| match range.split_once(';') {
            // Tables and metadata stay what they are.
            Some((_, parameters)) if parameters.contains("as=") => {
                format!("application/json;{parameters}")
            }
            _ => "application/json".to_owned(),
        })
        .collect();
    if let Ok(value) = HeaderValue::from_str(&json.join(",")) {
        headers.insert(header::ACCEPT, value);
    }
}

// === impl TapState ===

impl TapState {
    async fn forward(&self, parts: Parts, body: Body) -> Response {
        match self
            .router
            .clone()
            .oneshot(Request::from_parts(parts, body))
            .await
        {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    /// Serves a read, and notes what it shows.
    async fn read(&self, parts: Parts, body: Body, facts: &RequestFacts) -> Response {
        if facts.verb == "discover" {
            return self.forward(parts, body).await;
        }
        let resource = full_name(&facts.resource, &facts.group);
        let is_watch = facts.verb == "watch";
        let from_cache = facts.resource_version == "0";
        if self.run.wait_until_not_cut(&resource).await && is_watch && !from_cache {
            // It does not get the changes that it missed, and has to list.
            return respond(expired_watch());
        }
        let query = Query::of(facts, parts.uri.query(), &self.run.world.kinds);
        let read = OpenRead {
            recorder: Arc::clone(&self.run.recorder),
            replica: self.replica,
            request: self.run.recorder.read(self.replica, query),
        };
        let connection = parts.extensions.get::<Connection>().cloned();
        let response = self.forward(parts, body).await;
        read.answered(response.status());
        self.note_unserved(facts, response.status());
        if response.status() != StatusCode::OK {
            return response;
        }
        let (mut head, body) = response.into_parts();
        if !is_watch {
            let Ok(body) = body.collect().await else {
                return broken(&connection.unwrap_or_default());
            };
            let body = body.to_bytes();
            self.learn(&resource, &body, Some(&read));
            return Response::from_parts(head, Body::from(body));
        }
        head.headers.remove(header::CONTENT_LENGTH);
        let state = self.clone();
        let mut line = Vec::new();
        let frames = body.into_data_stream().map(move |chunk| {
            if let Ok(chunk) = &chunk {
                state.learn_frames(&resource, &mut line, chunk, &read);
            }
            chunk
        });
        Response::from_parts(head, Body::from_stream(frames))
    }

    /// Notes the objects in a body that is one document: the answer of a read, or of a write.
    fn learn(&self, resource: &str, body: &[u8], read: Option<&OpenRead>) {
        let Ok(document) = serde_json::from_slice::<Value>(body) else {
            return;
        };
        if let Some(read) = read {
            read.document(&document);
        }
        match document["items"].as_array() {
            Some(items) => {
                for item in items {
                    self.run.recorder.show(self.replica, resource, item);
                }
            }
            None => self.run.recorder.show(self.replica, resource, &document),
        }
    }

    /// Notes the objects in lines of a watch; `line` keeps one that has not ended.
    fn learn_frames(&self, resource: &str, line: &mut Vec<u8>, chunk: &[u8], read: &OpenRead) {
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if part.last() == Some(&b'\n') {
                if let Ok(event) = serde_json::from_slice::<Value>(line) {
                    read.watched(&event);
                    self.run
                        .recorder
                        .show(self.replica, resource, &event["object"]);
                }
                line.clear();
            }
        }
    }

    /// Serves a write as the plan orders.
    async fn write(
        &self,
        parts: Parts,
        body: Bytes,
        facts: &RequestFacts,
        connection: &Connection,
    ) -> Response {
        let run = &self.run;
        let arrival = self.arrival(facts, &body);
        let (place, is_lease) = (arrival.place.clone(), facts.resource == "leases");
        let before = arrival.target_version;
        let (number, orders) = run.recorder.begin_write(self.replica, arrival);
        // The client may disconnect before there is an answer: dropping this ends the write in the record.
        let open = OpenWrite::new(Arc::clone(&run.recorder), number);
        // Before the fate of the write: what others do at this point happens whether it is served or not.
        run.obey_before(&orders).await;
        match orders.fate {
            WriteVerdict::CrashBefore => {
                run.crash(self.replica).await;
                return broken(connection);
            }
            WriteVerdict::LostRequest => return broken(connection),
            WriteVerdict::Refused(refusal) => {
                let answer = refusal_answer(refusal, facts);
                let answered = WriteOutcome::refused(answer.code, &answer.body);
                open.end(answered);
                return respond(answer);
            }
            WriteVerdict::Served
            | WriteVerdict::CrashAfter
            | WriteVerdict::LostAnswer
            | WriteVerdict::Stop => {}
        }
        let response = self.forward(parts, Body::from(body)).await;
        let (head, body) = response.into_parts();
        self.note_unserved(facts, head.status);
        let body = body
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes);
        // The patch that takes off the last finalizer deletes the object, and answers with the version before it.
        let before = before.filter(|_| run.world.stored(facts, &place).is_some());
        let answered = match &body {
            Ok(body) => WriteOutcome::of(head.status, body, before),
            Err(_) => WriteOutcome::nothing(),
        };
        let is_success = answered.code.is_some_and(|code| code < 300);
        // Before the crash: the death of the client drops this handler, and the write would be recorded as unanswered.
        open.end(answered);
        let Ok(body) = body else {
            return broken(connection);
        };
        if is_lease && is_success {
            let lease = serde_json::from_slice(&body).unwrap_or_default();
            run.recorder.lease(self.replica, place.clone(), &lease);
        }
        if orders.fate == WriteVerdict::CrashAfter {
            run.crash(self.replica).await;
        }
        if matches!(
            orders.fate,
            WriteVerdict::CrashAfter | WriteVerdict::LostAnswer
        ) {
            return broken(connection);
        }
        // Only a client that gets the answer has read the object in it.
        if is_success && facts.subresource.as_deref().is_none_or(|it| it == "status") {
            self.learn(&place.0, &body, None);
        }
        if orders.fate == WriteVerdict::Stop {
            run.stop_after_answer(self.replica);
        }
        Response::from_parts(head, Body::from(body))
    }

    /// Notes a resource that the server does not have.
    fn note_unserved(&self, facts: &RequestFacts, status: StatusCode) {
        let (resource, group) = (&facts.resource, &facts.group);
        if status == StatusCode::NOT_FOUND && !self.run.world.kinds.has(resource, group) {
            self.run.recorder.not_served(full_name(resource, group));
        }
    }

    /// Reads a write's identity and what the server has there.
    fn arrival(&self, facts: &RequestFacts, body: &[u8]) -> Arrival {
        let resource = full_name(&facts.resource, &facts.group);
        let namespace = facts.namespace.clone().unwrap_or_default();
        let names = match facts.verb {
            "create" => Names::of(body),
            _ => Names::default(),
        };
        let name = facts.name.clone().or(names.name).unwrap_or_default();
        let place = (resource.clone(), namespace.clone(), name.clone());
        let target = self.run.world.stored(facts, &place);
        let generated = match &target {
            Some(target) => {
                let target = target.to_value();
                let beginning = target["metadata"]["generateName"].as_str();
                beginning.map(ToOwned::to_owned)
            }
            None => names.generate_name,
        };
        let key = WriteKey {
            verb: facts.verb.to_owned(),
            resource,
            subresource: facts.subresource.clone(),
            namespace,
            name: generated.map_or(name, |beginning| format!("{beginning}*")),
        };
        Arrival {
            key,
            place,
            is_background: is_background(facts),
            target_uid: target.as_ref().map(|target| target.uid().to_owned()),
            target_version: target.map(|target| target.revision()),
            lease_holders: self.run.lease_holders(),
            server_revision: self.run.world.server.revision(),
        }
    }
}

/// Returns whether a write is about no state of the cluster: an event, a lease, or a question of who may do what.
fn is_background(facts: &RequestFacts) -> bool {
    match facts.group.as_str() {
        "" | "events.k8s.io" => facts.resource == "events",
        "coordination.k8s.io" => facts.resource == "leases",
        "authentication.k8s.io" | "authorization.k8s.io" => facts.resource.ends_with("reviews"),
        _ => false,
    }
}

// === impl OpenWrite ===

impl OpenWrite {
    fn new(recorder: Arc<Recorder>, number: usize) -> Self {
        Self {
            recorder,
            number,
            is_open: true,
        }
    }

    fn end(mut self, answered: WriteOutcome) {
        self.is_open = false;
        self.recorder.end_write(self.number, answered);
    }
}

impl Drop for OpenWrite {
    fn drop(&mut self) {
        if self.is_open {
            self.recorder
                .end_write(self.number, WriteOutcome::nothing());
        }
    }
}

// === impl WriteOutcome ===

impl WriteOutcome {
    /// Returns the outcome of a write without an answer.
    pub(super) fn nothing() -> Self {
        Self {
            code: None,
            message: String::new(),
            effect: Effect::Unanswered,
            revision: None,
        }
    }

    fn refused(code: StatusCode, body: &[u8]) -> Self {
        let status: Value = serde_json::from_slice(body).unwrap_or_default();
        Self {
            code: Some(code.as_u16()),
            message: status["message"].as_str().unwrap_or_default().to_owned(),
            effect: Effect::Refused,
            revision: None,
        }
    }

    /// Reads an answer to a write to an object that was at the version `before`.
    fn of(code: StatusCode, body: &[u8], before: Option<u64>) -> Self {
        if !code.is_success() {
            return Self::refused(code, body);
        }
        let object: Value = serde_json::from_slice(body).unwrap_or_default();
        let revision = object["metadata"]["resourceVersion"].as_str();
        let revision = revision.and_then(|text| text.parse().ok());
        let is_same = revision.is_some() && revision == before;
        Self {
            code: Some(code.as_u16()),
            message: String::new(),
            effect: if is_same {
                Effect::Nothing
            } else {
                Effect::Changed
            },
            revision,
        }
    }
}

#[cfg(test)]
mod tests;
