//! Reads what checkers need from requests and answers.

use std::{io, num::NonZeroU32, sync::Arc, time::Duration};

use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use serde::Deserialize;

use super::{Line, wire_form::WireForm};
use crate::{
    plan::Resource,
    trace::{Ending, Key, Member, Observation, RequestKind, State},
};

/// The size from which on no more of a refusal's body is kept.
const REFUSAL_MAX_BYTES: usize = 16_384;

/// A request and its answer under observation.
#[derive(Debug)]
pub(super) struct Exchange {
    line: Arc<Line>,
    request: usize,
    /// Set for requests other than lists and watches of informers' resources.
    call: Option<Call>,
    is_watch: bool,
    wants_latest: bool,
    status: Option<u16>,
    form: WireForm,
    /// The incomplete frame of a watch, or the body of a list or of a refusal so far.
    held: Vec<u8>,
    has_ended: bool,
}

/// A request of which only the outcome is recorded.
#[derive(Debug)]
struct Call {
    text: String,
    is_told: bool,
}

/// The relevant parts of a watch's event.
#[derive(Deserialize)]
struct Event<'a> {
    r#type: &'a str,
    #[serde(borrow)]
    object: Object<'a>,
}

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow, default)]
    metadata: Metadata<'a>,
    code: Option<u16>,
}

/// The relevant parts of a list.
#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    metadata: ListMetadata<'a>,
    /// `None` in a list of metadata alone that is empty: a real server says null.
    #[serde(borrow)]
    items: Option<Vec<Object<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMetadata<'a> {
    resource_version: &'a str,
    r#continue: Option<&'a str>,
}

/// The relevant metadata. Names, uids and versions hold no characters that JSON escapes; annotations may.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    namespace: Option<&'a str>,
    #[serde(default)]
    name: &'a str,
    #[serde(default)]
    uid: &'a str,
    #[serde(default)]
    resource_version: &'a str,
    annotations: Option<Annotations>,
}

/// The relevant part of a refusal's status.
#[derive(Default, Deserialize)]
struct Refusal {
    details: Option<Details>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    retry_after_seconds: Option<u32>,
}

#[derive(Deserialize)]
struct Annotations {
    #[serde(rename = "k8s.io/initial-events-end")]
    initial_events_end: Option<String>,
}

// === impl Exchange ===

impl Exchange {
    /// Records a request.
    pub(super) fn begin(line: &Arc<Line>, method: &Method, uri: &Uri) -> Self {
        let request = line.numbers.next();
        let query = uri.query().unwrap_or_default();
        let kind = kind_of(query);
        let is_of_mirror = is_of_informers(method, uri) && !line.is_comparison(&kind, query);
        let call = (!is_of_mirror).then(|| Call {
            text: format!("{method} {}", uri.path()),
            is_told: false,
        });
        let timeout = parameter(query, "timeoutSeconds").and_then(|text| text.parse().ok());
        let is_watch = matches!(kind, RequestKind::Watch { .. });
        let wants_latest = match &kind {
            // The store behind all replicas interprets continue tokens.
            RequestKind::List {
                is_continued: true, ..
            } => true,
            RequestKind::List { revision, .. } | RequestKind::Watch { revision, .. } => {
                revision.is_empty()
            }
        };
        if call.is_none() {
            line.recorder.record(Observation::Request {
                informer: line.informer,
                request,
                kind,
            });
            if !is_watch && is_version_check(query) {
                line.recorder.record(Observation::VersionCheck { request });
            }
            if is_watch && let Some(seconds) = timeout {
                line.recorder.record(Observation::WatchTimeout {
                    request,
                    timeout: Duration::from_secs(seconds),
                });
            }
        }
        Self {
            line: Arc::clone(line),
            request,
            call,
            is_watch,
            wants_latest,
            status: None,
            form: WireForm::default(),
            held: Vec::new(),
            has_ended: false,
        }
    }

    /// Returns true if the answer has to be the most recent state.
    pub(super) fn wants_latest(&self) -> bool {
        self.wants_latest
    }

