//! The parts of `informer` without an informer: a reflector, a delta FIFO, and a map that their user fills.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
};

use informer::{
    DeltaFifoOptions, Object, ObjectKey, ResourceVersion,
    reflector::{Delta, Reflector, ReflectorControl},
    stages::{Batch, DeltaFifo},
};
use tokio_util::sync::CancellationToken;

use super::{
    Subject, SubjectParts,
    assembly::{list_watch, reflector_options},
    interleaved::Interleaved,
};
use crate::{
    participants::{
        HandlerPlan,
        states::{key, state},
    },
    plan::Selection,
    task::TaskSet,
    trace::{Key, Member, Observation, Part, Recorder, State},
};

/// The maximal number of changes in the queue, and in a batch, where the plan does not say.
const QUEUE_MAX: usize = 16;

/// Mirrors its selection by a map, which a task fills from the queue.
pub(super) struct QueueMirror<K> {
    place: usize,
    selection: Selection,
    mirror: Arc<Mirror<K>>,
    /// The tasks from the start on.
    unstarted: Vec<Pin<Box<dyn Future<Output = ()> + Send>>>,
    tasks: TaskSet,
    control: ReflectorControl,
    stop: CancellationToken,
    recorder: Recorder,
}

/// The map, and what is known of it.
struct Mirror<K>(Mutex<Content<K>>);

struct Content<K> {
    objects: BTreeMap<ObjectKey, Object<K>>,
    version: ResourceVersion,
    has_synced: bool,
}

/// The end of a queue that its user holds.
struct Consumer<K> {
    place: usize,
    queue: DeltaFifo<K>,
    batch_max: usize,
    mirror: Arc<Mirror<K>>,
    recorder: Recorder,
}

// === impl QueueMirror ===

impl<K> QueueMirror<K>
where
    K: kube::Resource + serde::de::DeserializeOwned + Send + Sync + 'static,
{
    /// Creates the mirror of a plan's informer.
    pub(super) fn boxed(
        parts: SubjectParts<'_>,
        dynamic_type: &K::DynamicType,
    ) -> Box<dyn Subject> {
        let plan = parts.plan;
        let selection = plan.selection.plain();
        let options = reflector_options(&parts);
        let list_watch = list_watch::<K>(parts.client, &selection, dynamic_type);
        let count = plan.queue_max.unwrap_or(QUEUE_MAX);
        let queue_options = DeltaFifoOptions::default()
            .with_capacity(count)
            .with_batch_max(count);
        let (producer, queue) = DeltaFifo::channel(&queue_options);
        let (control, stop) = (ReflectorControl::new(), CancellationToken::new());
        let list_watch = Interleaved::new(list_watch, parts.yields);
        let mut reflector =
            Reflector::new(list_watch, producer, options).with_control(control.clone());
        if let Some(gate) = parts.gate {
            reflector = reflector.with_list_gate(gate);
        }
        let mirror = Arc::new(Mirror::new());
        let consumer = Consumer {
            place: parts.informer,
            queue,
            batch_max: count,
            mirror: Arc::clone(&mirror),
            recorder: parts.recorder.clone(),
        };
        Box::new(Self {
            place: parts.informer,
            selection,
            mirror,
            unstarted: vec![
                Box::pin(reflector.run(stop.clone())),
                Box::pin(consumer.consume()),
            ],
            tasks: TaskSet::new(),
            control,
            stop,
            recorder: parts.recorder,
        })
    }
}

