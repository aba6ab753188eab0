//! Rate limiters, the delays and metrics of queues, and backoffs: random calls, compared with naive models of the documented
//! rules.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    iter, mem,
    panic::catch_unwind,
    pin::pin,
    sync::{Arc, Mutex, atomic::AtomicU64, atomic::Ordering},
    time::Duration,
};

use fastrand::Rng;
use futures::{FutureExt, StreamExt, stream::FuturesUnordered};
use informer::{
    SharedInformer,
    list_watch::Status,
    reflector::{BackoffOptions, ReflectorOptions},
    testing::scripted,
    workqueue::{
        AddOptions, RateLimiter, WorkItem, WorkQueue, WorkQueueOptions,
        limiters::{
            Bucket, ItemExponentialFailure, ItemFastSlow, MaxOf, WithMaxWait,
            default_controller_rate_limiter, default_item_based_rate_limiter,
        },
    },
};
use k8s_openapi::api::core::v1::ConfigMap;
use metrics::{
    Counter, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit, set_default_local_recorder,
};
use tokio::{
    task::unconstrained,
    time::{Instant, advance, sleep, timeout},
};

/// The longest wait for anything, and longer than any memory of failures.
const LIMIT: Duration = Duration::from_hours(1);
/// Steps of time, some of which are as long as failures are remembered.
const STEPS_MS: [u64; 8] = [0, 7, 40, 300, 1_000, 600_000, 1_200_000, 3_000_000];
const MS: fn(u64) -> Duration = Duration::from_millis;
const S: fn(u64) -> Duration = Duration::from_secs;

/// An item that shows whether any reference to it is left.
type Item = Arc<u32>;
type Limited = Box<dyn RateLimiter<Item>>;
type DelayOf = Box<dyn Fn(u32) -> Duration>;

/// A model of a limiter: the longest of the delays of several rules, each of which has a limit.
struct Limiter(Vec<(Rule, Duration)>);

enum Rule {
    /// A delay for each number of failures before, and the times of those.
    Failures(DelayOf, Failures),
    /// A delay that all items share.
    Bucket(Box<dyn FnMut(Instant) -> Duration>),
}

/// The time for which failures are remembered, and the failures of each item.
struct Failures(Duration, BTreeMap<u32, Vec<Instant>>);

/// A model of a queue whose items are worked off at once.
struct Model {
    limiter: Limiter,
    /// In the order of arrival, with the time of that.
    queued: Vec<Ticket>,
    /// In the order of the first delay, with the time when each is due.
    delayed: Vec<Ticket>,
    reported: BTreeMap<String, f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ticket {
    item: u32,
    priority: i32,
    at: Instant,
}

/// The metrics of this thread. For each value of a histogram, one is added and the value.
#[derive(Clone, Default)]
struct Report(Arc<Mutex<BTreeMap<String, Arc<AtomicU64>>>>);

/// A histogram of it.
struct Sum(Arc<AtomicU64>);

// === impl Limiter ===

impl Limiter {
    /// With delays up to `max`, of which depends how long failures are remembered.
    fn of_failures(max: Duration, delay_of: impl Fn(u32) -> Duration + 'static) -> Self {
        let memory = max.saturating_mul(3).max(S(600));
        let failures = Failures(memory, BTreeMap::new());
        Self(vec![(Rule::Failures(Box::new(delay_of), failures), max)])
    }

    fn exponential(base: Duration, max: Duration) -> Self {
        let doubled = |delay: Duration, _| delay.saturating_mul(2);
        Self::of_failures(max, move |before| (0..before).fold(base, doubled))
    }

    fn bucket(interval: Duration, burst: u32) -> Self {
        let (interval, full) = (nanos(interval), nanos(interval * burst));
        let (mut level, mut last) = (full, None);
        let take = move |now: Instant| {
            let grown = nanos(now - last.replace(now).unwrap_or(now));
            level = full.min(level + grown) - interval;
            Duration::from_nanos(u64::try_from(-level).unwrap_or(0))
        };
        Self(vec![(Rule::Bucket(Box::new(take)), Duration::MAX)])
    }

