//! Lines, files, normalised answers, generated and shrunk requests.

use std::path::Path;

use fakeserver::FakeServer;
use serde_json::{Value, json, value::to_raw_value};

use super::{
    Body, Case, Cause, Causes, Corpus, Line, Pair, Request, ServedKinds, Session, SetUp,
    normalised, shrink::Shrinker,
};
use crate::{
    golden::{Endpoint, differences},
    seed::Seed,
};

const UID: &str = "0b1c2d3e-0000-4000-8000-000000000001";

fn check_normalised(raw: &Value, want: &Value) {
    assert_eq!(normalised(raw), *want);
}

fn check_text(raw: &str, want: &str) {
    check_normalised(&json!({"message": raw}), &json!({"message": want}));
}

#[test]
fn values_that_a_server_chooses_are_replaced() {
    check_normalised(
        &json!({"metadata": {"uid": UID, "resourceVersion": "12", "continue": "eyJ9", "generateName": "a-", "name": "a-b4xz9"}}),
        &json!({"metadata": {"uid": "<uid>", "resourceVersion": "<rv>", "continue": "<continue>", "generateName": "a-", "name": "a-<gen>"}}),
    );
    check_normalised(
        &json!({"clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7", "None"], "ports": [{"nodePort": 30007}, {"nodePort": 7}]}),
        &json!({"clusterIP": "<ip>", "clusterIPs": ["<ip>", "None"], "ports": [{"nodePort": "<port>"}, {"nodePort": 7}]}),
    );
    check_normalised(
        &json!({"clusterIP": "None", "continue": "", "resourceVersion": "x", "token": "a.b.c", "retryAfterSeconds": 3}),
        &json!({"clusterIP": "None", "continue": "", "resourceVersion": "x", "token": "<jwt>", "retryAfterSeconds": "<secs>"}),
    );
    check_normalised(
        &json!({"signerName": "a", "username": "jane", "groups": [], "usages": []}),
        &json!({"signerName": "a", "usages": []}),
    );
}

#[test]
fn lists_without_an_order_are_sorted() {
    check_normalised(
        &json!({"managedFields": [{"manager": "b", "time": "now"}, {"manager": "a"}]}),
        &json!({"managedFields": [{"manager": "a"}, {"manager": "b", "time": "<time>"}]}),
    );
    check_normalised(
        &json!({"causes": [{"field": "b"}, {"field": "a", "message": "2"}, {"field": "a", "message": "1"}]}),
        &json!({"causes": [{"field": "a", "message": "1"}, {"field": "a", "message": "2"}, {"field": "b"}]}),
    );
    check_normalised(
        &json!({"columnDefinitions": [{"name": "Name", "description": "..."}]}),
        &json!({"columnDefinitions": [{"name": "Name"}]}),
    );
}

