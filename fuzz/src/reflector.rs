//! Arbitrary answers of a server to a reflector, on a paused clock.

use std::{
    collections::VecDeque,
    convert::Infallible,
    io,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::StreamBody;
use informer::{
    Scope,
    http::HttpListWatch,
    reflector::{Delta, Reflector, ReflectorOptions, ReflectorStore, StoreClosed},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::Body;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// The separator of two answers.
const BOUNDARY: &[u8] = b"%%\n";
/// The most answers that are made up.
const ANSWERS_MAX: usize = 12;
/// More requests than that are a hot loop, which would stop the paused clock for ever.
const REQUESTS_MAX: usize = 2_000;
/// The longest way back: a long delay, a pause by refusals, two silent watches.
const CONVERGENCE_LIMIT: Duration = Duration::from_hours(1);

/// The state of the server once it is well again.
const WELL_VERSION: &str = "1000000000";
const WELL: &str = r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1000000000"},
    "items":[{"metadata":{"name":"well","namespace":"a","uid":"u","resourceVersion":"7"}}]}"#;
const EXPIRED: &str =
    r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}"#;

type AnyBody = StreamBody<stream::BoxStream<'static, Result<Frame<Bytes>, io::Error>>>;

/// The writes that a store received.
#[derive(Default)]
struct StoreWrites {
    has_state: bool,
    /// True if the last write was the state of the healthy server.
    is_well: bool,
}

/// A store that keeps only what its assertions need. Clones share it.
#[derive(Clone, Default)]
struct Store(Arc<Mutex<StoreWrites>>);

/// The bytes are the answers to the reflector's requests, divided by lines of `%%`. The first line of each is a status code,
/// or `reset`; the rest is the body, which breaks off after the code of `reset`.
///
/// For any bytes, the reflector reports no change before a state and never takes a part of a list for a state. Once the
/// server is healthy, the store becomes equal to it.
pub fn run(data: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime needs no more than memory");
    runtime.block_on(async {
        let store = Store::default();
        let config_maps = HttpListWatch::<ConfigMap>::new(client(data), Scope::All);
        let options = ReflectorOptions::default()
            .with_seed(data.len() as u64)
            .with_streaming_lists(data.len().is_multiple_of(2));
        let stop = CancellationToken::new();
        let converged = async {
            while !store.writes().is_well {
                sleep(Duration::from_secs(1)).await;
            }
        };
        let reflector = Reflector::new(config_maps, store.clone(), options);
        tokio::select! {
            biased;
            () = reflector.run(stop) => panic!("a reflector never gives up"),
            converged = timeout(CONVERGENCE_LIMIT, converged) => {
                assert!(converged.is_ok(), "the server is well, and the store is not");
            }
        }
    });
}

/// A client whose server answers from the bytes, and is well when they are used up.
fn client(data: &[u8]) -> kube::Client {
    let answers: VecDeque<Vec<u8>> = split(data).take(ANSWERS_MAX).map(<[u8]>::to_vec).collect();
    let answers = Arc::new(Mutex::new((answers, 0)));
    let service = tower::service_fn(move |request: Request<Body>| {
        let answer = {
            let mut answers = answers.lock().expect("nothing panics with it");
            answers.1 += 1;
            assert!(answers.1 <= REQUESTS_MAX, "a hot loop");
            match answers.0.pop_front() {
                Some(answer) => made_up(&answer),
                None => well(request.uri().query().unwrap_or_default()),
            }
        };
        async move { Ok::<_, Infallible>(answer) }
    });
    kube::Client::new(service, "default")
}

fn split(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(data);
    std::iter::from_fn(move || {
        let data = rest?;
        let mut starts = data.windows(BOUNDARY.len());
        match starts.position(|window| window == BOUNDARY) {
            Some(at) => {
                rest = Some(&data[at + BOUNDARY.len()..]);
                Some(&data[..at])
            }
            None => rest.take(),
        }
    })
}

fn made_up(answer: &[u8]) -> Response<AnyBody> {
    let end = answer.iter().position(|byte| *byte == b'\n');
    let (line, body) = answer.split_at(end.map_or(answer.len(), |end| end + 1));
    let line = line.trim_ascii_end();
    let code = StatusCode::from_bytes(line).unwrap_or(StatusCode::OK);
    let mut parts: Vec<_> = body
        .chunks(body.len() / 2 + 1)
        .map(|chunk| Ok(Frame::data(Bytes::copy_from_slice(chunk))))
        .collect();
    if line == b"reset" {
        parts.push(Err(io::ErrorKind::ConnectionReset.into()));
    }
    response(code, stream::iter(parts).boxed())
}

/// Lists, and watches from that list's version; all other versions have expired, and lists are not streamed.
fn well(query: &str) -> Response<AnyBody> {
    let whole = |text: &'static str| {
        let part = Ok(Frame::data(Bytes::from_static(text.as_bytes())));
        stream::iter([part]).boxed()
    };
    let (is_watch, is_streaming) = (
        query.contains("watch=true"),
        query.contains("sendInitialEvents=true"),
    );
    let is_at_version = query.contains(&format!("resourceVersion={WELL_VERSION}&"));
    match (is_watch, is_streaming, is_at_version) {
        (false, _, _) => response(StatusCode::OK, whole(WELL)),
        (true, true, _) => response(StatusCode::BAD_REQUEST, whole("unknown parameter")),
        (true, false, true) => response(StatusCode::OK, stream::pending().boxed()),
        (true, false, false) => response(StatusCode::GONE, whole(EXPIRED)),
    }
}

fn response(
    code: StatusCode,
    body: stream::BoxStream<'static, Result<Frame<Bytes>, io::Error>>,
) -> Response<AnyBody> {
    let mut response = Response::new(StreamBody::new(body));
    *response.status_mut() = code;
    response
}

// === impl Store ===

impl Store {
    fn writes(&self) -> MutexGuard<'_, StoreWrites> {
        self.0.lock().expect("nothing panics with it")
    }
}

impl ReflectorStore<ConfigMap> for Store {
    async fn write(&mut self, delta: Delta<ConfigMap>) -> Result<(), StoreClosed> {
        let mut writes = self.writes();
        let has_state = writes.has_state;
        match delta {
            Delta::ReplacedAll(replacement) => {
                writes.has_state = true;
                writes.is_well = replacement.resource_version.as_str() == WELL_VERSION
                    && replacement.objects.len() == 1
                    && replacement.objects[0].key().name() == "well";
                return Ok(());
            }
            Delta::Bookmark(_) => {}
            _ => writes.is_well = false,
        }
        drop(writes);
        assert!(has_state, "a change before the first state");
        Ok(())
    }
}