    fn when(&mut self, item: u32, now: Instant) -> Duration {
        let delays = self.0.iter_mut().map(|(rule, max)| match rule {
            Rule::Failures(delay_of, failures) => delay_of(failures.count(item, now)).min(*max),
            Rule::Bucket(take) => take(now).min(*max),
        });
        delays.max().unwrap()
    }

    fn forget(&mut self, item: u32) {
        self.failures().for_each(|all| drop(all.1.remove(&item)));
    }

    fn num_requeues(&mut self, item: u32, now: Instant) -> u32 {
        let counts = self.failures().map(|all| all.get(item, now));
        counts.max().unwrap_or(0)
    }

    fn failures(&mut self) -> impl Iterator<Item = &mut Failures> {
        self.0.iter_mut().filter_map(|(rule, _)| match rule {
            Rule::Failures(_, failures) => Some(failures),
            Rule::Bucket(_) => None,
        })
    }
}

// === impl Failures ===

impl Failures {
    /// Counts a failure, and returns how many there were before. Those of long ago are dropped.
    fn count(&mut self, item: u32, now: Instant) -> u32 {
        let Self(memory, times) = self;
        times.retain(|_, times| now - *times.last().unwrap() <= *memory);
        let before = self.get(item, now);
        self.1.entry(item).or_default().push(now);
        before
    }

    fn get(&self, item: u32, now: Instant) -> u32 {
        let times = self.1.get(&item);
        let known = times.filter(|times| now - *times.last().unwrap() <= self.0);
        u32::try_from(known.map_or(0, Vec::len)).unwrap()
    }
}

// === impl Model ===

impl Model {
    fn new(limiter: Limiter) -> Self {
        Self {
            limiter,
            queued: Vec::new(),
            delayed: Vec::new(),
            reported: BTreeMap::new(),
        }
    }

    fn cancel(&mut self, item: u32) -> bool {
        let before = self.delayed.len();
        self.delayed.retain(|own| own.item != item);
        self.delayed.len() < before
    }

    fn add(&mut self, ticket: Ticket, after: Duration, is_limited: bool) {
        let limit = is_limited.then(|| self.limiter.when(ticket.item, ticket.at));
        let waits = iter::once(after).chain(limit);
        let wait = waits.filter(|wait| !wait.is_zero()).min();
        if is_limited || wait.is_some() {
            self.sum("retries_total", 1.0);
        }
        let Some(wait) = wait else {
            return self.mark(ticket);
        };
        let at = ticket.at + wait;
        let mut known = self.delayed.iter_mut();
        if let Some(known) = known.find(|own| own.item == ticket.item) {
            known.at = known.at.min(at);
            known.priority = known.priority.max(ticket.priority);
        } else {
            self.delayed.push(Ticket { at, ..ticket });
        }
    }

    /// Queues an item, or lets it go to the end of a higher priority.
    fn mark(&mut self, ticket: Ticket) {
        let mut queued = self.queued.iter();
        let Some(place) = queued.position(|own| own.item == ticket.item) else {
            self.sum("adds_total", 1.0);
            return self.queued.push(ticket);
        };
        let own = self.queued[place];
        if own.priority < ticket.priority {
            self.queued.remove(place);
            self.queued.push(Ticket {
                at: own.at,
                ..ticket
            });
        }
    }

    /// Returns the delayed items in the order in which they are due.
    fn soonest(&self) -> Vec<Ticket> {
        let mut delayed = self.delayed.clone();
        delayed.sort_by_key(|own| own.at);
        delayed
    }

    /// Queues what is due.
    fn promote(&mut self, now: Instant) {
        let due = self.soonest().into_iter().filter(|own| own.at <= now);
        due.for_each(|own| self.mark(own));
        self.delayed.retain(|own| own.at > now);
    }

    /// Works off what is queued, each item at the same time and for as long.
    fn work_off(&mut self, now: Instant, time: Duration) -> Vec<(u32, i32)> {
        let mut queued = mem::take(&mut self.queued);
        queued.sort_by_key(|own| Reverse(own.priority));
        for own in &queued {
            let waited = (now - own.at).as_secs_f64();
            self.sum("queue_duration_seconds", 1.0 + waited);
            self.sum("work_duration_seconds", 1.0 + time.as_secs_f64());
        }
        let items = queued.into_iter();
        items.map(|own| (own.item, own.priority)).collect()
    }