#[test]
fn parts_of_texts_are_replaced() {
    check_text("of 2026-11-24 00:01:02 +0000 UTC", "of <time>");
    check_text("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z");
    check_text("resource version: 7 (9)", "resource version: <n>");
    check_text(
        "ResourceVersion in the precondition (7)",
        "ResourceVersion in the precondition (<n>)",
    );
    check_text(
        r#"{\"resourceVersion\":\"7\"}"#,
        r#"{\"resourceVersion\":\"<n>\"}"#,
    );
    check_text("at 127.0.0.1:443, 0xc00012ab34", "at <host>, <ptr>");
    check_text(r#"in scheme "pkg/x/y.go:9""#, r#"in scheme "<scheme>""#);
}

#[test]
fn numbers_are_equal_by_value() {
    assert_eq!(differences(&json!([1, 0.5]), &json!([1.0, 0.5])), []);
    assert_eq!(differences(&json!(true), &json!(1)).len(), 1);
}

#[test]
fn a_line_is_written_as_it_was_read() {
    for text in [
        r#"{"method":"POST","path":"/p","name":"n","key":"k","body":{"b":1,"a":1.0},"setup":true}"#,
        r#"{"method":"GET","path":"/p","until":true,"setup":true}"#,
        r#"{"cat":"create","kind":"pod","note":"n","method":"POST","path":"/p","headers":{"Accept":"x"},"raw":"{","answer":{"status":400}}"#,
        r#"{"cat":"read","kind":"pod","note":"","method":"GET","path":"/p","answer":{"status":200}}"#,
    ] {
        assert_eq!(Line::parse(text).unwrap().to_text(), text);
    }
    let error_text = |text| Line::parse(text).unwrap_err().to_string();
    assert!(error_text("{}").starts_with("missing field `method`"));
    assert_eq!(
        error_text(r#"{"method":"GET","path":"/p","cat":"read","kind":"pod"}"#),
        "missing field `answer`"
    );
}

#[test]
fn a_compressed_file_has_the_same_lines() {
    let folder = tempfile::tempdir().unwrap();
    let answer = to_raw_value(&json!({"status": 200})).unwrap();
    let line = Line::Case {
        case: case(Request::new("GET", "/api/v1/pods")),
        answer,
    };
    let corpus = Corpus::new(vec![line; 1_000]);
    let read = ["a.jsonl", "a.jsonl.xz"].map(|name| {
        let path = folder.path().join(name);
        let bytes = corpus.to_bytes(&path).unwrap();
        std::fs::write(&path, &bytes).unwrap();
        let read = Corpus::read(&path).unwrap();
        (bytes.len(), read.to_bytes(Path::new("a.jsonl")).unwrap())
    });
    assert_eq!(read[0].1, read[1].1);
    assert!(read[1].0 * 100 < read[0].0, "{} bytes", read[1].0);
    let plain = folder.path().join("a.jsonl");
    let renamed = folder.path().join("b.jsonl.xz");
    std::fs::copy(&plain, &renamed).unwrap();
    Corpus::read(&renamed).unwrap_err();
}

#[test]
fn causes_are_reported_by_kind_status_and_path() {
    let (want, got) = (
        json!({"status": 200, "body": [{"a": 1}]}),
        json!({"status": 200, "body": [{"a": 2}]}),
    );
    let cause = Cause::of("pod", &want, &got, &differences(&want, &got)).unwrap();
    assert_eq!(
        (&*cause.path, &*cause.want, &*cause.got),
        (".body[].a", "200", "200")
    );
    assert_eq!(Cause::of("pod", &want, &want, &[]), None);
    let mut causes = Causes::default();
    let other = Cause {
        kind: "job".to_owned(),
        ..cause.clone()
    };
    causes.add(other.clone(), 0);
    causes.add(cause.clone(), 1);
    causes.add(cause.clone(), 2);
    assert_eq!(
        causes.by_frequency(),
        [(&cause, &[1, 2][..]), (&other, &[0])]
    );
}

fn case(request: Request) -> Case {
    Case {
        category: "create".to_owned(),
        kind: "pod".to_owned(),
        note: String::new(),
        request,
    }
}

/// Shrinks a request for as long as `differs` says that it differs.
fn shrunk(request: Request, differs: impl Fn(&Request) -> bool) -> Request {
    let mut shrinker = Shrinker::new(case(request));
    while let Some(candidate) = shrinker.candidate() {
        if differs(&candidate.request) {
            shrinker.accept(candidate);
        }
    }
    shrinker.into_smallest().request
}

#[test]
fn a_request_is_shrunk_to_the_part_that_matters() {
    let body = json!({
        "metadata": {"name": "a", "labels": {"a": "b", "c": "d"}},
        "spec": {"list": [{"x": 1}, {"x": 2, "y": "a long text of many words"}], "other": {"deep": {"er": 1}}},
    });
    let request = Request::new("POST", "/p?dryRun=All&fieldValidation=Strict")
        .with_header("Accept", "x")
        .with_body(Body::Json(body.to_string()));
    let smallest = shrunk(request, |request| {
        request.body.as_ref().is_some_and(|body| {
            let body: Value = serde_json::from_str(body.text()).unwrap();
            let list = body["spec"]["list"].as_array();
            list.is_some_and(|list| {
                list.iter().any(|item| {
                    item["y"]
                        .as_str()
                        .is_some_and(|text| text.starts_with("a long"))
                })
            })
        })
    });
    assert_eq!(smallest.path, "/p?dryRun=All");
    assert!(smallest.headers.is_empty());
    assert_eq!(
        smallest.body.unwrap().text(),
        json!({"spec": {"list": [{"y": "a long"}]}}).to_string()
    );
}

#[test]
fn a_smaller_request_changes_nothing_either() {
    let options =
        json!({"dryRun": ["All"], "kind": "DeleteOptions", "preconditions": {"uid": "x"}});
    let request =
        Request::new("DELETE", "/p/a?dryRun=All").with_body(Body::Json(options.to_string()));
    let smallest = shrunk(request, |request| {
        assert!(request.is_harmless(), "{request:?}");
        true
    });
    assert_eq!(smallest.path, "/p/a?dryRun=All");
    assert_eq!(smallest.body.unwrap().text(), r#"{"dryRun":["All"]}"#);
}

#[test]
fn requests_that_change_something_are_reported() {
    let with =
        |body: &str| Request::new("DELETE", "/p?dryRun=All").with_body(Body::Json(body.to_owned()));
    assert!(Request::new("GET", "/p").is_harmless());
    assert!(Request::new("POST", "/p?a=b&dryRun=All").is_harmless());
    assert!(Request::new("DELETE", "/p?dryRun=All").is_harmless());
    assert!(with(r#"{"dryRun":["All"]}"#).is_harmless());
    assert!(!with("{}").is_harmless());
    assert!(!Request::new("POST", "/p").is_harmless());
    assert!(!Request::new("PATCH", "/p?dryRun=Allx").is_harmless());
}

#[tokio::test(start_paused = true)]
async fn references_become_the_versions_and_uids_of_the_server() {
    let server = FakeServer::builder().build();
    let mut session = Session::new(Endpoint::in_process(&server));
    let object = r#"{"metadata":{"name":"a"}}"#;
    let create = Request::new("POST", "/api/v1/namespaces/default/configmaps");
    let set_up = SetUp {
        request: create.with_body(Body::Json(object.to_owned())),
        name: Some("a".to_owned()),
        key: Some("map".to_owned()),
        until: false,
    };
    session.set_up(&set_up).await.unwrap();
    // It exists now, and is read.
    session.set_up(&set_up).await.unwrap();
    let update = |version: &str| {
        let object =
            json!({"metadata": {"name": "a", "uid": "${uid:map}", "resourceVersion": version}});
        Request::new("PUT", "/api/v1/namespaces/default/configmaps/a?dryRun=All")
            .with_body(Body::Json(object.to_string()))
    };
    assert_eq!(
        session.ask(&update("${rv:map}")).await.unwrap()["status"],
        200
    );
    assert_eq!(session.ask(&update("1")).await.unwrap()["status"], 409);
    let labelled = json!({"metadata": {"labels": {"a": "b"}}});
    let change = Request::new("PATCH", "/api/v1/namespaces/default/configmaps/a")
        .with_header("Content-Type", "application/merge-patch+json")
        .with_body(Body::Json(labelled.to_string()));
    session.ask(&change).await.unwrap();
    let latest = update("${rv:map}");
    assert_eq!(session.ask(&latest).await.unwrap()["status"], 409);
    session.refresh().await.unwrap();
    assert_eq!(session.ask(&latest).await.unwrap()["status"], 200);
    let unknown = session.ask(&update("${rv:nothing}${x}")).await.unwrap();
    let message = unknown["body"]["message"].as_str().unwrap();
    assert!(message.contains("0${x}"), "{message}");
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn two_fake_servers_differ_nowhere() {
    let servers = [1, 2].map(|seed| FakeServer::builder().with_seed(seed).build());
    let [left, right] = servers
        .each_ref()
        .map(|server| Session::new(Endpoint::in_process(server)));
    let generator = ServedKinds::read(&left)
        .await
        .unwrap()
        .generator(Seed::new(5));
    let mut pair = Pair::new(left, right);
    for set_up in generator.set_up() {
        assert_eq!(pair.set_up(&set_up).await.unwrap(), None);
    }
    for number in 0..1_000 {
        let case = generator.case(number);
        let difference = pair.compare(&case).await.unwrap();
        assert!(difference.is_none(), "{case:?}\n{difference:?}");
    }
    for server in servers {
        server.shutdown().await;
    }
}
