//! The processor: one writer, against readers that come, lag and go.

use std::collections::BTreeMap;

use futures::StreamExt;
use informer::{
    Buffer, Deleted, HandlerEnd, HandlerFuncs, HandlerOptions, HandlerRegistration, Notification,
    NotificationCause, Object, ObjectKey,
    stages::{Listener, PresentObjects, Processor, TaskSet},
};
use shuttle::{
    future::block_on,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};
use tokio::time::Instant;

use super::{check, object};

const ITERATIONS: usize = 1_000;

type State = BTreeMap<ObjectKey, Object<()>>;

/// The writer's side: a cache, and the processor that distributes its changes.
struct Writer {
    processor: Processor<()>,
    tasks: TaskSet,
    state: State,
    version: u64,
}

/// The state of a handler, checked at each step. A failed check is a panic of the handler, which is contained and
/// counted.
#[derive(Clone, Default)]
struct Mirror(Arc<Mutex<State>>);

// === impl Writer ===

impl Writer {
    fn new() -> Self {
        let tasks = TaskSet::new();
        let mut processor = Processor::new();
        processor.start(&tasks.spawner(), Instant::now());
        Self {
            processor,
            tasks,
            state: State::new(),
            version: 0,
        }
    }

    fn attach(&mut self, listener: Listener<()>) {
        let objects: Vec<_> = self.state.values().cloned().collect();
        let present: PresentObjects<()> = Box::new(objects.into_iter());
        self.processor.attach(listener, present, Instant::now());
    }

    /// Puts a new version of a key, and distributes the change.
    fn put(&mut self, name: &str) {
        self.version += 1;
        let new = object(name, self.version);
        let old = self.state.insert(new.key().clone(), new.clone());
        let cause = NotificationCause::Live;
        let notification = match old {
            Some(old) => Notification::Update { old, new, cause },
            None => Notification::Add { object: new, cause },
        };
        self.processor.distribute(vec![notification], true);
    }

    fn delete(&mut self, name: &str) {
        let object = self.state.remove(&ObjectKey::cluster(name)).unwrap();
        let (deleted, cause) = (Deleted::Object(object), NotificationCause::Live);
        let notification = Notification::Delete { deleted, cause };
        self.processor.distribute(vec![notification], true);
    }

    /// Ends in good order; gives back what was true at last.
    fn end(mut self) -> State {
        self.processor.close();
        block_on(self.processor.ended());
        drop(self.processor);
        block_on(self.tasks.wait());
        self.state
    }
}

// === impl Mirror ===

impl Mirror {
    fn hear(&self, notification: &Notification<()>) {
        let mut state = self.0.lock().unwrap();
        let key = notification.key().clone();
        match notification {
            Notification::Add { object, .. } => {
                assert!(
                    state.insert(key, object.clone()).is_none(),
                    "{object:?} twice"
                );
            }
            Notification::Update { old, new, .. } => {
                let known = state.insert(key, new.clone());
                assert!(
                    known.is_some_and(|known| known.is_same(old)),
                    "{old:?} was reported"
                );
            }
            Notification::Delete { .. } => assert!(state.remove(&key).is_some(), "{key} unknown"),
        }
    }

    fn is_equal(&self, state: &State) -> bool {
        let own = self.0.lock().unwrap();
        let mut pairs = own.values().zip(state.values());
        own.len() == state.len() && pairs.all(|(one, other)| one.is_same(other))
    }

    fn listener(&self, buffer: Buffer) -> (Listener<()>, HandlerRegistration) {
        let own = self.clone();
        let handler =
            HandlerFuncs::new().with_notification(move |notification| own.hear(notification));
        Listener::new(handler, HandlerOptions::default().with_buffer(buffer))
    }
}

#[test]
fn a_joining_handler_receives_everything_in_order_up_to_the_end() {
    check(ITERATIONS, || {
        let mut writer = Writer::new();
        let (early, late) = (Mirror::default(), Mirror::default());
        let (listener, early_registration) = early.listener(Buffer::Unbounded);
        writer.attach(listener);
        writer.put("a");
        writer.put("b");
        writer.processor.mark_synced();
        writer.put("a");
        let (listener, late_registration) = late.listener(Buffer::Coalescing { limit: 1 });
        writer.attach(listener);
        writer.put("a");
        writer.delete("b");
        writer.put("a");
        writer.put("b");
        let state = writer.end();
        assert!(early.is_equal(&state) && late.is_equal(&state));
        for registration in [early_registration, late_registration] {
            assert!(registration.has_synced());
            let metrics = registration.metrics();
            assert_eq!((metrics.pending, metrics.panics), (0, 0));
        }
    });
}

