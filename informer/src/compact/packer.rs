//! The shell: takes objects as they arrive, learns from some, and has the others packed in batches.

use std::{fmt, sync::Arc};

use super::{
    CompactOptions,
    dictionary::{Contexts, Dictionary},
    live::{Live, LiveKey},
    object::Compact,
    samples::Samples,
    young::{Batch, YoungObjects},
};
use crate::{
    encoding::Syntax,
    sync::{AtomicU64, AtomicUsize, Mutex, Ordering, lock},
    task::{TaskSet, has_threads, run_blocking},
};

/// The number of young areas that may wait for packing before their producer has to help.
const IN_FLIGHT_MAX: usize = 4;

type Decode<K> = dyn Fn(&[u8], Syntax) -> serde_json::Result<K> + Send + Sync;

/// The state that all objects of one selection share: its dictionary, and the decoded objects.
///
/// # Memory
///
/// The young area, four times as much at most on its way to be packed, a dictionary of 32 KiB with zstd's tables for it, the
/// objects that are kept decoded, and samples of up to a megabyte for pods.
pub(crate) struct Packer<K> {
    options: CompactOptions,
    /// Builds an object of its bytes.
    decode: Box<Decode<K>>,
    drops_fields: bool,
    next_id: AtomicU64,
    in_flight_bytes: AtomicUsize,
    state: Mutex<State<K>>,
    live: Mutex<Live<K>>,
    contexts: Contexts,
    tasks: TaskSet,
}

struct State<K> {
    young: YoungObjects<Compact<K>>,
    samples: Samples,
    dictionary: Option<Arc<Dictionary>>,
}

/// Work that is done off the path where there are threads for it.
enum Job<K> {
    Pack(Batch<Compact<K>>),
    Learn(Vec<Box<[u8]>>),
}

// === impl Packer ===

impl<K> Packer<K> {
    /// One whose objects are built by `decode`, which leaves out fields or does not.
    pub(crate) fn new(
        options: CompactOptions,
        drops_fields: bool,
        decode: impl Fn(&[u8], Syntax) -> serde_json::Result<K> + Send + Sync + 'static,
    ) -> Self {
        let state = State {
            young: YoungObjects::new(options.young_size_max_bytes),
            samples: Samples::new(),
            dictionary: None,
        };
        Self {
            decode: Box::new(decode),
            drops_fields,
            next_id: AtomicU64::new(0),
            in_flight_bytes: AtomicUsize::new(0),
            state: Mutex::new(state),
            live: Mutex::new(Live::new(options.hot_objects_max)),
            contexts: Contexts::default(),
            tasks: TaskSet::new(),
            options,
        }
    }

    pub(super) fn decode(&self, bytes: &[u8], syntax: Syntax) -> serde_json::Result<K> {
        (self.decode)(bytes, syntax)
    }

    pub(super) fn drops_fields(&self) -> bool {
        self.drops_fields
    }

    pub(super) fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    pub(super) fn live(&self, key: LiveKey) -> Option<Arc<K>> {
        lock(&self.live).get(key)
    }

    /// Shares a decoded object; gives the one that all share.
    pub(super) fn share(&self, key: LiveKey, value: Arc<K>) -> Arc<K> {
        let (value, dropped) = lock(&self.live).put(key, value);
        drop(dropped);
        value
    }
}

impl<K: Send + Sync + 'static> Packer<K> {
    /// Takes the bytes of an object, which were checked.
    pub(crate) fn put(self: &Arc<Self>, bytes: &[u8], syntax: Syntax) -> Arc<Compact<K>> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let object = Arc::new(Compact::new(Arc::clone(self), id, bytes, syntax));
        let (batch, samples) = {
            let mut state = lock(&self.state);
            let samples = state.samples.offer(bytes);
            if let (Some(samples), None) = (&samples, &state.dictionary) {
                state.dictionary = Some(self.first_dictionary(samples));
            }
            let batch = state.young.push(Arc::downgrade(&object), bytes.len());
            (batch, samples)
        };
        if let Some(samples) = samples {
            self.dispatch(Job::Learn(samples));
        }
        if let Some(batch) = batch {
            self.dispatch(Job::Pack(batch));
        }
        object
    }

    fn dispatch(self: &Arc<Self>, job: Job<K>) {
        let size = match &job {
            Job::Pack(batch) => batch.size_bytes,
            Job::Learn(_) => 0,
        };
        let in_flight = self.in_flight_bytes.load(Ordering::Relaxed);
        let limit = self.options.young_size_max_bytes * IN_FLIGHT_MAX;
        if !has_threads() || in_flight > limit {
            return self.perform(job);
        }
        self.in_flight_bytes.fetch_add(size, Ordering::Relaxed);
        let packer = Arc::clone(self);
        self.tasks.spawn(async move {
            match job {
                Job::Pack(batch) => packer.pack(batch),
                Job::Learn(samples) => {
                    let packer = Arc::clone(&packer);
                    // It takes tens of milliseconds. A runtime that goes down needs no dictionary.
                    let _ = run_blocking(move || packer.learn(&samples)).await;
                }
            }
            packer.in_flight_bytes.fetch_sub(size, Ordering::Relaxed);
        });
    }

    fn perform(&self, job: Job<K>) {
        match job {
            Job::Pack(batch) => self.pack(batch),
            Job::Learn(samples) => self.learn(&samples),
        }
    }

    fn pack(&self, batch: Batch<Compact<K>>) {
        let dictionary = self.dictionary();
        for object in batch.items {
            // What is gone by now was replaced or deleted.
            if let Some(object) = object.upgrade() {
                object.pack(&dictionary);
            }
        }
    }

    fn learn(&self, samples: &[Box<[u8]>]) {
        let present = self.dictionary();
        let level = self.options.compression_level;
        let trained = Dictionary::trained(samples, &present, level, &self.contexts);
        if let Some(trained) = trained {
            lock(&self.state).dictionary = Some(Arc::new(trained));
        }
    }

    fn dictionary(&self) -> Arc<Dictionary> {
        let mut state = lock(&self.state);
        let State {
            samples,
            dictionary,
            ..
        } = &mut *state;
        Arc::clone(dictionary.get_or_insert_with(|| self.first_dictionary(samples.taken())))
    }

    fn first_dictionary(&self, samples: &[Box<[u8]>]) -> Arc<Dictionary> {
        let level = self.options.compression_level;
        Arc::new(Dictionary::of_samples(samples, level))
    }
}

impl<K> fmt::Debug for Packer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packer")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
