//! Tests of the requests that are made, against a service that answers from a script.

mod compression;

use std::{
    collections::VecDeque,
    convert::Infallible,
    io,
    pin::pin,
    sync::{Arc, Mutex},
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use futures::{FutureExt, StreamExt, stream};
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::StreamBody;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Node, Pod},
};
use kube::{
    client::Body,
    core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta},
};

use super::{Encoding, HttpListWatch, Scope};
use crate::{
    held_objects::{HeldObjects, NoHeldObjects},
    list_watch::{ListRequest, ListWatch, ListWatchError, VersionMatch, WatchRequest},
    shared_informer::SharedInformer,
};

/// A body of chunks, which may end in an error.
type TestBody = StreamBody<stream::BoxStream<'static, Result<Frame<Bytes>, io::Error>>>;
type Answer = Response<TestBody>;

/// A request's address and headers.
type RecordedRequest = (String, Vec<(String, String)>);

#[derive(Clone, Default)]
struct Server {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    requests: Arc<Mutex<Vec<RecordedRequest>>>,
}

impl Server {
    fn answering(answers: impl IntoIterator<Item = Answer>) -> Self {
        let server = Self::default();
        server.answers.lock().unwrap().extend(answers);
        server
    }

    fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let headers = request.headers().iter();
            let headers = headers
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
                .collect();
            server
                .requests
                .lock()
                .unwrap()
                .push((request.uri().to_string(), headers));
            let answer = server.answers.lock().unwrap().pop_front();
            async move { Ok::<_, Infallible>(answer.expect("more requests than answers")) }
        });
        kube::Client::new(service, "default")
    }

    fn uris(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|(uri, _)| uri.clone()).collect()
    }

    fn header(&self, request: usize, name: &str) -> Option<String> {
        let requests = self.requests.lock().unwrap();
        let (_, headers) = &requests[request];
        let found = headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone())
    }
}

fn answer(code: u16, chunks: Vec<Result<&'static str, io::ErrorKind>>) -> Answer {
    let frames = chunks.into_iter().map(|chunk| {
        chunk
            .map(|text| Frame::data(Bytes::from_static(text.as_bytes())))
            .map_err(io::Error::from)
    });
    let mut response = Response::new(StreamBody::new(stream::iter(frames).boxed()));
    *response.status_mut() = StatusCode::from_u16(code).unwrap();
    response
}

const EMPTY_LIST: &str = r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#;

fn nothing<K>() -> Arc<dyn HeldObjects<K>> {
    Arc::new(NoHeldObjects)
}

#[tokio::test]
async fn paths_are_those_of_the_resource_and_the_scope() {
    async fn uri_of<K>(dynamic_type: K::DynamicType, scope: Scope) -> String
    where
        K: kube::Resource + serde::de::DeserializeOwned + Send + Sync + 'static,
    {
        let server = Server::answering([answer(200, vec![Ok(EMPTY_LIST)])]);
        let list_watch = HttpListWatch::<K>::new_with(server.client(), scope, &dynamic_type);
        list_watch
            .list(&ListRequest::default(), &nothing())
            .await
            .unwrap();
        server.uris().remove(0)
    }
    let namespaced = || Scope::Namespace("team-a".into());
    assert_eq!(uri_of::<Pod>((), Scope::All).await, "/api/v1/pods");
    assert_eq!(uri_of::<Node>((), Scope::All).await, "/api/v1/nodes");
    assert_eq!(
        uri_of::<Deployment>((), namespaced()).await,
        "/apis/apps/v1/namespaces/team-a/deployments"
    );
    assert_eq!(
        uri_of::<PartialObjectMeta<Deployment>>((), namespaced()).await,
        "/apis/apps/v1/namespaces/team-a/deployments"
    );
    let widgets = ApiResource::from_gvk(&GroupVersionKind::gvk("x.io", "v1", "Widget"));
    assert_eq!(
        uri_of::<DynamicObject>(widgets, namespaced()).await,
        "/apis/x.io/v1/namespaces/team-a/widgets"
    );
}

