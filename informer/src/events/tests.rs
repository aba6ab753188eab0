//! The pure core by tables: client-go's `TestEventCorrelator` and its kin; then recorders against a server.

use std::time::Duration;

use fakeserver::{
    FakeServer,
    faults::{Fault, Filter, LostAnswer, ServerError},
};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Namespace, ObjectReference};
use kube::{
    Api,
    api::{DeleteParams, ListParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use super::{
    correlator::{Correlator, Decision, Occurrence, Record},
    lru::Lru,
    *,
};
use crate::leader_election::WallClock;

const S: fn(u64) -> Duration = Duration::from_secs;
/// 2026-01-01T00:00:00Z
const TODAY: u32 = 1_767_225_600;

/// A correlator, and the time since it began.
struct CorrelatorTest {
    correlator: Correlator,
    origin: Instant,
    now: Duration,
}

// === impl CorrelatorTest ===

impl CorrelatorTest {
    fn new() -> Self {
        Self::with_options(&EventRecorderOptions::default())
    }

    fn with_options(options: &EventRecorderOptions) -> Self {
        Self {
            correlator: Correlator::new(options),
            origin: Instant::now(),
            now: Duration::ZERO,
        }
    }

    fn sleep(&mut self, time: Duration) {
        self.now += time;
    }

    fn time(&self) -> Timestamp {
        let start = Timestamp::from_second(TODAY.into()).unwrap();
        start.checked_add(self.now).unwrap()
    }

    fn event(&mut self, object: ObjectReference, reason: &str, message: &str) -> Decision {
        let event = Occurrence {
            object,
            type_: EventType::Normal,
            reason: reason.to_owned(),
            message: message.to_owned(),
            at: self.origin + self.now,
            time: self.time(),
        };
        self.correlator.correlate(event)
    }

    /// An event about the pod `web-0`.
    fn observe(&mut self, reason: &str, message: &str) -> Decision {
        self.event(pod("web-0"), reason, message)
    }
}

fn pod(name: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("Pod".to_owned()),
        namespace: Some("apps".to_owned()),
        name: Some(name.to_owned()),
        uid: Some("u-1".to_owned()),
        ..ObjectReference::default()
    }
}

fn created(decision: Decision) -> Record {
    match decision {
        Decision::Create(record) => {
            assert_eq!((record.count, record.first), (1, record.last));
            record
        }
        other => panic!("{other:?}"),
    }
}

fn patched(decision: Decision) -> Record {
    match decision {
        Decision::Patch(record) => record,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_event_is_created_under_the_name_of_its_object_and_its_time() {
    let mut play = CorrelatorTest::new();
    let record = created(play.observe("Started", "it runs"));
    assert_eq!(record.name, "web-0.18867251edfa0000");
    assert_eq!(record.namespace, "apps");
    assert_eq!((&*record.reason, &*record.message), ("Started", "it runs"));
    assert_eq!(record.object, pod("web-0"));
    assert_eq!(record.first, play.time());
}

#[test]
fn equal_events_are_counted() {
    let mut play = CorrelatorTest::new();
    let first = created(play.observe("Started", "it runs"));
    for count in 2..=15 {
        play.sleep(S(30));
        let record = patched(play.observe("Started", "it runs"));
        let expected = Record {
            count,
            last: play.time(),
            ..first.clone()
        };
        assert_eq!(record, expected);
    }
    // However much later.
    play.sleep(S(1_000_000));
    assert_eq!(patched(play.observe("Started", "it runs")).count, 16);
}

#[test]
fn from_the_tenth_on_similar_events_are_combined() {
    let mut play = CorrelatorTest::new();
    for number in 1..=9 {
        let message = format!("attempt {number}");
        assert_eq!(created(play.observe("Failed", &message)).message, message);
    }
    let first = created(play.observe("Failed", "attempt 10"));
    assert_eq!(first.message, "(combined from similar events): attempt 10");
    for number in 11..=15 {
        play.sleep(S(5));
        let record = patched(play.observe("Failed", &format!("attempt {number}")));
        assert_eq!(record.name, first.name);
        assert_eq!((record.first, record.last), (first.first, play.time()));
        assert_eq!(record.count, number - 9);
        let message = format!("(combined from similar events): attempt {number}");
        assert_eq!(record.message, message);
    }
    // A message that has an event of its own keeps it, and other reasons are not concerned.
    let own = patched(play.observe("Failed", "attempt 3"));
    assert_eq!((own.count, &*own.message), (2, "attempt 3"));
    assert_eq!(
        created(play.observe("Started", "it runs")).message,
        "it runs"
    );
}

#[test]
fn similar_events_are_counted_from_one_after_ten_minutes_without_one() {
    let run = |pause: Duration| {
        let mut play = CorrelatorTest::new();
        for number in 1..=9 {
            play.observe("Failed", &format!("attempt {number}"));
            play.sleep(S(60));
        }
        play.sleep(pause);
        created(play.observe("Failed", "attempt 10")).message
    };
    // The pause begins with the last of them, a minute before.
    assert_eq!(run(S(540)), "(combined from similar events): attempt 10");
    assert_eq!(run(S(541)), "attempt 10");
}

#[test]
fn different_objects_and_containers_have_events_of_their_own() {
    let mut play = CorrelatorTest::new();
    for number in 0..30 {
        let object = pod(&format!("web-{number}"));
        created(play.event(object, "Failed", "no image"));
    }
    let container = |name: &str| ObjectReference {
        field_path: Some(format!("spec.containers{{{name}}}")),
        ..pod("web-0")
    };
    created(play.event(container("a"), "Failed", "no image"));
    created(play.event(container("b"), "Failed", "no image"));
    assert_eq!(
        patched(play.event(container("a"), "Failed", "no image")).count,
        2
    );
    let again = ObjectReference {
        uid: Some("u-2".to_owned()),
        ..pod("web-0")
    };
    created(play.event(again, "Failed", "no image"));
}

#[test]
fn the_twenty_sixth_event_about_an_object_is_dropped_and_counted() {
    let mut play = CorrelatorTest::new();
    for number in 1..=25 {
        let decision = play.observe("Failed", "no image");
        assert_ne!(decision, Decision::Drop, "{number}");
    }
    assert_eq!(play.observe("Failed", "no image"), Decision::Drop);
    // It is about the object, whatever the reason, and about that object only.
    assert_eq!(play.observe("Started", "it runs"), Decision::Drop);
    created(play.event(pod("web-1"), "Failed", "no image"));
    // One more every five minutes.
    play.sleep(S(299));
    assert_eq!(play.observe("Failed", "no image"), Decision::Drop);
    play.sleep(S(1));
    assert_eq!(patched(play.observe("Failed", "no image")).count, 28);
    assert_eq!(play.observe("Failed", "no image"), Decision::Drop);
    play.sleep(S(1_000_000));
    for _ in 0..25 {
        assert_ne!(play.observe("Failed", "no image"), Decision::Drop);
    }
    assert_eq!(play.observe("Failed", "no image"), Decision::Drop);
}

#[test]
fn warnings_have_a_limit_of_their_own() {
    let mut play = CorrelatorTest::new();
    for _ in 0..26 {
        play.observe("Failed", "no image");
    }
    let warning = Occurrence {
        object: pod("web-0"),
        type_: EventType::Warning,
        reason: "Failed".to_owned(),
        message: "no image".to_owned(),
        at: play.origin,
        time: play.time(),
    };
    created(play.correlator.correlate(warning));
}

#[test]
fn limits_can_be_chosen() {
    let mut options = EventRecorderOptions::default();
    (options.burst, options.refill_interval) = (1, S(10));
    (options.aggregate_from, options.aggregate_interval) = (2, S(60));
    let mut play = CorrelatorTest::with_options(&options);
    created(play.observe("Failed", "a"));
    assert_eq!(play.observe("Failed", "a"), Decision::Drop);
    play.sleep(S(10));
    let combined = created(play.observe("Failed", "b"));
    assert_eq!(combined.message, "(combined from similar events): b");
    options.burst = 0;
    let mut play = CorrelatorTest::with_options(&options);
    assert_eq!(play.observe("Failed", "a"), Decision::Drop);
    options.refill_interval = S(0);
    let mut play = CorrelatorTest::with_options(&options);
    created(play.observe("Failed", "a"));
}

#[test]
fn the_memory_of_objects_has_a_limit() {
    let options = EventRecorderOptions {
        remembered_max: 3,
        ..EventRecorderOptions::default()
    };
    let mut play = CorrelatorTest::with_options(&options);
    let record =
        |play: &mut CorrelatorTest, name: &str| play.event(pod(name), "Failed", "no image");
    for name in ["a", "b", "c"] {
        created(record(&mut play, name));
    }
    assert_eq!(patched(record(&mut play, "a")).count, 2);
    // The one that was not used for longest is forgotten.
    created(record(&mut play, "d"));
    assert_eq!(patched(record(&mut play, "a")).count, 3);
    created(record(&mut play, "b"));
    for number in 0..100 {
        record(&mut play, &format!("more-{number}"));
        assert_eq!(play.correlator.remembered(), [3, 3, 3]);
    }
    assert_eq!(EventRecorderOptions::default().remembered_max, 4096);
    let mut lru = Lru::new(0);
    assert_eq!(*lru.get_or_insert_with(&1, || 1), 1);
    assert_eq!(*lru.get_or_insert_with(&2, || 2), 2);
    assert_eq!(*lru.get_or_insert_with(&2, || 3), 2);
    assert_eq!(*lru.get_or_insert_with(&1, || 3), 3);
    assert_eq!(lru.len(), 1);
}

#[test]
fn no_two_events_have_the_same_name_at_one_moment_or_after_the_clock_went_back() {
    let mut play = CorrelatorTest::new();
    play.sleep(S(10));
    let first = created(play.observe("A", "")).name;
    let second = created(play.observe("B", "")).name;
    play.now = S(5);
    let third = created(play.observe("C", "")).name;
    assert!(first < second && second < third, "{first} {second} {third}");
}

#[test]
fn names_that_an_event_cannot_have_are_hashed() {
    let long = "a".repeat(253);
    for (object, beginning) in [
        ("web-0.apps", "web-0.apps."),
        ("system:node", "event-"),
        ("Upper", "event-"),
        ("-a", "event-"),
        ("a..b", "event-"),
        ("", "event-"),
        (&*long, "event-"),
    ] {
        let name = created(CorrelatorTest::new().event(pod(object), "A", "")).name;
        assert!(name.starts_with(beginning), "{name}");
        let again = created(CorrelatorTest::new().event(pod(object), "A", "")).name;
        assert_eq!(name, again);
    }
}

/// A server with the namespace `apps`, a recorder, and an object to tell about.
struct World {
    server: FakeServer,
    recorder: EventRecorder,
    object: ConfigMap,
    began: Instant,
}

// === impl World ===

impl World {
    async fn new() -> Self {
        Self::with_options(EventRecorderOptions::default()).await
    }

    async fn with_options(mut options: EventRecorderOptions) -> Self {
        let server = FakeServer::builder().build();
        options.clock = WallClock::simulated(TODAY);
        options.seed = Some(1);
        options.instance = "copy-1".to_owned();
        let apps: Namespace = from_json(json!({"metadata": {"name": "apps"}}));
        let namespaces = Api::all(server.client());
        let params = PostParams::default();
        namespaces.create(&params, &apps).await.unwrap();
        let object = from_json(json!({"metadata": {"name": "web", "namespace": "apps"}}));
        let objects: Api<ConfigMap> = Api::namespaced(server.client(), "apps");
        let object = objects.create(&params, &object).await.unwrap();
        let client = server.client_named("recorder");
        Self {
            recorder: EventRecorder::with_options(client, "it", options),
            server,
            object,
            began: Instant::now(),
        }
    }

    fn record(&self, reason: &str, message: &str) {
        self.recorder
            .event(&self.object, EventType::Normal, reason, message);
    }

    async fn flush(&self) {
        self.recorder.flush(S(3600)).await.unwrap();
    }

    /// The events of `apps`.
    async fn events(&self) -> Vec<Event> {
        events_of(&self.server, "apps").await
    }

    fn install(&self, rule: fakeserver::faults::FaultRule) -> fakeserver::faults::RuleGuard {
        let filter = Filter::any().client("recorder");
        self.server.faults().install(rule.matching(filter))
    }

    /// The number of requests of this verb for events.
    fn requests(&self, verb: &str) -> u64 {
        let stats = self.server.stats();
        let of_events = stats.requests.get("events");
        of_events
            .and_then(|verbs| verbs.get(verb))
            .copied()
            .unwrap_or_default()
    }
}

async fn events_of(server: &FakeServer, namespace: &str) -> Vec<Event> {
    let api: Api<Event> = Api::namespaced(server.client(), namespace);
    api.list(&ListParams::default()).await.unwrap().items
}

fn from_json<K: serde::de::DeserializeOwned>(object: serde_json::Value) -> K {
    serde_json::from_value(object).unwrap()
}

#[tokio::test(start_paused = true)]
async fn three_equal_events_are_one_object_of_count_three() {
    let world = World::new().await;
    for _ in 0..3 {
        world.record("Started", "it runs");
        sleep(S(2)).await;
    }
    world.flush().await;
    let [event] = &world.events().await[..] else {
        panic!("{:?}", world.events().await);
    };
    let written_event = serde_json::to_value(event).unwrap();
    let meta = &world.object.metadata;
    assert_eq!(written_event["metadata"]["name"], "web.18867251edfa0000");
    assert_eq!(
        written_event["involvedObject"],
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "namespace": "apps", "name": "web",
            "uid": meta.uid, "resourceVersion": meta.resource_version,
        })
    );
    for (field, value) in [
        ("type", json!("Normal")),
        ("reason", json!("Started")),
        ("message", json!("it runs")),
        ("count", json!(3)),
        ("firstTimestamp", json!("2026-01-01T00:00:00Z")),
        ("lastTimestamp", json!("2026-01-01T00:00:04Z")),
        ("source", json!({"component": "it", "host": "copy-1"})),
        ("reportingComponent", json!("it")),
        ("reportingInstance", json!("copy-1")),
    ] {
        assert_eq!(written_event[field], value, "{field}");
    }
    assert_eq!((world.requests("create"), world.requests("patch")), (1, 2));
    assert_eq!(world.recorder.dropped_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn fifteen_similar_events_are_nine_and_a_combined_one() {
    let world = World::new().await;
    for number in 1..=15 {
        world.record("Failed", &format!("attempt {number}"));
    }
    world.flush().await;
    let mut events = world.events().await;
    assert_eq!(events.len(), 10);
    let is_combined = |event: &mut Event| {
        let message = event.message.as_deref().unwrap_or_default();
        message.starts_with("(combined")
    };
    let combined: Vec<Event> = events.extract_if(.., is_combined).collect();
    assert_eq!(combined.len(), 1);
    assert_eq!(combined[0].count, Some(6));
    assert_eq!(
        combined[0].message.as_deref(),
        Some("(combined from similar events): attempt 15")
    );
    assert!(events.iter().all(|event| event.count == Some(1)));
}

#[tokio::test(start_paused = true)]
async fn events_about_cluster_scoped_and_dynamic_objects_are_recorded_too() {
    let world = World::new().await;
    let namespaces: Api<Namespace> = Api::all(world.server.client());
    let namespace = namespaces.get("apps").await.unwrap();
    world
        .recorder
        .event(&namespace, EventType::Warning, "Full", "no quota is left");
    let roles = ApiResource::from_gvk(&GroupVersionKind::gvk(
        "rbac.authorization.k8s.io",
        "v1",
        "ClusterRole",
    ));
    let role = DynamicObject::new("system:node", &roles);
    world.recorder.event_for(
        object_reference(&role, &roles),
        EventType::Normal,
        "Bound",
        "",
    );
    world.flush().await;
    assert_eq!(world.recorder.dropped_count(), 0);
    let events = events_of(&world.server, "default").await;
    let mut kinds: Vec<_> = events
        .iter()
        .map(|event| {
            let object = &event.involved_object;
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            (
                text(&object.kind),
                text(&object.api_version),
                text(&event.type_),
            )
        })
        .collect();
    kinds.sort();
    let expected = [
        ("ClusterRole", "rbac.authorization.k8s.io/v1", "Normal"),
        ("Namespace", "v1", "Warning"),
    ];
    let expected = expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
    assert_eq!(kinds, expected);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_twice_gets_the_event_at_the_third_attempt() {
    for fault in [
        ServerError::new(500u16).into(),
        ServerError::new(429u16).into(),
        Fault::Hang,
    ] {
        let is_hanging = matches!(fault, Fault::Hang);
        let world = World::new().await;
        let _guard = world.install(Fault::rule(fault).times(2));
        world.record("Started", "it runs");
        world.flush().await;
        assert_eq!(world.events().await.len(), 1);
        assert_eq!(world.recorder.dropped_count(), 0);
        // A part of ten seconds, and ten; a request that hangs takes half a minute.
        let requests = if is_hanging { S(60) } else { S(0) };
        let took = world.began.elapsed().saturating_sub(requests);
        assert!((S(10)..S(20)).contains(&took), "{took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_whose_answer_was_lost_is_written_once() {
    let world = World::new().await;
    let _guard = world.install(LostAnswer::default().rule().times(1));
    world.record("Started", "it runs");
    world.record("Started", "it runs");
    world.flush().await;
    let events = world.events().await;
    assert_eq!((events.len(), events[0].count), (1, Some(2)));
    assert_eq!(world.recorder.dropped_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_event_is_given_up_after_twelve_attempts_and_the_next_ones_are_written() {
    let world = World::new().await;
    let _guard = world.install(ServerError::new(503u16).rule().times(12));
    world.record("Started", "it runs");
    world.record("Failed", "it fails");
    world.record("Started", "it runs");
    world.flush().await;
    let took = world.began.elapsed();
    assert!((S(100)..S(110)).contains(&took), "{took:?}");
    assert_eq!(world.recorder.dropped_count(), 1);
    // The event that was given up shows in the count of its successor, whose patch finds nothing.
    let events = world.events().await;
    let mut counts: Vec<_> = events
        .iter()
        .map(|event| (event.reason.clone().unwrap(), event.count))
        .collect();
    counts.sort();
    let expected = [("Failed", Some(1)), ("Started", Some(2))];
    assert_eq!(
        counts,
        expected.map(|(reason, count)| (reason.to_owned(), count))
    );
}

#[tokio::test(start_paused = true)]
async fn an_event_that_has_expired_is_created_again_with_its_count() {
    let world = World::new().await;
    world.record("Started", "it runs");
    world.flush().await;
    let api: Api<Event> = Api::namespaced(world.server.client(), "apps");
    let first = world.events().await.remove(0);
    let name = first.metadata.name.clone().unwrap();
    api.delete(&name, &DeleteParams::default()).await.unwrap();
    sleep(S(60)).await;
    world.record("Started", "it runs");
    world.flush().await;
    let [event] = &world.events().await[..] else {
        panic!("{:?}", world.events().await);
    };
    assert_eq!(event.count, Some(2));
    assert_eq!(event.first_timestamp, first.first_timestamp);
    assert_ne!(event.metadata.uid, first.metadata.uid);
}

#[tokio::test(start_paused = true)]
async fn events_in_a_namespace_that_is_being_deleted_or_absent_are_given_up_at_once() {
    let world = World::new().await;
    let namespaces: Api<Namespace> = Api::all(world.server.client());
    let params = PostParams::default();
    let going = json!({"metadata": {"name": "going"}, "spec": {"finalizers": ["kubernetes"]}});
    namespaces.create(&params, &from_json(going)).await.unwrap();
    namespaces
        .delete("going", &DeleteParams::default())
        .await
        .unwrap();
    for namespace in ["going", "absent"] {
        let object: ConfigMap =
            from_json(json!({"metadata": {"name": "web", "namespace": namespace}}));
        world.recorder.event(&object, EventType::Normal, "Gone", "");
    }
    world.record("Started", "it runs");
    world.flush().await;
    assert_eq!(world.began.elapsed(), S(0));
    assert_eq!(world.recorder.dropped_count(), 2);
    assert_eq!(world.requests("create"), 3);
    assert_eq!(world.events().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_and_the_last_drop_write_what_is_queued() {
    for is_dropped in [false, true] {
        let world = World::new().await;
        let clone = world.recorder.clone();
        clone.event(&world.object, EventType::Normal, "A", "");
        world.record("B", "");
        drop(clone);
        if is_dropped {
            let World {
                server, recorder, ..
            } = world;
            drop(recorder);
            sleep(S(1)).await;
            assert_eq!(events_of(&server, "apps").await.len(), 2);
            continue;
        }
        world.recorder.shutdown().await;
        assert_eq!(world.events().await.len(), 2);
        assert_eq!(world.recorder.dropped_count(), 0);
        // What comes later is dropped, and no wait is for ever.
        world.record("C", "");
        assert_eq!(world.recorder.dropped_count(), 1);
        world.flush().await;
        world.recorder.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_tries_each_event_once_more_and_ends_in_time() {
    // A server that fails: each event has one more attempt, and none is waited for.
    let world = World::new().await;
    let guard = world.install(ServerError::new(500u16).rule());
    for reason in ["A", "B", "C"] {
        world.record(reason, "");
    }
    sleep(Duration::from_millis(1)).await;
    let fired = || world.server.faults().fired()["server_error"];
    assert_eq!(fired(), 1);
    let began = Instant::now();
    world.recorder.shutdown().await;
    assert_eq!((began.elapsed(), fired()), (S(0), 4));
    assert_eq!(world.recorder.dropped_count(), 3);
    drop(guard);
    // One that hangs: the shutdown has a limit.
    let world = World::new().await;
    let _guard = world.install(Fault::Hang.rule());
    for reason in ["A", "B", "C"] {
        world.record(reason, "");
    }
    sleep(S(1)).await;
    let began = Instant::now();
    world.recorder.shutdown().await;
    assert_eq!(began.elapsed(), S(10));
    assert_eq!(world.recorder.dropped_count(), 3);
}

#[tokio::test(start_paused = true)]
async fn events_beyond_the_queues_bound_are_dropped_and_counted() {
    let mut options = EventRecorderOptions::default();
    assert_eq!(options.queue_max, 1000);
    options.queue_max = 10;
    let world = World::with_options(options).await;
    // The task does not run in between.
    for number in 0..15 {
        world.record(&format!("Reason{number}"), "");
    }
    assert_eq!(world.recorder.pending_count(), 10);
    assert_eq!(world.recorder.dropped_count(), 5);
    world.flush().await;
    assert_eq!(world.events().await.len(), 10);
    assert_eq!(world.recorder.pending_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_flush_has_a_limit_and_says_how_much_is_left() {
    let world = World::new().await;
    let guard = world.install(Fault::Hang.rule());
    world.record("A", "");
    world.record("B", "");
    let error = world.recorder.flush(S(5)).await.unwrap_err();
    assert_eq!(world.began.elapsed(), S(5));
    assert_eq!((error.limit, error.pending), (S(5), 2));
    drop(guard);
    timeout(S(120), world.flush()).await.unwrap();
    assert_eq!(world.events().await.len(), 2);
}
