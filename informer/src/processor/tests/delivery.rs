use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use futures::poll;
use tokio::{
    sync::Notify,
    time::{Instant, advance},
};

use super::{
    super::{HandlerOptions, HandlerRegistration, Listener, Processor},
    LIMIT, changes, present, settle, started,
};
use crate::{
    fixtures::Value,
    handler::{AsyncEventHandler, EventHandler, HandlerFuncs, Notification},
    object::{Deleted, Object},
    testing::{RecordingHandler, notification_text},
};

// === Awaited ===

/// Notes when a call begins and, after one turn for each, when it ends.
struct WaitingHandler {
    turns: Arc<Notify>,
    notes: Arc<Mutex<Vec<String>>>,
}

impl WaitingHandler {
    fn new() -> (Self, Arc<Notify>, Arc<Mutex<Vec<String>>>) {
        let (turns, notes) = (Arc::<Notify>::default(), Arc::<Mutex<Vec<_>>>::default());
        let (own_turns, own_notes) = (Arc::clone(&turns), Arc::clone(&notes));
        let own = Self {
            turns: own_turns,
            notes: own_notes,
        };
        (own, turns, notes)
    }

    fn note(&self, text: String) {
        self.notes.lock().unwrap().push(text);
    }
}

impl AsyncEventHandler<Value> for WaitingHandler {
    async fn on_add(&mut self, object: &Object<Value>, in_initial_list: bool) {
        self.note(format!("add {object:?} {in_initial_list}"));
        self.turns.notified().await;
        self.note("added".to_owned());
    }

    async fn on_update(&mut self, old: &Object<Value>, new: &Object<Value>) {
        self.note(format!("update {old:?} {new:?}"));
    }

    async fn on_delete(&mut self, deleted: &Deleted<Value>) {
        self.note(format!("delete {}", deleted.key()));
    }
}

fn take(notes: &Mutex<Vec<String>>) -> Vec<String> {
    std::mem::take(&mut notes.lock().unwrap())
}

fn attach(
    processor: &mut Processor<Value>,
    handler: impl AsyncEventHandler<Value>,
) -> HandlerRegistration {
    let (listener, registration) = Listener::new_async(handler, HandlerOptions::default());
    processor.attach(listener, present("a@1"), Instant::now());
    registration
}