#[tokio::test]
async fn the_request_becomes_the_query() {
    let body = || answer(200, vec![Ok(EMPTY_LIST)]);
    let server = Server::answering([body(), body(), body(), body()]);
    let pods = HttpListWatch::<Pod>::new(server.client(), Scope::All)
        .with_labels("app in (a,b),tier!=x y")
        .with_fields("spec.nodeName=n");
    let paged = ListRequest {
        resource_version: "9".into(),
        version_match: Some(VersionMatch::NotOlderThan),
        limit: Some(500),
        continue_token: None,
    };
    pods.list(&paged, &nothing()).await.unwrap();
    let next = ListRequest {
        continue_token: Some("a+b/c=".into()),
        ..paged
    };
    pods.list(&next, &nothing()).await.unwrap();
    let watch = WatchRequest {
        resource_version: "9".into(),
        allow_bookmarks: true,
        send_initial_events: false,
        timeout: Some(Duration::from_millis(300_500)),
    };
    pods.watch(&watch, &nothing()).await.unwrap();
    let streaming = WatchRequest {
        resource_version: "".into(),
        send_initial_events: true,
        ..watch
    };
    pods.watch(&streaming, &nothing()).await.unwrap();
    let selectors =
        "labelSelector=app+in+%28a%2Cb%29%2Ctier%21%3Dx+y&fieldSelector=spec.nodeName%3Dn";
    assert_eq!(
        server.uris(),
        [
            format!(
                "/api/v1/pods?{selectors}&limit=500&resourceVersion=9&resourceVersionMatch=NotOlderThan"
            ),
            format!("/api/v1/pods?{selectors}&limit=500&continue=a%2Bb%2Fc%3D"),
            format!(
                "/api/v1/pods?{selectors}&watch=true&resourceVersion=9&allowWatchBookmarks=true&timeoutSeconds=300"
            ),
            format!(
                "/api/v1/pods?{selectors}&watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=300"
            ),
        ]
    );
    assert_eq!(server.header(0, "accept").unwrap(), "application/json");
    assert_eq!(server.header(0, "accept-encoding"), None);
    assert_eq!(server.header(2, "accept-encoding").unwrap(), "identity");
}

#[tokio::test]
async fn metadata_only_types_ask_for_metadata() {
    let server = Server::answering([answer(200, vec![Ok(EMPTY_LIST)]), answer(200, vec![])]);
    let nodes = HttpListWatch::<PartialObjectMeta<Node>>::new(server.client(), Scope::All);
    nodes
        .list(&ListRequest::default(), &nothing())
        .await
        .unwrap();
    let opened = nodes.watch(&WatchRequest::default(), &nothing()).await;
    assert!(opened.unwrap().next().await.is_none());
    assert_eq!(
        server.header(0, "accept").unwrap(),
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
    );
    assert_eq!(
        server.header(1, "accept").unwrap(),
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
    );
}

#[tokio::test]
async fn a_scope_that_is_no_namespace_makes_no_request() {
    let server = Server::default();
    for namespace in ["", "a/b", "..", "a?b", "a b", "é"] {
        let scope = Scope::Namespace(namespace.into());
        let pods = HttpListWatch::<Pod>::new(server.client(), scope);
        let error = pods
            .list(&ListRequest::default(), &nothing())
            .await
            .unwrap_err();
        assert!(matches!(error, ListWatchError::Request(_)), "{namespace}");
    }
    assert!(server.uris().is_empty());
}

