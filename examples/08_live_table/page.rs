//! The page and what feeds it: an informer's notifications and its status, as server-sent events.

use axum::{
    Router,
    extract::State,
    response::{Html, Sse, sse::Event},
    routing::get,
};
use futures::{Stream, StreamExt, stream::select};
use informer::{Notification, SharedInformer, SyncPhase, SyncStatus, reflector::Phase};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

/// `/` is the page, `/rows` what it shows.
pub(crate) fn router(pods: SharedInformer<Pod>) -> Router {
    Router::new()
        .route("/", get(|| async { Html(include_str!("page.html")) }))
        .route("/rows", get(rows))
        .with_state(pods)
}

/// Sends the present table, then each change of it, until the browser is gone or the informer stops.
///
/// A browser that reads slowly has changes of one pod merged by the informer: it sees fewer states, and the last one.
async fn rows(
    State(pods): State<SharedInformer<Pod>>,
) -> Sse<impl Stream<Item = Result<Event, axum::Error>>> {
    let rows = pods.stream().ready_chunks(500);
    let rows = rows.map(|rows| json!({"rows": rows.iter().map(row).collect::<Vec<_>>()}));
    let states = pods.status_stream().map(|status| state(&status));
    Sse::new(select(rows, states).map(|message| Event::default().json_data(message)))
}

fn row(notification: &Notification<Pod>) -> Value {
    let key = notification.key().to_string();
    let (Notification::Add { object, .. } | Notification::Update { new: object, .. }) =
        notification
    else {
        return json!({"key": key, "gone": true});
    };
    let pod = object.get();
    let (spec, status) = (pod.spec.as_ref(), pod.status.as_ref());
    let node = spec.and_then(|spec| spec.node_name.as_deref());
    let phase = status.and_then(|status| status.phase.as_deref());
    json!({"key": key, "node": node, "phase": phase, "created": pod.metadata.creation_timestamp})
}

/// Tells whether the table follows the cluster, and if not, why.
fn state(status: &SyncStatus) -> Value {
    if status.phase == SyncPhase::Reflecting(Phase::Watching) {
        return json!({"state": "watching"});
    }
    let why = status.last_error.as_deref().unwrap_or_default();
    json!({"state": format!("the informer has lost the server (failures: {}). {why}", status.failed_attempts)})
}
