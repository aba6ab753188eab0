//! Handlers that are slow, and handlers that leave: what a buffer does with random changes and reads, when it is warned of
//! them, and what is left of those that were removed, each compared with a model of the documented rule.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Debug,
    iter, mem,
    pin::pin,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fakeserver::FakeServer;
use fastrand::Rng;
use futures::{FutureExt, StreamExt};
use informer::{
    AsyncEventHandler, Buffer, HandlerFuncs, HandlerOptions, HandlerRegistration, Notification,
    NotificationStream, Object, ResourceVersion, Scope, SharedInformer, http::HttpListWatch,
    reflector::ReflectorOptions,
};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};
use tracing::{
    Dispatch, Event, Level, Metadata, Subscriber,
    field::Field,
    span::{Attributes, Id, Record},
    subscriber::{NoSubscriber, set_default},
};

const LIMIT: Duration = Duration::from_mins(5);
/// The time in which everything that can run has run.
const BRIEF: Duration = Duration::from_millis(1);
/// The number of objects of most tests.
const KEYS: usize = 6;
/// The number of objects of which more changes wait than are taken at once.
const MANY_KEYS: usize = 90;

type Reader = NotificationStream<ConfigMap>;
type ConfigMapNotification = Notification<ConfigMap>;

/// A cluster, and an informer of its config maps that is synced.
struct World {
    server: FakeServer,
    informer: SharedInformer<ConfigMap>,
}

/// A reader, and a model of what waits for it.
struct SlowReader {
    seed: u64,
    reader: Reader,
    /// The number of objects that were held when it joined, and are not read.
    initial: usize,
    /// The number of changes that arrived at once with the one that was read last, and are not read.
    reading: usize,
    /// The number of changes that arrived at once, each time.
    batches: VecDeque<usize>,
}

/// The states of objects: uid and version by name.
type States = BTreeMap<String, (String, String)>;

/// The calls of a handler, each of which needs a permit to return.
struct Calls {
    gate: Semaphore,
    begun: AtomicUsize,
    returned: AtomicUsize,
    /// The registration, if the call that runs is to remove the handler.
    own: Mutex<Option<HandlerRegistration>>,
}

/// The warnings of this thread that a handler falls behind: the number that was pending at each.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<usize>>>);

/// A second subscriber, of nothing. With a single one, a place that logs for the first time on a thread that has none is
/// silent from then on, on all threads.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));

// === impl World ===

impl World {
    async fn new() -> Self {
        let server = FakeServer::builder().with_seed(1).build();
        let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
        let informer = SharedInformer::builder(list_watch)
            .with_options(ReflectorOptions::default().with_seed(0))
            .build()
            .unwrap();
        let world = Self { server, informer };
        for key in 0..KEYS {
            world.write(key);
        }
        world.informer.start();
        world.informer.wait_for_cache_sync(LIMIT).await.unwrap();
        world
    }

    /// Creates or updates an object.
    fn write(&self, key: usize) {
        let object = config_map(key, self.server.revision());
        self.server.apply(&object).unwrap();
    }

    /// Deletes an object, or returns false if there is none.
    fn delete(&self, key: usize) -> bool {
        self.server.delete(&config_map(key, 0)).is_ok()
    }

    /// Changes this number of objects; the informer receives several at once, by a list.
    async fn change(&self, count: usize) {
        let replacements = self.informer.metrics().replacements;
        for key in 0..count {
            self.write(key);
        }
        if count > 1 {
            self.server.expire();
            self.server.disconnect();
        }
        self.caught_up().await;
        let listed = self.informer.metrics().replacements - replacements;
        assert_eq!(listed, u64::from(count > 1));
    }

    async fn caught_up(&self) {
        let version = ResourceVersion::new(self.server.revision().to_string());
        self.informer.wait_until(&version, LIMIT).await.unwrap();
    }

    /// Adds a reader, which receives all objects first.
    async fn reader(&self, options: HandlerOptions, seed: u64) -> SlowReader {
        let reader = self.informer.stream_with(options);
        settle().await;
        SlowReader {
            seed,
            reader,
            initial: self.held().len(),
            reading: 0,
            batches: VecDeque::new(),
        }
    }

