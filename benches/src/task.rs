//! The only place that spawns: every task and every thread has an owner.

use std::error::Error;

use tokio::{
    runtime,
    task::{JoinHandle, JoinSet},
};

/// The tasks of one owner. Dropping it aborts them.
pub(crate) type TaskSet = JoinSet<()>;

/// Runs `work` on a thread that does nothing else meanwhile.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that spawns; a benchmark has a thread of its own for each measurement"
)]
pub(crate) fn on_own_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    tokio::task::spawn_blocking(work)
}

/// Runs the future of `work` on a runtime of one thread, which does nothing else meanwhile.
pub(crate) async fn on_one_thread<T, F>(
    work: impl FnOnce() -> F + Send + 'static,
) -> Result<T, Box<dyn Error>>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Box<dyn Error>>>,
{
    let done = on_own_thread(move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let done = runtime.map_err(Into::into);
        let done = done.and_then(|runtime| runtime.block_on(work()));
        done.map_err(|error: Box<dyn Error>| error.to_string())
    });
    Ok(done.await??)
}
