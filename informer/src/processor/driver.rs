//! The fan-out: every notification to every listener, in the order of the writer.

use std::{fmt, sync::Arc};

use tokio::time::Instant;
use tracing::Instrument;

use super::{
    Listener, ListenerMetrics, PresentObjects,
    control::{Control, Removal},
    item::Item,
    listener::{CloseGuard, Reader, Shared, Task},
    metrics::Labels,
    schedule::Schedule,
};
use crate::{
    handler::Notification,
    sync::{Mutex, MutexGuard, lock},
    task::Spawner,
};

/// The largest number of notifications in one item. It bounds how many a slow handler keeps that the others have
/// handled.
const CHUNK_MAX: usize = 1_024;

/// All listeners of one informer. The writer owns it; dropping it ends all listeners, without delivery of what is
/// pending.
pub struct Processor<K> {
    listeners: Vec<AttachedListener<K>>,
    /// Listeners that joined before there was anything to run on.
    state: State,
    list: ListenerList,
    has_synced: bool,
    is_closed: bool,
    /// Whose listeners these are, for the `metrics` facade.
    labels: Option<Labels>,
}

/// The listeners as seen from outside, for metrics.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListenerList(Arc<Mutex<Vec<Arc<Control>>>>);

struct AttachedListener<K> {
    shared: Arc<Shared<K>>,
    schedule: Option<Schedule>,
    /// Set if it is read as a stream: the processor does not wait for its reader.
    stream: Option<CloseGuard<K>>,
}

enum State {
    Unstarted(Vec<(Arc<Control>, Task)>),
    Started(Spawner),
}

// === impl Processor ===

impl<K: Send + Sync + 'static> Processor<K> {
    /// Without listeners, and not started.
    pub fn new() -> Self {
        Self {
            listeners: Vec::new(),
            state: State::Unstarted(Vec::new()),
            list: ListenerList::default(),
            has_synced: false,
            is_closed: false,
            labels: None,
        }
    }

    /// Lets listeners that are attached from now on report through the `metrics` facade, as those of this informer.
    pub(crate) fn with_labels(mut self, labels: Labels) -> Self {
        self.labels = Some(labels);
        self
    }

    /// Adds a listener. It first receives the objects that are `present`, as a part of the initial state, and then
    /// everything that is distributed after this call. Nothing is left out or delivered twice, since the writer is the
    /// caller.
    pub fn attach(&mut self, listener: Listener<K>, present: PresentObjects<K>, now: Instant) {
        // Nothing else does where there are no changes.
        self.forget_removed();
        let Listener { shared, reader } = listener;
        if let Some(labels) = &self.labels {
            shared.control.report_as(labels);
        }
        // Pushed before the listener is in the list, so that no change overtakes what is held.
        if present.len() > 0 {
            shared.push(Item::Replay(present));
        }
        // After the present objects, which are its initial state.
        if self.has_synced {
            notify_end_of_initial_state(&shared);
        }
        let schedule = Schedule::new(shared.control.options.resync_period, now);
        let control = Arc::clone(&shared.control);
        self.list.add(&control);
        let stream = match reader {
            Reader::Task(task) => {
                self.run(control, task);
                None
            }
            Reader::Stream(guard) => Some(guard),
        };
        self.listeners.push(AttachedListener {
            shared,
            schedule,
            stream,
        });
    }

    /// Begins to call the handlers, on tasks of `spawner`. Resync periods begin here.
    pub fn start(&mut self, spawner: &Spawner, now: Instant) {
        let started = State::Started(spawner.clone());
        let State::Unstarted(tasks) = std::mem::replace(&mut self.state, started) else {
            return;
        };
        for (control, task) in tasks {
            spawn(spawner, &control, task);
        }
        for attached in &mut self.listeners {
            let period = attached.shared.control.options.resync_period;
            attached.schedule = Schedule::new(period, now);
        }
    }

    /// Delivers to every listener, in this order; `is_live` if the changes happened after the initial state.
    pub fn distribute(&mut self, notifications: Vec<Notification<K>>, is_live: bool) {
        self.forget_removed();
        if self.listeners.is_empty() {
            return;
        }
        let mut rest = notifications.into_iter();
        while rest.len() > 0 {
            // One allocation for all listeners, each of which keeps its own place in it.
            let chunk: Arc<[_]> = rest.by_ref().take(CHUNK_MAX).collect();
            for attached in &self.listeners {
                let item = Item::changes(Arc::clone(&chunk), is_live);
                attached.shared.push(item);
            }
        }
    }

    /// All of the initial state has been distributed.
    pub fn mark_synced(&mut self) {
        if std::mem::replace(&mut self.has_synced, true) {
            return;
        }
        for attached in &self.listeners {
            notify_end_of_initial_state(&attached.shared);
        }
    }

    /// Returns the time of the next resync of any listener.
    pub fn next_resync(&self) -> Option<Instant> {
        let schedules = self.listeners.iter().filter_map(|own| own.schedule);
        schedules.map(|schedule| schedule.next()).min()
    }

    /// Repeats all held objects to the listeners whose resync is due; those that still receive the initial state are passed over.
    pub fn resync(&mut self, now: Instant, mut present: impl FnMut() -> PresentObjects<K>) {
        self.forget_removed();
        for attached in &mut self.listeners {
            let is_due = attached
                .schedule
                .as_mut()
                .is_some_and(|own| own.is_due(now));
            if is_due && self.has_synced {
                attached.shared.push(Item::Resync(present()));
            }
        }
    }

    /// Takes nothing more. The listeners deliver what is pending, and end.
    pub fn close(&mut self) {
        self.is_closed = true;
        for attached in &self.listeners {
            attached.shared.close();
        }
    }

    /// Resolves once all listeners have ended; after [`close`](Self::close), when they have delivered everything.
    /// Streams are not waited for.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    pub async fn ended(&mut self) {
        for attached in &self.listeners {
            if attached.stream.is_none() {
                attached.shared.control.ended.wait().await;
            }
        }
    }

    pub(crate) fn list(&self) -> ListenerList {
        self.list.clone()
    }

    /// Runs the task of a listener, as soon as there is something to run on.
    fn run(&mut self, control: Arc<Control>, task: Task) {
        match &mut self.state {
            State::Unstarted(tasks) => {
                // With the handlers that were removed meanwhile.
                tasks.retain(|(control, _)| !control.is_removed());
                tasks.push((control, task));
            }
            State::Started(spawner) => spawn(spawner, &control, task),
        }
    }

    fn forget_removed(&mut self) {
        let before = self.listeners.len();
        self.listeners
            .retain(|attached| !attached.shared.control.is_removed());
        if self.listeners.len() != before {
            self.list.forget_removed();
        }
    }
}

