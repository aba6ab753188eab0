//! Tests of compressed answers.

use std::io;

use bytes::Bytes;
use futures::{FutureExt, StreamExt, stream};
use http::Response;
use http_body::Frame;
use http_body_util::StreamBody;
use k8s_openapi::api::core::v1::ConfigMap;

use super::{ADDED, Answer, EMPTY_LIST, Server, answer, list_of, nothing};
use crate::{
    http::{HttpListWatch, Scope},
    list_watch::{ListWatch, ListWatchError, WatchRequest},
};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn compressed_answer(chunks: Vec<io::Result<Vec<u8>>>) -> Answer {
    let frames = chunks
        .into_iter()
        .map(|chunk| chunk.map(|bytes| Frame::data(bytes.into())));
    let mut response = Response::new(StreamBody::new(stream::iter(frames).boxed()));
    let gzip = http::HeaderValue::from_static("gzip");
    response
        .headers_mut()
        .insert(http::header::CONTENT_ENCODING, gzip);
    response
}

fn streaming() -> WatchRequest {
    WatchRequest {
        allow_bookmarks: true,
        send_initial_events: true,
        ..WatchRequest::default()
    }
}

fn asked_codings(server: &Server) -> Vec<Option<String>> {
    let count = server.uris().len();
    (0..count)
        .map(|n| server.header(n, "accept-encoding"))
        .collect()
}

#[tokio::test]
async fn compressed_lists_and_streaming_lists_are_asked_for_and_read() {
    // Each event is a member of the stream, and members are cut anywhere.
    let mut events = [gzip(ADDED), gzip(ADDED), gzip(ADDED)].concat();
    let rest = events.split_off(30);
    let server = Server::answering([
        compressed_answer(vec![Ok(gzip(EMPTY_LIST))]),
        compressed_answer(vec![Ok(events), Ok(rest)]),
        answer(200, vec![]),
    ]);
    let list_watch =
        HttpListWatch::<ConfigMap>::new(server.client(), Scope::All).with_compression();
    assert_eq!(list_of(&list_watch).await.unwrap(), "7");
    let stream = list_watch.watch(&streaming(), &nothing()).await.unwrap();
    let events: Vec<_> = stream.collect().await;
    assert_eq!(events.iter().filter(|event| event.is_ok()).count(), 3);
    let plain = WatchRequest::default();
    drop(list_watch.watch(&plain, &nothing()).await.unwrap());
    let [gzip, identity] = ["gzip", "identity"].map(|coding| Some(coding.to_owned()));
    assert_eq!(asked_codings(&server), [gzip.clone(), gzip, identity]);
}

#[tokio::test]
async fn an_event_is_delivered_while_a_compressed_stream_stays_open() {
    let open = stream::iter([Ok(Frame::data(Bytes::from(gzip(ADDED))))]).chain(stream::pending());
    let mut response = Response::new(StreamBody::new(open.boxed()));
    response
        .headers_mut()
        .insert("content-encoding", http::HeaderValue::from_static("gzip"));
    let server = Server::answering([response]);
    let list_watch =
        HttpListWatch::<ConfigMap>::new(server.client(), Scope::All).with_compression();
    let mut stream = list_watch.watch(&streaming(), &nothing()).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    assert!(stream.next().now_or_never().is_none());
}

#[tokio::test]
async fn a_stream_that_cannot_be_decompressed_is_asked_for_without_compression_next() {
    let cut_off = gzip(ADDED)[..20].to_vec();
    let reset = || Err(io::Error::from(io::ErrorKind::ConnectionReset));
    // By a layer of the client: the header is gone.
    let by_a_layer = answer(200, vec![Ok(ADDED), Err(io::ErrorKind::Other)]);
    for (first, next) in [
        (
            compressed_answer(vec![Ok(b"no gzip at all".to_vec())]),
            "identity",
        ),
        (by_a_layer, "identity"),
        // The connection is to blame.
        (compressed_answer(vec![Ok(cut_off), reset()]), "gzip"),
    ] {
        let server = Server::answering([first, answer(200, vec![])]);
        let list_watch =
            HttpListWatch::<ConfigMap>::new(server.client(), Scope::All).with_compression();
        let stream = list_watch.watch(&streaming(), &nothing()).await.unwrap();
        let events: Vec<_> = stream.collect().await;
        let last = events.into_iter().next_back().unwrap();
        assert!(matches!(last, Err(ListWatchError::Transport(_))));
        drop(list_watch.watch(&streaming(), &nothing()).await.unwrap());
        let codings = asked_codings(&server);
        assert_eq!(codings[1].as_deref(), Some(next));
    }
}

#[tokio::test]
async fn a_compressed_stream_that_was_not_asked_for_is_read_all_the_same() {
    let server = Server::answering([compressed_answer(vec![Ok(gzip(ADDED))])]);
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
    let stream = list_watch.watch(&streaming(), &nothing()).await.unwrap();
    assert_eq!(stream.collect::<Vec<_>>().await.len(), 1);
    assert_eq!(asked_codings(&server), [Some("identity".to_owned())]);
}
