//! Probes and metrics over HTTP.

use axum::{
    Router,
    http::{StatusCode, header},
    routing::get,
};
use futures::{FutureExt, future::BoxFuture};
use tokio::net::TcpListener;

use super::Health;

/// The content type of metrics as Prometheus reads them.
const METRICS_TYPE: &str = "text/plain; version=0.0.4";

/// Returns the paths of a manager's probes: `/healthz`, 200 unless it has ended, and `/readyz`, 200 once its caches are filled; 503
/// otherwise. Others can be added.
///
/// # Examples
///
/// ```
/// use informer::manager::{self, Manager};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// # let client = fakeserver::FakeServer::builder().build().client();
/// let manager = Manager::new(client);
/// let paths = manager::endpoints(&manager.health()).merge(manager::metrics_endpoint(String::new));
/// # let _ = paths;
/// # }
/// ```
pub fn endpoints(health: &Health) -> Router {
    let (live, ready) = (health.clone(), health.clone());
    Router::new()
        .route(
            "/healthz",
            get(async move || answer("live", live.is_live())),
        )
        .route(
            "/readyz",
            get(async move || answer("ready", ready.is_ready())),
        )
}

/// Returns the path `/metrics`, where `render` gives the text for each request: that of the recorder which the program has installed
/// for the `metrics` facade.
pub fn metrics_endpoint(render: impl Fn() -> String + Clone + Send + Sync + 'static) -> Router {
    let metrics = async move || ([(header::CONTENT_TYPE, METRICS_TYPE)], render());
    Router::new().route("/metrics", get(metrics))
}

/// Serves until it is dropped.
pub(super) fn serve(listener: TcpListener, paths: Router) -> BoxFuture<'static, ()> {
    let serving = async move {
        if let Err(error) = axum::serve(listener, paths).await {
            tracing::error!(%error, "endpoints ended");
        }
    };
    serving.boxed()
}

fn answer(what: &str, is_so: bool) -> (StatusCode, String) {
    if is_so {
        (StatusCode::OK, format!("{what}\n"))
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, format!("not {what}\n"))
    }
}
