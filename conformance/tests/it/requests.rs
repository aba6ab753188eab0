//! The requests of an informer, the moments at which they come, and its account of them: by status, to observer and handlers.

use std::{io, mem, sync::Arc, sync::Mutex, time::Duration};

use fastrand::Rng;
use futures::StreamExt;
use informer::{
    ResourceVersion, Scope, SharedInformer, SharedInformerBuilder,
    http::{Encoding, HttpListWatch},
    reflector::{
        Decision, Failure, FailureCause, PauseOptions, ReflectorObserver, ReflectorOptions,
        WhenRemoved,
    },
    testing::RecordingHandler,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Client,
    core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::by_hand::{Call, Calls, ChunkSender, server};

/// The longest wait for a request: longer than any delay that can be drawn.
const LIMIT: Duration = Duration::from_mins(10);
/// The time after which nothing is left to do before the clock moves on; timers are as exact.
const MOMENT: Duration = Duration::from_millis(1);
const SEEDS: u64 = 8;
/// The number of failures of each seed, and that of probes of each pause.
const FAILURES: u32 = 12;
const PROBES: u32 = 4;
const PROBE_PERIOD: Duration = Duration::from_mins(2);
/// The number of refusals after which an informer pauses.
const REFUSALS: u32 = 3;

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const CBOR: &str = "application/cbor";

/// A page that continues: its beginning and its end.
const PAGE: [&str; 2] = [
    r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"10","continue":"next"},"items":["#,
    "]}",
];

type ReducedObject = PartialObjectMeta<DynamicObject>;
type Builder = SharedInformerBuilder<ConfigMap, HttpListWatch<ConfigMap>>;
/// The names of objects, and their versions.
type Items<'a> = &'a [(&'a str, u32)];

/// A server whose requests the test answers.
struct Server {
    seed: u64,
    /// The options of an informer that lists and then watches.
    options: ReflectorOptions,
    client: Client,
    calls: Calls,
}

/// An observer that keeps the reports.
#[derive(Default)]
struct Observer {
    delays: Mutex<Vec<Duration>>,
    failed_at: Mutex<Vec<Instant>>,
    went_back: Mutex<Vec<String>>,
}

// === impl Server ===

impl Server {
    fn new(seed: u64) -> Self {
        let (calls, client) = server();
        let options = ReflectorOptions::default().with_seed(seed);
        Self {
            options: options.with_streaming_lists(false),
            client,
            seed,
            calls,
        }
    }

    fn config_maps(&self, scope: Scope) -> Builder {
        let list_watch = HttpListWatch::<ConfigMap>::new(self.client.clone(), scope);
        SharedInformer::builder(list_watch).with_options(self.options.clone())
    }

    async fn next(&mut self) -> Call {
        let call = timeout(LIMIT, self.calls.next()).await;
        call.expect("a request in time").expect("a client")
    }

    /// Waits for the next request, which has to be this one.
    async fn expect(&mut self, asked: &str) -> Call {
        let call = self.next().await;
        assert_eq!(call.summary, asked, "seed {}", self.seed);
        call
    }

    /// Waits for the next request, which has to come at the time in the status.
    async fn next_as_told(&mut self, informer: &SharedInformer<ConfigMap>) -> Call {
        sleep(MOMENT).await;
        let (seed, status) = (self.seed, informer.status());
        let Some(until) = status.waits_until() else {
            panic!("seed {seed}: {status}, but not until when it waits");
        };
        let call = self.next().await;
        let is_then = until <= call.at && call.at <= until + MOMENT;
        assert!(is_then, "seed {seed}: {status}, {until:?}, {:?}", call.at);
        call
    }

    /// Answers with a state, and returns the watch from there on.
    async fn sync(&mut self, call: Call, version: u32, items: Items<'_>) -> ChunkSender {
        let watch = match call.give(version, items) {
            Some(watch) => watch,
            None => self.expect(&format!("watch at {version}")).await.open(),
        };
        sleep(MOMENT).await;
        watch
    }
}

// === impl Call ===

impl Call {
    /// Answers a list or a stream with a state. Returns the rest of the stream.
    fn give(self, version: u32, items: Items<'_>) -> Option<ChunkSender> {
        if !self.summary.starts_with("stream") {
            self.answer(&page(version, items, ""));
            return None;
        }
        let sending = self.open();
        for (name, version) in items {
            sending.event("ADDED", &item(name, *version));
        }
        sending.end_initial_events(version);
        Some(sending)
    }

    fn refuse(self, code: u16, retry_after: Duration) {
        self.refuse_with(code, String::new(), retry_after);
    }
}

// === impl Observer ===

impl Observer {
    /// Checks that the first failure is at this moment.
    async fn check_given_up(&self, at: Instant, context: &str) {
        sleep_until(at + MOMENT).await;
        let failed_at = self.failed_at.lock().unwrap().first().copied();
        let is_then = failed_at.is_some_and(|failed| at <= failed);
        assert!(is_then, "{context}: {failed_at:?} and not {at:?}");
    }

    fn check_went_back(&self, expected: &[&str]) {
        let reported = mem::take(&mut *self.went_back.lock().unwrap());
        assert_eq!(reported, expected);
    }
}

impl ReflectorObserver for Observer {
    fn failed(&self, failure: &Failure<'_>) {
        self.delays.lock().unwrap().push(failure.delay);
        self.failed_at.lock().unwrap().push(Instant::now());
    }

    fn version_went_back(&self, from: &ResourceVersion, to: &ResourceVersion, is_accepted: bool) {
        let reported = format!("{from} to {to}, accepted: {is_accepted}");
        self.went_back.lock().unwrap().push(reported);
    }
}

fn item(name: &str, version: u32) -> Value {
    let version = version.to_string();
    let metadata = json!({"name": name, "namespace": "n", "uid": name, "resourceVersion": version});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

fn page(version: u32, items: Items<'_>, token: &str) -> String {
    let metadata = json!({"resourceVersion": version.to_string(), "continue": token});
    let items: Vec<Value> = items.iter().map(|(name, at)| item(name, *at)).collect();
    json!({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items}).to_string()
}

/// Returns the objects, as in `a@1 b@2`.
fn held(informer: &SharedInformer<ConfigMap>) -> String {
    let objects = informer.store().list();
    let objects: Vec<String> = objects.iter().map(|object| format!("{object:?}")).collect();
    sorted(&objects.join(" "))
}

fn sorted(words: &str) -> String {
    let mut words: Vec<&str> = words.split(' ').collect();
    words.sort_unstable();
    words.join(" ").replace("n/", "")
}

// === Encodings ===

/// Joins media types, the best first, each once.
fn choices(mut media_types: Vec<&str>) -> String {
    media_types.dedup();
    media_types.join(",")
}

/// Checks what all requests accept: a streaming list, a list in two pages and a watch.
async fn check_accepted<K: Send + Sync + 'static>(
    make: impl Fn(Client) -> HttpListWatch<K>,
    encoding: Encoding,
    [of_lists, of_watches]: [String; 2],
) {
    for is_by_builder in [false, true] {
        let mut server = Server::new(0);
        let list_watch = make(server.client.clone());
        let builder = if is_by_builder {
            SharedInformer::builder(list_watch).with_encoding(encoding)
        } else {
            SharedInformer::builder(list_watch.with_encoding(encoding))
        };
        let informer = builder.build().unwrap();
        informer.start();
        let mut accepted = async |asked: &str, expected: &str| {
            let call = server.expect(asked).await;
            let context = format!("{encoding:?} {is_by_builder} {} {asked}", call.path);
            assert_eq!(call.accept, expected, "{context}");
            call
        };
        let call = accepted("stream", &of_watches).await;
        // The server knows no streaming lists.
        call.refuse(400, Duration::ZERO);
        let call = accepted("list at 0", &of_lists).await;
        call.answer(&page(10, &[], "next"));
        let call = accepted("list after next", &of_lists).await;
        call.answer(&page(10, &[], ""));
        accepted("watch at 10", &of_watches).await;
    }
}

#[tokio::test(start_paused = true)]
async fn every_request_accepts_the_encoding_that_its_type_has_and_then_json() {
    let widgets = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    for (encoding, built_in, custom) in [
        (Encoding::Json, JSON, JSON),
        (Encoding::Protobuf, PROTOBUF, JSON),
        (Encoding::Cbor, CBOR, CBOR),
    ] {
        let whole = |media_type: &str| [(); 2].map(|()| choices([media_type, JSON].into()));
        // Those of all types are built in.
        let kinds = ["PartialObjectMetadataList", "PartialObjectMetadata"];
        let metadata = kinds.map(|kind| {
            let of = |media_type| format!("{media_type};as={kind};g=meta.k8s.io;v=v1");
            choices(vec![&of(built_in), &of(JSON), JSON])
        });
        let make = |client| HttpListWatch::<ConfigMap>::new(client, Scope::All);
        check_accepted(make, encoding, whole(built_in)).await;
        let make = |client| HttpListWatch::<PartialObjectMeta<ConfigMap>>::new(client, Scope::All);
        check_accepted(make, encoding, metadata.clone()).await;
        let make = |client| HttpListWatch::<ReducedObject>::new_with(client, Scope::All, &widgets);
        check_accepted(make, encoding, metadata).await;
        let make = |client| HttpListWatch::<DynamicObject>::new_with(client, Scope::All, &widgets);
        check_accepted(make, encoding, whole(custom)).await;
    }
}

// === Scopes ===

#[tokio::test(start_paused = true)]
async fn only_a_name_can_be_the_namespace_of_a_request() {
    for name in ["default", "team-a", "a1-b2-3"] {
        let mut server = Server::new(0);
        let builder = server.config_maps(Scope::Namespace(name.into()));
        let informer = builder.build().unwrap();
        informer.start();
        let path = format!("/api/v1/namespaces/{name}/configmaps");
        let call = server.expect("list at 0").await;
        assert_eq!(call.path, path);
        call.give(10, &[]);
        assert_eq!(server.expect("watch at 10").await.path, path);
    }
    for name in ["", "a/b", "..", "a_b", "a.b", "a?b", "a#b", "a%2Fb", "a b"] {
        let mut server = Server::new(0);
        let builder = server.config_maps(Scope::Namespace(name.into()));
        let informer = builder.build().unwrap();
        informer.start();
        let synced = informer.wait_for_cache_sync(LIMIT).await;
        assert!(synced.is_err(), "{name:?}");
        assert!(server.calls.try_recv().is_err(), "{name:?}");
        let status = informer.status();
        assert_eq!(status.last_cause, Some(FailureCause::Request), "{name:?}");
        let error = status.last_error.unwrap();
        assert!(error.contains(&format!("{name:?}")), "{error}");
    }
}

// === Pages ===

#[tokio::test(start_paused = true)]
async fn a_page_is_asked_for_once_while_the_page_before_it_arrives_and_given_up_with_it() {
    for order in ["next first", "next last", "next never"] {
        let mut server = Server::new(0);
        let informer = server.config_maps(Scope::All).build().unwrap();
        informer.start();
        let page_now = server.expect("list at 0").await.open();
        let began = Instant::now();
        page_now.send(&format!("{}{},", PAGE[0], item("a", 1)));
        let rest = format!("{}{}", item("b", 2), PAGE[1]);
        let next = server.expect("list after next").await;
        assert_eq!(next.at, began);
        if order == "next first" {
            next.give(10, &[("c", 3)]);
            sleep(MOMENT).await;
            page_now.send(&rest);
            drop(page_now);
        } else if order == "next last" {
            page_now.send(&rest);
            drop(page_now);
            sleep(MOMENT).await;
            next.give(10, &[("c", 3)]);
        } else {
            let error = io::Error::from(io::ErrorKind::ConnectionReset);
            page_now.break_off(error);
            let call = server.next_as_told(&informer).await;
            assert!(next.is_given_up());
            assert_eq!(call.summary, "list at 0");
            call.answer(&page(10, &[("a", 1), ("b", 2)], "next"));
            let next = server.expect("list after next").await;
            next.give(10, &[("c", 3)]);
        }
        server.expect("watch at 10").await;
        assert_eq!(held(&informer), "a@1 b@2 c@3");
    }
}

// === Pauses ===

/// Withdraws the resource until the informer has paused, and has probed a few times. Returns the last probe.
async fn withdraw(
    server: &mut Server,
    informer: &SharedInformer<ConfigMap>,
    delays: &mut Vec<Duration>,
) -> Call {
    let seed = server.seed;
    let mut call = server.next().await;
    for refusal in 1..REFUSALS + PROBES {
        let refused_at = call.at;
        call.refuse(404, Duration::ZERO);
        sleep(MOMENT).await;
        let is_paused = informer.status().is_paused();
        assert_eq!(is_paused, refusal >= REFUSALS, "seed {seed}, {refusal}");
        call = server.next_as_told(informer).await;
        if is_paused {
            assert!(call.summary.starts_with("list"), "seed {seed}");
            let delay = call.at - refused_at;
            let is_in_time = PROBE_PERIOD <= delay && delay <= 2 * PROBE_PERIOD + MOMENT;
            assert!(is_in_time, "seed {seed}: probed after {delay:?}");
            delays.push(delay);
        }
    }
    call
}

/// Checks an informer whose resource is withdrawn and comes back time and again.
async fn check_pauses(seed: u64, is_emptied: bool, delays: &mut Vec<Duration>) {
    let mut server = Server::new(seed);
    let mut pause = PauseOptions::default().with_after_failures(REFUSALS);
    pause.probe_period = PROBE_PERIOD;
    // The notifications of each state, and after it was withdrawn.
    let mut reported = if is_emptied {
        pause.when_removed = WhenRemoved::EmptyStore;
        "(+a@1) (+b@2)|!a@1 !b@2|+a@1 +c@15|!a@1 !c@15||".split('|')
    } else {
        "(+a@1) (+b@2)||!b@2 +c@15||!a@1 !c@15|".split('|')
    };
    server.options.pause = Some(pause);
    let informer = server.config_maps(Scope::All).build().unwrap();
    let (handler, recording) = RecordingHandler::new();
    let _registration = informer.add_handler(handler);
    let notified = || sorted(&recording.take_text());
    informer.start();
    let mut call = server.next().await;
    let states: [(u32, Items<'_>, &str); 3] = [
        (10, &[("a", 1), ("b", 2)], "a@1 b@2"),
        (20, &[("a", 1), ("c", 15)], "a@1 c@15"),
        (30, &[], ""),
    ];
    let mut replacements = 0;
    for (version, items, objects) in states {
        let context = format!("seed {seed}, {version}, {is_emptied}");
        let watch = server.sync(call, version, items).await;
        assert_eq!(held(&informer), objects, "{context}");
        assert_eq!(notified(), reported.next().unwrap(), "{context}");
        assert_eq!(informer.status().waits_until(), None, "{context}");
        sleep(Duration::from_secs(2)).await;
        drop(watch);
        call = withdraw(&mut server, &informer, delays).await;
        let kept = if is_emptied { "" } else { objects };
        assert_eq!(held(&informer), kept, "{context}");
        assert_eq!(notified(), reported.next().unwrap(), "{context}");
        // However many probes fail, it is emptied once.
        replacements += 1 + u64::from(is_emptied);
        assert_eq!(informer.metrics().replacements, replacements, "{context}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_is_withdrawn_is_probed_until_it_comes_back_and_its_objects_go_once() {
    let mut delays = Vec::new();
    for seed in 0..SEEDS {
        for is_emptied in [false, true] {
            check_pauses(seed, is_emptied, &mut delays).await;
        }
    }
    // Copies of a program do not probe together.
    let (least, most) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
    assert!(*most > *least + PROBE_PERIOD / 2, "{delays:?}");
}

// === Failures ===

/// Draws a refusal: its code, and the time for which it asks.
fn draw_refusal(random: &mut Rng) -> (u16, Duration) {
    match random.u8(0..4) {
        0 => (429, Duration::from_secs(random.u64(1..20))),
        n => ([404, 500, 503][usize::from(n - 1)], Duration::ZERO),
    }
}

fn draw_decision(random: &mut Rng) -> Decision {
    match random.u8(0..6) {
        0 => Decision::Default,
        1 => Decision::Retry,
        2 => Decision::Relist,
        3 => Decision::Pause,
        // Some of them are too short.
        4 => Decision::BackOff(Duration::from_millis(random.u64(0..200))),
        _ => Decision::BackOff(Duration::from_secs(random.u64(1..60))),
    }
}

/// Checks that each reported delay is the time of the next request, whatever the error policy decides.
async fn check_failures(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let mut server = Server::new(seed);
    let observer = Arc::new(Observer::default());
    let decision = Arc::new(Mutex::new(Decision::Default));
    let decided = Arc::clone(&decision);
    let builder = server.config_maps(Scope::All);
    let builder = builder.with_error_policy(move |_| *decided.lock().unwrap());
    let informer = builder.with_observer(observer.clone()).build().unwrap();
    informer.start();
    let call = server.next().await;
    let watch = server.sync(call, 10, &[("a", 1)]).await;
    sleep(Duration::from_secs(2)).await;
    drop(watch);
    let mut call = server.next().await;
    for step in 0..FAILURES {
        let (code, asked) = draw_refusal(&mut random);
        let decided = draw_decision(&mut random);
        let context = format!("seed {seed}, step {step}: {code} {asked:?} {decided:?}");
        *decision.lock().unwrap() = decided;
        let failed_at = call.at;
        call.refuse(code, asked);
        call = server.next_as_told(&informer).await;
        let delays = mem::take(&mut *observer.delays.lock().unwrap());
        let [reported] = delays[..] else {
            panic!("{context}: told of {delays:?}");
        };
        let waited = call.at - failed_at;
        let is_as_told = reported <= waited && waited <= reported + MOMENT;
        assert!(is_as_told, "{context}: {reported:?} and not {waited:?}");
        assert!(reported >= asked, "{context}: {reported:?}");
        match decided {
            Decision::BackOff(chosen) => {
                let expected = chosen.max(asked).max(Duration::from_millis(100));
                assert_eq!(reported, expected, "{context}");
            }
            Decision::Pause => assert!(reported >= PROBE_PERIOD, "{context}: {reported:?}"),
            Decision::Retry => assert_eq!(call.summary, "watch at 10", "{context}"),
            Decision::Relist => assert_eq!(call.summary, "list at 10", "{context}"),
            _ => {}
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_observer_and_the_status_are_reported_when_the_next_request_is_made() {
    for seed in 0..2 * SEEDS {
        check_failures(seed).await;
    }
}

// === Limits ===

/// Starts an informer with other options, and returns its first request.
async fn asked(
    seed: u64,
    change: impl FnOnce(&mut ReflectorOptions),
) -> (Server, SharedInformer<ConfigMap>, Arc<Observer>, Call) {
    let mut server = Server::new(seed);
    change(&mut server.options);
    let observer = Arc::new(Observer::default());
    let builder = server.config_maps(Scope::All);
    let informer = builder.with_observer(observer.clone()).build().unwrap();
    informer.start();
    let call = server.next().await;
    (server, informer, observer, call)
}

#[tokio::test(start_paused = true)]
async fn a_list_is_given_up_when_its_time_is_over() {
    for seed in 0..SEEDS {
        let limit = Duration::from_secs(Rng::with_seed(seed).u64(10..100));
        let context = |what| format!("seed {seed}, {limit:?}: {what}");
        let (_server, _informer, observer, call) = asked(seed, |options| {
            options.streaming_lists = true;
            options.header_timeout = limit;
        })
        .await;
        let at = call.at + limit;
        observer.check_given_up(at, &context("no answer")).await;

        let (_server, _informer, observer, call) =
            asked(seed, |options| options.list_timeout = limit).await;
        let at = call.at + limit;
        let body = call.open();
        sleep(limit / 2).await;
        body.send(PAGE[0]);
        observer.check_given_up(at, &context("a page")).await;

        let (_server, _informer, observer, call) = asked(seed, |options| {
            options.streaming_lists = true;
            options.initial_events_silence = limit;
        })
        .await;
        let stream = call.open();
        sleep(limit / 2).await;
        stream.event("ADDED", &item("a", 1));
        let at = Instant::now() + limit;
        observer.check_given_up(at, &context("silence")).await;

        let (_server, _informer, observer, call) = asked(seed, |options| {
            options.streaming_lists = true;
            options.initial_events_timeout = limit;
        })
        .await;
        let at = call.at + limit;
        let stream = call.open();
        for version in 1..5 {
            sleep(limit / 5).await;
            stream.event("ADDED", &item("a", version));
        }
        observer.check_given_up(at, &context("a stream")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_given_up_when_it_is_silent_or_outlasts_its_time() {
    for seed in 0..SEEDS {
        let mut random = Rng::with_seed(seed);
        let limit = Duration::from_secs(random.u64(60..600));
        let slack = Duration::from_secs(random.u64(1..100));
        let context = |what| format!("seed {seed}, {limit:?}, {slack:?}: {what}");
        let options = |options: &mut ReflectorOptions| {
            options.watch_timeout_min = 4 * limit;
            options.watch_silence = limit;
        };
        let (mut server, _informer, observer, call) = asked(seed, options).await;
        let watch = server.sync(call, 10, &[]).await;
        sleep(limit / 2).await;
        watch.event("ADDED", &item("a", 11));
        let at = Instant::now() + limit;
        observer.check_given_up(at, &context("silence")).await;

        let options = |options: &mut ReflectorOptions| {
            options.watch_timeout_min = limit;
            options.watch_timeout_slack = slack;
        };
        let (mut server, _informer, observer, call) = asked(seed, options).await;
        call.give(10, &[]);
        let call = server.expect("watch at 10").await;
        let timeout = call.ends_after.expect("the request names its timeout");
        assert!(
            limit <= timeout && timeout <= 2 * limit,
            "seed {seed}: {timeout:?}"
        );
        let at = call.at + timeout + slack;
        let watch = call.open();
        for version in (11..).take_while(|_| Instant::now() + Duration::from_mins(1) < at) {
            sleep(Duration::from_mins(1)).await;
            watch.bookmark(version);
        }
        observer.check_given_up(at, &context("its time")).await;
    }
}

// === Versions that go back ===

/// Starts an informer that has a state at version 100 and watches from there.
async fn watching(
    streams: bool,
) -> (
    Server,
    SharedInformer<ConfigMap>,
    Arc<Observer>,
    ChunkSender,
) {
    let mut server = Server::new(0);
    let observer = Arc::new(Observer::default());
    server.options.streaming_lists = streams;
    let builder = server.config_maps(Scope::All);
    let informer = builder.with_observer(observer.clone()).build().unwrap();
    informer.start();
    let call = server.next().await;
    let watch = server.sync(call, 100, &[("a", 90)]).await;
    observer.check_went_back(&[]);
    (server, informer, observer, watch)
}

#[tokio::test(start_paused = true)]
async fn an_observer_is_notified_of_a_state_that_goes_back_and_whether_it_is_accepted() {
    let older: Items<'_> = &[("a", 50), ("b", 55)];
    for (streams, how) in [(false, "list"), (true, "stream")] {
        let (mut server, informer, observer, watch) = watching(streams).await;
        let status = json!({"kind": "Status", "apiVersion": "v1", "code": 410});
        watch.event("ERROR", &status);
        let call = server.next_as_told(&informer).await;
        assert_eq!(call.summary, format!("{how} at 100"));
        let _given_up = call.give(60, older);
        // A server that lags behind may have answered: it is asked for its most recent state.
        let call = server.expect(how).await;
        observer.check_went_back(&["100 to 60, accepted: false"]);
        assert_eq!(held(&informer), "a@90");
        let _watch = server.sync(call, 60, older).await;
        observer.check_went_back(&["100 to 60, accepted: true"]);
        assert_eq!(held(&informer), "a@50 b@55");
    }
}

#[tokio::test(start_paused = true)]
async fn an_observer_is_notified_of_events_that_go_back_and_a_bookmark_that_does_is_checked() {
    for is_restored in [false, true] {
        let (mut server, informer, observer, watch) = watching(false).await;
        watch.event("MODIFIED", &item("a", 70));
        sleep(MOMENT).await;
        observer.check_went_back(&["100 to 70, accepted: false"]);
        watch.bookmark(60);
        let check = server.expect("list of one at 100").await;
        observer.check_went_back(&["100 to 60, accepted: false"]);
        if is_restored {
            check.give(60, &[("a", 50)]);
            let call = server.expect("list").await;
            observer.check_went_back(&["100 to 60, accepted: false"]);
            let _watch = server.sync(call, 60, &[("a", 50)]).await;
            observer.check_went_back(&["100 to 60, accepted: true"]);
            assert_eq!(held(&informer), "a@50");
        } else {
            check.answer(&page(105, &[("a", 90)], "next"));
            // The changes up to then are still to come.
            server.expect("watch at 100").await;
            observer.check_went_back(&[]);
            assert_eq!(held(&informer), "a@90");
        }
    }
}