    /// Records the headers of the answer.
    pub(super) fn answered(&mut self, status: StatusCode, headers: &HeaderMap) {
        let code = status.as_u16();
        if self.call.is_some() {
            return self.called(Some(code));
        }
        self.status = Some(code);
        self.form = WireForm::of(headers);
        let request = self.request;
        self.record(Observation::Answer {
            request,
            status: code,
        });
        if matches!(code, 429 | 503)
            && let Some(wait) = wait(headers)
        {
            self.record(Observation::AskedToWait { request, wait });
        }
    }

    /// Records the failure of a connection, before any answer.
    pub(super) fn failed(&mut self, error: &io::Error) {
        if self.call.is_none() && error.kind() == io::ErrorKind::ConnectionRefused {
            let request = self.request;
            self.record(Observation::Refused { request });
        }
        self.ended(Ending::Broken);
    }

    /// Reads a part of the body.
    pub(super) fn data_arrived(&mut self, data: &[u8]) {
        let keeps = match self.status {
            Some(200) => true,
            Some(429 | 503) => self.held.len() < REFUSAL_MAX_BYTES,
            _ => false,
        };
        if !keeps {
            return;
        }
        self.held.extend_from_slice(data);
        let may_end = self.form != WireForm::Json || data.contains(&b'\n');
        if self.status != Some(200) || !self.is_watch || !may_end {
            return;
        }
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_slice();
        while let Some(frame) = self.form.frame(rest).filter(|_| !rest.is_empty()) {
            self.event(frame.event.as_deref().unwrap_or_default());
            rest = &rest[frame.size_bytes..];
        }
        self.held = rest.to_vec();
    }

    /// Records the end of the body, once.
    pub(super) fn ended(&mut self, ending: Ending) {
        if self.has_ended {
            return;
        }
        self.has_ended = true;
        if self.call.is_some() {
            return self.called(None);
        }
        match self.status {
            Some(200) if !self.is_watch && ending == Ending::Clean => self.page(),
            Some(429 | 503) if ending == Ending::Clean => self.refusal(),
            _ => {}
        }
        let request = self.request;
        self.record(Observation::Ended { request, ending });
    }

    /// Records the outcome of a call, once.
    fn called(&mut self, status: Option<u16>) {
        let Some(call) = self.call.as_mut().filter(|call| !call.is_told) else {
            return;
        };
        call.is_told = true;
        let text = std::mem::take(&mut call.text);
        self.record(Observation::Called {
            informer: self.line.informer,
            text,
            status,
        });
    }

    fn event(&self, line: &[u8]) {
        let request = self.request;
        let Ok(Event { r#type, object }) = serde_json::from_slice(line) else {
            return self.record(Observation::Garbled { request });
        };
        let kind = match r#type {
            "ADDED" => "ADDED",
            "MODIFIED" => "MODIFIED",
            "DELETED" => "DELETED",
            "BOOKMARK" => {
                let annotations = object.metadata.annotations.as_ref();
                let end = annotations.and_then(|found| found.initial_events_end.as_deref());
                return self.record(Observation::Bookmark {
                    request,
                    revision: object.metadata.resource_version.parse().unwrap_or(0),
                    ends_initial_events: end == Some("true"),
                });
            }
            _ => {
                let status = object.code.unwrap_or(0);
                return self.record(Observation::ErrorEvent { request, status });
            }
        };
        let member = object.member();
        self.record(Observation::Frame {
            request,
            kind,
            member,
        });
    }

    fn page(&self) {
        let request = self.request;
        let body = self.form.document(&self.held).unwrap_or_default();
        let observation = match serde_json::from_slice::<List<'_>>(&body) {
            Ok(list) => Observation::Page {
                request,
                revision: list.metadata.resource_version.parse().unwrap_or(0),
                has_more: list
                    .metadata
                    .r#continue
                    .is_some_and(|token| !token.is_empty()),
                members: list.items.iter().flatten().map(Object::member).collect(),
            },
            Err(_) => Observation::Garbled { request },
        };
        self.record(observation);
    }

    /// Records the wait that a status asks for, which may differ from the header's.
    fn refusal(&self) {
        let body = self.form.document(&self.held).unwrap_or_default();
        let refusal: Refusal = serde_json::from_slice(&body).unwrap_or_default();
        let seconds = refusal.details.unwrap_or_default().retry_after_seconds;
        if let Some(seconds) = seconds {
            self.record(Observation::AskedToWait {
                request: self.request,
                wait: Duration::from_secs(seconds.into()),
            });
        }
    }

    fn record(&self, observation: Observation) {
        self.line.recorder.record(observation);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.ended(Ending::Dropped);
    }
}