    fn held(&self) -> States {
        let objects = self.informer.store().list();
        let entry = |own: &Object<ConfigMap>| (own.key().name().to_owned(), state(own));
        objects.iter().map(entry).collect()
    }

    fn handler_count(&self) -> usize {
        self.informer.metrics().listeners.len()
    }
}

// === impl SlowReader ===

impl SlowReader {
    /// Lets one change or several at once arrive, or reads some.
    async fn step(&mut self, world: &World, random: &mut Rng) {
        let arrivals = match random.u8(0..10) {
            0..=4 => 1,
            5 => random.usize(2..=KEYS),
            _ => return (0..random.usize(1..=5)).for_each(|_| self.read()),
        };
        world.change(arrivals).await;
        self.batches.push_back(arrivals);
    }

    /// Reads one, if there is one by the model.
    fn read(&mut self) {
        if self.initial == 0 && self.reading == 0 {
            self.reading = self.batches.pop_front().unwrap_or(0);
        }
        let left = match &mut self.initial {
            0 => &mut self.reading,
            initial => initial,
        };
        let is_there = *left > 0;
        *left -= usize::from(is_there);
        let received = read(&mut self.reader);
        assert_eq!(
            received.is_some(),
            is_there,
            "seed {}: {received:?}",
            self.seed
        );
    }

    /// Returns the number of changes in the buffer.
    fn buffered(&self) -> usize {
        self.batches.iter().sum()
    }

    /// Returns the number of changes that were not read.
    fn changes(&self) -> usize {
        self.buffered() + self.reading
    }

    fn waiting(&self) -> usize {
        self.initial + self.changes()
    }
}

// === impl Calls ===