#[tokio::test]
async fn a_failure_is_read_as_a_status_with_what_its_headers_add() {
    let mut throttled = answer(429, vec![Ok("Too many "), Ok("requests\n")]);
    throttled
        .headers_mut()
        .insert("retry-after", "3".parse().unwrap());
    let broken_off = answer(503, vec![Ok("half"), Err(io::ErrorKind::ConnectionReset)]);
    let expired = answer(
        410,
        vec![Ok(
            r#"{"kind":"Status","apiVersion":"v1","message":"m","reason":"Expired","code":410}"#,
        )],
    );
    let endless = Response::builder()
        .status(500)
        .body(StreamBody::new(
            stream::repeat_with(|| Ok(Frame::data(Bytes::from_static(&[b'x'; 4096])))).boxed(),
        ))
        .unwrap();
    let server = Server::answering([throttled, broken_off, expired, endless]);
    let pods = HttpListWatch::<Pod>::new(server.client(), Scope::All);
    let mut answers = Vec::new();
    for _ in 0..4 {
        let error = pods
            .watch(&WatchRequest::default(), &nothing())
            .await
            .map(drop)
            .unwrap_err();
        answers.push(error.status().unwrap().clone());
    }
    assert_eq!(answers[0].message, "Too many requests");
    assert_eq!(answers[0].retry_after, Some(Duration::from_secs(3)));
    assert_eq!((answers[1].code, &*answers[1].message), (503, ""));
    assert!(answers[2].is_expired());
    assert_eq!((answers[3].code, &*answers[3].message), (500, ""));
}

#[tokio::test]
async fn a_refused_connection_is_reported() {
    let service = tower::service_fn(|_: Request<Body>| async {
        Err::<Response<Body>, _>(io::Error::from(io::ErrorKind::ConnectionRefused))
    });
    let pods = HttpListWatch::<Pod>::new(kube::Client::new(service, "default"), Scope::All);
    let error = pods
        .list(&ListRequest::default(), &nothing())
        .await
        .unwrap_err();
    assert!(error.is_refused());
}

const FIRST_PAGE: &str = r#"{"metadata":{"resourceVersion":"7","continue":"t"},"items":[
    {"metadata":{"name":"a","resourceVersion":"1"}}]}"#;
const LAST_PAGE: &str = r#"{"metadata":{"resourceVersion":"7"},"items":[
    {"metadata":{"name":"b","resourceVersion":"2"}}]}"#;

fn after(token: &str) -> ListRequest {
    ListRequest {
        continue_token: Some(token.into()),
        limit: Some(500),
        ..ListRequest::default()
    }
}

