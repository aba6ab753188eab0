//! Runs in this process: each on a runtime and a paused clock of its own, with the panics on its thread on record.

use std::{
    cell::RefCell,
    panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind},
    sync::Once,
};

use tokio::runtime::Builder;

thread_local! {
    /// The panics of the run on this thread; `None` between runs.
    static PANICS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Runs something to its end on a paused clock of its own. Panics on the way are not printed, but [taken](take_panics).
///
/// # Panics
///
/// Within a tokio runtime, or if it panics itself.
pub(super) fn run<T>(work: impl Future<Output = T>) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(record_panics);
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("the system gives what a runtime needs");
    PANICS.set(Some(Vec::new()));
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let done = runtime.block_on(work);
        // The tasks that are left end here.
        drop(runtime);
        done
    }));
    let panics = PANICS.take();
    ended.unwrap_or_else(|panic| {
        eprintln!("{}", panics.unwrap_or_default().join("\n"));
        resume_unwind(panic)
    })
}

/// Returns the panics so far of the run on this thread.
pub(super) fn take_panics() -> Vec<String> {
    PANICS.with_borrow_mut(|panics| panics.as_mut().map(std::mem::take).unwrap_or_default())
}

/// Records panics of threads that work for a run instead of printing them.
fn record_panics() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let is_recorded = PANICS.try_with(|panics| {
            let mut panics = panics.try_borrow_mut().ok()?;
            panics.as_mut()?.push(text(info));
            Some(())
        });
        if !matches!(is_recorded, Ok(Some(()))) {
            before(info);
        }
    }));
}

fn text(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map(ToString::to_string);
    let message = info.payload_as_str().unwrap_or("without a message");
    format!("panicked at {}: {message}", place.unwrap_or_default())
}
