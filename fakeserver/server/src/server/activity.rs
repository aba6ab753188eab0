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