#[tokio::test(start_paused = true)]
async fn awaited_calls_come_one_after_another() {
    let (mut processor, tasks) = started();
    let (handler, turns, notes) = WaitingHandler::new();
    let registration = attach(&mut processor, handler);
    processor.mark_synced();
    processor.distribute(changes("~a@2 -a@3"), true);
    settle().await;
    assert_eq!(take(&notes), ["add a@1 true"]);
    assert!(!registration.has_synced());
    turns.notify_one();
    settle().await;
    assert_eq!(take(&notes), ["added", "update a@0 a@2", "delete a"]);
    assert!(registration.has_synced());
    drop(registration);
    settle().await;
    assert!(tasks.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_closure_that_returns_a_future_is_a_handler() {
    let (mut processor, _tasks) = started();
    let (tx, mut rx) = tokio::sync::mpsc::channel(1);
    let handler = move |notification: Notification<Value>| {
        let tx = tx.clone();
        async move { tx.send(notification).await.unwrap() }
    };
    let registration = attach(&mut processor, handler);
    processor.distribute(changes("~a@2 ~a@3"), true);
    settle().await;
    // One is in the channel, one waits for room, and the third in the mailbox.
    assert_eq!(registration.metrics().pending, 2);
    let mut recording = Vec::new();
    for _ in 0..3 {
        recording.push(notification_text(&rx.recv().await.unwrap()));
    }
    assert_eq!(recording, ["(+a@1)", "~a@0..2", "~a@0..3"]);
}

#[tokio::test(start_paused = true)]
async fn a_removal_lets_an_awaited_call_end_and_the_drop_of_the_processor_does_not() {
    let (mut processor, tasks) = started();
    let (handler, turns, notes) = WaitingHandler::new();
    let registration = attach(&mut processor, handler);
    let (dropped_handler, _turns, dropped_notes) = WaitingHandler::new();
    let dropped = attach(&mut processor, dropped_handler);
    settle().await;
    let mut removal = Box::pin(registration.remove());
    assert!(poll!(&mut removal).is_pending());
    turns.notify_one();
    removal.await;
    assert_eq!(take(&notes), ["add a@1 true", "added"]);
    drop(processor);
    dropped.ended().await;
    assert_eq!(take(&dropped_notes), ["add a@1 true"]);
    tasks.wait().await;
    assert_eq!(Arc::strong_count(&dropped_notes), 1, "the handler is gone");
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_an_awaited_call_loses_one_notification() {
    let (mut processor, _tasks) = started();
    let panic = || std::panic::resume_unwind(Box::new(()));
    let notes = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&notes);
    let handler = move |notification: Notification<Value>| {
        if notification.key().name() == "bad" {
            panic();
        }
        let notes = Arc::clone(&own);
        async move {
            tokio::task::yield_now().await;
            if notification.key().name() == "worse" {
                panic();
            }
            notes.lock().unwrap().push(notification.key().to_string());
        }
    };
    let registration = attach(&mut processor, handler);
    processor.distribute(changes("+bad@2 +b@3 +worse@4 +c@5"), false);
    processor.mark_synced();
    registration.wait_for_sync(LIMIT).await.unwrap();
    assert_eq!(take(&notes), ["a", "b", "c"]);
    assert_eq!(registration.metrics().panics, 2);
    assert_eq!(registration.metrics().pending, 0);
}

// === Blocking ===

/// A handler that may block, and what ends its first call. Each call is noted before it blocks.
fn blocking(
    limit: Duration,
) -> (
    Listener<Value>,
    HandlerRegistration,
    mpsc::Sender<()>,
    tokio::sync::mpsc::UnboundedReceiver<String>,
) {
    let (go_on, wait) = mpsc::channel::<()>();
    let (tx, begun) = tokio::sync::mpsc::unbounded_channel();
    let handler = HandlerFuncs::new().with_notification(move |notification| {
        let _ = tx.send(notification_text(notification));
        // A closed channel releases every call.
        let _ = wait.recv();
    });
    let options = HandlerOptions::default().with_blocking(limit);
    let (listener, registration) = Listener::new(handler, options);
    (listener, registration, go_on, begun)
}

#[tokio::test(start_paused = true)]
async fn a_blocking_handler_is_called_off_the_runtimes_threads_and_delays_no_other() {
    let (mut processor, tasks) = started();
    let (slow, registration, go_on, mut begun) = blocking(LIMIT);
    processor.attach(slow, present("a@1"), Instant::now());
    let (inner, recording) = RecordingHandler::new();
    let (quick, quick_registration) = Listener::new(inner, HandlerOptions::default());
    processor.attach(quick, present(""), Instant::now());
    processor.distribute(changes("+b@2 ~b@3"), true);
    processor.mark_synced();
    assert_eq!(begun.recv().await.unwrap(), "(+a@1)");
    // This thread, which is the only one of the runtime, is free.
    quick_registration.wait_for_sync(LIMIT).await.unwrap();
    assert_eq!(recording.take_text(), "+b@2 ~b@0..3");
    assert_eq!(registration.metrics().delivered, 0);
    drop(go_on);
    assert_eq!(begun.recv().await.unwrap(), "+b@2");
    assert_eq!(begun.recv().await.unwrap(), "~b@0..3");
    registration.wait_for_sync(LIMIT).await.unwrap();
    processor.close();
    processor.ended().await;
    tasks.wait().await;
    assert_eq!(registration.metrics().delivered, 3);
}

#[tokio::test(start_paused = true)]
async fn a_blocking_handler_that_does_not_return_is_left_alone_after_the_limit() {
    let (mut processor, tasks) = started();
    let limit = Duration::from_secs(3);
    let just_before = Duration::from_millis(2_999);
    let (slow, registration, go_on, mut begun) = blocking(limit);
    processor.attach(slow, present("a@1 b@1"), Instant::now());
    assert_eq!(begun.recv().await.unwrap(), "(+a@1)");
    processor.close();
    let mut ended = Box::pin(processor.ended());
    assert!(poll!(&mut ended).is_pending());
    // The clock stands still while the call runs: it is moved by hand.
    tokio::task::yield_now().await;
    advance(just_before).await;
    assert!(poll!(&mut ended).is_pending());
    advance(Duration::from_millis(2)).await;
    ended.await;
    tasks.wait().await;
    assert!(registration.end().is_some());
    drop(go_on);
    // Its thread ends after the call, and no other one begins.
    assert_eq!(begun.recv().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_blocking_handler_that_was_removed_is_left_alone_after_the_limit() {
    let (mut processor, tasks) = started();
    let limit = Duration::from_secs(3);
    let (slow, registration, go_on, mut begun) = blocking(limit);
    processor.attach(slow, present("a@1 b@1"), Instant::now());
    assert_eq!(begun.recv().await.unwrap(), "(+a@1)");
    let mut removed = Box::pin(registration.remove());
    assert!(poll!(&mut removed).is_pending());
    // The processor forgets it, and does not wait for it.
    processor.distribute(changes("+c@2"), true);
    tokio::task::yield_now().await;
    advance(limit + Duration::from_millis(1)).await;
    removed.await;
    processor.close();
    processor.ended().await;
    tasks.wait().await;
    drop(go_on);
    assert_eq!(begun.recv().await, None);
}

#[tokio::test(start_paused = true)]
async fn an_awaited_handler_may_remove_itself_and_wait_for_that() {
    let (mut processor, tasks) = started();
    let own: Arc<Mutex<Option<HandlerRegistration>>> = Arc::default();
    let recording: Arc<Mutex<Vec<String>>> = Arc::default();
    let handler = {
        let (own, recording) = (Arc::clone(&own), Arc::clone(&recording));
        move |notification: Notification<Value>| {
            let (own, recording) = (Arc::clone(&own), Arc::clone(&recording));
            async move {
                recording
                    .lock()
                    .unwrap()
                    .push(notification_text(&notification));
                let registration = own.lock().unwrap().take();
                if let Some(registration) = registration {
                    registration.remove().await;
                }
            }
        }
    };
    let (listener, registration) = Listener::new_async(handler, HandlerOptions::default());
    *own.lock().unwrap() = Some(registration);
    processor.attach(listener, present("a@1 b@1"), Instant::now());
    processor.close();
    processor.ended().await;
    tasks.wait().await;
    assert_eq!(*recording.lock().unwrap(), ["(+a@1)"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_a_blocking_handler_loses_one_notification() {
    let (mut processor, _tasks) = started();
    let (mut inner, recording) = RecordingHandler::new();
    let handler = HandlerFuncs::new().with_notification(move |notification| {
        if notification.key().name() == "bad" {
            std::panic::resume_unwind(Box::new(()));
        }
        inner.on_notification(notification);
    });
    let options = HandlerOptions::default().with_blocking(LIMIT);
    let (listener, registration) = Listener::new(handler, options);
    processor.attach(listener, present("a@1 bad@1 c@1"), Instant::now());
    processor.mark_synced();
    registration.wait_for_sync(LIMIT).await.unwrap();
    assert_eq!(recording.take_text(), "(+a@1) (+c@1)");
    assert_eq!(registration.metrics().panics, 1);
}