impl<K: Send + Sync + 'static> Subject for QueueMirror<K> {
    fn selection(&self) -> &Selection {
        &self.selection
    }

    fn start(&mut self) {
        for task in self.unstarted.drain(..) {
            self.tasks.spawn(task);
        }
    }

    fn join(&mut self, _: usize, _: &HandlerPlan) {}

    fn leave(&mut self, _: usize) {}

    fn pause(&mut self) -> bool {
        self.control.pause();
        true
    }

    fn resume(&mut self) {
        self.control.resume();
    }

    fn has_synced(&self) -> bool {
        self.mirror.lock().has_synced
    }

    fn holds(&self) -> BTreeMap<Key, State> {
        let content = self.mirror.lock();
        let objects = content.objects.values();
        objects.map(|object| (key(object), state(object))).collect()
    }

    fn observe(&self) {
        let members = self.holds().into_iter();
        let members = members.map(|(key, state)| Member { key, state });
        let revision = self.mirror.lock().version.as_str().parse().ok();
        self.recorder.record(Observation::Cached {
            informer: self.place,
            revision,
            has_synced: self.has_synced(),
            members: members.collect(),
        });
    }

    fn stop(mut self: Box<Self>) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            self.stop.cancel();
            // The reflector drops its end of the queue, so that the other one ends once it is empty.
            std::mem::take(&mut self.tasks).wait().await;
            self.recorder.record(Observation::InformerStopped {
                informer: self.place,
                task_count: 0,
            });
        })
    }
}

// === impl Mirror ===

impl<K> Mirror<K> {
    fn new() -> Self {
        Self(Mutex::new(Content {
            objects: BTreeMap::new(),
            version: ResourceVersion::unknown(),
            has_synced: false,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Content<K>> {
        self.0.lock().expect("no holder panics")
    }
}

// === impl Content ===

impl<K> Content<K> {
    fn apply(&mut self, delta: Delta<K>) {
        match delta {
            Delta::Upserted(object) => {
                self.version = object.resource_version().clone();
                self.objects.insert(object.key().clone(), object);
            }
            Delta::Deleted(object) => {
                self.version = object.resource_version().clone();
                self.objects.remove(object.key());
            }
            Delta::Undecodable(error) | Delta::DeletedUndecodable(error) => {
                self.version = error.resource_version;
                self.objects.remove(&error.key);
            }
            Delta::ReplacedAll(replacement) => {
                self.version = replacement.resource_version;
                let objects = replacement.objects.into_iter();
                self.objects = objects
                    .map(|object| (object.key().clone(), object))
                    .collect();
            }
            Delta::Bookmark(version) => self.version = version,
            // Nothing else is about objects.
            _ => {}
        }
    }
}

// === impl Consumer ===

impl<K: Send + Sync + 'static> Consumer<K> {
    /// Takes batches until the queue is closed and empty: waits for one, and takes what is there besides.
    async fn consume(mut self) {
        while let Some(batch) = self.queue.pop().await {
            self.take(batch);
            loop {
                let queued = self.queue.len();
                let is_empty = self.queue.is_empty();
                let Some(batch) = self.queue.try_pop() else {
                    self.expect(
                        is_empty && queued < 1,
                        "tells of items that it does not have",
                    );
                    break;
                };
                let is_counted = !is_empty && self.queue.len() + batch.deltas.len() == queued;
                self.expect(is_counted, "counts its items wrongly");
                self.take(batch);
            }
        }
    }

    /// Applies a batch, and compares it with what a batch has to be.
    fn take(&mut self, batch: Batch<K>) {
        let Batch {
            deltas, is_initial, ..
        } = batch;
        let keys: Vec<_> = deltas.iter().map(Delta::key).collect();
        let distinct: BTreeSet<_> = keys.iter().flatten().collect();
        let is_batch = match keys[..] {
            [] => false,
            [_] => true,
            _ => distinct.len() == keys.len() && keys.len() <= self.batch_max,
        };
        self.expect(is_batch, "has a batch that is none");
        let is_whole = deltas
            .iter()
            .any(|delta| matches!(delta, Delta::ReplacedAll(_)));
        let mirror = Arc::clone(&self.mirror);
        let mut content = mirror.lock();
        self.expect(
            is_initial != content.has_synced,
            "has a batch of another phase",
        );
        self.expect(
            self.queue.has_synced() == content.has_synced,
            "has synced before its first state was processed",
        );
        for delta in deltas {
            content.apply(delta);
        }
        self.queue.finish();
        content.has_synced |= is_whole;
        self.expect(
            self.queue.has_synced() == content.has_synced,
            "has not synced after its first state was processed",
        );
    }

    fn expect(&self, is_true: bool, text: &str) {
        if !is_true {
            self.recorder.record(Observation::Differs {
                informer: self.place,
                part: Part::Report,
                name: "delta FIFO".to_owned(),
                text: text.to_owned(),
            });
        }
    }
}