impl<K: Send + Sync + 'static> Default for Processor<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Drop for Processor<K> {
    fn drop(&mut self) {
        for attached in &self.listeners {
            let control = &attached.shared.control;
            // Removed before it is stopped: a task that wakes finds that no call may begin any more.
            // What a stream has yet to give stays there for its reader, if the end was in good order.
            if !self.is_closed || attached.stream.is_none() {
                control.remove(Removal::Stopped);
            }
            control.stopped.set();
        }
    }
}

impl<K> fmt::Debug for Processor<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.listeners.iter().map(|own| &own.shared.control.name);
        f.debug_list().entries(names).finish()
    }
}

/// Runs a listener in a span of its own, which is one of its informer's.
fn spawn(spawner: &Spawner, control: &Control, task: Task) {
    let span = tracing::info_span!("listener", handler = %control.name);
    spawner.spawn(task.instrument(span));
}

fn notify_end_of_initial_state<K>(shared: &Shared<K>) {
    shared.control.note_initial_state_queued();
    shared.push(Item::EndOfInitialState);
}

// === impl ListenerList ===

impl ListenerList {
    pub(crate) fn metrics(&self) -> Vec<ListenerMetrics> {
        let controls = self.controls();
        let present = controls.iter().filter(|control| !control.is_removed());
        present.map(|control| control.metrics()).collect()
    }

    /// Returns the number of listeners, those included that were removed and are not forgotten.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.controls().len()
    }

    fn add(&self, control: &Arc<Control>) {
        self.controls().push(Arc::clone(control));
    }

    fn forget_removed(&self) {
        self.controls().retain(|control| !control.is_removed());
    }

    fn controls(&self) -> MutexGuard<'_, Vec<Arc<Control>>> {
        lock(&self.0)
    }
}
