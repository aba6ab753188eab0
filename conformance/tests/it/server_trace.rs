//! Traces that a fake server writes of itself, read by this crate.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    process::Command,
    sync::{Arc, Mutex},
};

use axum::body::{Body, to_bytes};
use conformance::tracefile::{Ending, EventKind, NewState, Role, TraceFile};
use fakeserver::{FakeServer, TraceLog, faults::FaultSpec};
use http::Request;
use serde_json::{Value, json};
use tower::ServiceExt;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The bytes that a server has written.
#[derive(Clone, Default)]
struct WrittenBytes(Arc<Mutex<Vec<u8>>>);

impl Write for WrittenBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WrittenBytes {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Returns a server whose trace begins, and what it writes.
fn traced() -> (FakeServer, WrittenBytes) {
    let written = WrittenBytes::default();
    let log = TraceLog::to_writer(written.clone(), "a test");
    (FakeServer::builder().with_trace(log).build(), written)
}

/// Returns the code and the body of the answer to a client's request.
async fn ask(server: &FakeServer, method: &str, path: &str, body: Value) -> (u16, Value) {
    let kind = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = Request::builder().method(method).uri(path);
    let request = request
        .header("content-type", kind)
        .header("user-agent", "curious/1");
    let body = match body {
        Value::Null => Body::empty(),
        body => Body::from(body.to_string()),
    };
    let answer = server
        .router()
        .oneshot(request.body(body).unwrap())
        .await
        .unwrap();
    let code = answer.status().as_u16();
    let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    (code, serde_json::from_slice(&body).unwrap_or_default())
}

/// Returns the objects that the changes of a trace lead to, by number.
fn objects(file: &TraceFile) -> BTreeMap<usize, Value> {
    let mut objects = BTreeMap::new();
    for event in &file.events {
        let EventKind::Change {
            object,
            revision,
            state,
        } = &event.kind
        else {
            continue;
        };
        match state {
            NewState::New(value) => drop(objects.insert(*object, value.clone())),
            NewState::Merge(patch) => json_patch::merge(objects.get_mut(object).unwrap(), patch),
            NewState::Patch(steps) => {
                let steps: json_patch::Patch = serde_json::from_value(steps.clone()).unwrap();
                json_patch::patch(objects.get_mut(object).unwrap(), &steps).unwrap();
            }
            NewState::Gone(_) => drop(objects.remove(object)),
        }
        if let Some(value) = objects.get_mut(object) {
            value["metadata"]["resourceVersion"] = revision.to_string().into();
        }
    }
    objects
}

/// Returns the numbers of the requests of this verb, and the codes and ends of their answers.
fn answers(file: &TraceFile, wanted: &str) -> Vec<(usize, Option<u16>, Option<Ending>)> {
    let requests = file.events.iter().filter_map(|event| match &event.kind {
        EventKind::Request { request, verb, .. } if verb == wanted => Some(*request),
        _ => None,
    });
    let answer = |number| {
        let mut found = (number, None, None);
        for event in &file.events {
            match &event.kind {
                EventKind::Answer { request, code, .. } if *request == number => found.1 = *code,
                EventKind::End { request, how } if *request == number => found.2 = Some(*how),
                _ => {}
            }
        }
        found
    };
    requests.map(answer).collect()
}

/// Returns a deployment `web`.
fn deployment() -> Value {
    let spec = json!({
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    });
    json!({"metadata": {"name": "web", "labels": {"a": "b"}}, "spec": spec})
}

#[tokio::test]
async fn the_changes_of_a_trace_lead_to_what_the_server_has() {
    let (server, written) = traced();
    assert_eq!(ask(&server, "POST", DEPLOYMENTS, deployment()).await.0, 201);
    let path = format!("{DEPLOYMENTS}/web");
    for patch in [
        json!({"spec": {"replicas": 3}}),
        json!({"metadata": {"labels": {"a": null, "c": "d"}}}),
        json!({"metadata": {"annotations": {"text": "<b>"}}}),
    ] {
        assert_eq!(ask(&server, "PATCH", &path, patch).await.0, 200);
    }
    let map = |name| json!({"metadata": {"name": name}, "data": {"k": "v"}});
    for name in ["kept", "gone"] {
        assert_eq!(ask(&server, "POST", CONFIG_MAPS, map(name)).await.0, 201);
    }
    assert_eq!(ask(&server, "POST", CONFIG_MAPS, map("kept")).await.0, 409);
    let gone = format!("{CONFIG_MAPS}/gone");
    assert_eq!(ask(&server, "DELETE", &gone, Value::Null).await.0, 200);

    let file = TraceFile::read(&written.text()).unwrap();
    assert!(!file.is_complete);
    assert_eq!(file.unknown_count, 0);
    assert_eq!(file.header.title, "a test");
    let objects: Vec<Value> = objects(&file).into_values().collect();
    let kept = format!("{CONFIG_MAPS}/kept");
    let expected = [
        ask(&server, "GET", &path, Value::Null).await.1,
        ask(&server, "GET", &kept, Value::Null).await.1,
    ];
    assert_eq!(objects, expected);
    let names: Vec<_> = file
        .objects
        .iter()
        .map(|name| (&*name.kind, name.title()))
        .collect();
    assert_eq!(
        names[0],
        ("Deployment", "deployments.apps default/web".to_owned())
    );
    let merged = |event: &&conformance::tracefile::Event| {
        matches!(
            &event.kind,
            EventKind::Change {
                state: NewState::Merge(_) | NewState::Patch(_),
                ..
            }
        )
    };
    assert_eq!(file.events.iter().filter(merged).count(), 3);

    assert_eq!(file.actors[1].name, "curious");
    assert_eq!(file.actors[1].role, Role::Client);
    let codes: Vec<_> = answers(&file, "create")
        .iter()
        .map(|answer| answer.1)
        .collect();
    assert_eq!(codes, [Some(201), Some(201), Some(201), Some(409)]);
    assert!(
        answers(&file, "patch")
            .iter()
            .all(|answer| answer.2 == Some(Ending::Clean))
    );
    server.shutdown().await;
    let file = TraceFile::read(&written.text()).unwrap();
    assert!(file.is_complete, "the file has an end");
}

#[tokio::test]
async fn a_watch_ends_with_its_client_and_a_fault_when_it_is_removed() {
    let (server, written) = traced();
    // The server follows the faults.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stop = tokio_util::sync::CancellationToken::new();
    let mut serving = Box::pin(server.serve(listener, stop.clone()));
    let watch = Request::get("/api/v1/pods?watch=1")
        .body(Body::empty())
        .unwrap();
    let answer = server.router().oneshot(watch).await.unwrap();
    drop(answer);
    let spec = json!({"fault": "throttle", "match": {"resource": "configmaps"}});
    let spec: FaultSpec = serde_json::from_value(spec).unwrap();
    let guard = server.faults().install_spec(&spec);
    let line_count = async |part: &str| {
        while !written.text().contains(part) {
            tokio::task::yield_now().await;
        }
    };
    let patience = std::time::Duration::from_secs(20);
    let all = async {
        line_count(r#""k":"fault""#).await;
        assert_eq!(ask(&server, "GET", CONFIG_MAPS, Value::Null).await.0, 429);
        drop(guard);
        line_count(r#""k":"heal""#).await;
    };
    tokio::select! {
        () = &mut serving => panic!("it still serves"),
        done = tokio::time::timeout(patience, all) => done.unwrap(),
    }
    stop.cancel();
    serving.await;

    let file = TraceFile::read(&written.text()).unwrap();
    assert_eq!(answers(&file, "watch")[0].1, Some(200));
    assert_eq!(answers(&file, "watch")[0].2, Some(Ending::Dropped));
    assert_eq!(answers(&file, "list")[0].1, Some(429));
    let line_count = file.events.iter().find_map(|event| match &event.kind {
        EventKind::Fault { say, .. } => Some(say.clone()),
        _ => None,
    });
    assert!(line_count.unwrap().contains("throttle"));
}

#[tokio::test]
async fn the_program_shows_the_trace_of_a_server_through_a_reset() {
    let (server, written) = traced();
    let map = json!({"metadata": {"name": "one"}, "data": {"k": "<img src=x>"}});
    assert_eq!(ask(&server, "POST", CONFIG_MAPS, map.clone()).await.0, 201);
    let before = written.text().lines().count();
    server.reset();
    let line_count = written.text().lines().count() - before;
    assert!(
        line_count < 5,
        "a reset is written in a few lines, not {line_count}"
    );
    assert_eq!(ask(&server, "POST", CONFIG_MAPS, map).await.0, 201);
    server.shutdown().await;

    let folder = tempfile::tempdir().unwrap();
    let (trace, page) = (
        folder.path().join("trace.jsonl"),
        folder.path().join("page.html"),
    );
    std::fs::write(&trace, written.text()).unwrap();
    let shown_by_program = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .arg("trace")
        .arg(&trace)
        .output()
        .unwrap();
    let text = String::from_utf8(shown_by_program.stdout).unwrap();
    for part in [
        "POST /api/v1/namespaces/default/configmaps",
        "the server was reset",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(
        text.matches("configmaps default/one made").count(),
        2,
        "{text}"
    );
    let made = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .arg("trace")
        .arg(&trace)
        .arg("--html")
        .arg(&page)
        .output()
        .unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        !page.contains("<img src=x>"),
        "what is in objects is no HTML"
    );
}
