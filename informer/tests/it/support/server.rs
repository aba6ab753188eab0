//! A server that answers from a script, as a service without sockets.

use std::{
    convert::Infallible,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use kube::client::Body;
use tokio::time::Instant;

/// A hot loop stops the paused clock, so that no time limit ends it. The server answers this number of requests and no
/// more, and the test sees their number.
const REQUESTS_MAX: usize = 5000;

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    /// The time since the server began.
    pub(crate) at: Duration,
    pub(crate) uri: String,
}

/// The server's answer to a request.
pub(crate) enum Answer {
    /// The whole of an answer.
    Whole(u16, String),
    /// A response that begins with these lines and then ends.
    Ends(Vec<String>),
    /// A response that begins with these lines and then is silent.
    Stays(Vec<String>),
    /// No response at all.
    Hangs,
}

type ChunkedBody = StreamBody<stream::BoxStream<'static, Result<Frame<Bytes>, io::Error>>>;

/// A server that answers from a script and notes what it is asked.
#[derive(Clone)]
pub(crate) struct Server {
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    client: kube::Client,
}

// === impl ReceivedRequest ===

impl ReceivedRequest {
    /// The value of a query parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let (_, query) = self.uri.split_once('?')?;
        let (_, value) = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name)?;
        Some(value.into_owned())
    }

    pub(crate) fn is_watch(&self) -> bool {
        self.parameter("watch").is_some()
    }

    pub(crate) fn is_streaming_list(&self) -> bool {
        self.parameter("sendInitialEvents").is_some()
    }

    /// The request in short: `list 7`, `watch 7`, `stream 7`, `page TOKEN`.
    pub(crate) fn in_short(&self) -> String {
        let version = self.parameter("resourceVersion").unwrap_or_default();
        let (kind, what) = match self.parameter("continue") {
            Some(token) => ("page", token),
            None if self.is_streaming_list() => ("stream", version),
            None if self.is_watch() => ("watch", version),
            None => ("list", version),
        };
        format!("{kind} {what}").trim_end().to_owned()
    }
}

// === impl Server ===

impl Server {
    /// A server that answers as `script` says, which sees each request and how many came before.
    pub(crate) fn new(
        mut script: impl FnMut(&ReceivedRequest, usize) -> Answer + Send + 'static,
    ) -> Self {
        let seen = Arc::new(Mutex::new(Vec::<ReceivedRequest>::new()));
        let began = Instant::now();
        let noted = Arc::clone(&seen);
        let service = tower::service_fn(move |request: Request<Body>| {
            let request = ReceivedRequest {
                at: began.elapsed(),
                uri: request.uri().to_string(),
            };
            let mut noted = noted.lock().unwrap();
            let answer = if noted.len() < REQUESTS_MAX {
                script(&request, noted.len())
            } else {
                Answer::Hangs
            };
            noted.push(request);
            respond(answer)
        });
        Self {
            seen,
            client: kube::Client::new(service, "default"),
        }
    }

    pub(crate) fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// All requests so far.
    pub(crate) fn seen(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().unwrap().clone()
    }

    /// All requests so far, in short.
    pub(crate) fn seen_in_short(&self) -> Vec<String> {
        self.seen().iter().map(ReceivedRequest::in_short).collect()
    }

    /// The times between requests, in milliseconds.
    pub(crate) fn gaps_ms(&self) -> Vec<u128> {
        let seen = self.seen();
        let gaps = seen
            .windows(2)
            .map(|pair| (pair[1].at.saturating_sub(pair[0].at)).as_millis());
        gaps.collect()
    }
}

async fn respond(answer: Answer) -> Result<Response<ChunkedBody>, Infallible> {
    let (code, lines, is_ending) = match answer {
        Answer::Whole(code, body) => (code, vec![body], true),
        Answer::Ends(lines) => (200, lines, true),
        Answer::Stays(lines) => (200, lines, false),
        Answer::Hangs => std::future::pending().await,
    };
    let lines = lines
        .into_iter()
        .map(|line| Ok(Frame::data(Bytes::from(line + "\n"))));
    let lines = stream::iter(lines);
    let body = if is_ending {
        lines.boxed()
    } else {
        lines.chain(stream::pending()).boxed()
    };
    let response = Response::builder().status(code).body(StreamBody::new(body));
    Ok(response.expect("a status and a body make a response"))
}

/// The JSON of a config map.
pub(crate) fn config_map(name: &str, version: u64) -> String {
    format!(
        r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"n","uid":"u-{name}","resourceVersion":"{version}"}}}}"#
    )
}

/// The event that `object` was added.
pub(crate) fn added(object: &str) -> String {
    format!(r#"{{"type":"ADDED","object":{object}}}"#)
}

/// The answer with a page of a list, the last one if `continue_token` is empty.
pub(crate) fn list(version: u64, items: &[String], continue_token: &str) -> Answer {
    let items = items.join(",");
    Answer::Whole(
        200,
        format!(
            r#"{{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{"resourceVersion":"{version}","continue":"{continue_token}"}},"items":[{items}]}}"#
        ),
    )
}

/// The answer with a list of nothing.
pub(crate) fn empty_list(version: u64) -> Answer {
    list(version, &[], "")
}

/// The answer with a failure.
pub(crate) fn status(code: u16, reason: &str) -> Answer {
    Answer::Whole(
        code,
        format!(
            r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"told by the test","reason":"{reason}","code":{code}}}"#
        ),
    )
}
