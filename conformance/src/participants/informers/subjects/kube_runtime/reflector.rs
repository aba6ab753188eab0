//! A watcher, its default backoff, and a store.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    future::{Future, pending},
    hash::Hash,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::{Stream, StreamExt};
use kube::{Api, Resource};
use kube_runtime::{
    WatchStreamExt,
    reflector::{ObjectRef, Store, store::Writer},
    watcher::{self, Event},
};
use serde::de::DeserializeOwned;

use super::{config, handlers::Handlers, key, state};
use crate::{
    participants::{
        HandlerPlan,
        subjects::{Subject, SubjectParts, waiters::Waiters},
    },
    plan::Selection,
    task::TaskSet,
    trace::{Key, Member, Observation, Recorder, State},
};

/// An object that a subject of kube-runtime can mirror.
pub(super) trait MirroredObject:
    Resource<DynamicType: Clone + Debug + Eq + Hash + Send + Sync + Unpin>
    + Clone
    + Debug
    + DeserializeOwned
    + Send
    + Sync
    + 'static
{
}

impl<K> MirroredObject for K where
    K: Resource<DynamicType: Clone + Debug + Eq + Hash + Send + Sync + Unpin>
        + Clone
        + Debug
        + DeserializeOwned
        + Send
        + Sync
        + 'static
{
}

/// A store, and the tasks that fill it. Shared by all subjects of kube-runtime.
pub(super) struct StoreSubject<K: MirroredObject> {
    place: usize,
    selection: Selection,
    store: Store<K>,
    has_synced: Arc<AtomicBool>,
    handlers: Handlers,
    waiter_count: usize,
    waiters: Waiters,
    /// The tasks to run from the start on.
    unstarted: Vec<Task>,
    tasks: TaskSet,
    recorder: Recorder,
}

/// A task of a subject.
pub(super) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Creates a reflector of the objects of `api`.
pub(super) fn subject<K: MirroredObject>(
    parts: &SubjectParts<'_>,
    waiter_count: usize,
    api: &Api<K>,
    dynamic_type: K::DynamicType,
) -> Box<dyn Subject> {
    let writer = Writer::<K>::new(dynamic_type.clone());
    let store = writer.as_reader();
    let handlers = Handlers::new(parts.informer, parts.recorder.clone());
    let mut subject = StoreSubject::new(parts, waiter_count, store.clone(), handlers.clone());
    // The jitter of this thread is drawn from this seed in each run.
    fastrand::seed(parts.seed);
    let events = watcher::watcher(api.clone(), config(parts.plan))
        .default_backoff()
        .reflect(writer);
    subject.run(forward(events, store, handlers, dynamic_type));
    Box::new(subject)
}

/// Notifies handlers of a stream's objects: of those of a list when it is complete, since the store shows them then.
async fn forward<K: MirroredObject>(
    events: impl Stream<Item = watcher::Result<Event<K>>> + Send,
    store: Store<K>,
    handlers: Handlers,
    dynamic_type: K::DynamicType,
) {
    let mut events = std::pin::pin!(events);
    let mut listed = Vec::new();
    let mut is_initial = true;
    let cached = |object: &K| {
        let reference = ObjectRef::from_obj_with(object, dynamic_type.clone());
        store.get(&reference).as_deref().map(state)
    };
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => listed.clear(),
            Ok(Event::InitApply(object)) => listed.push(object),
            Ok(Event::InitDone) => {
                for object in listed.drain(..) {
                    let cached_state = cached(&object);
                    handlers.is_there(
                        &key(&object),
                        &state(&object),
                        cached_state.as_ref(),
                        is_initial,
                    );
                }
                is_initial = false;
            }
            Ok(Event::Apply(object)) => {
                let cached_state = cached(&object);
                handlers.is_there(&key(&object), &state(&object), cached_state.as_ref(), false);
            }
            Ok(Event::Delete(object)) => {
                let cached_state = cached(&object);
                handlers.is_gone(&key(&object), &state(&object), cached_state.as_ref());
            }
            // The watcher continues by itself.
            Err(_) => {}
        }
    }
}

// === impl StoreSubject ===

impl<K: MirroredObject> StoreSubject<K> {
    /// Creates a subject whose cache is `store`. It has synced when the store is ready.
    pub(super) fn new(
        parts: &SubjectParts<'_>,
        waiter_count: usize,
        store: Store<K>,
        handlers: Handlers,
    ) -> Self {
        let mut subject = Self::unwatched(parts, waiter_count, store.clone(), handlers);
        // The store wakes only one of several waiters. Where that is under test, only the waiters wait.
        if subject.waiter_count == 0 {
            let flag = Arc::clone(&subject.has_synced);
            subject.run(async move {
                let is_ready = store.wait_until_ready().await.is_ok();
                flag.store(is_ready, Ordering::Relaxed);
            });
        }
        subject
    }

    /// Creates a subject whose cache is `store` and that has synced when [`has_synced_flag`](Self::has_synced_flag) is
    /// set.
    pub(super) fn unwatched(
        parts: &SubjectParts<'_>,
        waiter_count: usize,
        store: Store<K>,
        handlers: Handlers,
    ) -> Self {
        Self {
            place: parts.informer,
            selection: parts.plan.selection.plain(),
            store,
            has_synced: Arc::default(),
            handlers,
            waiter_count,
            waiters: Waiters::new(parts.informer, parts.recorder.clone()),
            unstarted: Vec::new(),
            tasks: TaskSet::new(),
            recorder: parts.recorder.clone(),
        }
    }

    /// Returns the flag of the sync.
    pub(super) fn has_synced_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.has_synced)
    }

    /// Runs `task` from the start on.
    pub(super) fn run(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.unstarted.push(Box::pin(task));
    }
}

impl<K: MirroredObject> Subject for StoreSubject<K> {
    fn selection(&self) -> &Selection {
        &self.selection
    }

    fn start(&mut self) {
        for _ in 0..self.waiter_count {
            let (store, flag) = (self.store.clone(), Arc::clone(&self.has_synced));
            self.waiters.add(async move {
                if store.wait_until_ready().await.is_err() {
                    pending::<()>().await;
                }
                flag.store(true, Ordering::Relaxed);
            });
        }
        for task in self.unstarted.drain(..) {
            self.tasks.spawn(task);
        }
    }

    fn join(&mut self, handler: usize, _: &HandlerPlan) {
        self.handlers.join(handler);
    }

    fn leave(&mut self, handler: usize) {
        self.handlers.leave(handler);
    }

    fn has_synced(&self) -> bool {
        self.has_synced.load(Ordering::Relaxed)
    }

    fn holds(&self) -> BTreeMap<Key, State> {
        let objects = self.store.state();
        objects
            .iter()
            .map(|object| (key(object.as_ref()), state(object.as_ref())))
            .collect()
    }

    fn observe(&self) {
        let members = self.holds().into_iter();
        self.recorder.record(Observation::Cached {
            informer: self.place,
            // A store of kube-runtime does not report its version.
            revision: None,
            has_synced: self.has_synced(),
            members: members.map(|(key, state)| Member { key, state }).collect(),
        });
    }

    fn stop(mut self: Box<Self>) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            self.waiters.stop();
            for _ in 0..self.tasks.forget_ended() {
                self.recorder.record(Observation::Warned {
                    message: crate::participants::PANICKED.to_owned(),
                    fields: String::new(),
                });
            }
            self.tasks.shutdown().await;
            self.recorder.record(Observation::InformerStopped {
                informer: self.place,
                task_count: 0,
            });
        })
    }
}
