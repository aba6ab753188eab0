use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};

use futures::{FutureExt, future::join_all, poll};
use tokio::{sync::Notify, time::Instant};

use super::{
    super::{
        Buffer, HandlerEnd, HandlerOptions, HandlerRegistration, HandlerSyncError, Listener,
        Processor, schedule::Schedule,
    },
    LIMIT, changes, present, recorder, settle, started,
};
use crate::{
    fixtures::Value,
    handler::{EventHandler, HandlerFuncs},
    object::Object,
    task::TaskSet,
    testing::{Recording, RecordingHandler},
};

// === The pure parts ===

#[tokio::test(start_paused = true)]
async fn a_schedule_does_not_make_up_for_what_was_missed() {
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut schedule = Schedule::new(Some(Duration::from_secs(10)), start).unwrap();
    assert!(!schedule.is_due(at(9)));
    assert!(schedule.is_due(at(10)));
    assert!(!schedule.is_due(at(19)));
    assert!(schedule.is_due(at(55)));
    assert_eq!(schedule.next(), at(65));
    assert_eq!(Schedule::new(None, start), None);
    assert_eq!(Schedule::new(Some(Duration::MAX), start), None);
}

#[test]
fn resync_periods_have_a_least_value_and_zero_is_never() {
    let period = |millis| {
        HandlerOptions::default()
            .with_resync_period(Duration::from_millis(millis))
            .resync_period
    };
    assert_eq!(period(0), None);
    assert_eq!(period(1), Some(Duration::from_secs(1)));
    assert_eq!(period(1500), Some(Duration::from_millis(1500)));
}

// === Fan-out ===

#[tokio::test(start_paused = true)]
async fn every_listener_receives_everything_in_order() {
    let (mut processor, _tasks) = started();
    let (one, _one, heard_by_one) = recorder(HandlerOptions::default());
    let (two, _two, heard_by_two) = recorder(HandlerOptions::default());
    processor.attach(one, present(""), Instant::now());
    processor.attach(two, present(""), Instant::now());
    processor.distribute(changes("+a@1 +b@2"), true);
    processor.distribute(changes("~a@3 -b@4"), true);
    settle().await;
    assert_eq!(heard_by_one.take_text(), "+a@1 +b@2 ~a@0..3 -b@4");
    assert_eq!(heard_by_two.take_text(), "+a@1 +b@2 ~a@0..3 -b@4");
}

#[tokio::test(start_paused = true)]
async fn more_changes_than_fit_one_item_are_all_reported_in_order() {
    let (mut processor, _tasks) = started();
    let (listener, registration, recording) = recorder(HandlerOptions::default());
    processor.attach(listener, present(""), Instant::now());
    let text: Vec<_> = (1..=3_000).map(|n| format!("+k{n}@{n}")).collect();
    processor.distribute(changes(&text.join(" ")), true);
    assert_eq!(registration.metrics().pending, 3_000);
    settle().await;
    assert_eq!(recording.take_text(), text.join(" "));
    assert_eq!(registration.metrics().pending, 0);
    assert_eq!(registration.metrics().delivered, 3_000);
}

#[tokio::test(start_paused = true)]
async fn notifications_before_the_start_are_delivered_after_it() {
    let mut processor = Processor::new();
    let (listener, registration, recording) = recorder(HandlerOptions::default());
    processor.attach(listener, present(""), Instant::now());
    processor.distribute(changes("+a@1"), false);
    processor.mark_synced();
    settle().await;
    assert_eq!(recording.take_text(), "");
    let tasks = TaskSet::new();
    processor.start(&tasks.spawner(), Instant::now());
    settle().await;
    assert_eq!(recording.take_text(), "+a@1");
    assert!(registration.has_synced());
}

#[tokio::test(start_paused = true)]
async fn a_late_listener_receives_what_is_there_first_and_then_what_changes() {
    let (mut processor, _tasks) = started();
    processor.mark_synced();
    let (listener, registration, recording) = recorder(HandlerOptions::default());
    processor.attach(listener, present("a@1 b@2"), Instant::now());
    processor.distribute(changes("~a@3 +c@4"), true);
    assert!(!registration.has_synced());
    settle().await;
    assert_eq!(recording.take_text(), "(+a@1) (+b@2) ~a@0..3 +c@4");
    assert!(registration.has_synced());
}

/// A handler that blocks its thread in each call until it is released.
struct Blocking {
    called: Arc<Notify>,
    wait: mpsc::Receiver<()>,
}

