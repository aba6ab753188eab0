//! A function as a subject: its future is the process, and its client the connection, which ends with it.

use std::{any::Any, error::Error, fmt, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use axum::Router;
use futures::{FutureExt, future::BoxFuture};
use kube::Client;
use support::call::whole;

use super::{connection::Connection, running_subject::RunningSubject};

/// A function that works with a client of a cluster until it is dropped.
#[derive(Clone)]
pub struct Function(Arc<Call>);

/// A call by a replica, by its number.
type Call = dyn Fn(Client, usize) -> BoxFuture<'static, Result<(), String>> + Send + Sync;

/// The outcome of a subject that returns: nothing, or a result.
pub trait Ending {
    /// Returns the failure, if it is one.
    fn failure(self) -> Option<String>;
}

/// A call of the function. It ends when it is dropped, and nothing that it has spawned reaches the server any more.
pub(super) struct Incarnation {
    line: Connection,
    /// `None` when it has ended.
    work: Option<BoxFuture<'static, String>>,
}

// === impl Function ===

impl Function {
    pub(super) fn new<F>(function: impl Fn(Client, usize) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output: Ending> + Send + 'static,
    {
        Self(Arc::new(move |client, replica| {
            let work = function(client, replica);
            Box::pin(async move { work.await.failure().map_or(Ok(()), Err) })
        }))
    }

    /// Calls it as a replica, with a client whose requests go to `router`, and take `latency`.
    pub(super) fn start(&self, replica: usize, router: &Router, latency: Duration) -> Incarnation {
        let line = Connection::new(router.clone(), latency);
        let (function, client) = (self.clone(), line.client());
        let work = async move { (function.0)(client, replica).await };
        let work = AssertUnwindSafe(work)
            .catch_unwind()
            .map(|ended| match ended {
                Ok(Ok(())) => "it returned".to_owned(),
                Ok(Err(error)) => format!("it returned an error: {error}"),
                Err(panic) => format!("it panicked: {}", message(&*panic)),
            });
        Incarnation {
            line,
            work: Some(Box::pin(work)),
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

impl Ending for () {
    fn failure(self) -> Option<String> {
        None
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> Ending for Result<(), E> {
    fn failure(self) -> Option<String> {
        self.err().map(|error| whole(&*error.into()))
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

// === impl Incarnation ===

impl RunningSubject for Incarnation {
    async fn ended(&mut self) -> String {
        let Some(work) = &mut self.work else {
            return std::future::pending().await;
        };
        let how = work.await;
        self.work = None;
        self.line.cut();
        how
    }

    fn stop(&mut self) {
        self.line.hold(true);
    }

    fn wake(&mut self) {
        self.line.hold(false);
    }

    async fn kill(&mut self) {
        self.line.cut();
        self.work = None;
    }

    async fn end(&mut self) {
        self.kill().await;
    }
}

impl Drop for Incarnation {
    fn drop(&mut self) {
        self.line.cut();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        mem,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use http::StatusCode;
    use tokio::time::sleep;

    use super::*;
    use support::task::TaskSet;

    const TICK: Duration = Duration::from_millis(10);

    /// Starts a function that leaves a task without owner, which sends requests. Returns their number so far, too.
    fn started() -> (Incarnation, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let router = Router::new().fallback(async move || {
            counted.fetch_add(1, Ordering::Relaxed);
            StatusCode::NOT_FOUND
        });
        let function = Function::new(|client: Client, _| async move {
            let work = async move {
                loop {
                    let _ = client.apiserver_version().await;
                }
            };
            mem::forget(TaskSet::of(work));
            pending::<()>().await;
        });
        (function.start(0, &router, Duration::from_millis(1)), count)
    }

    /// Lets it work for ten milliseconds, and returns the number of requests meanwhile.
    async fn requests(incarnation: &mut Incarnation, count: &AtomicUsize) -> usize {
        let before = count.load(Ordering::Relaxed);
        tokio::select! {
            how = incarnation.ended() => panic!("{how}"),
            () = sleep(TICK) => {}
        }
        count.load(Ordering::Relaxed) - before
    }

    #[tokio::test(start_paused = true)]
    async fn tasks_of_a_dead_process_reach_nothing() {
        let (mut incarnation, count) = started();
        assert!(requests(&mut incarnation, &count).await >= 9);
        incarnation.kill().await;
        assert_eq!(requests(&mut incarnation, &count).await, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stopped_process_reaches_nothing_until_it_is_woken() {
        let (mut incarnation, count) = started();
        assert!(requests(&mut incarnation, &count).await >= 9);
        incarnation.stop();
        // One may be on its way.
        assert!(requests(&mut incarnation, &count).await <= 1);
        assert_eq!(requests(&mut incarnation, &count).await, 0);
        incarnation.wake();
        assert!(requests(&mut incarnation, &count).await >= 8);
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_is_told() {
        let start = |function: Function| function.start(0, &Router::new(), TICK);
        let returns = Function::new(|_, _| async {});
        assert_eq!(start(returns).ended().await, "it returned");
        let fails = Function::new(|_, _| async { Err("no luck") });
        let how = start(fails).ended().await;
        assert_eq!(how, "it returned an error: no luck");
    }
}
