//! A server of config maps whose requests wait until the test answers them, so that a client alone decides what comes next, and
//! when.

use std::{io, time::Duration};

use bytes::Bytes;
use futures::{
    StreamExt,
    channel::{mpsc, oneshot},
    stream::BoxStream,
};
use http::{HeaderValue, Request, Response, header};
use http_body::Frame;
use http_body_util::StreamBody;
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::time::Instant;

pub(crate) type Calls = mpsc::UnboundedReceiver<Call>;
type Chunk = io::Result<Frame<Bytes>>;
type Answer = Response<StreamBody<BoxStream<'static, Chunk>>>;

/// A request that waits for its answer.
pub(crate) struct Call {
    pub(crate) path: String,
    /// The request in short: a list, a watch or a stream (of a list), of selected fields, at a version, after a token.
    pub(crate) summary: String,
    pub(crate) accept: String,
    /// The time after which the server is asked to end a watch.
    pub(crate) ends_after: Option<Duration>,
    pub(crate) at: Instant,
    reply: oneshot::Sender<io::Result<Answer>>,
}

/// A body that is sent piece by piece: it ends when this is dropped.
pub(crate) struct ChunkSender(mpsc::UnboundedSender<Chunk>);

/// Returns the requests of a client, and the client.
pub(crate) fn server() -> (Calls, Client) {
    let (sender, calls) = mpsc::unbounded();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (reply, answered) = oneshot::channel();
        // The test may be over.
        let _ = sender.unbounded_send(Call::new(&request, reply));
        async move { answered.await.map_err(io::Error::other)? }
    });
    (calls, Client::new(service, "n"))
}

// === impl Call ===

impl Call {
    fn new(request: &Request<Body>, reply: oneshot::Sender<io::Result<Answer>>) -> Self {
        let (mut verb, mut details, mut ends_after) = ("list", String::new(), None);
        let query = request.uri().query().unwrap_or_default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match (&*name, &*value) {
                ("watch", "true") => verb = "watch",
                ("sendInitialEvents", "true") => verb = "stream",
                ("resourceVersion", version) => details.extend([" at ", version]),
                ("continue", token) => details.extend([" after ", token]),
                ("fieldSelector", fields) => details.extend([" of ", fields]),
                ("limit", "1") => details += " of one",
                ("timeoutSeconds", seconds) => {
                    ends_after = Some(Duration::from_secs(seconds.parse().unwrap()));
                }
                _ => {}
            }
        }
        let accept = request.headers().get(header::ACCEPT);
        let accept = accept.map(|accept| accept.to_str().unwrap());
        Self {
            path: request.uri().path().to_owned(),
            summary: format!("{verb}{details}"),
            accept: accept.unwrap_or_default().to_owned(),
            ends_after,
            at: Instant::now(),
            reply,
        }
    }

    pub(crate) fn answer(self, body: &str) {
        self.open().send(body);
    }

    pub(crate) fn refuse_with(self, code: u16, body: String, retry_after: Duration) {
        let body = futures::stream::iter([Ok(Frame::data(body.into()))]);
        let mut answer = Response::new(StreamBody::new(body.boxed()));
        *answer.status_mut() = code.try_into().unwrap();
        let seconds = retry_after.as_secs().into();
        answer.headers_mut().insert(header::RETRY_AFTER, seconds);
        self.reply(Ok(answer));
    }

    /// Answers with no connection.
    pub(crate) fn break_off(self, error: io::Error) {
        self.reply(Err(error));
    }

    /// Begins an answer.
    pub(crate) fn open(self) -> ChunkSender {
        let (sender, chunks) = mpsc::unbounded();
        let mut answer = Response::new(StreamBody::new(chunks.boxed()));
        let media_type = HeaderValue::from_static("application/json");
        answer
            .headers_mut()
            .insert(header::CONTENT_TYPE, media_type);
        self.reply(Ok(answer));
        ChunkSender(sender)
    }

    /// Returns true if the client does not wait for the answer any more.
    pub(crate) fn is_given_up(&self) -> bool {
        self.reply.is_canceled()
    }

    fn reply(self, answer: io::Result<Answer>) {
        let is_wanted = self.reply.send(answer).is_ok();
        assert!(is_wanted, "{} was given up", self.summary);
    }
}

// === impl ChunkSender ===

impl ChunkSender {
    pub(crate) fn send(&self, text: &str) {
        let frame = Frame::data(Bytes::from(text.to_owned()));
        self.0.unbounded_send(Ok(frame)).unwrap();
    }

    pub(crate) fn break_off(&self, error: io::Error) {
        self.0.unbounded_send(Err(error)).unwrap();
    }

    pub(crate) fn event(&self, kind: &str, object: &Value) {
        let event = json!({"type": kind, "object": object});
        self.send(&format!("{event}\n"));
    }

    pub(crate) fn bookmark(&self, version: u32) {
        self.bookmark_with(version, &json!({}));
    }

    pub(crate) fn end_initial_events(&self, version: u32) {
        self.bookmark_with(version, &json!({"k8s.io/initial-events-end": "true"}));
    }

    fn bookmark_with(&self, version: u32, annotations: &Value) {
        let metadata = json!({"resourceVersion": version.to_string(), "annotations": annotations});
        let bookmark = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata});
        self.event("BOOKMARK", &bookmark);
    }
}