impl EventHandler<Value> for Blocking {
    fn on_add(&mut self, _object: &Object<Value>, _in_initial_list: bool) {
        self.called.notify_one();
        // A closed channel releases every call.
        let _ = self.wait.recv();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_handler_delays_no_other() {
    let (mut processor, tasks) = started();
    let (go_on, wait) = mpsc::channel();
    let called = Arc::default();
    let slow = Blocking { called, wait };
    let (slow, slow_registration) = Listener::new(slow, HandlerOptions::default());
    let (quick, quick_registration, recording) = recorder(HandlerOptions::default());
    processor.attach(slow, present(""), Instant::now());
    processor.attach(quick, present(""), Instant::now());
    processor.distribute(changes("+a@1 +b@2"), true);
    processor.mark_synced();
    quick_registration.wait_for_sync(LIMIT).await.unwrap();
    assert_eq!(recording.take_text(), "+a@1 +b@2");
    assert_eq!(slow_registration.metrics().pending, 2);
    assert!(!slow_registration.has_synced());
    drop(go_on);
    slow_registration.wait_for_sync(LIMIT).await.unwrap();
    drop(processor);
    tasks.wait().await;
}

#[tokio::test(start_paused = true)]
async fn a_long_backlog_gives_way_to_other_tasks() {
    let (mut processor, tasks) = started();
    let (listener, registration, _heard) = recorder(HandlerOptions::default());
    processor.attach(listener, present(""), Instant::now());
    let text: Vec<_> = (1..=1_000).map(|n| format!("+k{n}@{n}")).collect();
    processor.distribute(changes(&text.join(" ")), true);
    let turns = Arc::new(AtomicU64::new(0));
    let own = Arc::clone(&turns);
    tasks.spawn(async move {
        loop {
            own.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    });
    while registration.metrics().pending > 0 {
        tokio::task::yield_now().await;
    }
    assert!(turns.load(Ordering::Relaxed) >= 5, "{turns:?}");
}

// === Removal ===

#[tokio::test(start_paused = true)]
async fn a_removed_handler_receives_nothing_more_and_its_task_ends() {
    let (mut processor, tasks) = started();
    let (listener, registration, recording) = recorder(HandlerOptions::default());
    processor.attach(listener, present("a@1"), Instant::now());
    settle().await;
    assert_eq!(recording.take_text(), "(+a@1)");
    assert_eq!(tasks.len(), 1);
    processor.distribute(changes("+b@2"), true);
    drop(registration);
    processor.distribute(changes("+c@3"), true);
    settle().await;
    assert_eq!(recording.take_text(), "");
    assert_eq!(tasks.len(), 0);
    assert!(processor.list().metrics().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_detached_handler_stays() {
    let (mut processor, _tasks) = started();
    let (listener, registration, recording) = recorder(HandlerOptions::default());
    processor.attach(listener, present(""), Instant::now());
    registration.detach();
    processor.distribute(changes("+a@1"), true);
    settle().await;
    assert_eq!(recording.take_text(), "+a@1");
}

/// Drops its own registration at the second call.
struct LeavingHandler {
    calls: u64,
    registration: mpsc::Receiver<HandlerRegistration>,
    recording: Arc<AtomicU64>,
}

impl EventHandler<Value> for LeavingHandler {
    fn on_add(&mut self, _object: &Object<Value>, _in_initial_list: bool) {
        self.recording.fetch_add(1, Ordering::Relaxed);
        self.calls += 1;
        if self.calls == 2 {
            drop(self.registration.recv().unwrap());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_can_remove_itself_from_within_its_own_call() {
    let (mut processor, tasks) = started();
    let (tx, registration) = mpsc::channel();
    let recording = Arc::new(AtomicU64::new(0));
    let quitter = LeavingHandler {
        calls: 0,
        registration,
        recording: Arc::clone(&recording),
    };
    let (listener, token) = Listener::new(quitter, HandlerOptions::default());
    tx.send(token).unwrap();
    processor.attach(listener, present("a@1 b@1 c@1"), Instant::now());
    processor.distribute(changes("+d@2"), true);
    settle().await;
    assert_eq!(recording.load(Ordering::Relaxed), 2);
    assert!(tasks.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removal_waits_for_the_call_that_runs() {
    let (mut processor, _tasks) = started();
    let (go_on, wait) = mpsc::channel();
    let called = Arc::new(Notify::new());
    let blocking = Blocking {
        called: Arc::clone(&called),
        wait,
    };
    let (listener, registration) = Listener::new(blocking, HandlerOptions::default());
    processor.attach(listener, present(""), Instant::now());
    processor.distribute(changes("+a@1 +b@2"), true);
    called.notified().await;
    let mut removal = Box::pin(registration.remove());
    assert!(poll!(&mut removal).is_pending());
    go_on.send(()).unwrap();
    removal.await;
    assert!(go_on.send(()).is_err(), "the handler is gone");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_is_removed_before_the_start_is_not_waited_for_and_never_called() {
    let mut processor = Processor::new();
    let (listener, registration, recording) = recorder(HandlerOptions::default());
    processor.attach(listener, present("a@1"), Instant::now());
    registration.remove().now_or_never().unwrap();
    let tasks = TaskSet::new();
    processor.start(&tasks.spawner(), Instant::now());
    settle().await;
    assert_eq!(recording.take_text(), "");
    assert!(tasks.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_is_removed_before_the_start_makes_room_for_the_next() {
    let mut processor = Processor::new();
    let held = Arc::new(());
    let witness = Arc::clone(&held);
    let handler = HandlerFuncs::<Value>::new().with_add(move |_, _| drop(Arc::clone(&witness)));
    let (listener, registration) = Listener::new(handler, HandlerOptions::default());
    processor.attach(listener, present(""), Instant::now());
    drop(registration);
    let (next, _next, _heard) = recorder(HandlerOptions::default());
    processor.attach(next, present(""), Instant::now());
    assert_eq!(Arc::strong_count(&held), 1);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_is_never_attached_ends_its_registration() {
    let (listener, registration, _heard) = recorder(HandlerOptions::default().with_name("x"));
    drop(listener);
    let end = HandlerEnd::Stopped {
        handler: "x".into(),
    };
    let ended = HandlerSyncError::Ended {
        handler: "x".into(),
        end: end.clone(),
    };
    assert_eq!(registration.wait_for_sync(LIMIT).await, Err(ended));
    assert_eq!(registration.end(), Some(end));
    registration.remove().now_or_never().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_registration_reports_why_its_handler_receives_nothing_more() {
    let (mut processor, _tasks) = started();
    let (listener, registration, _heard) = recorder(HandlerOptions::default().with_name("x"));
    processor.attach(listener, present(""), Instant::now());
    settle().await;
    assert_eq!(registration.end(), None);
    let mut ended = Box::pin(registration.ended());
    assert!(poll!(&mut ended).is_pending());
    drop(processor);
    let handler = || "x".into();
    assert_eq!(ended.await, HandlerEnd::Stopped { handler: handler() });
    let (listener, registration, _heard) = recorder(HandlerOptions::default().with_name("x"));
    let control = std::sync::Arc::clone(&listener.shared.control);
    drop(registration);
    assert_eq!(
        control.end(),
        Some(HandlerEnd::Removed { handler: handler() })
    );
}

// === A handler that falls behind ===

/// A listener whose handler is in its first call, and does not return from it until the sender is dropped.
fn stuck(
    processor: &mut Processor<Value>,
    buffer: Buffer,
) -> (HandlerRegistration, Recording<Value>, mpsc::Sender<()>) {
    let (tx, wait) = mpsc::channel::<()>();
    let (mut inner, recording) = RecordingHandler::new();
    let handler = HandlerFuncs::new().with_notification(move |notification| {
        let _ = wait.recv();
        inner.on_notification(notification);
    });
    let options = HandlerOptions::default()
        .with_buffer(buffer)
        .with_name("stuck");
    let (listener, registration) = Listener::new(handler, options);
    processor.attach(listener, present(""), Instant::now());
    (registration, recording, tx)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_is_too_slow_receives_of_fewer_states_and_ends_with_the_last() {
    let (mut processor, tasks) = started();
    let (registration, recording, go_on) = stuck(&mut processor, Buffer::Coalescing { limit: 2 });
    processor.distribute(changes("+a@1"), true);
    processor.distribute(changes("+b@2 +c@3 ~a@4 ~a@5 +d@6 -d@7 ~a@8"), true);
    let metrics = registration.metrics();
    assert_eq!(metrics.pending + metrics.coalesced, 8);
    processor.mark_synced();
    processor.close();
    drop(go_on);
    processor.ended().await;
    let text = recording.take_text();
    assert!(text.starts_with("+a@1 +b@2"), "{text}");
    assert!(text.ends_with("~a@0..8"), "{text}");
    assert!(!text.contains('d'), "{text}");
    let metrics = registration.metrics();
    assert_eq!(metrics.delivered + metrics.coalesced, 8);
    assert!(metrics.coalesced >= 3, "{metrics:?}");
    tasks.wait().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_over_its_limit_is_removed_with_an_error_that_has_an_error() {
    let (mut processor, tasks) = started();
    let buffer = Buffer::Disconnecting { limit: 2 };
    let options = HandlerOptions::default()
        .with_buffer(buffer)
        .with_name("slow");
    let (listener, registration, recording) = recorder(options);
    let (other, _other, heard_by_other) = recorder(HandlerOptions::default());
    // What was there before does not count.
    processor.attach(listener, present("a@1 b@1 c@1"), Instant::now());
    processor.attach(other, present(""), Instant::now());
    processor.distribute(changes("~a@2 ~b@2"), true);
    assert_eq!(registration.end(), None);
    processor.distribute(changes("~c@2"), true);
    let overflowed = HandlerEnd::Overflowed {
        handler: "slow".into(),
        limit: 2,
    };
    assert_eq!(registration.end(), Some(overflowed.clone()));
    assert_eq!(registration.ended().await, overflowed);
    let error = registration.wait_for_sync(LIMIT).await.unwrap_err();
    let HandlerSyncError::Ended { end, .. } = error else {
        panic!("{error}");
    };
    assert!(end.is_overflow());
    settle().await;
    assert_eq!(recording.take_text(), "");
    assert_eq!(heard_by_other.take_text(), "~a@0..2 ~b@0..2 ~c@0..2");
    assert_eq!(tasks.len(), 1);
    assert_eq!(registration.metrics().pending, 0);
}

#[tokio::test(start_paused = true)]
async fn a_handler_without_a_limit_receives_everything() {
    let (mut processor, _tasks) = started();
    let options = HandlerOptions::default().with_buffer(Buffer::Unbounded);
    let (listener, registration, _heard) = recorder(options);
    processor.attach(listener, present(""), Instant::now());
    for n in 0..20 {
        let text: Vec<_> = (1..=1_000)
            .map(|m| format!("~a@{}", n * 1_000 + m))
            .collect();
        processor.distribute(changes(&text.join(" ")), true);
    }
    assert_eq!(registration.metrics().pending, 20_000);
    settle().await;
    assert_eq!(registration.metrics().delivered, 20_000);
    assert_eq!(registration.metrics().coalesced, 0);
}

#[tokio::test(start_paused = true)]
async fn a_handler_buffers_ten_thousand_changes_by_default() {
    let (mut processor, _tasks) = started();
    let (listener, registration, _heard) =
        recorder(HandlerOptions::default().with_warning_at(u64::MAX));
    processor.attach(listener, present(""), Instant::now());
    let text: Vec<_> = (1..=10_002).map(|n| format!("~a@{n}")).collect();
    processor.distribute(changes(&text.join(" ")), true);
    // In order, and the two beyond the limit as one.
    assert_eq!(registration.metrics().pending, 10_001);
    assert_eq!(registration.metrics().coalesced, 1);
    settle().await;
    assert_eq!(registration.metrics().delivered, 10_001);
}

// === Panics ===

/// Panics on the object `bad`, without the hook's message on standard error.
struct PanickingHandler(RecordingHandler<Value>);

impl EventHandler<Value> for PanickingHandler {
    fn on_add(&mut self, object: &Object<Value>, in_initial_list: bool) {
        if object.key().name() == "bad" {
            std::panic::resume_unwind(Box::new(()));
        }
        self.0.on_add(object, in_initial_list);
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_loses_one_notification_and_does_not_keep_the_handler_from_being_synced() {
    let (mut processor, _tasks) = started();
    let (handler, recording) = RecordingHandler::new();
    let (listener, registration) =
        Listener::new(PanickingHandler(handler), HandlerOptions::default());
    processor.attach(listener, present("a@1 bad@1 c@1"), Instant::now());
    processor.mark_synced();
    registration.wait_for_sync(LIMIT).await.unwrap();
    assert_eq!(recording.take_text(), "(+a@1) (+c@1)");
    assert_eq!(registration.metrics().panics, 1);
    assert_eq!(registration.metrics().pending, 0);
}

// === Sync ===

#[tokio::test(start_paused = true)]
async fn a_handler_is_synced_once_it_has_received_all_of_the_initial_state() {
    let (mut processor, _tasks) = started();
    let (listener, registration, recording) = recorder(HandlerOptions::default());
    processor.attach(listener, present(""), Instant::now());
    processor.distribute(changes("+a@1"), false);
    settle().await;
    assert!(!registration.has_synced(), "the informer is not synced");
    processor.mark_synced();
    assert!(!registration.has_synced(), "it was not told yet");
    settle().await;
    assert!(registration.has_synced());
    assert_eq!(recording.take_text(), "+a@1");
}

#[tokio::test(start_paused = true)]
async fn every_waiter_for_a_handler_is_woken() {
    let (mut processor, _tasks) = started();
    let (listener, registration, _heard) = recorder(HandlerOptions::default());
    processor.attach(listener, present(""), Instant::now());
    let waiters = (0..4).map(|_| registration.wait_for_sync(LIMIT));
    let mut all = Box::pin(join_all(waiters));
    assert!(poll!(&mut all).is_pending());
    processor.mark_synced();
    assert_eq!(all.await, vec![Ok(()); 4]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_ends_names_the_handler_and_what_it_waits_for() {
    let (mut processor, _tasks) = started();
    let (listener, registration, _heard) = recorder(HandlerOptions::default().with_name("slow"));
    processor.attach(listener, present(""), Instant::now());
    let limit = Duration::from_secs(5);
    let error = registration.wait_for_sync(limit).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "handler \"slow\" has not heard the initial state within 5s: 0 notifications wait, the informer is not synced"
    );
    drop(processor);
    let error = registration.wait_for_sync(limit).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "handler \"slow\" ended before it had heard the initial state"
    );
}

// === Resync ===

#[tokio::test(start_paused = true)]
async fn each_listener_is_resynced_at_its_own_period() {
    let start = Instant::now();
    let (mut processor, _tasks) = started();
    let every =
        |seconds| HandlerOptions::default().with_resync_period(Duration::from_secs(seconds));
    let (never, _never, heard_by_never) = recorder(HandlerOptions::default());
    let (two, _two, heard_by_two) = recorder(every(2));
    let (three, _three, heard_by_three) = recorder(every(3));
    for listener in [never, two, three] {
        processor.attach(listener, present(""), start);
    }
    processor.mark_synced();
    let mut ticks = Vec::new();
    for _ in 0..4 {
        let next = processor.next_resync().unwrap();
        tokio::time::sleep_until(next).await;
        processor.resync(next, || present("a@1"));
        settle().await;
        let recording = [&heard_by_never, &heard_by_two, &heard_by_three].map(Recording::take_text);
        ticks.push(format!(
            "{}s {}",
            (next - start).as_secs(),
            recording.join("|")
        ));
    }
    assert_eq!(
        ticks,
        ["2s |=a@1|", "3s ||=a@1", "4s |=a@1|", "6s |=a@1|=a@1"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_resync_that_was_not_received_yet_is_not_repeated_and_none_comes_before_the_sync() {
    let mut processor = Processor::new();
    let options = HandlerOptions::default().with_resync_period(Duration::from_secs(1));
    let (listener, registration, _heard) = recorder(options);
    processor.attach(listener, present(""), Instant::now());
    let mut now = Instant::now();
    for expected in [0, 1, 1] {
        now += Duration::from_secs(1);
        processor.resync(now, || present("a@1"));
        assert_eq!(registration.metrics().pending, expected);
        processor.mark_synced();
    }
}

#[tokio::test(start_paused = true)]
async fn listeners_that_were_removed_are_forgotten_where_nothing_changes() {
    let (mut processor, _tasks) = started();
    for _ in 0..1_000 {
        let (listener, registration, _heard) = recorder(HandlerOptions::default());
        processor.attach(listener, present("a@1"), Instant::now());
        drop(registration);
    }
    assert_eq!(processor.list().len(), 1, "the last one");
}

// === The end ===

#[tokio::test(start_paused = true)]
async fn a_closed_processor_reports_what_waits_and_ends() {
    let (mut processor, tasks) = started();
    let (listener, _registration, recording) = recorder(HandlerOptions::default());
    processor.attach(listener, present(""), Instant::now());
    processor.distribute(changes("+a@1 +b@2"), true);
    processor.close();
    processor.distribute(changes("+c@3"), true);
    processor.ended().await;
    assert_eq!(recording.take_text(), "+a@1 +b@2");
    tasks.wait().await;
}

#[tokio::test(start_paused = true)]
async fn a_dropped_processor_ends_its_listeners_with_what_they_have_not_delivered() {
    let (mut processor, tasks) = started();
    let (listener, registration, recording) = recorder(HandlerOptions::default());
    processor.attach(listener, present(""), Instant::now());
    processor.distribute(changes("+a@1 +b@2"), true);
    drop(processor);
    tasks.wait().await;
    assert_eq!(recording.take_text(), "");
    assert_eq!(registration.metrics().pending, 0);
}
