//! Requests that are too long, too slow, too many or no requests at all.

use std::{convert::Infallible, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use fakeserver::{FakeServer, faults::Latency};
use futures::{StreamExt, stream};
use http::StatusCode;
use serde_json::json;
use tower::ServiceExt;

use crate::support::{Api, CONFIG_MAPS, PODS};

const TIMED_OUT: &str = concat!(
    r#"{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","#,
    r#""reason":"Timeout","details":{},"code":504}"#,
    "\n",
);

/// A body that never comes to its end.
fn unending() -> Body {
    let part = Ok::<_, Infallible>(Bytes::from_static(b"{\"metadata\":"));
    Body::from_stream(stream::iter([part]).chain(stream::pending()))
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_to_its_end_is_waited_for_a_minute() {
    let api = Api::new();
    let before = api.server.revision();
    let start = tokio::time::Instant::now();
    let answer = api.send("POST", CONFIG_MAPS, &[], unending()).await;
    assert_eq!(answer.code, StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(answer.text, TIMED_OUT);
    assert_eq!(answer.headers["content-type"], "text/plain; charset=utf-8");
    assert!(answer.headers.contains_key("audit-id"));
    assert_eq!(start.elapsed(), Duration::from_mins(1));

    // A client can have less time, and not more.
    for (timeout, expected) in [("2s", 2), ("500ms", 0), ("2h", 60), ("0s", 60)] {
        let start = tokio::time::Instant::now();
        let path = format!("{CONFIG_MAPS}?timeout={timeout}");
        let answer = api.send("POST", &path, &[], unending()).await;
        assert_eq!(answer.text, TIMED_OUT);
        assert_eq!(start.elapsed().as_secs(), expected, "{timeout}");
    }
    assert_eq!(api.server.revision(), before);
}

#[tokio::test(start_paused = true)]
async fn a_fault_is_waited_for_as_long_as_an_object() {
    let api = Api::new();
    let start = tokio::time::Instant::now();
    let answer = api.send("POST", "/_control/faults", &[], unending()).await;
    assert_eq!(answer.code, StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(answer.text, TIMED_OUT);
    assert_eq!(start.elapsed(), Duration::from_mins(1));
}

#[tokio::test]
async fn an_object_is_as_large_as_etcd_takes_it() {
    let api = Api::new();
    let path = "/apis/apps/v1/namespaces/default/controllerrevisions";
    let revision = |size: usize| {
        json!({
            "metadata": {"name": "r"},
            "revision": 1,
            "data": {"text": "x".repeat(size)},
        })
    };
    let too_large = "etcdserver: request is too large";
    let refused = api.post(path, &revision(2_000_000)).await;
    assert_eq!(refused.json()["reason"], serde_json::Value::Null);
    assert_eq!(refused.refused(500), too_large);
    let message = api.post(path, &revision(2_200_000)).await.refused(500);
    assert!(
        message.starts_with(
            "rpc error: code = ResourceExhausted desc = trying to send message larger than max ("
        ),
        "{message}"
    );
    // Nothing is stored in a dry run.
    let dry_run = format!("{path}?dryRun=All");
    api.post(&dry_run, &revision(2_000_000)).await.created();
    let before = api.server.revision();
    api.post(path, &revision(1_500_000)).await.created();
    let annotated = json!({"metadata": {"annotations": {"a": "x".repeat(200_000)}}});
    let path = format!("{path}/r");
    assert_eq!(api.merge(&path, &annotated).await.refused(500), too_large);
    assert_eq!(api.server.revision(), before + 1);
}

#[tokio::test(start_paused = true)]
async fn a_request_has_the_time_that_it_asks_for() {
    let api = Api::new();
    api.get(&format!("{CONFIG_MAPS}?timeout=10s")).await.ok();
    let answer = api.get(&format!("{CONFIG_MAPS}?timeout=1ns")).await;
    assert_eq!(
        (answer.code.as_u16(), answer.text.as_str()),
        (504, TIMED_OUT)
    );
    assert_eq!(
        api.get(&format!("{CONFIG_MAPS}?timeout=foo"))
            .await
            .refused(400),
        "invalid timeout specified in the request URL - time: invalid duration \"foo\""
    );
    for path in ["/api", "/version", "/nope", "/healthz"] {
        let answer = api.get(&format!("{path}?timeout=foo")).await;
        assert!(
            !answer
                .headers
                .contains_key("x-kubernetes-pf-flowschema-uid")
        );
        assert_eq!(
            answer.refused(400),
            "invalid timeout specified in the request URL - time: invalid duration \"foo\"",
            "{path}"
        );
    }
    // A read that waits for a version gives up earlier, if it is to.
    let path = format!("{CONFIG_MAPS}?resourceVersion=99999&timeout=1s");
    assert_eq!(api.get(&path).await.text, TIMED_OUT);
    // A watch has a parameter of its own.
    let start = tokio::time::Instant::now();
    let watch = format!("{CONFIG_MAPS}?watch=1&timeout=foo&timeoutSeconds=100");
    assert_eq!(api.get(&watch).await.code, StatusCode::OK);
    assert_eq!(start.elapsed(), Duration::from_secs(100));
}

#[tokio::test]
async fn a_body_without_a_length_has_the_same_limit() {
    let api = Api::new();
    let part = Bytes::from(vec![b' '; 1 << 20]);
    for (parts, expected) in [(3, 400), (4, 413)] {
        let parts = vec![Ok::<_, Infallible>(part.clone()); parts];
        let body = Body::from_stream(stream::iter(parts));
        let answer = api.send("POST", CONFIG_MAPS, &[], body).await;
        let message = answer.refused(expected);
        let is_limit = message == "Request entity too large: limit is 3145728";
        assert_eq!(is_limit, expected == 413, "{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn requests_beyond_the_limit_are_refused_and_watches_are_not() {
    let server = FakeServer::builder()
        .with_max_requests_in_flight(2)
        .with_max_mutating_requests_in_flight(1)
        .build();
    let api = Api { server };
    let slow = api.server.faults().install(
        Latency {
            request_ms: 5_000,
            ..Latency::default()
        }
        .rule(),
    );
    let late = async || {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let read = api.get(CONFIG_MAPS).await;
        assert_eq!(read.code, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(read.text, "Too many requests, please try again later.\n");
        assert_eq!(read.headers["retry-after"], "1");
        assert_eq!(read.headers["x-content-type-options"], "nosniff");
        assert!(read.headers.contains_key("x-kubernetes-pf-flowschema-uid"));
        let written = api
            .post(CONFIG_MAPS, &json!({"metadata": {"name": "b"}}))
            .await;
        assert_eq!(written.code, StatusCode::TOO_MANY_REQUESTS);
        let watch = api.get(&format!("{PODS}?watch=1&timeoutSeconds=1")).await;
        assert_eq!(watch.code, StatusCode::OK);
        assert_eq!(api.get("/_control/stats").await.code, StatusCode::OK);
    };
    let object = json!({"metadata": {"name": "a"}});
    let (first, second, written, ()) = tokio::join!(
        api.get(CONFIG_MAPS),
        api.get(PODS),
        api.post(CONFIG_MAPS, &object),
        late(),
    );
    first.ok();
    second.ok();
    written.created();
    drop(slow);
    // Whose answer was sent counts no more.
    api.get(CONFIG_MAPS).await.ok();
    api.post(CONFIG_MAPS, &json!({"metadata": {"name": "b"}}))
        .await
        .created();
}

#[tokio::test]
async fn methods_that_nothing_has_are_refused_as_recorded() {
    let api = Api::new();
    api.config_map("a").await;
    let object = format!("{CONFIG_MAPS}/a");
    for path in [CONFIG_MAPS, object.as_str(), PODS] {
        for method in ["HEAD", "OPTIONS", "TRACE", "BREW"] {
            let answer = api.send(method, path, &[], "").await;
            assert_eq!(answer.headers["content-type"], "application/json");
            assert!(answer.headers.contains_key("audit-id"));
            if method == "HEAD" {
                assert_eq!(answer.refused_plainly(405), "", "the headers, and no body");
                continue;
            }
            assert_eq!(
                answer.refused(405),
                "the server does not allow this method on the requested resource",
                "{method} {path}"
            );
        }
    }
}

#[tokio::test]
async fn invalid_escapes_are_bad_requests() {
    let api = Api::new();
    for path in ["/api/v1/pods/%zz", "/api/v1/pods%", "/%4", "/_control/%g0"] {
        let answer = api.get(path).await;
        assert_eq!(answer.refused_plainly(400), "400 Bad Request", "{path}");
    }
    // Of a query, only what cannot be read is left out.
    api.config_map("a").await;
    let list = api
        .get(&format!(
            "{CONFIG_MAPS}?%zz=1&limit=1;x&labelSelector=a%3Db"
        ))
        .await;
    assert_eq!(list.ok()["items"], json!([]));
}

#[tokio::test]
async fn a_name_is_one_part_of_a_path() {
    let api = Api::new();
    for (name, why) in [
        ("..", "may not be '..'"),
        (".", "may not be '.'"),
        ("a%25b", "may not contain '%'"),
    ] {
        let decoded = name.replace("%25", "%");
        let expected = format!("Name parameter invalid: {decoded:?}: {why}");
        for method in ["GET", "DELETE"] {
            let path = format!("{CONFIG_MAPS}/{name}");
            assert_eq!(
                api.send(method, &path, &[], "").await.refused(400),
                expected
            );
        }
    }
    // An escaped slash divides like any other.
    let escaped = "/api/v1/namespaces/default%2Fconfigmaps";
    api.get(escaped).await.ok();
}

#[tokio::test]
async fn invalid_parameters_are_rejected() {
    let api = Api::new();
    for (query, expected) in [
        (
            "limit=abc",
            "strconv.ParseInt: parsing \"abc\": invalid syntax",
        ),
        ("limit=", "strconv.ParseInt: parsing \"\": invalid syntax"),
        (
            "limit=99999999999999999999",
            "strconv.ParseInt: parsing \"99999999999999999999\": value out of range",
        ),
        (
            "timeoutSeconds=x",
            "strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
        (
            "watch=maybe&timeoutSeconds=x",
            "strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
    ] {
        let path = format!("{CONFIG_MAPS}?{query}");
        assert_eq!(api.get(&path).await.refused(400), expected, "{query}");
    }
    // Any value other than false is true.
    let watch = api
        .get(&format!("{CONFIG_MAPS}?watch=maybe&resourceVersion=abc"))
        .await;
    assert_eq!(watch.code, StatusCode::INTERNAL_SERVER_ERROR);
    let list = api.get(&format!("{CONFIG_MAPS}?watch=0&limit=-1")).await;
    assert_eq!(list.ok()["items"], json!([]));
}

#[tokio::test]
async fn the_log_truncates_long_values() {
    let api = Api::new();
    let long = "x".repeat(20_000);
    let path = format!("{CONFIG_MAPS}/{long}?labelSelector={long}");
    api.send("GET", &path, &[("user-agent", &long)], "").await;
    let requests = api.server.requests();
    let request = &requests[0];
    let facts = &request.facts;
    assert_eq!((facts.verb, &*facts.resource), ("get", "configmaps"));
    assert_eq!(request.path.len(), 8 << 10);
    assert!(facts.name.as_ref().unwrap().len() < 8 << 10);
    assert!(request.parameter("labelSelector").unwrap().len() < 8 << 10);
    assert_eq!(request.user_agent.len(), 1 << 10);
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_keeps_its_place_for_a_minute() {
    let server = FakeServer::builder().with_max_requests_in_flight(1).build();
    let api = Api { server };
    let request = http::Request::get(CONFIG_MAPS).body(Body::empty()).unwrap();
    let answer = api.server.router().oneshot(request).await.unwrap();
    tokio::time::sleep(Duration::from_secs(59)).await;
    let refused = api.get(CONFIG_MAPS).await;
    assert_eq!(refused.code, StatusCode::TOO_MANY_REQUESTS);
    tokio::time::sleep(Duration::from_secs(2)).await;
    api.get(CONFIG_MAPS).await.ok();
    assert!(
        axum::body::to_bytes(answer.into_body(), 1 << 20)
            .await
            .is_err()
    );
}
