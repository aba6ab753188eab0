//! The page and what feeds it: an informer's notifications, row by row, as server-sent events.

use axum::{
    Router,
    extract::State,
    response::{
        Html,
        sse::{Event, KeepAlive, Sse},
    },
    routing::get,
};
use futures::{Stream, StreamExt};
use informer::{HandlerOptions, Notification, Object, SharedInformer};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

const PAGE: &str = include_str!("page.html");

/// `/` is the page, `/rows` what it shows.
pub(crate) fn router(pods: SharedInformer<Pod>) -> Router {
    Router::new()
        .route("/", get(|| async { Html(PAGE) }))
        .route("/rows", get(rows))
        .with_state(pods)
}

/// Sends the table as it is, then each change of it, until the browser is gone or the informer stops.
///
/// A browser that reads slowly has changes of one pod merged by the informer: it sees fewer states, and the last one.
async fn rows(
    State(pods): State<SharedInformer<Pod>>,
) -> Sse<impl Stream<Item = Result<Event, axum::Error>>> {
    let notifications = pods.stream_with(HandlerOptions::default().with_name("page"));
    Sse::new(notifications.map(|notification| Event::default().json_data(row(&notification))))
        .keep_alive(KeepAlive::default())
}

/// Returns the message to the page about one change.
fn row(notification: &Notification<Pod>) -> Value {
    let key = notification.key().to_string();
    match notification {
        Notification::Delete { .. } => json!({"gone": key}),
        Notification::Add { object, .. } | Notification::Update { new: object, .. } => {
            json!({"row": cells(&key, object)})
        }
    }
}

fn cells(key: &str, pod: &Object<Pod>) -> Value {
    let (spec, status) = (&pod.get().spec, &pod.get().status);
    json!({
        "key": key,
        "node": spec.as_ref().and_then(|spec| spec.node_name.as_deref()),
        "phase": status.as_ref().and_then(|status| status.phase.as_deref()),
        "version": pod.resource_version().as_str(),
    })
}
