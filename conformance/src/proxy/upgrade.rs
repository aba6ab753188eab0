//! Connections that become something else: `WebSockets`, exec, port forwarding. What goes over them is not looked at.

use std::sync::{Mutex, PoisonError};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use fakeserver::faults::Answer;
use http::{HeaderMap, StatusCode, header, request::Parts};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::upstream::Upstream;
use crate::task::TaskSet;

/// The connections that are joined now. They end with it.
#[derive(Debug, Default)]
pub(super) struct JoinedConnections(Mutex<TaskSet>);

/// Returns whether a request asks for another protocol.
pub(super) fn is_asked(headers: &HeaderMap) -> bool {
    headers.contains_key(header::UPGRADE)
}

/// Asks the upstream for the same protocol, and joins both connections if it agrees.
pub(super) async fn join(
    upstream: &Upstream,
    joined: &JoinedConnections,
    stop: CancellationToken,
    mut parts: Parts,
    body: Bytes,
) -> Result<Response, Answer> {
    let client = parts.extensions.remove::<OnUpgrade>();
    let response = upstream.send(parts, body).await?;
    let (mut head, body) = response.into_parts();
    if head.status != StatusCode::SWITCHING_PROTOCOLS {
        return Ok(Response::from_parts(head, Body::new(body)));
    }
    let server = head.extensions.remove::<OnUpgrade>();
    let (Some(client), Some(server)) = (client, server) else {
        let why = "this connection cannot be used for another protocol";
        return Err(Answer::status(
            StatusCode::BAD_GATEWAY,
            Some("BadGateway"),
            why,
        ));
    };
    joined.spawn(async move {
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            ended = carry(client, server) => if let Err(error) = ended {
                debug!(error, "joined connections ended");
            },
        }
    });
    Ok(Response::from_parts(head, Body::empty()))
}

/// Carries bytes both ways until both sides have ended.
async fn carry(
    client: OnUpgrade,
    server: OnUpgrade,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (client, server) = futures::future::try_join(client, server).await?;
    copy_bidirectional(&mut TokioIo::new(client), &mut TokioIo::new(server)).await?;
    Ok(())
}

// === impl JoinedConnections ===

impl JoinedConnections {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.forget_ended();
        tasks.spawn(task);
    }
}
