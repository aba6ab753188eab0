//! Servers that go on where others stopped.

use std::path::PathBuf;

use axum::body::Body;
use fakeserver::{BuildError, FakeServer, Restart, Snapshot};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Answer, Api, CONFIG_MAPS, version};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

fn definition() -> Value {
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "selectableFields": [{"jsonPath": ".spec.color"}],
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": {"type": "object", "properties": {
                        "color": {"type": "string"},
                    }}},
                }},
            }],
        },
    })
}

/// A server with objects of several types, some of them changed and deleted.
async fn lived_in() -> Api {
    let api = Api::new();
    api.post(DEFINITIONS, &definition()).await.created();
    for color in ["red", "blue"] {
        let widget = json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": color}, "spec": {"color": color}});
        api.post(WIDGETS, &widget).await.created();
    }
    for name in ["a", "b", "c"] {
        api.config_map(name).await;
    }
    api.merge(&format!("{CONFIG_MAPS}/a"), &json!({"data": {"k": "w"}}))
        .await
        .ok();
    api.delete(&format!("{CONFIG_MAPS}/b")).await.ok();
    api
}

fn restored(snapshot: Snapshot, restart: Restart) -> Api {
    let builder = FakeServer::builder().with_seed(99).with_restart(restart);
    Api {
        server: builder.with_snapshot(snapshot).build(),
    }
}

/// The first event of a watch, or its refusal.
async fn watch(api: &Api, from: u64) -> Answer {
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={from}&timeoutSeconds=1");
    api.send("GET", &path, &[], Body::empty()).await
}

#[tokio::test]
async fn a_restored_server_answers_like_the_original() {
    let first = lived_in().await;
    let second = restored(first.server.snapshot(), Restart::Keep);
    for path in [
        CONFIG_MAPS,
        WIDGETS,
        DEFINITIONS,
        "/api/v1/namespaces",
        "/apis",
    ] {
        let (was, is) = (first.get(path).await, second.get(path).await);
        assert_eq!(is.text, was.text, "{path}");
    }
    assert_eq!(second.server.revision(), first.server.revision());
    let red = format!("{WIDGETS}?fieldSelector=spec.color%3Dred");
    let found = second.get(&red).await.ok();
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    // Both go on the same way: nothing that was drawn is drawn again.
    assert_eq!(
        second.config_map("next").await,
        first.config_map("next").await
    );
}

#[tokio::test(start_paused = true)]
async fn revisions_continue_after_a_restart() {
    let first = lived_in().await;
    let then = first.server.revision();
    let second = restored(first.server.snapshot(), Restart::Keep);
    let created = second.config_map("new").await;
    assert_eq!(version(&created), then + 1);
    let goes_on = watch(&second, then).await;
    assert!(
        goes_on.text.starts_with("{\"type\":\"ADDED\""),
        "{goes_on:?}"
    );
    let too_old = watch(&second, then - 1).await;
    assert!(too_old.text.contains("\"code\":410"), "{too_old:?}");
    let exact = format!(
        "{CONFIG_MAPS}?resourceVersion={}&resourceVersionMatch=Exact",
        then - 1
    );
    second.get(&exact).await.refused(410);
}

#[tokio::test(start_paused = true)]
async fn revisions_move_on_so_that_clients_list_again() {
    let first = lived_in().await;
    let then = first.server.revision();
    let second = restored(first.server.snapshot(), Restart::Advance);
    assert_eq!(second.server.revision(), then + 1_000_000);
    let too_old = watch(&second, then).await;
    assert!(too_old.text.contains("\"code\":410"), "{too_old:?}");
    // Objects keep their versions, so that who holds one can still write it.
    let path = format!("{CONFIG_MAPS}/a");
    let mut held = first.get(&path).await.ok();
    assert_eq!(second.get(&path).await.ok(), held);
    held["data"]["k"] = json!("again");
    let updated = second.put(&path, &held).await.ok();
    assert_eq!(version(&updated), then + 1_000_001);
    let list = second.get(CONFIG_MAPS).await.ok();
    assert_eq!(version(&list), then + 1_000_001);
}

