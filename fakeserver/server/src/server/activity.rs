//! Activity of connections: an idle connection is closed after a timeout.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use tokio::{sync::Notify, time::sleep};
use tokio_util::sync::CancellationToken;

use super::observed_body::{BodyObserver, observe};

/// The requests of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Activity(Arc<Requests>);

#[derive(Debug, Default)]
struct Requests {
    started: AtomicU64,
    under_way: AtomicUsize,
    /// Notified of the end of each request.
    ended: Notify,
    /// Fires when the client has closed its half of the connection.
    half_closed: CancellationToken,
}

/// Counts a request until it is dropped.
struct ActivityGuard(Arc<Requests>);

/// Answers `request`, which counts until its answer was sent.
pub(super) async fn note(
    State(activity): State<Activity>,
    request: Request,
    next: Next,
) -> Response {
    let busy = activity.begin();
    next.run(request).await.map(|body| observe(body, busy))
}

impl BodyObserver for ActivityGuard {}

// === impl Activity ===

impl Activity {
    fn begin(&self) -> ActivityGuard {
        self.0.started.fetch_add(1, Ordering::Relaxed);
        self.0.under_way.fetch_add(1, Ordering::Relaxed);
        ActivityGuard(Arc::clone(&self.0))
    }

    /// Returns the number of requests whose answers have ended.
    pub(super) fn ended(&self) -> u64 {
        // In this order: a request that begins in between counts as one that has not ended.
        let started = self.0.started.load(Ordering::Acquire);
        let under_way = self.0.under_way.load(Ordering::Acquire);
        started.saturating_sub(under_way as u64)
    }

    /// Tells the answers that wait for news that the client sends nothing any more.
    pub(super) fn half_close(&self) {
        self.0.half_closed.cancel();
    }

    /// Fires when the client has closed its half of the connection.
    pub(super) fn half_closed(&self) -> CancellationToken {
        self.0.half_closed.clone()
    }

    /// Waits until the connection was idle for between `limit` and twice `limit`.
    pub(super) async fn idle_for(&self, limit: Duration) {
        loop {
            let started = self.0.started.load(Ordering::Relaxed);
            if self.0.under_way.load(Ordering::Relaxed) > 0 {
                self.0.ended.notified().await;
                continue;
            }
            sleep(limit).await;
            if started == self.0.started.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}

// === impl ActivityGuard ===

impl Drop for ActivityGuard {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
        self.0.ended.notify_one();
    }
}
