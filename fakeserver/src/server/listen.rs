//! The API over TCP.

use std::{future::Future, sync::Arc, time::Duration};

use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    time,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::router;
use crate::{state::Server, task::TaskSet};

/// How long connections have to finish their requests.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// How long the listener rests when the system has no sockets left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Runs the tasks that a connection needs as tasks of its server.
#[derive(Clone)]
struct Executor(Arc<TaskSet>);

// === impl Executor ===

impl<F> hyper::rt::Executor<F> for Executor
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, task: F) {
        let stop = self.0.stop_token().clone();
        self.0
            .spawn(async move { stop.run_until_cancelled_owned(task).await.unwrap_or(()) });
    }
}

/// Accepts connections until `stop` fires or the server is shut down, and then lets them finish.
pub(super) async fn serve(server: Arc<Server>, listener: TcpListener, stop: CancellationToken) {
    let executor = Executor(Arc::new(TaskSet::new()));
    let service = TowerToHyperService::new(router::router(Arc::clone(&server)));
    let mut connections = auto::Builder::new(executor.clone());
    connections.http1().timer(TokioTimer::new());
    connections.http2().timer(TokioTimer::new());
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            () = server.tasks.stop_token().cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                prepare(&stream);
                let connection = connections
                    .serve_connection_with_upgrades(TokioIo::new(stream), service.clone())
                    .into_owned();
                let connection = graceful.watch(connection);
                hyper::rt::Executor::execute(&executor, async move {
                    if let Err(error) = connection.await {
                        debug!(error, "connection ended");
                    }
                });
            }
            Err(error) => {
                warn!(%error, "connection not accepted");
                time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    // A watch would keep its connection for an hour.
    server.core.watchers.disconnect();
    if time::timeout(DRAIN_LIMIT, graceful.shutdown())
        .await
        .is_err()
    {
        warn!("connections closed with requests under way");
    }
    executor.0.shutdown().await;
}

/// Small frames go out at once. A socket that cannot do that still works.
fn prepare(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "socket without nodelay");
    }
}
