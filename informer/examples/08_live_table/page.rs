//! The page and what feeds it: an informer's notifications, row by row, over a WebSocket.

use axum::{
    Router,
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    response::{Html, IntoResponse},
    routing::get,
};
use futures::StreamExt;
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

async fn rows(
    State(pods): State<SharedInformer<Pod>>,
    upgrade: WebSocketUpgrade,
) -> impl IntoResponse {
    upgrade.on_upgrade(|socket| send_rows(pods, socket))
}

/// Sends the table as it is, then each change of it, until the browser is gone or the informer stops.
///
/// A browser that reads slowly has changes of one pod merged by the informer: it sees fewer states, and the last one.
async fn send_rows(pods: SharedInformer<Pod>, mut socket: WebSocket) {
    let mut notifications = pods.stream_with(HandlerOptions::default().with_name("page"));
    loop {
        let message = tokio::select! {
            biased;
            // A browser sends nothing but that it leaves.
            received = socket.recv() => match received {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            notification = notifications.next() => match notification {
                Some(notification) => row(&notification),
                None => return,
            },
        };
        if socket
            .send(Message::text(message.to_string()))
            .await
            .is_err()
        {
            return;
        }
    }
}

/// What the page is told of one change.
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
    let version = pod.resource_version().as_str();
    match pod.get() {
        Ok(pod) => json!({
            "key": key,
            "node": pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()),
            "phase": pod.status.as_ref().and_then(|status| status.phase.as_deref()),
            "version": version,
        }),
        Err(error) => json!({"key": key, "phase": error.to_string(), "version": version}),
    }
}