    fn sum(&mut self, name: &str, change: f64) {
        *self.reported.entry(name.to_owned()).or_default() += change;
    }

    fn check(&mut self, queue: &WorkQueue<Item>, report: &Report, context: &str) {
        let lens = [queue.len(), queue.delayed_len(), queue.processing_len()];
        let expected = [self.queued.len(), self.delayed.len(), 0];
        assert_eq!(lens, expected, "{context}");
        let delayed = self.soonest().into_iter();
        let delayed: Vec<_> = delayed.map(|own| (own.item.into(), own.at)).collect();
        assert_eq!(queue.delayed(), delayed, "{context}");
        for item in (0..6).map(Arc::new) {
            let due = delayed.iter().find(|own| own.0 == item);
            assert_eq!(
                queue.delayed_until(&item),
                due.map(|own| own.1),
                "{context}"
            );
            let count = self.limiter.num_requeues(*item, Instant::now());
            assert_eq!(queue.num_requeues(&item), count, "{context}: {item}");
        }
        let mut reported = self.reported.clone();
        for own in &self.queued {
            let depth = format!("depth,priority={}", own.priority);
            *reported.entry(depth).or_default() += 1.0;
        }
        assert_eq!(report.values(), rounded(&reported), "{context}");
    }
}

// === impl Report ===

impl Report {
    /// Returns the values that are not zero.
    fn values(&self) -> BTreeMap<String, String> {
        let own = self.0.lock().unwrap();
        let value = |name: &str, bits| match u32::try_from(bits) {
            Ok(count) if name.ends_with("_total") => f64::from(count),
            _ => f64::from_bits(bits),
        };
        let load = |own: &AtomicU64| own.load(Ordering::Relaxed);
        let values = own
            .iter()
            .map(|(name, own)| (name.clone(), value(name, load(own))));
        rounded(&values.collect())
    }

