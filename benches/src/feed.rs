//! An API server that is none: prepared bytes in this process, so that a client is all that is measured.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use futures::{StreamExt, future, stream};
use http::{Request, Response};
use http_body_util::{Full, StreamBody, combinators::BoxBody};
use hyper::body::Frame;
use kube::{Client, client::Body};
use tokio::sync::Notify;
use tower::service_fn;

/// The version of the list; that of the first update is one more.
const LIST_VERSION: u64 = 1_000_000_000;
/// The number of digits of each version, up to the 800th list.
const DIGITS: usize = VERSION.len();

/// By how much the version of each list is later than that of the one before.
const LIST_STEP: u64 = 10_000_000;
/// The placeholder of an object's version.
pub(crate) const VERSION: &str = "VERSION---";

/// The list of some objects, all of them with a new version in each list, and updates of them.
pub(crate) struct Feed {
    kind: &'static str,
    objects: Vec<String>,
    lists: AtomicU64,
    /// The update of each object, and the offset of its version.
    frames: Vec<(Bytes, usize)>,
    updates: u64,
    /// The updates begin when this is set.
    has_begun: AtomicBool,
    begun: Notify,
    /// Ends the open watch and expires its revision, so that the client has to relist.
    expired: Notify,
}

// === impl Feed ===

impl Feed {
    /// Lists `objects`, and then brings `updates` updates of them, one after the other.
    ///
    /// Each is the JSON of an object whose version is [`VERSION`].
    pub(crate) fn new(kind: &'static str, objects: Vec<String>, updates: u64) -> Arc<Self> {
        let frames = objects.iter().map(|object| {
            let frame = format!("{{\"type\":\"MODIFIED\",\"object\":{object}}}\n");
            let at = frame.find(VERSION).expect("each object has a version");
            (Bytes::from(frame), at)
        });
        Arc::new(Self {
            kind,
            frames: frames.collect(),
            objects,
            lists: AtomicU64::new(0),
            updates,
            has_begun: AtomicBool::new(false),
            begun: Notify::new(),
            expired: Notify::new(),
        })
    }

    /// A client of it.
    pub(crate) fn client(self: &Arc<Self>) -> Client {
        let feed = Arc::clone(self);
        let service = service_fn(move |request: Request<Body>| {
            future::ready(Ok::<_, Infallible>(feed.answer(&request)))
        });
        Client::new(service, "default")
    }

    /// Begins the updates.
    pub(crate) fn begin(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
        self.begun.notify_one();
    }

    /// Makes all clients relist.
    pub(crate) fn expire(&self) {
        self.expired.notify_one();
    }

    /// The version of the last update.
    pub(crate) fn last_version(&self) -> String {
        (LIST_VERSION + self.updates).to_string()
    }

    fn answer(self: &Arc<Self>, request: &Request<Body>) -> Response<BoxBody<Bytes, Infallible>> {
        let query = request.uri().query().unwrap_or_default();
        let body = if query.contains("watch=") {
            self.watch()
        } else {
            BoxBody::new(Full::new(self.list()))
        };
        let mut response = Response::new(body);
        let json = http::HeaderValue::from_static("application/json");
        response
            .headers_mut()
            .insert(http::header::CONTENT_TYPE, json);
        response
    }

    fn list(&self) -> Bytes {
        let number = self.lists.fetch_add(1, Ordering::Relaxed);
        let version = (LIST_VERSION + number * LIST_STEP).to_string();
        let items = self.objects.iter();
        let items: Vec<String> = items
            .map(|object| object.replace(VERSION, &version))
            .collect();
        format!(
            r#"{{"kind":"{}List","apiVersion":"v1","metadata":{{"resourceVersion":"{version}"}},"items":[{}]}}"#,
            self.kind,
            items.join(","),
        )
        .into()
    }

    fn watch(self: &Arc<Self>) -> BoxBody<Bytes, Infallible> {
        let feed = Arc::clone(self);
        let begun = stream::once(async move {
            while !feed.has_begun.load(Ordering::Relaxed) {
                feed.begun.notified().await;
            }
            feed
        });
        let updates = begun
            .flat_map(|feed| stream::iter(1..=feed.updates).map(move |number| feed.update(number)));
        let feed = Arc::clone(self);
        let expired = stream::once(async move {
            feed.expired.notified().await;
            Bytes::from_static(
                b"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\
                  \"status\":\"Failure\",\"message\":\"too old\",\"reason\":\"Expired\",\"code\":410}}\n",
            )
        });
        let frames = stream::select(updates, expired);
        BoxBody::new(StreamBody::new(frames.map(|bytes| Ok(Frame::data(bytes)))))
    }

    fn update(&self, number: u64) -> Bytes {
        let place = usize::try_from(number - 1).unwrap_or_default() % self.frames.len();
        let (frame, at) = &self.frames[place];
        let mut frame = frame.to_vec();
        let version = (LIST_VERSION + number).to_string();
        frame[*at..*at + DIGITS].copy_from_slice(version.as_bytes());
        frame.into()
    }
}
