//! Runs in real time on a runtime of several threads, for what the paused clock cannot show: it has one thread.

use std::{
    any::Any,
    cell::RefCell,
    future::Future,
    num::NonZeroUsize,
    panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind},
    sync::Once,
    time::Duration,
};

use tokio::runtime;
use tracing::{Dispatch, subscriber::DefaultGuard};

use super::log::WarningRecorder;
use crate::trace::{Observation, Recorder, Trace};

/// The time for blocking threads to end with their runtime.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(5);

thread_local! {
    /// The recorder of the run that this thread works for, and the guard of its log.
    static OWNER: RefCell<Option<(Recorder, DefaultGuard)>> = const { RefCell::new(None) };
}

/// Lets `run` record a trace on a runtime of `worker_count` threads. Panics and warnings on all of them are recorded, too.
pub(super) fn trace<F>(
    worker_count: NonZeroUsize,
    recorder: &Recorder,
    run: impl FnOnce() -> F,
) -> Trace
where
    F: Future<Output = ()>,
{
    static HOOK: Once = Once::new();
    // The hook is of the process; threads of other runs have other owners.
    HOOK.call_once(record_panics);
    let own = recorder.clone();
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(worker_count.get())
        .enable_time()
        .on_thread_start(move || enter(&own))
        .on_thread_stop(leave)
        .build()
        .expect("the system gives what a runtime needs");
    enter(recorder);
    let ended = catch_unwind(AssertUnwindSafe(|| runtime.block_on(async { run().await })));
    // Before the trace is taken: a task that still runs may record.
    runtime.shutdown_timeout(SHUTDOWN_LIMIT);
    leave();
    drop(ended);
    recorder.take()
}

fn enter(recorder: &Recorder) {
    let log = Dispatch::new(WarningRecorder::new(recorder.clone()));
    let guard = tracing::dispatcher::set_default(&log);
    OWNER.with_borrow_mut(|owner| *owner = Some((recorder.clone(), guard)));
}

fn leave() {
    // Dropped outside of the cell, which the log may look at.
    let owner = OWNER.take();
    drop(owner);
}

/// Records the panics of threads that work for a run, besides reporting them as before. Handlers that panic as planned do
/// so without the hook.
fn record_panics() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let recorder = OWNER.try_with(|owner| {
            let owner = owner.try_borrow().ok()?;
            owner.as_ref().map(|(recorder, _)| recorder.clone())
        });
        if let Ok(Some(recorder)) = recorder {
            recorder.record(panicked(info));
        }
        before(info);
    }));
}

fn panicked(info: &PanicHookInfo<'_>) -> Observation {
    let place = info.location().map(ToString::to_string);
    Observation::Warned {
        message: format!("a thread panicked: {}", text(info.payload())),
        fields: format!(" place={}", place.unwrap_or_default()),
    }
}

fn text(payload: &dyn Any) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::TaskSet;

    fn warnings(trace: &Trace) -> Vec<String> {
        trace.observations().map(ToString::to_string).collect()
    }

    #[test]
    fn panics_and_warnings_of_all_threads_are_recorded() {
        let recorder = Recorder::new();
        let workers = NonZeroUsize::MIN.saturating_add(1);
        let trace = trace(workers, &recorder, || async {
            let mut tasks = TaskSet::of(async { tracing::warn!("on a worker") });
            tasks.spawn(async { panic!("on another") });
            while !tasks.is_empty() {
                tasks.forget_ended();
                tokio::task::yield_now().await;
            }
            panic!("at last");
        });
        let mut seen = warnings(&trace);
        assert_eq!(seen.len(), 3, "{seen:?}");
        assert!(
            seen.pop()
                .unwrap()
                .starts_with("warned: a thread panicked: at last place=")
        );
        seen.sort();
        assert!(seen[0].starts_with("warned: a thread panicked: on another place="));
        assert_eq!(seen[1], "warned: on a worker");
    }
}