    /// Returns a series of the queue `q`, by its name without what all have, and its labels.
    fn series(&self, key: &Key) -> Arc<AtomicU64> {
        let labels = key
            .labels()
            .map(|label| format!(",{}={}", label.key(), label.value()));
        let name = key.name().to_owned() + &labels.collect::<String>();
        let name = name
            .replacen("workqueue_", "", 1)
            .replacen(",name=q", "", 1);
        Arc::clone(self.0.lock().unwrap().entry(name).or_default())
    }
}

impl Recorder for Report {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.series(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.series(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(Arc::new(Sum(self.series(key))))
    }
}

// === impl Sum ===

impl HistogramFn for Sum {
    fn record(&self, value: f64) {
        GaugeFn::increment(&*self.0, 1.0 + value);
    }
}

fn nanos(time: Duration) -> i64 {
    time.as_nanos().try_into().unwrap()
}

/// Leaves out what is zero, and digits that are errors of adding.
fn rounded(values: &BTreeMap<String, f64>) -> BTreeMap<String, String> {
    let values = values.iter().filter(|(_, value)| value.abs() > 1e-6);
    values
        .map(|(name, value)| (name.clone(), format!("{value:.6}")))
        .collect()
}

/// Takes all items that are queued.
fn take_all(queue: &WorkQueue<Item>) -> Vec<WorkItem<Item>> {
    let take = || unconstrained(queue.get()).now_or_never().flatten();
    iter::from_fn(take).collect()
}

/// Adds an item to both in one of the ways.
fn add(queue: &WorkQueue<Item>, model: &mut Model, random: &mut Rng, item: u32) {
    let priority = random.choice([-100, 0, 0, 5]).unwrap();
    let after = MS(random.choice([0, 0, 5, 90, 2_000]).unwrap());
    let (is_limited, at) = (random.bool(), Instant::now());
    let options = AddOptions::new().with_priority(priority).with_after(after);
    match (priority, is_limited, after.is_zero()) {
        (0, false, true) => queue.add(item.into()),
        (0, false, false) => queue.add_after(item.into(), after),
        (0, true, true) => queue.add_rate_limited(item.into()),
        (_, false, _) => queue.add_with(item.into(), options),
        _ => queue.add_with(item.into(), options.with_rate_limit()),
    }
    let ticket = Ticket { item, priority, at };
    model.add(ticket, after, is_limited);
}

/// Draws an exponential limiter, and its model.
fn draw_exponential(random: &mut Rng) -> (ItemExponentialFailure<Item>, Limiter) {
    // A tiny one is doubled more often than a number has bits.
    let (some, tiny) = (MS(random.u64(0..=20)), Duration::from_nanos(20));
    let base = random.choice([some, tiny]).unwrap();
    let max = MS(random.choice([0, 7, 2_000, 10_000, 400_000]).unwrap());
    let limiter = ItemExponentialFailure::new(base, max);
    let mut model = Limiter::exponential(base, max);
    if random.bool() {
        return (limiter, model);
    }
    model.failures().for_each(|own| own.0 = S(1));
    (limiter.with_memory(S(1)), model)
}

/// Draws a limiter, which wraps others up to `depth` times, and its model.
fn draw(random: &mut Rng, depth: u8) -> (Limited, Limiter) {
    match random.u8(0..if depth > 0 { 9 } else { 7 }) {
        0 => {
            let (limiter, model) = draw_exponential(random);
            (Box::new(limiter), model)
        }
        1..=2 => {
            let mut delay = || MS(random.choice([0, 7, 60, 5_000, 400_000]).unwrap());
            let (fast, slow) = (delay(), delay());
            let count = random.u32(0..=4);
            let delay_of = move |before| if before < count { fast } else { slow };
            let mut model = Limiter::of_failures(fast.max(slow), delay_of);
            let mut limiter = ItemFastSlow::new(fast, slow, count);
            if random.bool() {
                limiter = limiter.with_memory(S(1));
                model.failures().for_each(|own| own.0 = S(1));
            }
            (Box::new(limiter), model)
        }
        3 => {
            let interval_ms: u16 = random.choice([1, 40, 250, 2_000, 16_000]).unwrap();
            let burst = random.u32(0..=5);
            let limiter = Bucket::new(1_000.0 / f64::from(interval_ms), burst);
            (
                Box::new(limiter),
                Limiter::bucket(MS(interval_ms.into()), burst),
            )
        }
        4 => {
            let limiter = default_item_based_rate_limiter();
            (Box::new(limiter), Limiter::exponential(MS(1), S(1_000)))
        }
        5 => (Box::new(Bucket::default()), Limiter::bucket(MS(100), 100)),
        6 => {
            let mut model = Limiter::exponential(MS(5), S(1_000));
            model.0.extend(Limiter::bucket(MS(100), 100).0);
            (Box::new(default_controller_rate_limiter()), model)
        }
        7 => {
            let (limiter, mut model) = draw(random, depth - 1);
            let max = MS(random.choice([0, 30, 4_000]).unwrap());
            model.0.iter_mut().for_each(|rule| rule.1 = rule.1.min(max));
            (Box::new(WithMaxWait::new(limiter, max)), model)
        }
        _ => {
            let [first, second, third] = [(); 3].map(|()| draw(random, depth - 1));
            let models = [first.1, second.1, third.1]
                .into_iter()
                .flat_map(|own| own.0);
            let limiter = MaxOf::new(first.0, second.0).and(third.0);
            (Box::new(limiter), Limiter(models.collect()))
        }
    }
}

/// Uses a limiter and its model at random, and compares them.
fn follow<L: RateLimiter<Item>>(
    seed: u64,
    random: &mut Rng,
    limiter: &mut L,
    mut model: Limiter,
    also: impl Fn(&L, &mut Limiter),
) {
    let items: Vec<Item> = (0..random.u32(1..=4)).map(Arc::new).collect();
    let mut now = Instant::now();
    for step in 0..60 {
        let item = random.choice(&items).unwrap();
        match random.u8(0..20) {
            0 => {
                limiter.forget(item);
                model.forget(**item);
            }
            1..=4 => {
                now += MS(*random.choice(&STEPS_MS).unwrap());
                now += Duration::from_nanos(random.u64(0..=1));
            }
            _ => {
                let (delay, expected) = (limiter.when(item, now), model.when(**item, now));
                assert_eq!(delay, expected, "seed {seed}, {step}");
            }
        }
        for item in &items {
            let count = limiter.num_requeues(item, now);
            let expected = model.num_requeues(**item, now);
            assert_eq!(count, expected, "seed {seed}, {step}");
        }
        also(limiter, &mut model);
    }
    // Nothing is left of items that are forgotten, or that failed long ago.
    if random.bool() {
        for item in &items {
            limiter.forget(item);
            model.forget(**item);
        }
    } else {
        limiter.when(&Arc::new(99), now + LIMIT);
        model.when(99, now + LIMIT);
    }
    also(limiter, &mut model);
    let mut counts = items.iter().map(Arc::strong_count);
    assert!(counts.all(|count| count == 1), "seed {seed}");
}

#[test]
fn every_limiter_delays_counts_forgets_and_remembers_as_a_model_does() {
    for seed in 0..200 {
        let random = &mut Rng::with_seed(seed);
        let (mut limiter, model) = draw(random, 2);
        follow(seed, random, &mut limiter, model, |_, _| ());
        let (mut limiter, model) = draw_exponential(random);
        follow(seed, random, &mut limiter, model, |limiter, model| {
            let count = model.failures().map(|own| own.1.len()).sum();
            let size = (limiter.len(), limiter.is_empty());
            assert_eq!(size, (count, count == 0), "seed {seed}");
        });
    }
}

#[test]
fn no_delay_is_too_long_and_no_rate_too_low_to_reckon_with() {
    let (item, now) = (Arc::new(0), Instant::now());
    let long = Duration::MAX / 5;
    let mut limiter = ItemExponentialFailure::new(long, Duration::MAX);
    let delays = [(); 40].map(|()| limiter.when(&item, now));
    assert_eq!(delays[..3], [long, long * 2, long * 4]);
    assert_eq!(delays[3..], [Duration::MAX; 37]);
    let mut bucket = Bucket::new(f64::MIN_POSITIVE, 2);
    let delays = [(); 4].map(|()| bucket.when(&item, now));
    assert_eq!(delays[..2], [Duration::ZERO; 2]);
    let year = Duration::from_hours(24 * 365);
    assert!(delays[2] >= year && delays[3] >= 2 * year, "{delays:?}");
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(catch_unwind(|| Bucket::new(rate, 1)).is_err(), "{rate}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_queue_delays_orders_and_reports_as_a_model_does() {
    for seed in 0..60 {
        let random = &mut Rng::with_seed(seed);
        let report = Report::default();
        let _recording = set_default_local_recorder(&report);
        let (limited, rules) = draw(random, 2);
        let options = WorkQueueOptions::new().with_strict_priority();
        let options = options.with_name("q").with_rate_limiter(limited);
        let (queue, mut model) = (WorkQueue::with_options(options), Model::new(rules));
        for step in 0..40 {
            let context = format!("seed {seed}, {step}");
            let item = random.u32(0..6);
            match random.u8(0..20) {
                0..=9 => add(&queue, &mut model, random, item),
                10..=11 => {
                    queue.forget(&item.into());
                    model.limiter.forget(item);
                }
                12 => assert_eq!(queue.cancel_delayed(&item.into()), model.cancel(item)),
                13..=16 => {
                    advance(MS(*random.choice(&STEPS_MS[..5]).unwrap())).await;
                    model.promote(Instant::now());
                }
                _ => {
                    let (now, time) = (Instant::now(), MS(random.u64(0..9)));
                    let held = take_all(&queue);
                    let items = held.iter().map(|own| (***own, own.priority().get()));
                    let items: Vec<_> = items.collect();
                    assert_eq!(items, model.work_off(now, time), "{context}");
                    // None of them becomes due meanwhile.
                    for own in &held {
                        assert_eq!(queue.cancel_delayed(own), model.cancel(***own));
                    }
                    advance(time).await;
                    drop(held);
                    model.promote(Instant::now());
                }
            }
            model.check(&queue, &report, &context);
        }
        // After a shutdown, nothing is taken in, and no failure is counted.
        queue.shut_down();
        model.delayed.clear();
        queue.add_rate_limited(Arc::new(0));
        queue.add_after(Arc::new(1), S(1));
        queue.add(Arc::new(2));
        model.check(&queue, &report, &format!("seed {seed}, shut down"));
        // A queue that is gone has taken its depth back.
        drop(queue);
        model.queued.clear();
        assert_eq!(report.values(), rounded(&model.reported), "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_item_goes_to_the_getter_that_waits_longest_at_the_moment_at_which_it_is_due() {
    for seed in 0..40 {
        let random = &mut Rng::with_seed(seed);
        let queue = WorkQueue::new();
        // Items come at even times, and getters leave at odd ones.
        let mut even = |limit| MS(2 * random.u64(0..limit));
        let patience = [(); 12].map(|()| even(600) + MS(1));
        let adds = [(); 8].map(|()| (even(60), even(200)));
        let start = Instant::now();
        let getters = patience.iter().map(async |patience| {
            let taken = timeout(*patience, queue.get()).await.ok().flatten();
            (taken.map(|item| *item), start.elapsed())
        });
        let getters = getters
            .enumerate()
            .map(async |(place, getter)| (place, getter.await));
        let getters: FuturesUnordered<_> = getters.collect();
        let adding = async {
            for (item, (pause, after)) in adds.iter().enumerate() {
                sleep(*pause).await;
                queue.add_after(item, *after);
            }
        };
        let all = async { tokio::join!(getters.collect::<BTreeMap<_, _>>(), adding).0 };
        let got = timeout(LIMIT, all).await.unwrap();
        let (mut added, mut dues) = (Duration::ZERO, Vec::new());
        for (item, (pause, after)) in adds.iter().enumerate() {
            added += *pause;
            dues.push((item, added + *after));
        }
        dues.sort_by_key(|own| own.1);
        let left = patience
            .iter()
            .map(|patience| (None, *patience))
            .enumerate();
        let mut expected: BTreeMap<_, _> = left.collect();
        for (item, due) in dues {
            let mut waiting = expected.values_mut();
            if let Some(first) = waiting.find(|own| own.0.is_none() && own.1 > due) {
                *first = (Some(item), due);
            }
        }
        assert_eq!(got, expected, "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn metrics_report_twice_a_second_of_work_in_flight_and_of_what_is_due() {
    for seed in 0..10 {
        let random = &mut Rng::with_seed(seed);
        let report = Report::default();
        let _recording = set_default_local_recorder(&report);
        let queue = WorkQueue::with_options(WorkQueueOptions::new().with_name("q"));
        let mut refresh = pin!(queue.refresh_metrics());
        let lead = random.u64(1..500);
        assert!(timeout(MS(lead), refresh.as_mut()).await.is_err());
        let (mut held, mut dues, mut taken) = (Vec::new(), Vec::new(), 0);
        for step in 0..20 {
            let now = Instant::now();
            match random.u8(0..4) {
                0 => held.truncate(random.usize(0..=held.len())),
                1 => {
                    let all = take_all(&queue);
                    taken += all.len();
                    held.extend(all.into_iter().map(|own| (own, now)));
                }
                _ => {
                    let after = MS(random.u64(1..2_000));
                    dues.push(now + after);
                    queue.add_after(Arc::new(step), after);
                }
            }
            assert!(timeout(MS(500), refresh.as_mut()).await.is_err());
            let tick = now + MS(500 - lead);
            let times = held.iter().map(|own| (tick - own.1).as_secs_f64());
            let depth = dues.iter().filter(|due| **due <= tick).count() - taken;
            let expected = BTreeMap::from([
                ("unfinished_work_seconds".to_owned(), times.clone().sum()),
                (
                    "longest_running_processor_seconds".to_owned(),
                    times.fold(0.0, f64::max),
                ),
                (
                    "depth,priority=0".to_owned(),
                    f64::from(u32::try_from(depth).unwrap()),
                ),
            ]);
            let mut values = report.values();
            values.retain(|name, _| expected.contains_key(name));
            assert_eq!(values, rounded(&expected), "seed {seed}, {step}");
        }
        if random.bool() {
            queue.shut_down_now();
        } else {
            drop(queue);
        }
        let has_ended = timeout(S(1), refresh.as_mut()).await.is_ok();
        assert_eq!(has_ended, held.is_empty(), "seed {seed}");
        if !has_ended {
            drop(held);
            assert!(timeout(S(1), refresh).await.is_ok(), "seed {seed}");
        }
    }
    let unnamed = WorkQueue::<Item>::new().refresh_metrics();
    assert!(unnamed.now_or_never().is_some());
}

#[tokio::test(start_paused = true)]
async fn the_delay_after_a_failure_grows_within_its_limits_and_restarts_after_a_healthy_watch() {
    let mut shares = Vec::new();
    for seed in 0..16 {
        let random = &mut Rng::with_seed(seed);
        let mut draw = |choices: [f64; 4]| random.choice(choices).unwrap();
        let (initial, max) = (draw([0.0, 0.1, 0.8, 2.0]), draw([0.0, 1.0, 9.0, 30.0]));
        let (factor, jitter) = (draw([0.5, 1.0, 1.5, 3.0]), draw([0.0, 0.5, 1.0, 2.0]));
        let asked_max = draw([0.0, 2.0, 60.0, 300.0]);
        let backoff = BackoffOptions::default().with_initial(Duration::from_secs_f64(initial));
        let backoff = backoff
            .with_max(Duration::from_secs_f64(max))
            .with_factor(factor);
        let backoff = backoff.with_retry_after_max(Duration::from_secs_f64(asked_max));
        let options = ReflectorOptions::default()
            .with_streaming_lists(false)
            .with_seed(seed);
        let (list_watch, mut script) = scripted::<ConfigMap>();
        let builder = SharedInformer::builder(list_watch);
        let options = options.with_backoff(backoff.with_jitter(jitter));
        let informer = builder.with_options(options).build().unwrap();
        informer.start();
        let mut call = script.expect_list().await;
        let mut curve = initial.max(0.001);
        for failure in 0..30 {
            let (retry_after, failed_at) = (
                random.choice([0.0, 0.0, 1.0, 20.0]).unwrap(),
                Instant::now(),
            );
            let mut status = Status::new(500, "InternalError", "");
            status.retry_after = (retry_after > 0.0).then(|| Duration::from_secs_f64(retry_after));
            call.fail(status);
            call = timeout(LIMIT, script.expect_list()).await.unwrap();
            let base = curve.min(max.max(initial)).max(0.001);
            let added = failed_at.elapsed().as_secs_f64() - base.max(retry_after.min(asked_max));
            // Timers are as exact as a millisecond.
            let is_within = added > -1e-6 && added < base * jitter + 0.001_01;
            assert!(
                is_within,
                "seed {seed}, {failure}: {added} s more than expected"
            );
            if base * jitter > 0.1 {
                shares.push(added / (base * jitter));
            }
            curve *= factor.max(1.0);
        }
        call.page([], "7");
        let watch = script.expect_watch().await.open();
        sleep(S(40)).await;
        watch.end();
        let watch = timeout(LIMIT, script.expect_watch()).await.unwrap();
        let failed_at = Instant::now();
        watch.fail(Status::new(500, "InternalError", ""));
        drop(timeout(LIMIT, script.expect_call()).await.unwrap());
        let waited = failed_at.elapsed().as_secs_f64();
        let base = initial.max(0.001);
        let is_within = waited > base - 1e-6 && waited < base * (1.0 + jitter) + 0.001_01;
        assert!(is_within, "seed {seed}: {waited} s");
    }
    let is_spread = |low: f64, high: f64| shares.iter().any(|own| *own > low && *own < high);
    assert!(is_spread(-0.1, 0.1) && is_spread(0.45, 0.55) && is_spread(0.9, 1.1));
}