#[test]
fn no_call_begins_after_a_removal_and_no_task_waits_for_ever() {
    check(ITERATIONS, || {
        let mut writer = Writer::new();
        let is_removed = Arc::new(AtomicBool::new(false));
        let is_called_late = Arc::new(AtomicBool::new(false));
        let (own, late) = (Arc::clone(&is_removed), Arc::clone(&is_called_late));
        let handler = HandlerFuncs::new().with_notification(move |_| {
            late.fetch_or(own.load(Ordering::SeqCst), Ordering::SeqCst);
        });
        let (listener, registration) = Listener::new(handler, HandlerOptions::default());
        let remover = thread::spawn(move || {
            block_on(registration.remove());
            is_removed.store(true, Ordering::SeqCst);
        });
        writer.put("a");
        writer.attach(listener);
        writer.put("a");
        writer.processor.mark_synced();
        writer.put("b");
        remover.join().unwrap();
        writer.put("a");
        writer.end();
        assert!(!is_called_late.load(Ordering::SeqCst));
    });
}

#[test]
fn a_handler_removes_itself_whatever_else_happens() {
    check(ITERATIONS, || {
        let mut writer = Writer::new();
        let own: Arc<Mutex<Option<HandlerRegistration>>> = Arc::default();
        let slot = Arc::clone(&own);
        let handler = HandlerFuncs::new().with_notification(move |_| {
            let registration = slot.lock().unwrap().take();
            drop(registration);
        });
        let (listener, registration) = Listener::new(handler, HandlerOptions::default());
        writer.attach(listener);
        *own.lock().unwrap() = Some(registration);
        writer.put("a");
        writer.put("b");
        writer.put("a");
        writer.end();
        assert!(own.lock().unwrap().is_none());
    });
}

#[test]
fn a_reader_of_a_stream_ends_with_the_last_state_however_slow_it_is() {
    check(ITERATIONS, || {
        let mut writer = Writer::new();
        let options = HandlerOptions::default().with_buffer(Buffer::Coalescing { limit: 1 });
        writer.put("a");
        let (listener, mut stream) = Listener::stream(options);
        let mirror = Mirror::default();
        let own = mirror.clone();
        let reader = thread::spawn(move || {
            block_on(async {
                while let Some(notification) = stream.next().await {
                    own.hear(&notification);
                }
            });
        });
        writer.attach(listener);
        writer.put("a");
        writer.put("b");
        writer.delete("a");
        writer.put("a");
        writer.put("b");
        let state = writer.end();
        reader.join().unwrap();
        assert!(mirror.is_equal(&state));
    });
}

#[test]
fn a_handler_over_its_limit_ends_once_and_with_the_reason() {
    check(ITERATIONS, || {
        let mut writer = Writer::new();
        let mirror = Mirror::default();
        let (listener, registration) = mirror.listener(Buffer::Disconnecting { limit: 1 });
        writer.attach(listener);
        let waiter = thread::spawn(move || {
            let end = block_on(registration.ended());
            let metrics = registration.metrics();
            assert_eq!((metrics.pending, metrics.panics), (0, 0));
            end
        });
        for _ in 0..3 {
            writer.put("a");
        }
        let state = writer.end();
        match waiter.join().unwrap() {
            HandlerEnd::Overflowed { limit, .. } => assert_eq!(limit, 1),
            HandlerEnd::Stopped { .. } => assert!(mirror.is_equal(&state)),
            other => panic!("{other}"),
        }
    });
}

#[test]
fn a_handler_that_has_synced_was_notified_of_the_initial_state() {
    check(ITERATIONS, || {
        let mut writer = Writer::new();
        let mirror = Mirror::default();
        writer.put("a");
        writer.put("b");
        let (listener, registration) = mirror.listener(Buffer::Unbounded);
        writer.attach(listener);
        let looker = thread::spawn(move || {
            while registration.end().is_none() && !registration.has_synced() {
                thread::yield_now();
            }
            assert!(registration.has_synced());
            assert!(mirror.0.lock().unwrap().len() >= 2);
        });
        writer.processor.mark_synced();
        writer.put("a");
        looker.join().unwrap();
        writer.end();
    });
}
