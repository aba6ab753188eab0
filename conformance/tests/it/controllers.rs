//! Writes of controllers, and what they leave alone: finalizers, children, statuses, events and conditions, each with random
//! steps and compared with a model of the documented rule.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    future::ready,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fakeserver::{
    Controllers, FakeServer,
    faults::{Fault, FaultRule, Filter, Latency, LostAnswer, ServerError},
};
use fastrand::Rng;
use http::StatusCode;
use informer::{
    conditions::{self, ConditionStatus, condition, set_condition},
    controller::{Context, Controller},
    events::{EventRecorder, EventRecorderOptions, EventType},
    leader_election::WallClock,
    workqueue::Action,
};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Event, Namespace, Service},
    },
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
};
use kube::{
    Api, Resource,
    api::{ListParams, Patch, PatchParams},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

type AnyError = Box<dyn Error + Send + Sync>;

/// The time in which everything that can run has run; timers are as exact.
const BRIEF: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);
const OURS: &str = "example.com/ours";
const OTHERS: &str = "example.com/others";

/// A map that forgets what was not used for longest.
struct Recent<K, V> {
    capacity: usize,
    entries: Vec<(K, V)>,
}

/// The object, the type and the reason of an event, by numbers.
type Group = (usize, bool, usize);

/// A model of a recorder and of the events that the server has by then.
struct Correlation {
    options: EventRecorderOptions,
    similar: Recent<Group, (BTreeSet<usize>, Instant)>,
    counted: Recent<(Group, Option<usize>), (String, i32, i64)>,
    credits: Recent<(usize, bool), (Duration, Instant)>,
    last_name: i128,
    dropped: u64,
    /// The message, the count, and the first and the last time, by name.
    events: BTreeMap<String, (String, i32, i64, i64)>,
}

// === impl Recent ===

impl<K: PartialEq, V> Recent<K, V> {
    fn new(capacity: usize) -> Self {
        Self {
            capacity,
            entries: Vec::new(),
        }
    }

    fn get(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let found = self.entries.iter().position(|(of, _)| *of == key);
        let entry = match found {
            Some(place) => self.entries.remove(place),
            None => (key, make()),
        };
        if self.entries.len() == self.capacity {
            self.entries.remove(0);
        }
        self.entries.push(entry);
        &mut self.entries.last_mut().unwrap().1
    }
}

// === impl Correlation ===

impl Correlation {
    fn new(options: EventRecorderOptions) -> Self {
        Self {
            similar: Recent::new(options.remembered_max),
            counted: Recent::new(options.remembered_max),
            credits: Recent::new(options.remembered_max),
            options,
            last_name: 0,
            dropped: 0,
            events: BTreeMap::new(),
        }
    }

    fn event(&mut self, object: &str, group: Group, message: usize) {
        let (now, time) = (Instant::now(), self.options.clock.now());
        let (second, mut text) = (time.as_second(), format!("message {message}"));
        let (messages, last) = self.similar.get(group, || (BTreeSet::new(), now));
        if now - *last > self.options.aggregate_interval {
            messages.clear();
        }
        *last = now;
        let mut own = Some(message);
        if messages.len() + 1 < self.options.aggregate_from || messages.contains(&message) {
            messages.insert(message);
        } else {
            text = format!("(combined from similar events): {text}");
            own = None;
        }
        let last_name = &mut self.last_name;
        let (name, count, first) = self.counted.get((group, own), || {
            *last_name = time.as_nanosecond().max(*last_name + 1);
            (format!("{object}.{last_name:x}"), 0, second)
        });
        *count += 1;
        let (refill, burst) = (self.options.refill_interval, self.options.burst);
        let subject = (group.0, group.1);
        let (credit, since) = self.credits.get(subject, || (refill * burst, now));
        *credit = (*credit + (now - *since)).min(refill * burst);
        *since = now;
        if *credit < refill {
            self.dropped += 1;
            return;
        }
        *credit -= refill;
        let recorded = (text, *count, *first, second);
        self.events.insert(name.clone(), recorded);
    }
}

/// Returns a server without controllers that has one namespace.
pub(crate) fn server() -> FakeServer {
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}});
    FakeServer::builder()
        .with_seed(1)
        .with_bootstrap(false)
        .with_controllers(Controllers::none())
        .with_request_bodies()
        .with_object(&space)
        .build()
}

