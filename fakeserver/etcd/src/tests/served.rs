//! Servers that begin with the database of a real server's etcd.

use std::{
    fs,
    path::{Path, PathBuf},
};

use axum::body::Body;
use fakeserver_server::{FakeServer, Snapshot, SnapshotError};
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use super::golden::unpacked;

const PREFIX: &str = "/registry";

/// Writes the database of a version into a folder.
fn database(folder: &tempfile::TempDir, version: &str) -> PathBuf {
    let file = folder.path().join(version);
    fs::write(&file, unpacked(&format!("db-{version}.xz"))).unwrap();
    file
}

fn begun(file: &Path, version: &str) -> FakeServer {
    let kubernetes = version.parse().unwrap();
    let snapshot = Snapshot::from_etcd_file(file, PREFIX, kubernetes, |_, _| {}).unwrap();
    FakeServer::builder()
        .with_kubernetes_version(kubernetes)
        .with_snapshot(snapshot)
        .build()
}

async fn send(server: &FakeServer, method: Method, path: &str, body: Body) -> Value {
    let request = Request::builder().method(method).uri(path);
    let request = request
        .header("content-type", "application/json")
        .body(body);
    let answer = server.router().oneshot(request.unwrap()).await.unwrap();
    let code = answer.status();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(code, StatusCode::OK, "{path}: {}", body.escape_ascii());
    serde_json::from_slice(&body).unwrap()
}

async fn get(server: &FakeServer, path: &str) -> Value {
    send(server, Method::GET, path, Body::empty()).await
}

/// Returns the objects of a list by their places, without those that were written after the answers had been given, and the lease of
/// the server itself, which ended with it.
fn items(list: &Value, until: u64) -> Vec<&Value> {
    let items = list["items"].as_array().unwrap().iter();
    items
        .filter(|item| {
            let metadata = &item["metadata"];
            let is_own_lease = metadata["namespace"] == "kube-system"
                && metadata["labels"]["apiserver.kubernetes.io/identity"] == "kube-apiserver";
            let revision = metadata["resourceVersion"].as_str().unwrap_or("0");
            revision.parse::<u64>().unwrap() <= until && !is_own_lease
        })
        .collect()
}

#[tokio::test]
async fn lists_are_those_of_the_real_server() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["1.35", "1.36"] {
        let file = database(&folder, version);
        let server = begun(&file, version);
        let answers = unpacked(&format!("answers-{version}.json.xz"));
        let answers: Value = serde_json::from_slice(&answers).unwrap();
        let mut count = 0;
        for (path, expected) in answers.as_object().unwrap() {
            // Its health is the real server's own.
            if path.ends_with("/componentstatuses") {
                continue;
            }
            let list = get(&server, path).await;
            let until = expected["metadata"]["resourceVersion"].as_str().unwrap();
            let until = until.parse().unwrap();
            assert_eq!(list["kind"], expected["kind"], "{path}");
            let (found, expected) = (items(&list, until), items(expected, until));
            assert_eq!(found, expected, "{version} {path}");
            count += found.len();
        }
        assert!(count > 200, "{count} objects");
        assert_eq!(
            fs::read(&file).unwrap(),
            unpacked(&format!("db-{version}.xz"))
        );
    }
}

#[tokio::test]
async fn the_state_goes_on_from_the_revision_of_etcd() {
    let folder = tempfile::tempdir().unwrap();
    let server = begun(&database(&folder, "1.36"), "1.36");
    let before = server.revision();
    assert!(before >= 651, "{before}");
    let path = "/api/v1/namespaces/corpus/configmaps/base-configmap";
    let mut object = get(&server, path).await;
    assert_eq!(object["metadata"]["resourceVersion"], "226");
    object["data"] = serde_json::json!({"a": "b"});
    let written = send(&server, Method::PUT, path, object.to_string().into()).await;
    assert_eq!(
        written["metadata"]["resourceVersion"],
        (before + 1).to_string()
    );
}

#[tokio::test]
async fn objects_of_kinds_that_a_version_does_not_have_stay_in_its_store() {
    let folder = tempfile::tempdir().unwrap();
    let server = begun(&database(&folder, "1.36"), "1.31");
    let pods = get(&server, "/api/v1/pods").await;
    assert_eq!(pods["items"].as_array().unwrap().len(), 1);
    // 1.31 does not serve them; 1.36 does, and reads what 1.36 has written.
    server.upgrade("1.36".parse().unwrap());
    let policies = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
    let policies = get(&server, policies).await;
    assert_eq!(policies["items"][0]["metadata"]["name"], "base-map");
}

#[test]
fn what_is_no_state_of_a_cluster_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = database(&folder, "1.36");
    let kubernetes = "1.36".parse().unwrap();
    let error = |prefix: &str| {
        let error = Snapshot::from_etcd_file(&file, prefix, kubernetes, |_, _| {}).unwrap_err();
        let SnapshotError::Etcd { source, .. } = error else {
            panic!("{error}");
        };
        source.to_string()
    };
    let other = error("/kubernetes.io");
    assert!(
        other.contains("/kubernetes.io/") && other.contains("/registry"),
        "{other}"
    );
    let mut bytes = fs::read(&file).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(&file, bytes).unwrap();
    let cut = error(PREFIX);
    assert!(cut.contains("page") && cut.contains("cut off"), "{cut}");
    fs::write(&file, "apiVersion: v1").unwrap();
    assert!(error(PREFIX).contains("ends within"));
}
