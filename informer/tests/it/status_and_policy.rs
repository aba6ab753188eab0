//! Status, error policy, pause and resume of an informer.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use fakeserver::{
    FakeServer,
    faults::{Filter, ServerError},
};
use futures::{FutureExt, StreamExt};
use informer::{
    DecodeError, Object, Scope, SharedInformer, SharedInformerBuilder, StatusStream, SyncError,
    SyncPhase,
    http::HttpListWatch,
    list_watch::{ListWatchError, Status, WatchEvent},
    reflector::{
        Decision, Failure, FailureCause, ListGate, PauseOptions, ReflectorOptions, WhenRemoved,
    },
    stages::TaskSet,
    testing::{RecordingHandler, Script, ScriptedListWatch, scripted},
};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{Api, api::PostParams};
use tokio::time::{Instant, sleep};

const LIMIT: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

fn config_map(name: &str, version: &str) -> Object<ConfigMap> {
    Object::new(ConfigMap {
        metadata: ObjectMeta {
            namespace: Some("n".into()),
            name: Some(name.into()),
            uid: Some(format!("uid of {name}")),
            resource_version: Some(version.into()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    })
}

fn lists_only() -> ReflectorOptions {
    let mut options = ReflectorOptions::default()
        .with_streaming_lists(false)
        .with_seed(0);
    options.backoff = options.backoff.with_jitter(0.0);
    options
}

type Builder = SharedInformerBuilder<ConfigMap, ScriptedListWatch<ConfigMap>>;

fn scripted_builder() -> (Builder, Script<ConfigMap>) {
    let (list_watch, script) = scripted();
    let builder = SharedInformer::builder(list_watch).with_options(lists_only());
    (builder, script)
}

fn status(code: u16, message: &str) -> Status {
    let mut status = Status::default();
    status.code = code;
    status.message = message.into();
    status
}

async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

/// The latest status, if it is news.
fn news(stream: &mut StatusStream) -> Option<String> {
    let next = stream.next().now_or_never()?;
    Some(next.expect("the informer runs").to_string())
}

fn refused_object() -> DecodeError {
    DecodeError {
        key: config_map("bad", "8").key().clone(),
        resource_version: "8".into(),
        source: Arc::new(serde_json::from_str::<u8>("x").unwrap_err()),
    }
}

// === Status ===

#[tokio::test(start_paused = true)]
async fn a_status_stream_reports_the_latest_of_a_whole_life() {
    let (builder, mut script) = scripted_builder();
    let informer = builder.build().unwrap();
    let mut stream = informer.status_stream();
    assert_eq!(
        news(&mut stream).unwrap(),
        "not started, failed attempts: 0"
    );
    assert_eq!(news(&mut stream), None);

    informer.start();
    assert_eq!(news(&mut stream).unwrap(), "starting, failed attempts: 0");
    let list = script.expect_list().await;
    assert_eq!(news(&mut stream).unwrap(), "listing, failed attempts: 0");
    list.fail(status(503, "tired"));
    settle().await;
    assert_eq!(
        news(&mut stream).unwrap(),
        "backing off for 800ms (the server is unavailable), failed attempts: 1, \
         last error: the server answered 503: tired"
    );
    let failed = informer.status();
    assert_eq!(failed.last_cause, Some(FailureCause::Unavailable));
    assert_eq!(
        failed.waits_until(),
        Some(failed.since + Duration::from_millis(800))
    );
    assert!(!failed.has_synced && !failed.is_paused());

    script.expect_list().await.page([], "7");
    let watch = script.expect_watch().await;
    settle().await;
    // A slow reader receives the latest status only.
    assert!(
        news(&mut stream)
            .unwrap()
            .starts_with("connecting, failed attempts: 1")
    );
    let _events = watch.open();
    settle().await;
    assert_eq!(news(&mut stream).unwrap(), "watching, failed attempts: 0");
    assert!(informer.status().has_synced);
    assert_eq!(informer.status().waits_until(), None);
    assert_eq!(news(&mut stream), None);

    informer.shutdown().await;
    assert_eq!(news(&mut stream).unwrap(), "stopped, failed attempts: 0");
    assert!(stream.next().await.is_none());
    let mut late = informer.status_stream();
    assert_eq!(late.next().await.unwrap().phase, SyncPhase::Stopped);
    assert!(late.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn all_who_wait_for_a_status_are_woken_in_order() {
    let (builder, mut script) = scripted_builder();
    let informer = builder.build().unwrap();
    let woken = Arc::new(Mutex::new(Vec::new()));
    let tasks = TaskSet::new();
    for number in 0..4 {
        let mut stream = informer.status_stream();
        let woken = Arc::clone(&woken);
        tasks.spawn(async move {
            while let Some(status) = stream.next().await {
                if status.has_synced {
                    woken.lock().unwrap().push(number);
                    return;
                }
            }
        });
    }
    // One that gives up is no hindrance.
    drop(informer.status_stream());
    informer.start();
    script.expect_list().await.page([], "7");
    tasks.wait().await;
    assert_eq!(*woken.lock().unwrap(), [0, 1, 2, 3]);
}

// === Error policy ===

#[tokio::test(start_paused = true)]
async fn a_policy_receives_of_every_class_of_failure() {
    let (builder, mut script) = scripted_builder();
    let recording = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&recording);
    let policy = move |failure: &Failure<'_>| {
        noted.lock().unwrap().push(failure.cause);
        Decision::Default
    };
    let informer = builder.with_error_policy(policy).build().unwrap();
    informer.start();
    for code in [410, 504, 503, 500, 429, 401, 403, 404, 405, 422] {
        script.expect_list().await.fail(status(code, ""));
    }
    script
        .expect_list()
        .await
        .fail(ListWatchError::Refused("".into()));
    script
        .expect_list()
        .await
        .fail(ListWatchError::Transport("".into()));
    script
        .expect_list()
        .await
        .fail(ListWatchError::Request("".into()));
    // Nothing answers.
    let hanging = script.expect_list().await;
    script.expect_list().await.page([], "7");
    drop(hanging);
    let events = script.expect_watch().await.open();
    events.send(WatchEvent::Modified(Err(refused_object())));
    events.error(status(500, ""));
    script.expect_watch().await.open().end();
    script.expect_list().await.page([], "9");
    let events = script.expect_watch().await.open();
    events.fail(ListWatchError::FrameTooLarge { limit_bytes: 1 });
    settle().await;
    assert_eq!(
        *recording.lock().unwrap(),
        [
            FailureCause::Expired,
            FailureCause::Unavailable,
            FailureCause::Unavailable,
            FailureCause::ServerError,
            FailureCause::Throttled,
            FailureCause::Unauthorized,
            FailureCause::Forbidden,
            FailureCause::NotFound,
            FailureCause::Denied,
            FailureCause::Invalid,
            FailureCause::Refused,
            FailureCause::Transport,
            FailureCause::Request,
            FailureCause::TimedOut,
            FailureCause::Undecodable,
            FailureCause::ServerError,
            FailureCause::EndedEarly,
            FailureCause::Protocol,
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_stops_ends_the_informer_and_names_the_error() {
    let (builder, mut script) = scripted_builder();
    let policy = |failure: &Failure<'_>| match failure.cause {
        FailureCause::Forbidden => Decision::Stop,
        _ => Decision::Default,
    };
    let informer = builder.with_error_policy(policy).build().unwrap();
    informer.start();
    script.expect_list().await.fail(status(503, ""));
    script.expect_list().await.fail(status(403, "not yours"));
    let error = informer.wait_for_cache_sync(LIMIT).await.unwrap_err();
    assert!(matches!(error, SyncError::Stopped { .. }));
    assert_eq!(
        error.to_string(),
        "the informer of ConfigMap stopped before it was synced: stopped, failed attempts: 2, \
         last error: the server answered 403: not yours"
    );
    settle().await;
    assert_eq!(informer.task_count(), 0);
    script.expect_no_call_for(HOUR).await;
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_panics_or_wants_no_delay_makes_no_hot_loop() {
    for decision in [None, Some(Decision::BackOff(Duration::ZERO))] {
        let (builder, mut script) = scripted_builder();
        let policy = move |_: &Failure<'_>| match decision {
            Some(decision) => decision,
            None => std::panic::resume_unwind(Box::new("as the test says")),
        };
        let informer = builder.with_error_policy(policy).build().unwrap();
        informer.start();
        let began = Instant::now();
        for _ in 0..10 {
            script.expect_list().await.fail(status(503, ""));
        }
        script.expect_list().await.page([], "7");
        // Nine delays of 100 ms, or those of the backoff.
        let least = if decision.is_some() { 900 } else { 100_000 };
        assert!(began.elapsed() >= Duration::from_millis(least));
        let _watch = script.expect_watch().await;
        informer.wait_for_cache_sync(LIMIT).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_may_want_the_whole_state_after_an_object_that_cannot_be_decoded() {
    let (builder, mut script) = scripted_builder();
    let policy = |failure: &Failure<'_>| match failure.cause {
        FailureCause::Undecodable => Decision::Relist,
        _ => Decision::Default,
    };
    let informer = builder.with_error_policy(policy).build().unwrap();
    informer.start();
    script.expect_list().await.page([config_map("a", "1")], "7");
    let events = script.expect_watch().await.open();
    events.send(WatchEvent::Modified(Err(refused_object())));
    script
        .expect_list()
        .await
        .page([config_map("a", "1"), config_map("bad", "9")], "9");
    let _watch = script.expect_watch().await;
    settle().await;
    assert_eq!(informer.store().list().len(), 2);
}

// === Pause and resume ===

#[tokio::test(start_paused = true)]
async fn an_owner_pauses_and_resumes_at_the_version_where_it_was() {
    let (builder, mut script) = scripted_builder();
    let informer = builder.build().unwrap();
    informer.start();
    script.expect_list().await.page([config_map("a", "1")], "7");
    let events = script.expect_watch().await.open();
    events.added(config_map("b", "8"));
    settle().await;
    informer.pause();
    script.expect_no_call_for(HOUR).await;
    assert!(events.is_closed());
    assert!(informer.status().is_paused());
    assert_eq!(informer.status().to_string(), "paused, failed attempts: 0");
    assert_eq!(informer.store().list().len(), 2);

    let resumed = Instant::now();
    informer.resume();
    let watch = script.expect_watch().await;
    assert_eq!(resumed.elapsed(), Duration::ZERO);
    assert_eq!(watch.request.resource_version, "8".into());
    let _events = watch.open();
    settle().await;
    assert_eq!(
        informer.status().to_string(),
        "watching, failed attempts: 0"
    );

    // An order before the start counts, and a request in flight is given up.
    let (builder, mut script) = scripted_builder();
    let informer = builder.build().unwrap();
    informer.pause();
    informer.start();
    script.expect_no_call_for(HOUR).await;
    informer.resume();
    let list = script.expect_list().await;
    informer.resume();
    settle().await;
    assert!(!list.is_given_up());
    informer.pause();
    settle().await;
    assert!(list.is_given_up());
    informer.shutdown().await;
    assert_eq!(informer.task_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn informers_that_share_a_gate_list_one_after_another() {
    let gate = ListGate::new(1);
    let (first, mut first_script) = scripted_builder();
    let (second, mut second_script) = scripted_builder();
    let first = first.with_list_gate(gate.clone()).build().unwrap();
    let second = second.with_list_gate(gate).build().unwrap();
    first.start();
    let page = first_script.expect_list().await;
    second.start();
    second_script.expect_no_call_for(LIMIT).await;
    page.page_and_more([], "7", "more");
    // The turn is for the whole list.
    let page = first_script.expect_list().await;
    second_script.expect_no_call_for(LIMIT).await;
    // Who waits to try again lets others pass.
    page.fail(status(403, ""));
    second_script.expect_list().await.page([], "7");
    // A watch needs no turn.
    let _second_events = second_script.expect_watch().await.open();
    first_script.expect_list().await.page([], "7");
    let _first_events = first_script.expect_watch().await.open();
    first.wait_for_cache_sync(LIMIT).await.unwrap();
    second.wait_for_cache_sync(LIMIT).await.unwrap();
}

async fn create(server: &FakeServer, name: &str) {
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let object = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    api.create(&PostParams::default(), &object).await.unwrap();
}

fn requests(server: &FakeServer) -> u64 {
    let requests = server.stats().requests;
    let verbs = requests.get("configmaps").into_iter().flatten();
    verbs
        .filter(|(verb, _)| matches!(&***verb, "list" | "watch"))
        .map(|(_, count)| count)
        .sum()
}

fn of_server(server: &FakeServer) -> SharedInformerBuilder<ConfigMap, HttpListWatch<ConfigMap>> {
    SharedInformer::builder(HttpListWatch::new(server.client(), Scope::All))
}

fn names(informer: &SharedInformer<ConfigMap>) -> Vec<String> {
    let objects = informer.store().list();
    let names = objects.iter().map(|object| object.key().name().to_owned());
    names.filter(|name| name.len() == 1).collect()
}

#[tokio::test(start_paused = true)]
async fn removed_and_forbidden_resources_are_probed_seldom_and_recover() {
    for (code, when_removed, expected) in [
        (404_u16, WhenRemoved::KeepStore, "(+default/a)"),
        (404, WhenRemoved::EmptyStore, "(+default/a) !default/a"),
        (403, WhenRemoved::EmptyStore, "(+default/a)"),
    ] {
        let server = FakeServer::builder().build();
        create(&server, "a").await;
        let pause = PauseOptions::default().with_when_removed(when_removed);
        let options = ReflectorOptions::default().with_seed(0).with_pause(pause);
        let informer = of_server(&server).with_options(options).build().unwrap();
        let (handler, recording) = RecordingHandler::new();
        let _registration = informer.add_handler(handler);
        informer.start();
        informer.wait_for_cache_sync(LIMIT).await.unwrap();

        let gone = ServerError::new(code).rule();
        let gone = gone.matching(Filter::any().resource("configmaps"));
        let gone = server.faults().install(gone);
        server.disconnect();
        let before = requests(&server);
        sleep(Duration::from_secs(20)).await;
        let status = informer.status();
        assert!(status.is_paused(), "{status}");
        assert!(status.failed_attempts <= 6, "{status}");
        let cause = if code == 404 {
            FailureCause::NotFound
        } else {
            FailureCause::Forbidden
        };
        assert_eq!(status.last_cause, Some(cause));
        sleep(HOUR).await;
        let count = requests(&server) - before;
        assert!((15..=40).contains(&count), "{count} requests");
        let text: Vec<_> = recording
            .take_text()
            .split(' ')
            .map(without_version)
            .collect();
        let text: Vec<_> = text
            .into_iter()
            .filter(|word| word.contains("default/a"))
            .collect();
        assert_eq!(text.join(" "), expected);
        assert_eq!(names(&informer).is_empty(), expected.contains('!'));

        // Who asks at once is answered at once; else the next probe finds out.
        drop(gone);
        create(&server, "b").await;
        let limit = if code == 403 {
            informer.resume();
            Duration::from_secs(1)
        } else {
            Duration::from_mins(5)
        };
        sleep(limit).await;
        assert_eq!(names(&informer), ["a", "b"]);
        assert!(!informer.status().is_paused());
    }
}

fn without_version(word: &str) -> String {
    let (name, rest) = word.split_once('@').unwrap_or((word, ""));
    let tail = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{name}{tail}")
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_what_is_not_there_names_the_pause() {
    let server = FakeServer::builder().build();
    let gone = ServerError::new(http::StatusCode::NOT_FOUND).rule();
    let _gone = server.faults().install(gone);
    let options = ReflectorOptions::default().with_seed(0);
    let informer = of_server(&server).with_options(options).build().unwrap();
    informer.start();
    let error = informer.wait_for_cache_sync(LIMIT).await.unwrap_err();
    let text = error.to_string();
    let expected = "configmaps not synced within 60s: paused (the server has no such resource)";
    assert!(text.starts_with(expected), "{text}");
}

// === A server that was restored ===

#[tokio::test(start_paused = true)]
async fn a_server_that_was_restored_to_an_earlier_revision_is_followed_within_minutes() {
    for streaming_lists in [true, false] {
        let server = FakeServer::builder().build();
        for name in ["a", "b", "c"] {
            create(&server, name).await;
        }
        let options = ReflectorOptions::default()
            .with_seed(0)
            .with_streaming_lists(streaming_lists);
        let informer = of_server(&server).with_options(options).build().unwrap();
        informer.start();
        informer.wait_for_cache_sync(LIMIT).await.unwrap();
        assert_eq!(names(&informer), ["a", "b", "c"]);

        server.reset();
        create(&server, "d").await;
        sleep(Duration::from_mins(8)).await;
        assert_eq!(names(&informer), ["d"]);
        // It continues from there without another list.
        let before = requests(&server);
        create(&server, "e").await;
        sleep(Duration::from_secs(1)).await;
        assert_eq!(names(&informer), ["d", "e"]);
        assert_eq!(requests(&server), before);
    }
}