/// Returns an object of a kind of the core group.
pub(crate) fn object(kind: &str, name: &str, more: &Value) -> Value {
    let mut object = json!({"apiVersion": "v1", "kind": kind});
    object["metadata"] = more.clone();
    object["metadata"]["name"] = name.into();
    if kind != "Namespace" {
        object["metadata"]["namespace"] = "default".into();
    }
    object
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_comes_first_and_goes_after_a_cleanup_that_wants_nothing_more() {
    for seed in 0..8 {
        let mut random = Rng::with_seed(seed);
        let (server, calls) = (server(), Arc::<Mutex<String>>::default());
        // The outcomes of clean-ups, the last one first.
        let script: Vec<bool> = (0..random.usize(0..4)).map(|_| random.bool()).collect();
        let (own, outcomes) = (Arc::clone(&calls), Mutex::new(script.clone()));
        let controller = Controller::<ConfigMap>::new("it").with_finalizer(OURS);
        let controller = controller.reconcile(move |ctx, _| {
            let finalizers = ctx
                .object()
                .map(|own| own.get().metadata.finalizers.clone());
            let is_on =
                finalizers.map(|names| names.unwrap_or_default().contains(&OURS.to_owned()));
            let letter = match (is_on, ctx.is_cleanup()) {
                (None, false) => "gone ",
                (Some(true), true) => "cleanup ",
                (Some(true), false) => "apply ",
                _ => "wrong ",
            };
            *own.lock().unwrap() += letter;
            let outcome = ctx.is_cleanup().then(|| outcomes.lock().unwrap().pop());
            ready(match outcome.flatten() {
                None => Ok(Action::AwaitChange),
                Some(true) => Ok(Action::RequeueAfter(SECOND)),
                Some(false) => Err("not yet"),
            })
        });
        let running = controller.run_in(server.client());
        let others = if random.bool() { OTHERS } else { "" };
        let held: Vec<&str> = others.split_terminator(' ').collect();
        let map = object("ConfigMap", "a", &json!({"finalizers": held}));
        server.apply(&map).unwrap();
        sleep(BRIEF).await;
        let get = || server.get::<ConfigMap>(Some("default"), "a").unwrap();
        let names = || get().map(|map| map.metadata.finalizers.unwrap_or_default().join(" "));
        let both = [others, OURS].join(" ");
        assert_eq!(names().as_deref(), Some(both.trim()), "seed {seed}");
        let conflicts = Fault::Conflict.rule().matching(Filter::any().verb("patch"));
        install(&server, conflicts.times(random.u64(0..3)));
        server.delete(&map).unwrap();
        sleep(10 * SECOND).await;
        let is_gone = others.is_empty();
        assert_eq!(
            names().as_deref(),
            Some(others).filter(|_| !is_gone),
            "seed {seed}"
        );
        // A change of a terminating object that is no longer held wakes no controller.
        let patch = Patch::Merge(json!({"metadata": {"labels": {"a": "b"}}}));
        let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
        let patched = api.patch("a", &PatchParams::default(), &patch).await;
        assert_eq!(patched.is_err(), is_gone);
        sleep(SECOND).await;
        let cleanups = "cleanup ".repeat(script.len() + 1);
        let expected = format!("apply {cleanups}{}", if is_gone { "gone " } else { "" });
        let calls = calls.lock().unwrap().replace("apply apply ", "apply ");
        assert_eq!(calls, expected, "seed {seed}: {script:?}");
        for request in server.take_requests() {
            let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            let meta = &body["metadata"];
            let is_guarded = meta["uid"].is_string() && meta["resourceVersion"].is_string();
            assert!(request.method != "PATCH" || meta["finalizers"].is_null() || is_guarded);
        }
        running.shutdown().await.unwrap();
    }
}

/// The function of a controller of deployments, which writes a service and the status of its object.
struct Writer {
    seed: u64,
    server: FakeServer,
    random: Mutex<Rng>,
    /// The service that was deleted last.
    stale: Mutex<Option<Service>>,
    /// The numbers of reconciles that have begun, and that have ended.
    counts: [AtomicUsize; 2],
}

// === impl Writer ===

impl Writer {
    fn live<K: Resource<DynamicType = ()> + DeserializeOwned>(&self) -> Option<K> {
        self.server.get(Some("default"), "web").unwrap()
    }

    fn loses_answers(&self) -> bool {
        self.seed % 3 == 1
    }

    fn drawn_service(&self) -> Service {
        let mut random = self.random.lock().unwrap();
        let mut draw = || if random.u8(0..8) > 0 { "x" } else { "y" };
        let mut service = json!({"metadata": {"name": "web", "labels": {"a": draw()}}, "spec": {
            "selector": {"a": draw()}, "ports": [{"port": 80, "protocol": "TCP", "name": draw()}],
        }});
        if random.u8(0..4) == 0 {
            let port = json!({"port": 81, "protocol": "TCP", "name": "z", "targetPort": 1});
            service["spec"]["ports"].as_array_mut().unwrap().push(port);
        }
        if self.seed % 3 == 2 {
            let names = [OURS, OTHERS];
            service["metadata"]["finalizers"] = json!(names[..random.usize(1..=2)]);
        }
        serde_json::from_value(service).unwrap()
    }

    /// Does something at random, after which the next reconcile sees what came of it.
    async fn step(&self, ctx: &Context<Deployment>) -> Result<(), AnyError> {
        let from_cache = ctx.object().map(|own| Deployment::clone(own.get()));
        assert_eq!(from_cache, self.live(), "seed {}", self.seed);
        let cached = ctx.lister::<Service>()?.namespaced("default")?.get("web");
        let cached = cached.ok().map(|own| Service::clone(own.get()));
        assert_eq!(cached, self.live(), "seed {}", self.seed);
        let draw = self.random.lock().unwrap().u8(0..10);
        match (draw, cached) {
            (0, Some(service)) if self.seed % 3 < 2 => {
                *self.stale.lock().unwrap() = Some(service.clone());
                assert!(ctx.delete(&service).await? || self.loses_answers());
            }
            (1, _) => {
                let stale = self.stale.lock().unwrap().clone();
                let Some(stale) = stale else { return Ok(()) };
                // Another one of its name is left alone.
                let outcome = ctx.delete(&stale).await;
                let is_gone = outcome.is_ok_and(|was_there| !was_there);
                assert!(self.loses_answers() || self.live::<Service>().is_none() == is_gone);
            }
            (2, None) => drop(ctx.create(&self.drawn_service()).await?),
            (3, Some(_)) => {
                let label = self.random.lock().unwrap().choice(["a", "b"]).unwrap();
                let patch = Patch::Merge(json!({"metadata": {"labels": {label: "theirs"}}}));
                let api: Api<Service> = Api::namespaced(self.server.client(), "default");
                let patched = api.patch("web", &PatchParams::default(), &patch).await?;
                ctx.gate().wrote(ctx.key(), &patched);
            }
            (4, _) => self.write_status(ctx).await?,
            (_, cached) => self.apply(ctx, cached.as_ref()).await?,
        }
        Ok(())
    }

    async fn write_status(&self, ctx: &Context<Deployment>) -> Result<(), AnyError> {
        let values = [json!(1), json!(2), Value::Null];
        let drawn = self.random.lock().unwrap().choice([0, 1, 4, 8]).unwrap();
        let names = ["replicas", "unavailableReplicas"];
        let wanted = [&values[drawn % 3], &values[drawn / 3]];
        let status = json!({names[0]: wanted[0], names[1]: wanted[1]});
        let live = || serde_json::to_value(self.live::<Deployment>().unwrap().status).unwrap();
        let before = live();
        let is_other = names.map(|name| &before[name]) != wanted;
        assert_eq!(
            ctx.set_status(&status).await?,
            is_other,
            "seed {}",
            self.seed
        );
        let after = live();
        assert_eq!(names.map(|name| &after[name]), wanted, "seed {}", self.seed);
        Ok(())
    }

    async fn apply(
        &self,
        ctx: &Context<Deployment>,
        cached: Option<&Service>,
    ) -> Result<(), AnyError> {
        let (desired, seed) = (self.drawn_service(), self.seed);
        self.server.take_requests();
        let applied = ctx.apply(&desired).await?;
        assert_eq!(Some(Service::clone(&applied)), self.live(), "seed {seed}");
        for request in self.server.take_requests() {
            // What would change nothing is not sent.
            assert_eq!(request.parameter("fieldManager"), Some("it"), "seed {seed}");
            assert!(
                self.loses_answers() || cached != Some(&*applied),
                "seed {seed}"
            );
        }
        let others = |own: &Service| own.metadata.labels.as_ref()?.get("b").cloned();
        assert_eq!(cached.and_then(others), others(&applied), "seed {seed}");
        // Nothing is left to apply.
        let api: Api<Service> = Api::namespaced(self.server.client(), "default");
        let params = PatchParams::apply("it").force();
        let again = api.patch("web", &params, &Patch::Apply(&desired)).await?;
        assert_eq!(again, *applied, "seed {seed}");
        Ok(())
    }
}

fn install(server: &FakeServer, rule: FaultRule) {
    server.faults().install(rule).detach();
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_sees_what_was_written_before_and_writes_only_what_differs() {
    for seed in 0..6 {
        let server = server();
        let latency = Latency {
            frame_ms: 4_000,
            ..Latency::default()
        };
        let operator = || Filter::any().client("operator");
        let slow = Fault::Latency(latency).rule();
        install(&server, slow.matching(operator().verb("watch")));
        for verb in ["create", "patch", "delete"]
            .iter()
            .filter(|_| seed % 3 == 1)
        {
            let lost = LostAnswer::default().rule().with_probability(0.3, seed);
            install(
                &server,
                lost.matching(operator().verb(*verb).resource("services")),
            );
        }
        let mut web = object("Deployment", "web", &json!({}));
        web["apiVersion"] = "apps/v1".into();
        let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web"}]}});
        web["spec"] = json!({"selector": {"matchLabels": {"app": "web"}}, "template": template});
        server.apply(&web).unwrap();
        let writer = Arc::new(Writer {
            seed,
            server: server.clone(),
            random: Mutex::new(Rng::with_seed(seed)),
            stale: Mutex::default(),
            counts: Default::default(),
        });
        let own = Arc::clone(&writer);
        let limit = SECOND * if seed % 2 == 0 { 1 } else { 10 };
        let controller = Controller::<Deployment>::new("it")
            .reads::<Service>()
            .with_gate_limit(limit);
        let controller = controller.reconcile(move |ctx, _| {
            let own = Arc::clone(&own);
            let is_last = own.counts[0].fetch_add(1, Ordering::Relaxed) >= 25;
            async move {
                let outcome = own.step(&ctx).await;
                own.counts[1].fetch_add(1, Ordering::Relaxed);
                let again = Action::RequeueAfter(if is_last { 2 * HOUR } else { BRIEF });
                outcome.map(|()| again)
            }
        });
        let running = controller.run_in(server.client_named("operator"));
        sleep(HOUR / 6).await;
        let counts = [0, 1].map(|place| writer.counts[place].load(Ordering::Relaxed));
        assert!(
            counts[0] == counts[1] && counts[0] > 25,
            "seed {seed}: {counts:?}"
        );
        running.shutdown().await.unwrap();
    }
}

/// Returns the message, the count, and the first and the last time of each event, by name.
async fn events(server: &FakeServer) -> BTreeMap<String, (String, i32, i64, i64)> {
    let api: Api<Event> = Api::namespaced(server.client(), "default");
    let listed = api.list(&ListParams::default()).await.unwrap();
    let second = |time: Option<Time>| time.unwrap().0.as_second();
    let event = |event: Event| {
        let (first, last) = (second(event.first_timestamp), second(event.last_timestamp));
        let recorded = (event.message.unwrap(), event.count.unwrap(), first, last);
        (event.metadata.name.unwrap(), recorded)
    };
    listed.items.into_iter().map(event).collect()
}

#[tokio::test(start_paused = true)]
async fn events_are_counted_combined_and_limited_as_a_model_of_their_correlator_says() {
    for seed in 0..8 {
        let (server, mut random) = (server(), Rng::with_seed(seed));
        let mut options = EventRecorderOptions::default();
        options.clock = WallClock::simulated(1_767_225_600);
        if seed % 4 > 0 {
            options.aggregate_from = random.usize(1..6);
            options.aggregate_interval = SECOND * random.u32(10..100);
            options.burst = random.u32(1..10);
            options.refill_interval = SECOND * random.u32(1..20);
            options.remembered_max = random.usize(1..8);
        }
        let recorder = EventRecorder::with_options(server.client(), "it", options.clone());
        let mut model = Correlation::new(options);
        for step in 0..60 {
            let group = (random.usize(0..2), random.bool(), random.usize(0..2));
            let group = if seed % 4 == 0 { (0, true, 0) } else { group };
            let message = random.usize(0..12);
            let name = ["a", "b"][group.0];
            let about = object("ConfigMap", name, &json!({}));
            let about: ConfigMap = serde_json::from_value(about).unwrap();
            let kind = [EventType::Normal, EventType::Warning][usize::from(group.1)];
            recorder.event(
                &about,
                kind,
                ["One", "Two"][group.2],
                format!("message {message}"),
            );
            model.event(name, group, message);
            if random.bool() {
                sleep(SECOND * [0, 1, 7, 30, 101][random.usize(0..5)]).await;
            }
            if step % 20 == 19 {
                recorder.flush(HOUR).await.unwrap();
                assert_eq!(events(&server).await, model.events, "seed {seed}, {step}");
                assert_eq!(recorder.dropped_count(), model.dropped, "seed {seed}");
            }
        }
        recorder.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_is_tried_again_unless_it_is_refused_and_is_written_once() {
    let answer = |code: StatusCode| ServerError::new(code).rule();
    let unavailable = StatusCode::SERVICE_UNAVAILABLE;
    // The rule, how often it holds, the dropped events, and the least and the most seconds.
    let cases: [(FaultRule, u64, u64, [u32; 2]); 7] = [
        (answer(unavailable), 1, 0, [0, 10]),
        (answer(StatusCode::TOO_MANY_REQUESTS), 2, 0, [10, 20]),
        (answer(StatusCode::INTERNAL_SERVER_ERROR), 11, 0, [100, 110]),
        (answer(unavailable), 12, 1, [100, 110]),
        (answer(StatusCode::FORBIDDEN), 1, 1, [0, 0]),
        (LostAnswer::default().rule(), 1, 0, [0, 10]),
        (answer(StatusCode::CONFLICT), 1, 1, [0, 0]),
    ];
    for (number, (rule, times, dropped, seconds)) in cases.into_iter().enumerate() {
        let server = server();
        let rule = rule.matching(Filter::any().resource("events").verb("create"));
        install(&server, rule.times(times));
        let recorder = EventRecorder::new(server.client(), "it");
        let space: Namespace = server.get(None, "default").unwrap().unwrap();
        let start = Instant::now();
        let record = || recorder.event(&space, EventType::Normal, "Told", "so");
        let lost = || (recorder.dropped_count(), recorder.pending_count());
        record();
        recorder.flush(HOUR).await.unwrap();
        let took = start.elapsed();
        let [least, most] = seconds.map(|count| SECOND * count);
        assert!(
            took >= least && took <= most + 20 * BRIEF,
            "{number}: {took:?}"
        );
        assert_eq!(lost(), (dropped, 0), "{number}");
        assert_eq!(events(&server).await.len() as u64, 1 - dropped, "{number}");
        record();
        recorder.shutdown().await;
        // One that is not on the server is created with its count.
        let written = events(&server).await.into_values();
        assert_eq!(
            written.map(|recorded| recorded.1).collect::<Vec<_>>(),
            [2],
            "{number}"
        );
        record();
        assert_eq!(lost(), (dropped + 1, 0), "{number}");
    }
}

#[test]
fn a_condition_that_is_set_keeps_its_transition_time_until_its_status_changes() {
    use ConditionStatus::{False, True, Unknown};
    let at = |second: i64| Timestamp::from_second(second).unwrap();
    for seed in 0..40 {
        let mut random = Rng::with_seed(seed);
        let mut list: Vec<Condition> = Vec::new();
        for second in 1..30 {
            let [type_, reason, text] = [(); 3].map(|()| random.choice(["A", "B", "C"]).unwrap());
            let status = random.choice([True, False, Unknown]).unwrap();
            let generation = random.bool().then_some(3);
            let new = condition(type_, status, reason, text).with_observed_generation(generation);
            let given = random.u8(0..4) == 0;
            let mut model = list.clone();
            let known = model.iter().position(|own| own.type_ == type_);
            let mut expected = Condition::from(new.clone().with_transition_time(at(second)));
            let new = if given {
                new.with_transition_time(at(second))
            } else {
                new
            };
            match known.map(|place| &mut model[place]) {
                Some(old) => {
                    if old.status == expected.status {
                        expected.last_transition_time = old.last_transition_time.clone();
                    }
                    *old = expected;
                }
                None => model.push(expected),
            }
            let is_changed = model != list;
            let now = at(if given { 100 } else { second });
            assert_eq!(
                set_condition(&mut list, new, now),
                is_changed,
                "seed {seed}"
            );
            assert_eq!(list, model, "seed {seed}, {second}");
            let is = |status: ConditionStatus| conditions::is_condition(&list, type_, status);
            assert_eq!(
                [True, False, Unknown].map(is),
                [True, False, Unknown].map(|own| own == status)
            );
            let (yes, no) = (
                conditions::is_condition_true,
                conditions::is_condition_false,
            );
            assert_eq!(
                (yes(&list, type_), no(&list, type_)),
                (status == True, status == False)
            );
            let is_removed = random.u8(0..5) == 0 && conditions::remove_condition(&mut list, type_);
            model.retain(|own| !is_removed || own.type_ != type_);
            assert_eq!(list, model, "seed {seed}, {second}");
        }
    }
    let (mut list, new) = (Vec::new(), condition("A", true, "x", ""));
    let is_changed = [(); 2].map(|()| conditions::set_condition_now(&mut list, new.clone()));
    assert!(is_changed == [true, false] && list[0].last_transition_time.0 > at(1_767_225_600));
    assert!(
        conditions::remove_condition(&mut list, "A")
            && !conditions::remove_condition(&mut list, "A")
    );
}
