//! The table after changes of the store.

use std::{sync::Arc, time::Duration};

use fakeserver_kinds::{
    apiregistration::api_service,
    core::{namespace, service},
};
use serde_json::{Value, json};

use super::Aggregator;
use crate::{FakeServer, store::ObjectKey};

fn remote(port: u16) -> Value {
    json!({
        "metadata": {"name": "v1.g"},
        "spec": {
            "group": "g", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
            "service": {"namespace": "n", "name": "s", "port": port},
        },
    })
}

/// Stores an object, or deletes it if it is null.
fn put(server: &FakeServer, key: &ObjectKey, object: Value) {
    let Ok(()) = server.backend().storage.transact(|tx| {
        if object.is_null() {
            tx.delete(key);
        } else {
            tx.put(key, object);
        }
        Ok::<_, std::convert::Infallible>(())
    });
}

fn dirty(server: &FakeServer) -> Vec<String> {
    let (aggregator, storage) = (&server.server().aggregator, &server.backend().storage);
    let names = aggregator.read(storage, super::table::Table::take_dirty);
    names.into_iter().collect()
}

#[test]
fn an_api_is_in_the_table_at_once_and_is_checked_after_changes_of_it_or_its_service() {
    let server = FakeServer::builder().build();
    let (aggregator, storage) = (&server.server().aggregator, &server.backend().storage);
    let key = ObjectKey::cluster(api_service::KIND.storage().clone(), "v1.g");
    let service = |name| ObjectKey::namespaced(service::KIND.storage().clone(), "n", name);
    assert!(aggregator.find(storage, "/apis/g/v1").is_none());
    assert_eq!(dirty(&server), Vec::<String>::new());

    put(&server, &key, remote(443));
    let found = aggregator.find(storage, "/apis/g/v1/things").unwrap();
    assert!(!found.is_available);
    assert_eq!(dirty(&server), ["v1.g"]);
    let mut available = remote(443);
    available["status"] = json!({"conditions": [{"type": "Available", "status": "True"}]});
    put(&server, &key, available);
    assert!(aggregator.find(storage, "/apis/g/v1").unwrap().is_available);
    assert!(dirty(&server).is_empty(), "its own condition is no news");
    put(&server, &service("s"), json!({"metadata": {"name": "s"}}));
    assert_eq!(dirty(&server), ["v1.g"]);
    put(
        &server,
        &service("other"),
        json!({"metadata": {"name": "other"}}),
    );
    let other = ObjectKey::cluster(namespace::KIND.storage().clone(), "s");
    put(&server, &other, json!({"metadata": {"name": "s"}}));
    assert!(dirty(&server).is_empty());
    put(&server, &key, remote(8443));
    assert_eq!(dirty(&server), ["v1.g"]);

    put(&server, &key, Value::Null);
    assert!(aggregator.find(storage, "/apis/g/v1").is_none());
    assert!(dirty(&server).is_empty());
}

#[test]
fn a_reset_forgets_and_a_stored_state_is_read() {
    let server = FakeServer::builder().build();
    let (aggregator, storage) = (&server.server().aggregator, &server.backend().storage);
    let key = ObjectKey::cluster(api_service::KIND.storage().clone(), "v1.g");
    put(&server, &key, remote(443));
    assert!(aggregator.find(storage, "/apis/g/v1").is_some());
    let snapshot = server.snapshot();
    server.reset();
    assert!(aggregator.find(storage, "/apis/g/v1").is_none());
    let restored = FakeServer::builder().with_snapshot(snapshot).build();
    let aggregator: &Arc<Aggregator> = &restored.server().aggregator;
    let found = aggregator.find(&restored.backend().storage, "/apis/g/v1");
    assert_eq!(found.unwrap().api.service.port, 443);
    assert_eq!(dirty(&restored), ["v1.g"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_such_apis_does_nothing_at_any_time() {
    let server = FakeServer::builder().build();
    server.server().start();
    let before = server.revision();
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(server.revision(), before);
    assert!(!server.server().aggregator.is_needed());
}