#[tokio::test(start_paused = true)]
async fn terminating_objects_are_gone_after_a_restart() {
    let first = lived_in().await;
    let namespace = json!({"metadata": {"name": "team"}});
    first.post("/api/v1/namespaces", &namespace).await.created();
    let object = json!({"metadata": {"name": "x"}});
    first
        .post("/api/v1/namespaces/team/configmaps", &object)
        .await
        .created();
    first.delete("/api/v1/namespaces/team").await.ok();
    first
        .delete(&format!("{DEFINITIONS}/widgets.example.com"))
        .await
        .ok();
    let second = restored(first.server.snapshot(), Restart::Keep);
    first.get("/api/v1/namespaces/team/configmaps/x").await.ok();
    second.get("/api/v1/namespaces/team").await.refused(404);
    second
        .get("/api/v1/namespaces/team/configmaps/x")
        .await
        .refused(404);
    second
        .get(&format!("{DEFINITIONS}/widgets.example.com"))
        .await
        .refused(404);
    second.get(WIDGETS).await.refused_plainly(404);
    second.get(&format!("{CONFIG_MAPS}/a")).await.ok();
}

#[tokio::test]
async fn resetting_goes_back_to_the_snapshot() {
    let snapshot = lived_in().await.server.snapshot();
    let api = restored(snapshot.clone(), Restart::Keep);
    api.delete(&format!("{CONFIG_MAPS}/a")).await.ok();
    let gone = api.config_map("new").await;
    api.server.reset();
    assert_eq!(api.server.revision(), snapshot.revision());
    api.get(&format!("{CONFIG_MAPS}/a")).await.ok();
    api.get(&format!("{CONFIG_MAPS}/new")).await.refused(404);
    let again = api.config_map("new").await;
    assert_ne!(
        again["metadata"]["uid"], gone["metadata"]["uid"],
        "uids go on"
    );
}

fn kept_in(file: &PathBuf) -> Api {
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "first"}});
    let builder = FakeServer::builder()
        .with_object(&object)
        .with_data_file(file);
    Api {
        server: builder.build(),
    }
}

#[tokio::test]
async fn a_server_keeps_its_state_in_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state");
    let api = kept_in(&file);
    assert!(api.server.save().unwrap());
    assert!(!api.server.save().unwrap(), "nothing has changed");
    let created = api.config_map("a").await;
    api.delete(&format!("{CONFIG_MAPS}/first")).await.ok();
    let posted = api
        .send("POST", "/_control/snapshot", &[], Body::empty())
        .await;
    assert_eq!(posted.code, StatusCode::NO_CONTENT);
    api.get(CONFIG_MAPS).await.ok();
    assert!(!api.server.save().unwrap(), "it was saved just now");

    let taken = FakeServer::builder().with_data_file(&file).try_build();
    let Err(BuildError::Data(error)) = taken else {
        panic!("two servers on one file");
    };
    assert!(error.is_in_use());
    drop(api);

    let api = kept_in(&file);
    assert_eq!(api.get(&format!("{CONFIG_MAPS}/a")).await.ok(), created);
    api.get(&format!("{CONFIG_MAPS}/first")).await.refused(404);
    // Back to what it is without the file.
    api.server.reset();
    api.get(&format!("{CONFIG_MAPS}/first")).await.ok();
    api.get(&format!("{CONFIG_MAPS}/a")).await.refused(404);
}

#[tokio::test]
async fn another_state_of_the_same_revision_is_saved() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state");
    let api = kept_in(&file);
    api.config_map("a").await;
    assert!(api.server.save().unwrap());
    let saved = api.server.revision();
    api.server.reset();
    api.config_map("b").await;
    assert_eq!(api.server.revision(), saved);
    assert!(api.server.save().unwrap());
    drop(api);
    kept_in(&file).get(&format!("{CONFIG_MAPS}/b")).await.ok();
}

#[tokio::test]
async fn a_damaged_file_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state");
    lived_in().await.server.snapshot().write(&file).unwrap();
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let refused = FakeServer::builder().with_data_file(&file).try_build();
    let Err(BuildError::Data(error)) = refused else {
        panic!("taken");
    };
    assert!(error.to_string().contains("state, line "), "{error}");
    assert_eq!(std::fs::read(&file).unwrap().len(), whole.len() / 2);
}

#[tokio::test]
async fn a_snapshot_can_be_had_and_needs_a_file_to_be_kept() {
    let api = lived_in().await;
    let posted = api
        .send("POST", "/_control/snapshot", &[], Body::empty())
        .await;
    assert_eq!(posted.code, StatusCode::CONFLICT);
    assert!(posted.text.contains("--data FILE"), "{posted:?}");
    let had = api.get("/_control/snapshot").await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state");
    std::fs::write(&file, &had.bytes).unwrap();
    let snapshot = Snapshot::read(&file).unwrap();
    assert_eq!(snapshot.revision(), api.server.revision());
    assert_eq!(snapshot.len(), api.server.snapshot().len());
}