// === impl Object ===

impl Object<'_> {
    fn member(&self) -> Member {
        let Metadata {
            namespace,
            name,
            uid,
            resource_version,
            ..
        } = &self.metadata;
        let key = match namespace {
            Some(namespace) => Key::from(format!("{namespace}/{name}")),
            None => Key::from(*name),
        };
        Member {
            key,
            state: State::from_wire(uid, resource_version),
        }
    }
}

/// Returns true for a list or a watch of informers' resources.
fn is_of_informers(method: &Method, uri: &Uri) -> bool {
    let last = uri.path().rsplit('/').next();
    let is_mirrored = |resource: Resource| last == Some(resource.plural());
    method == Method::GET && Resource::ALL.into_iter().any(is_mirrored)
}

/// Returns the wait that the answer demands.
fn wait(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    value.parse().ok().map(Duration::from_secs)
}

fn parameter<'a>(query: &'a str, wanted: &str) -> Option<&'a str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(name, _)| *name == wanted)
        .map(|(_, value)| value)
}

/// Strikes protobuf from what a client accepts, as a server does that knows no protobuf. A client that accepts nothing else is
/// left alone.
pub(super) fn refuse_protobuf(headers: &mut HeaderMap) {
    let Some(accepted) = headers.get(header::ACCEPT) else {
        return;
    };
    let kinds = accepted.to_str().unwrap_or_default().split(',');
    let readable: Vec<&str> = kinds.filter(|kind| !kind.contains("protobuf")).collect();
    let readable = HeaderValue::from_str(&readable.join(","));
    if let Some(readable) = readable.ok().filter(|readable| !readable.is_empty()) {
        headers.insert(header::ACCEPT, readable);
    }
}

/// Returns the URI of a watch with its timeout divided by `speed`, but a second at least; `None` if that changes
/// nothing.
pub(super) fn with_sooner_end(uri: &Uri, factor: NonZeroU32) -> Option<Uri> {
    let query = uri.query()?;
    let text = parameter(query, "timeoutSeconds")?;
    let seconds: u32 = text.parse().ok()?;
    let sooner = (seconds / factor).max(1);
    if sooner >= seconds || !matches!(kind_of(query), RequestKind::Watch { .. }) {
        return None;
    }
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some(("timeoutSeconds", _)) => format!("timeoutSeconds={sooner}"),
        _ => pair.to_owned(),
    });
    let query = pairs.collect::<Vec<_>>().join("&");
    let path_and_query = format!("{}?{query}", uri.path()).parse().ok()?;
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path_and_query);
    Uri::from_parts(parts).ok()
}

/// Returns true for a list at exactly a version.
pub(super) fn is_at_version(query: &str) -> bool {
    parameter(query, "resourceVersionMatch") == Some("Exact")
}

/// Returns true for a list of one object that is not older than a version.
fn is_version_check(query: &str) -> bool {
    parameter(query, "limit") == Some("1")
        && parameter(query, "resourceVersionMatch") == Some("NotOlderThan")
        && parameter(query, "resourceVersion").is_some_and(|version| version != "0")
}

fn kind_of(query: &str) -> RequestKind {
    let revision = parameter(query, "resourceVersion").unwrap_or_default();
    let revision = revision.to_owned();
    // The API reads booleans so: anything but these is true.
    let is_set = |name| !matches!(parameter(query, name), None | Some("false" | "0"));
    if is_set("watch") {
        RequestKind::Watch {
            revision,
            is_streaming_list: is_set("sendInitialEvents"),
        }
    } else {
        RequestKind::List {
            revision,
            is_continued: parameter(query, "continue").is_some(),
        }
    }
}