/// Waits until `server` was asked so often: kube's client has a task that sends.
async fn settle(server: &Server, count: usize) {
    for _ in 0..100 {
        if server.uris().len() >= count {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(server.uris().len(), count);
}

#[tokio::test]
async fn the_next_page_is_asked_for_with_the_present_one_and_only_once() {
    let server = Server::answering([
        answer(200, vec![Ok(FIRST_PAGE)]),
        answer(200, vec![Ok(LAST_PAGE)]),
    ]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
    let first = ListRequest {
        limit: Some(500),
        ..ListRequest::default()
    };
    let page = list_watch.list(&first, &nothing()).await.unwrap();
    assert_eq!(page.continue_token.as_deref(), Some("t"));
    settle(&server, 2).await;
    assert_eq!(
        server.uris(),
        [
            "/api/v1/configmaps?limit=500",
            "/api/v1/configmaps?limit=500&continue=t"
        ]
    );
    let page = list_watch.list(&after("t"), &nothing()).await.unwrap();
    let names = page
        .items
        .iter()
        .map(|item| item.as_ref().unwrap().key().name());
    assert_eq!(names.collect::<Vec<_>>(), ["b"]);
    assert_eq!(page.continue_token, None);
    assert_eq!(server.uris().len(), 2);
}

#[tokio::test]
async fn a_next_page_that_is_not_requested_is_given_up() {
    let page = |body| answer(200, vec![Ok(body)]);
    let server = Server::answering([
        page(FIRST_PAGE),
        page(LAST_PAGE),
        page(LAST_PAGE),
        answer(410, vec![Ok("too old")]),
        page(FIRST_PAGE),
        page(LAST_PAGE),
        page(""),
        page(LAST_PAGE),
    ]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
    let first = ListRequest::default();
    list_watch.list(&first, &nothing()).await.unwrap();
    settle(&server, 2).await;
    // Another list in between: the page after the token is then requested again, and fails by itself.
    list_watch.list(&first, &nothing()).await.unwrap();
    settle(&server, 3).await;
    let failed = list_watch.list(&after("t"), &nothing()).await;
    assert!(failed.unwrap_err().is_expired());
    assert_eq!(server.uris().len(), 4);
    // A watch: the list is over.
    list_watch.list(&first, &nothing()).await.unwrap();
    settle(&server, 6).await;
    let watch = WatchRequest::default();
    drop(list_watch.watch(&watch, &nothing()).await.unwrap());
    list_watch.list(&after("t"), &nothing()).await.unwrap();
    assert_eq!(server.uris().len(), 8);
}

#[tokio::test]
async fn the_failure_of_a_next_page_is_reported_to_the_task_that_asks_for_it() {
    let server = Server::answering([
        answer(200, vec![Ok(FIRST_PAGE)]),
        answer(503, vec![]),
        answer(200, vec![Ok(LAST_PAGE)]),
    ]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
    let page = list_watch.list(&ListRequest::default(), &nothing()).await;
    assert_eq!(page.unwrap().items.len(), 1);
    let failed = list_watch.list(&after("t"), &nothing()).await.unwrap_err();
    assert_eq!(failed.status().unwrap().code, 503);
    let again = list_watch.list(&after("t"), &nothing()).await.unwrap();
    assert_eq!(again.items.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_time_to_wait_that_the_next_page_names_holds_if_the_present_one_breaks_off_later() {
    let page = |end: fn() -> io::Result<&'static str>| {
        let begun = FIRST_PAGE.split_inclusive('[').next().unwrap();
        let later = stream::once(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            end()
        });
        let chunks = stream::iter([Ok(begun)]).chain(later);
        let frames = chunks.map(|chunk| Ok(Frame::data(Bytes::from_static(chunk?.as_bytes()))));
        Response::new(StreamBody::new(frames.boxed()))
    };
    let throttled = || {
        let mut answer = answer(429, vec![]);
        let headers = answer.headers_mut();
        headers.insert("retry-after", "3".parse().unwrap());
        answer
    };
    let breaks_off = || page(|| Err(io::ErrorKind::ConnectionReset.into()));
    let cannot_be_read = page(|| Ok(r#"{"metadata":{}}]}"#));
    for (present, next, want) in [
        (breaks_off(), throttled(), Some(Duration::from_secs(3))),
        (breaks_off(), answer(503, vec![]), None),
        // After such a page another encoding is asked for.
        (cannot_be_read, throttled(), None),
    ] {
        let server = Server::answering([present, next]);
        let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
        let failed = list_watch.list(&ListRequest::default(), &nothing()).await;
        assert_eq!(failed.unwrap_err().retry_after(), want);
        assert_eq!(server.uris().len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_several_threads_a_list_is_in_the_order_of_the_server() {
    let items: Vec<String> = (1..=1000)
        .map(|n| format!(r#"{{"metadata":{{"name":"{n:04}","resourceVersion":"{n}"}}}}"#))
        .collect();
    let items = items.join(",");
    let body: &str =
        format!(r#"{{"metadata":{{"resourceVersion":"9"}},"items":[{items}]}}"#).leak();
    let broken: &str = body.replace(r#""name":"0700","#, "").leak();
    let server = Server::answering([answer(200, vec![Ok(body)]), answer(200, vec![Ok(broken)])]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
    let page = list_watch.list(&ListRequest::default(), &nothing()).await;
    let page = page.unwrap();
    let names = page
        .items
        .iter()
        .map(|item| item.as_ref().unwrap().key().name());
    assert!(names.eq((1..=1000).map(|n| format!("{n:04}"))));
    let error = list_watch.list(&ListRequest::default(), &nothing()).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "the server sent an object without a name"
    );
}

#[tokio::test]
async fn a_large_list_leaves_the_thread_to_others_while_it_is_decoded() {
    let items: Vec<String> = (1..=5000)
        .map(|n| format!(r#"{{"metadata":{{"name":"{n}","resourceVersion":"{n}"}}}}"#))
        .collect();
    let items = items.join(",");
    let body = format!(r#"{{"metadata":{{"resourceVersion":"5000"}},"items":[{items}]}}"#);
    let server = Server::answering([answer(200, vec![Ok(body.leak())])]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
    let (request, held) = (ListRequest::default(), nothing());
    let mut list = pin!(list_watch.list(&request, &held));
    let mut turns = 0;
    let page = loop {
        if let Poll::Ready(page) = futures::poll!(&mut list) {
            break page.unwrap();
        }
        turns += 1;
        tokio::task::yield_now().await;
    };
    assert_eq!(page.items.len(), 5000);
    assert!(turns > 20, "{turns}");
}

const ADDED: &str =
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}}\n";

/// Returns the events of a watch with this body, in short.
async fn events_of(chunks: Vec<Result<&'static str, io::ErrorKind>>) -> Vec<String> {
    let server = Server::answering([answer(200, chunks)]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
    let stream = list_watch
        .watch(&WatchRequest::default(), &nothing())
        .await
        .unwrap();
    let events: Vec<_> = stream.collect().await;
    events
        .into_iter()
        .map(|event| match event {
            Ok(event) => format!("{event:?}").split_once('(').unwrap().0.to_owned(),
            Err(error) => error.to_string(),
        })
        .collect()
}

#[tokio::test]
async fn a_stream_reports_its_end_from_breaking_off() {
    use io::ErrorKind::{ConnectionReset, UnexpectedEof};

    let broken = "the connection failed";
    assert_eq!(
        events_of(vec![Ok(ADDED), Ok(ADDED)]).await,
        ["Added", "Added"]
    );
    assert_eq!(events_of(vec![Ok(ADDED.trim_end())]).await, ["Added"]);
    assert_eq!(
        events_of(vec![Ok(ADDED), Ok(&ADDED[..30])]).await,
        ["Added", broken]
    );
    assert_eq!(
        events_of(vec![Ok(ADDED), Err(ConnectionReset)]).await,
        ["Added", broken]
    );
    assert_eq!(
        events_of(vec![Ok(&ADDED[..30]), Err(UnexpectedEof)]).await,
        [broken]
    );
    assert_eq!(
        events_of(vec![Ok(&ADDED[..30]), Ok(&ADDED[30..])]).await,
        ["Added"]
    );
}

#[tokio::test]
async fn nothing_follows_an_error() {
    let expired = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":410}}\n";
    assert_eq!(events_of(vec![Ok(expired), Ok(ADDED)]).await, ["Error"]);
    assert_eq!(
        events_of(vec![Ok("garbage\n"), Ok(ADDED)]).await,
        ["the server sent a frame that is not an event"]
    );
}

#[tokio::test]
async fn an_open_stream_without_events_is_pending() {
    let silent = Response::new(StreamBody::new(stream::pending().boxed()));
    let server = Server::answering([silent]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
    let mut stream = list_watch
        .watch(&WatchRequest::default(), &nothing())
        .await
        .unwrap();
    assert!(stream.next().now_or_never().is_none());
}

// === Encodings ===

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const JSON: &str = "application/json";
const BOTH: &str = "application/vnd.kubernetes.protobuf,application/json";

fn answer_as(media_type: &str, body: &'static [u8]) -> Answer {
    let frame = Ok(Frame::data(Bytes::from_static(body)));
    let mut answer = Response::new(StreamBody::new(stream::iter([frame]).boxed()));
    let media_type = http::HeaderValue::from_str(media_type).unwrap();
    answer
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, media_type);
    answer
}

/// A list of config maps in protobuf that is empty, at version 7.
const EMPTY_PROTOBUF: &[u8] =
    b"k8s\0\x0a\x13\x0a\x02v1\x12\x0dConfigMapList\x12\x05\x0a\x03\x12\x017";

fn accepted(server: &Server) -> Vec<String> {
    let count = server.uris().len();
    (0..count)
        .map(|n| server.header(n, "accept").unwrap())
        .collect()
}

async fn list_of(list_watch: &HttpListWatch<ConfigMap>) -> Result<String, ListWatchError> {
    let page = list_watch.list(&ListRequest::default(), &nothing()).await?;
    Ok(page.resource_version.to_string())
}

#[tokio::test]
async fn an_encoding_is_asked_for_with_json_as_the_second_choice() {
    for (encoding, expected) in [
        (Encoding::Json, "application/json"),
        (
            Encoding::Protobuf,
            "application/vnd.kubernetes.protobuf,application/json",
        ),
        (Encoding::Cbor, "application/cbor,application/json"),
    ] {
        let server = Server::answering([answer(200, vec![Ok(EMPTY_LIST)]), answer(200, vec![])]);
        let list_watch =
            HttpListWatch::<ConfigMap>::new(server.client(), Scope::All).with_encoding(encoding);
        list_of(&list_watch).await.unwrap();
        let watch = WatchRequest::default();
        drop(list_watch.watch(&watch, &nothing()).await.unwrap());
        assert_eq!(accepted(&server), [expected, expected]);
    }
    let server = Server::answering([answer(200, vec![Ok(EMPTY_LIST)])]);
    let metadata = HttpListWatch::<PartialObjectMeta<ConfigMap>>::new(server.client(), Scope::All)
        .with_encoding(Encoding::Protobuf);
    let page = metadata.list(&ListRequest::default(), &nothing()).await;
    page.unwrap();
    let parameters = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    assert_eq!(
        accepted(&server),
        [format!(
            "{PROTOBUF}{parameters},application/json{parameters},application/json"
        )]
    );
}

#[tokio::test]
async fn an_informer_asks_in_the_encoding_of_its_builder() {
    let server = Server::answering([answer(200, vec![Ok(EMPTY_LIST)])]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
    let informer = SharedInformer::builder(list_watch).with_encoding(Encoding::Cbor);
    let informer = informer.build().unwrap();
    let latest = informer.latest_version(Duration::from_secs(10)).await;
    assert!(latest.is_ok(), "{latest:?}");
    assert_eq!(accepted(&server), ["application/cbor,application/json"]);
}

#[tokio::test]
async fn a_type_that_is_not_built_in_is_asked_for_as_json() {
    let widgets = ApiResource::from_gvk(&GroupVersionKind::gvk("x.io", "v1", "Widget"));
    let server = Server::answering([answer(200, vec![Ok(EMPTY_LIST)])]);
    let list_watch =
        HttpListWatch::<DynamicObject>::new_with(server.client(), Scope::All, &widgets)
            .with_encoding(Encoding::Protobuf);
    let page = list_watch.list(&ListRequest::default(), &nothing()).await;
    page.unwrap();
    assert_eq!(accepted(&server), ["application/json"]);
}

#[tokio::test]
async fn an_answer_is_read_as_what_it_is() {
    let server = Server::answering([
        answer_as(PROTOBUF, EMPTY_PROTOBUF),
        answer_as("application/json; charset=utf-8", EMPTY_LIST.as_bytes()),
        answer_as(
            "APPLICATION/VND.KUBERNETES.PROTOBUF;stream=watch",
            EMPTY_PROTOBUF,
        ),
    ]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All)
        .with_encoding(Encoding::Protobuf);
    for _ in 0..3 {
        assert_eq!(list_of(&list_watch).await.unwrap(), "7");
    }
    assert_eq!(accepted(&server), [BOTH, BOTH, BOTH]);
}

#[tokio::test]
async fn json_is_asked_for_from_then_on_where_the_encoding_is_of_no_use() {
    // What is not acceptable is asked for again at once; a clone knows of it.
    let server = Server::answering([
        answer(406, vec![Ok("406: Not Acceptable")]),
        answer(200, vec![Ok(EMPTY_LIST)]),
        answer(406, vec![Ok("406: Not Acceptable")]),
    ]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All)
        .with_encoding(Encoding::Protobuf);
    let clone = list_watch.clone();
    assert_eq!(list_of(&list_watch).await.unwrap(), "7");
    let failed = list_of(&clone).await.unwrap_err();
    assert_eq!(failed.status().unwrap().code, 406);
    assert_eq!(accepted(&server), [BOTH, JSON, JSON]);

    // A type that was not asked for is read as JSON.
    let server = Server::answering([
        answer_as("text/html", b"<html>"),
        answer(200, vec![Ok(EMPTY_LIST)]),
    ]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All)
        .with_encoding(Encoding::Protobuf);
    assert!(list_of(&list_watch).await.is_err());
    assert_eq!(list_of(&list_watch).await.unwrap(), "7");
    assert_eq!(accepted(&server), [BOTH, JSON]);

    // So is what cannot be read, but not what was broken off.
    let server = Server::answering([
        answer_as(PROTOBUF, &EMPTY_PROTOBUF[..30]),
        answer_as(PROTOBUF, b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
        answer(200, vec![Ok(EMPTY_LIST)]),
    ]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All)
        .with_encoding(Encoding::Protobuf);
    let broken_off = list_of(&list_watch).await.unwrap_err();
    assert!(matches!(broken_off, ListWatchError::Transport(_)));
    let malformed = list_of(&list_watch).await.unwrap_err();
    assert!(matches!(malformed, ListWatchError::Protocol { .. }));
    assert_eq!(list_of(&list_watch).await.unwrap(), "7");
    assert_eq!(accepted(&server), [BOTH, BOTH, JSON]);

    // And so is a watch.
    let server = Server::answering([answer_as(PROTOBUF, b"\0\0\0\x01\xff"), answer(200, vec![])]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All)
        .with_encoding(Encoding::Protobuf);
    for _ in 0..2 {
        let request = WatchRequest::default();
        let stream = list_watch.watch(&request, &nothing()).await.unwrap();
        assert!(stream.collect::<Vec<_>>().await.len() < 2);
    }
    assert_eq!(accepted(&server), [BOTH, JSON]);
}

// === Managed fields ===

const DROP: &str = ";drop=metadata.managedFields";

fn without_managed_fields(server: &Server) -> HttpListWatch<ConfigMap> {
    HttpListWatch::new(server.client(), Scope::All)
        .without_fields([".metadata.managedFields"])
        .unwrap()
}

#[tokio::test]
async fn a_server_is_asked_to_leave_out_the_managed_fields_that_are_not_decoded() {
    let body = || answer(200, vec![Ok(EMPTY_LIST)]);
    let server = Server::answering([body(), answer(200, vec![]), body(), body()]);
    let list_watch = without_managed_fields(&server);
    list_of(&list_watch).await.unwrap();
    let watch = WatchRequest::default();
    drop(list_watch.watch(&watch, &nothing()).await.unwrap());
    let in_protobuf = list_watch.with_encoding(Encoding::Protobuf);
    list_of(&in_protobuf).await.unwrap();
    let others = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All)
        .without_fields([".metadata.annotations"])
        .unwrap();
    list_of(&others).await.unwrap();
    let json = format!("{JSON}{DROP},{JSON}");
    assert_eq!(
        accepted(&server),
        [
            json.clone(),
            json.clone(),
            format!("{PROTOBUF}{DROP},{PROTOBUF},{json}"),
            JSON.to_owned()
        ]
    );
}

#[tokio::test]
async fn a_server_that_refuses_to_leave_out_managed_fields_is_not_asked_to_again() {
    for code in [400, 406, 415] {
        let server = Server::answering([
            answer(code, vec![Ok("unknown parameter: drop")]),
            answer(200, vec![Ok(EMPTY_LIST)]),
            answer(code, vec![Ok("other reasons")]),
        ]);
        let list_watch = without_managed_fields(&server);
        assert_eq!(list_of(&list_watch).await.unwrap(), "7");
        let failed = list_of(&list_watch).await.unwrap_err();
        assert_eq!(failed.status().unwrap().code, code);
        let both = format!("{JSON}{DROP},{JSON}");
        assert_eq!(accepted(&server), [&*both, JSON, JSON]);
    }
}

#[tokio::test]
async fn a_server_that_ignores_the_wish_sends_managed_fields_which_are_skipped() {
    let list = r#"{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","resourceVersion":"1",
        "managedFields":[{"manager":"m"}]}}]}"#;
    let server = Server::answering([answer(200, vec![Ok(list)])]);
    let page = without_managed_fields(&server)
        .list(&ListRequest::default(), &nothing())
        .await;
    let items = page.unwrap().items;
    let item = items[0].as_ref().unwrap().get();
    assert_eq!(item.metadata.name.as_deref(), Some("a"));
    assert_eq!(item.metadata.managed_fields, None);
}
