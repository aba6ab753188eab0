//! Records a server's answers, so that the second request for the same costs it nothing: then a client is all that is measured.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, BodyStream, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    body::{Frame, Incoming},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use kube::client::Body;
use memchr::memmem;
use tokio::net::{TcpListener, TcpStream};

use crate::task::TaskSet;

/// The name of the annotation of the bookmark that ends the initial events of a streaming list.
const INITIAL_EVENTS_END: &[u8] = b"initial-events-end";

type Answer = Response<UnsyncBoxBody<Bytes, kube::Error>>;

/// A server's recorded answers, by path, query and what is accepted.
pub(crate) struct Recorder {
    server: kube::Client,
    answers: Mutex<BTreeMap<String, RecordedAnswer>>,
}

/// An answer, of a streaming list up to the end of the initial events.
#[derive(Clone)]
struct RecordedAnswer {
    status: StatusCode,
    media_type: Option<HeaderValue>,
    chunks: Arc<[Bytes]>,
    /// True if nothing more comes, but the answer does not end.
    is_open: bool,
}

// === impl Recorder ===

impl Recorder {
    pub(crate) fn new(server: kube::Client) -> Arc<Self> {
        Arc::new(Self {
            server,
            answers: Mutex::default(),
        })
    }

    /// Serves until it is dropped.
    pub(crate) async fn serve(self: Arc<Self>, listener: TcpListener) {
        let mut connections = TaskSet::new();
        while let Ok((connection, _)) = listener.accept().await {
            // What has ended is forgotten.
            while connections.try_join_next().is_some() {}
            connections.spawn(Arc::clone(&self).serve_connection(connection));
        }
    }

    async fn serve_connection(self: Arc<Self>, connection: TcpStream) {
        // As fakeserver does.
        drop(connection.set_nodelay(true));
        let service = service_fn(move |request| {
            let recorder = Arc::clone(&self);
            async move { Ok::<_, Infallible>(recorder.answer(request).await) }
        });
        let builder = auto::Builder::new(TokioExecutor::new());
        let outcome = builder
            .serve_connection(TokioIo::new(connection), service)
            .await;
        // A client that goes away is no failure.
        drop(outcome);
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let key = key_of(&request);
        let recorded = self.lock().get(&key).cloned();
        if let Some(recorded) = recorded {
            return recorded.answer();
        }
        let query = request.uri().query().unwrap_or_default();
        let is_watch = query.contains("watch=");
        let is_list = !is_watch || query.contains("sendInitialEvents=");
        let request = request.map(|_| Body::empty());
        let response = match self.server.send(request).await {
            Ok(response) => response,
            Err(error) => {
                let mut answer = Response::new(empty());
                *answer.status_mut() = StatusCode::BAD_GATEWAY;
                eprintln!("benches: the recorder was not answered: {error}");
                return answer;
            }
        };
        if !is_list {
            return response.map(BodyExt::boxed_unsync);
        }
        let recorded = RecordedAnswer::record(response, is_watch).await;
        self.lock().insert(key, recorded.clone());
        recorded.answer()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, RecordedAnswer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl RecordedAnswer ===

impl RecordedAnswer {
    async fn record(response: Response<Body>, is_watch: bool) -> Self {
        let (parts, body) = response.into_parts();
        let mut chunks: Vec<Bytes> = Vec::new();
        let mut body = BodyStream::new(body);
        let mut is_open = false;
        while let Some(Ok(frame)) = body.next().await {
            let Ok(chunk) = frame.into_data() else {
                continue;
            };
            // The name may be cut in two.
            let before = chunks.last().map_or(&[][..], |chunk| chunk);
            let before = &before[before.len().saturating_sub(INITIAL_EVENTS_END.len())..];
            let seam = [before, &chunk[..chunk.len().min(INITIAL_EVENTS_END.len())]].concat();
            is_open = is_watch
                && (memmem::find(&chunk, INITIAL_EVENTS_END).is_some()
                    || memmem::find(&seam, INITIAL_EVENTS_END).is_some());
            chunks.push(chunk);
            if is_open {
                break;
            }
        }
        Self {
            status: parts.status,
            media_type: parts.headers.get(header::CONTENT_TYPE).cloned(),
            chunks: chunks.into(),
            is_open,
        }
    }

    fn answer(self) -> Answer {
        let chunks = Arc::clone(&self.chunks);
        let frames =
            stream::iter((0..chunks.len()).map(move |n| Ok(Frame::data(chunks[n].clone()))));
        let body = if self.is_open {
            StreamBody::new(frames.chain(stream::pending())).boxed_unsync()
        } else {
            StreamBody::new(frames).boxed_unsync()
        };
        let mut answer = Response::new(body);
        *answer.status_mut() = self.status;
        if let Some(media_type) = self.media_type {
            answer
                .headers_mut()
                .insert(header::CONTENT_TYPE, media_type);
        }
        answer
    }
}

/// Returns the path, query and accepted types of a request, without its time limit, which clients draw.
fn key_of(request: &Request<Incoming>) -> String {
    let accept = request.headers().get(header::ACCEPT);
    let accept = accept.map_or(&[][..], HeaderValue::as_bytes);
    let query = request.uri().query().unwrap_or_default().split('&');
    let query: Vec<&str> = query
        .filter(|pair| !pair.starts_with("timeoutSeconds="))
        .collect();
    format!(
        "{} {} {}",
        request.uri().path(),
        query.join("&"),
        String::from_utf8_lossy(accept)
    )
}

fn empty() -> UnsyncBoxBody<Bytes, kube::Error> {
    StreamBody::new(stream::empty()).boxed_unsync()
}