impl Calls {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            gate: Semaphore::new(0),
            begun: AtomicUsize::new(0),
            returned: AtomicUsize::new(0),
            own: Mutex::default(),
        })
    }

    fn handler(self: &Arc<Self>) -> impl AsyncEventHandler<ConfigMap> + use<> {
        let calls = Arc::clone(self);
        move |_: ConfigMapNotification| {
            let calls = Arc::clone(&calls);
            async move {
                calls.begun.fetch_add(1, Ordering::Relaxed);
                calls.gate.acquire().await.unwrap().forget();
                let own = calls.own.lock().unwrap().take();
                if let Some(own) = own {
                    own.remove().await;
                }
                calls.returned.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Returns how many have begun, and how many have returned.
    fn counts(&self) -> (usize, usize) {
        let load = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        (load(&self.begun), load(&self.returned))
    }
}

// === impl Warnings ===

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = BTreeMap::new();
        event.record(&mut |field: &Field, value: &dyn Debug| {
            fields.insert(field.name(), format!("{value:?}"));
        });
        if fields.get("message").map(String::as_str) == Some("handler falls behind") {
            let pending = fields["pending"].parse().unwrap();
            self.0.lock().unwrap().push(pending);
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn config_map(key: usize, text: u64) -> Value {
    json!({
        "kind": "ConfigMap", "apiVersion": "v1", "data": {"text": text.to_string()},
        "metadata": {"name": format!("object-{key}"), "namespace": "default"},
    })
}

fn state(object: &Object<ConfigMap>) -> (String, String) {
    let version = object.resource_version().as_str().to_owned();
    (object.uid().to_owned(), version)
}

/// Reads at most this number of notifications into the reader's states, from which each has to follow.
/// Returns how many there were.
fn fold(slow: &mut SlowReader, states: &mut States, reads: usize) -> u64 {
    let (seed, mut count) = (slow.seed, 0);
    for received in iter::from_fn(|| read(&mut slow.reader)).take(reads) {
        let name = received.key().name().to_owned();
        let is_next = match &received {
            Notification::Add { object, .. } => states.insert(name, state(object)).is_none(),
            Notification::Update { old, new, .. } => {
                states.insert(name, state(new)) == Some(state(old)) && old.uid() == new.uid()
            }
            Notification::Delete { deleted, .. } => {
                let uid = deleted.last_known().map(Object::uid);
                states
                    .remove(&name)
                    .is_some_and(|(own, _)| Some(&*own) == uid)
            }
        };
        assert!(is_next, "seed {seed}: {received:?}");
        count += 1;
    }
    count
}

/// Lets all tasks run until they wait.
async fn settle() {
    sleep(BRIEF).await;
}

/// Reads one, if one is there.
fn read(reader: &mut Reader) -> Option<ConfigMapNotification> {
    let next = tokio::task::unconstrained(reader.next());
    next.now_or_never().flatten()
}

/// Returns whether there is nothing more to read, now or later.
fn is_over(reader: &mut Reader) -> bool {
    matches!(reader.next().now_or_never(), Some(None))
}

#[tokio::test(start_paused = true)]
async fn a_reader_is_warned_of_when_too_much_waits_and_again_after_it_has_half_caught_up() {
    LazyLock::force(&SECOND);
    let warnings = Warnings::default();
    let _guard = set_default(warnings.clone());
    let world = World::new().await;
    let mut warned_again = 0;
    for seed in 0..10 {
        let mut random = Rng::with_seed(seed);
        let warning_at = random.usize(0..=6);
        let options = HandlerOptions::default().with_warning_at(warning_at as u64);
        let mut slow = world.reader(options, seed).await;
        let (mut is_warned, mut warned_count) = (false, 0);
        for step in 0..30 {
            slow.step(&world, &mut random).await;
            let waiting = slow.changes();
            let mut expected = Vec::new();
            if waiting > warning_at && !mem::replace(&mut is_warned, true) {
                expected.push(waiting);
                warned_count += 1;
            }
            is_warned &= 2 * waiting > warning_at;
            let warned = mem::take(&mut *warnings.0.lock().unwrap());
            assert_eq!(warned, expected, "seed {seed}, {step}: {warning_at}");
        }
        warned_again += usize::from(warned_count > 1);
    }
    assert!(warned_again > 5, "{warned_again} were warned of again");
}

#[tokio::test(start_paused = true)]
async fn a_reader_is_disconnected_as_soon_as_more_changes_wait_than_may() {
    let world = World::new().await;
    let mut overflows = 0;
    for seed in 0..30 {
        let mut random = Rng::with_seed(seed);
        let limit = random.usize(0..=8);
        let options = HandlerOptions::default().with_buffer(Buffer::Disconnecting { limit });
        let mut slow = world.reader(options, seed).await;
        for step in 0..20 {
            slow.step(&world, &mut random).await;
            let is_overflow = slow.buffered() > limit;
            let end = slow.reader.registration().end();
            assert_eq!(end.is_some(), is_overflow, "seed {seed}, {step}: {limit}");
            let pending = slow.reader.registration().metrics().pending;
            let expected = if is_overflow { 0 } else { slow.waiting() };
            assert_eq!(pending, expected as u64, "seed {seed}, {step}");
            let Some(end) = end else { continue };
            overflows += 1;
            assert!(end.is_overflow(), "seed {seed}, {step}: {end}");
            assert!(is_over(&mut slow.reader), "seed {seed}, {step}");
            break;
        }
    }
    assert!(overflows > 10 && overflows < 30, "{overflows} overflows");
    // An end of another kind is none of too much.
    let options = HandlerOptions::default().with_buffer(Buffer::Disconnecting { limit: 1 });
    let mut slow = world.reader(options, 0).await;
    slow.batches.push_back(1);
    world.change(1).await;
    world.informer.shutdown().await;
    while slow.waiting() > 0 {
        slow.read();
    }
    assert!(is_over(&mut slow.reader));
    assert!(!slow.reader.registration().end().unwrap().is_overflow());
}

#[tokio::test(start_paused = true)]
async fn merged_notifications_of_a_slow_reader_fold_to_the_same_state() {
    let world = World::new().await;
    let mut coalesced = 0;
    for seed in 0..2 {
        let mut random = Rng::with_seed(seed);
        let limit = random.usize(0..=12);
        let with = |buffer| world.reader(HandlerOptions::default().with_buffer(buffer), seed);
        let mut slow = with(Buffer::Coalescing { limit }).await;
        let mut prompt = with(Buffer::Unbounded).await;
        let (mut received, mut received_all, mut arrived) = (States::new(), States::new(), 0);
        for round in 0..6 {
            for _ in 0..random.usize(20..=100) {
                let key = random.usize(0..MANY_KEYS);
                if !random.bool() || !world.delete(key) {
                    world.write(key);
                }
            }
            world.caught_up().await;
            arrived += fold(&mut prompt, &mut received_all, usize::MAX);
            assert_eq!(received_all, world.held(), "seed {seed}, {round}");
            fold(&mut slow, &mut received, random.usize(0..=limit + 70));
            let metrics = slow.reader.registration().metrics();
            let counted = metrics.pending + metrics.delivered + metrics.coalesced;
            assert_eq!(counted, arrived, "seed {seed}, {round}: {metrics:?}");
        }
        fold(&mut slow, &mut received, usize::MAX);
        assert_eq!(received, received_all, "seed {seed}");
        let metrics = slow.reader.registration().metrics();
        assert_eq!(metrics.pending, 0, "seed {seed}");
        coalesced += metrics.coalesced;
    }
    assert!(coalesced > 50, "{coalesced} were merged");
}

#[tokio::test(start_paused = true)]
async fn a_removal_lets_the_call_that_runs_return_and_no_other_begin() {
    let world = World::new().await;
    for seed in 0..40 {
        let mut random = Rng::with_seed(seed);
        let calls = Calls::new();
        let registration = world.informer.add_async_handler(calls.handler());
        let changes = random.usize(0..3);
        for _ in 0..changes {
            world.change(1).await;
        }
        let total = world.held().len() + changes;
        let permits = random.usize(0..=total);
        calls.gate.add_permits(permits);
        settle().await;
        let begun = total.min(permits + 1);
        assert_eq!(calls.counts(), (begun, permits), "seed {seed}");
        let is_calling = begun > permits;
        let mut removal = pin!(None);
        match random.u8(0..5) {
            0 => drop(registration),
            // The wait is given up.
            1 => drop(registration.remove().now_or_never()),
            2 if is_calling => *calls.own.lock().unwrap() = Some(registration),
            _ => removal.set(Some(registration.remove())),
        }
        if let Some(removal) = removal.as_mut().as_pin_mut() {
            let has_ended = timeout(BRIEF, removal).await.is_ok();
            assert_eq!(has_ended, !is_calling, "seed {seed}: {permits} returned");
        }
        let left = usize::from(calls.own.lock().unwrap().is_some());
        assert_eq!(world.handler_count(), left, "seed {seed}");
        world.change(1).await;
        settle().await;
        assert_eq!(calls.counts(), (begun, permits), "seed {seed}");
        calls.gate.add_permits(total);
        match removal.as_mut().as_pin_mut() {
            Some(removal) if is_calling => timeout(LIMIT, removal).await.unwrap(),
            _ => settle().await,
        }
        assert_eq!(calls.counts(), (begun, begun), "seed {seed}");
        assert_eq!(Arc::strong_count(&calls), 1, "seed {seed}: the handler");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_of_handlers_that_have_joined_and_left() {
    let world = World::new().await;
    let name: Arc<str> = "leaves".into();
    for seed in 0..12 {
        let mut random = Rng::with_seed(seed);
        let mut kept = VecDeque::new();
        for _ in 0..random.usize(1..=20) {
            let held = Arc::clone(&name);
            let handler = HandlerFuncs::new().with_delete(move |_| drop(Arc::clone(&held)));
            let options = HandlerOptions::default().with_name(Arc::clone(&name));
            kept.push_back(world.informer.add_handler_with(handler, options));
            settle().await;
            if random.bool()
                && let Some(first) = kept.pop_front()
            {
                first.remove().await;
            }
            assert_eq!(world.handler_count(), kept.len(), "seed {seed}");
        }
        // They are forgotten with the next that joins, or with the next change.
        kept.clear();
        settle().await;
        if random.bool() {
            world.change(1).await;
        } else {
            drop(world.informer.add_handler(HandlerFuncs::new()));
            settle().await;
        }
        assert_eq!(world.handler_count(), 0, "seed {seed}");
        assert_eq!(Arc::strong_count(&name), 1, "seed {seed}");
    }
}
