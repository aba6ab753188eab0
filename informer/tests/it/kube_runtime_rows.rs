//! Faults that kube-runtime 5.0 does not get over, and that an informer does.
//!
//! The faults are numbered; each test says what kube-runtime does about its own.
//!
//! | row | fault |
//! |---|---|
//! | 3 | a response that never comes |
//! | 4 | a watch that ends at once |
//! | 5 | a first list that fails for long |
//! | 6 | one kind of several that cannot be watched |
//! | 7 | 410 as the status of a watch |
//! | 8 | an event that cannot be decoded |
//! | 9 | a continue token that has expired |
//! | 10 | what a subscriber and a reader are not told |
//! | 11 | a client that tries again by itself |

use std::time::Duration;

use fakeserver::{
    FakeServer,
    faults::{Filter, ServerError},
};
use informer::{
    Deleted, HandlerFuncs, IndexFn, Object, Scope, SharedInformer,
    factory::SharedInformerFactory,
    http::{self, HttpListWatch},
    reflector::ReflectorOptions,
    stages::TaskSet,
    testing::RecordingHandler,
};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
    time::{Instant, sleep, timeout},
};

use crate::support::{
    Answer, Server, StartedInformer, added, config_map, empty_list, inform, list, status,
};

const HOUR: Duration = Duration::from_hours(1);

fn lists_only() -> ReflectorOptions {
    streaming().with_streaming_lists(false)
}

fn streaming() -> ReflectorOptions {
    ReflectorOptions::default().with_seed(0)
}

fn inform_from(server: &Server, options: ReflectorOptions) -> StartedInformer<ConfigMap> {
    inform(
        HttpListWatch::<ConfigMap>::new(server.client(), Scope::All),
        options,
    )
}

/// kube-runtime: nothing in 24 h, for want of a limit on the time until the headers.
#[tokio::test(start_paused = true)]
async fn row_3_a_list_whose_response_never_comes_is_given_up() {
    let server = Server::new(|_, number| match number {
        0 => Answer::Hangs,
        1 => list(7, &[config_map("a", 3)], ""),
        _ => Answer::Stays(vec![]),
    });
    let informed = inform_from(&server, lists_only());
    sleep(Duration::from_secs(125)).await;
    assert_eq!(informed.objects(), "n/a@3");
    assert_eq!(server.seen_in_short(), ["list 0", "list 0", "watch 7"]);
    assert_eq!(informed.failures.messages(), ["no whole page within 120s"]);
}

/// kube-runtime: nothing in 24 h; the store stays as it was.
#[tokio::test(start_paused = true)]
async fn row_3_a_watch_whose_response_never_comes_is_given_up() {
    let server = Server::new(|request, number| match number {
        0 => list(7, &[config_map("a", 3)], ""),
        1 => Answer::Hangs,
        _ if request.is_watch() => Answer::Stays(vec![added(&config_map("b", 9))]),
        _ => status(500, "InternalError"),
    });
    let informed = inform_from(&server, lists_only());
    sleep(Duration::from_secs(35)).await;
    assert_eq!(informed.objects(), "n/a@3 n/b@9");
    assert_eq!(server.seen_in_short(), ["list 0", "watch 7", "watch 7"]);
    assert_eq!(informed.failures.messages(), ["no response within 30s"]);
}

/// kube-runtime: the same for a body that stops in the middle, since only opened watches have an idle limit.
#[tokio::test(start_paused = true)]
async fn row_3_a_list_whose_body_stops_in_the_middle_is_given_up() {
    let server = Server::new(|_, number| match number {
        0 => Answer::Stays(vec![
            r#"{"kind":"ConfigMapList","apiVersion":"v1","items":["#.into(),
        ]),
        1 => empty_list(7),
        _ => Answer::Stays(vec![]),
    });
    let informed = inform_from(&server, lists_only());
    sleep(Duration::from_secs(125)).await;
    assert_eq!(informed.informer.metrics().replacements, 1);
}

/// kube-runtime: 23,000 to 68,000 requests a second, with its default backoff or without.
#[tokio::test(start_paused = true)]
async fn row_4_a_watch_that_ends_at_once_is_not_reopened_in_a_hot_loop() {
    let server = Server::new(|request, _| {
        if request.is_watch() {
            Answer::Ends(vec![])
        } else {
            list(7, &[config_map("a", 3)], "")
        }
    });
    let informed = inform_from(&server, lists_only());
    sleep(Duration::from_secs(1)).await;
    assert!(server.seen().len() <= 4, "{:?}", server.seen_in_short());
    sleep(HOUR).await;
    let per_hour = server.seen().len();
    assert!(
        (60..200).contains(&per_hour),
        "{per_hour} requests in an hour"
    );
    // Meanwhile the store is kept fresh by a list now and then.
    assert!(informed.informer.metrics().replacements > 20);
    assert_eq!(informed.objects(), "n/a@3");
}

/// kube-runtime: 21,000 watches a second, and twice as many events to its consumer.
#[tokio::test(start_paused = true)]
async fn row_4_a_streaming_list_that_ends_at_once_is_not_reopened_in_a_hot_loop() {
    let server = Server::new(|request, _| {
        if request.is_streaming_list() {
            Answer::Ends(vec![added(&config_map("a", 3))])
        } else if request.is_watch() {
            Answer::Stays(vec![])
        } else {
            list(7, &[config_map("a", 3)], "")
        }
    });
    let informed = inform_from(&server, streaming());
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        server.seen_in_short(),
        ["stream", "stream", "list 0", "watch 7"]
    );
    assert_eq!(informed.objects(), "n/a@3");
}

/// kube-runtime: gaps of 0.8 to 1.6 s for ever, since announcing the list counts as a success.
#[tokio::test(start_paused = true)]
async fn row_5_delays_grow_while_the_first_list_fails() {
    let check = |options: ReflectorOptions| async {
        let server = Server::new(|_, _| status(503, "ServiceUnavailable"));
        let informed = inform_from(&server, options);
        sleep(HOUR).await;
        let gaps = server.gaps_ms();
        for (attempt, gap) in gaps.iter().enumerate() {
            let base = (800_u128 << attempt.min(10)).min(30_000);
            assert!((base..2 * base).contains(gap), "gap {attempt} of {gaps:?}");
        }
        // 3,600 s at 30 to 60 s each.
        assert!((60..=130).contains(&gaps.len()), "{}", gaps.len());
        assert_eq!(
            informed.failures.messages()[0],
            "the server answered 503: told by the test"
        );
        // A waiting caller receives the reason.
        let limit = Duration::from_secs(1);
        let error = informed.informer.wait_for_cache_sync(limit).await;
        let message = error.unwrap_err().to_string();
        assert!(message.contains("the server answered 503"), "{message}");
    };
    check(lists_only()).await;
    check(streaming()).await;
}

/// kube-runtime: 85 watches in an hour at the same expired version, one list.
#[tokio::test(start_paused = true)]
async fn row_7_a_410_as_the_status_of_a_watch_leads_to_a_relist() {
    let server = Server::new(|request, number| match number {
        0 => list(7, &[config_map("a", 3)], ""),
        1 => status(410, "Expired"),
        _ if request.is_watch() => Answer::Stays(vec![]),
        _ => list(50, &[config_map("b", 40)], ""),
    });
    let informed = inform_from(&server, lists_only());
    sleep(Duration::from_secs(2)).await;
    assert_eq!(
        server.seen_in_short(),
        ["list 0", "watch 7", "list 7", "watch 50"]
    );
    assert_eq!(informed.objects(), "n/b@40");
}

/// kube-runtime: skips the event and continues, so that the store keeps `a@1` until the next relist; the error is
/// empty.
#[tokio::test(start_paused = true)]
async fn row_8_an_undecodable_event_is_reported_by_key_and_the_stale_copy_is_not_kept() {
    let server = Server::new(|request, number| {
        match number {
        0 => list(1, &[config_map("a", 1)], ""),
        1 => Answer::Stays(vec![
            r#"{"type":"MODIFIED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u-a","resourceVersion":"6"},"data":7}}"#.into(),
            added(&config_map("b", 7)),
        ]),
        // What still cannot be decoded is found again by the next state, and does not stop the others.
        _ if request.is_watch() => Answer::Ends(vec![]),
        _ => status(500, "InternalError"),
    }
    });
    let informed = inform_from(&server, lists_only());
    sleep(Duration::from_secs(1)).await;
    assert_eq!(informed.objects(), "n/b@7");
    let undecodable = informed.informer.undecodable();
    assert_eq!(undecodable.len(), 1);
    assert_eq!(undecodable[0].to_string(), "cannot decode n/a at version 6");
    // The handler hears that its copy is out of date.
    assert_eq!(informed.notifications(), "(+n/a@1) !n/a@1 +n/b@7");
    // Not a failure of the watch: it stays open.
    assert!(informed.failures.messages().is_empty());
    assert_eq!(server.seen_in_short(), ["list 0", "watch 1"]);
}

/// kube-runtime: begins again at the first page, 1,000 lists in 600 s without ever being done.
#[tokio::test(start_paused = true)]
async fn row_9_an_expired_continue_token_is_followed_by_one_full_list() {
    let server = Server::new(|request, _| {
        if request.is_watch() {
            Answer::Stays(vec![])
        } else if request.parameter("continue").is_some() {
            status(410, "Expired")
        } else if request.parameter("limit").is_some() {
            list(7, &[config_map("a", 3)], "token")
        } else {
            list(9, &[config_map("a", 3), config_map("b", 5)], "")
        }
    });
    let informed = inform_from(&server, lists_only());
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        server.seen_in_short(),
        ["list 0", "page token", "list 0", "watch 9"]
    );
    assert_eq!(informed.objects(), "n/a@3 n/b@5");
}

/// kube-runtime: one backoff for all that a controller watches, so that a change waits up to 12 s for another kind's sake.
#[tokio::test(start_paused = true)]
async fn row_6_a_kind_that_cannot_be_watched_delays_no_other() {
    let server = FakeServer::builder().build();
    let refused = Filter::any().resource("secrets");
    let refusal = ServerError::new(http_code(503)).rule().matching(refused);
    let _fault = server.faults().install(refusal);
    let factory = SharedInformerFactory::new(server.client());
    let secrets = factory.informer_for::<Secret>();
    let config_maps = factory.informer_for::<ConfigMap>();
    let (report, mut delays) = mpsc::channel(1);
    let handler = HandlerFuncs::new().with_add(move |_: &Object<ConfigMap>, in_initial_list| {
        if !in_initial_list {
            report.try_send(Instant::now()).unwrap();
        }
    });
    let _registration = config_maps.add_handler(handler);
    factory.start();
    let limit = Duration::from_secs(1);
    config_maps.wait_for_cache_sync(limit).await.unwrap();
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    for number in 0..50 {
        // Long enough for the other one to back off for as long as it ever does.
        sleep(Duration::from_secs(7)).await;
        let created = Instant::now();
        create_config_map(&api, &format!("c{number}"), "").await;
        let delay = delays.recv().await.unwrap() - created;
        assert!(delay < Duration::from_millis(10), "{delay:?}");
    }
    assert!(!secrets.has_synced());
    let error = factory.wait_for_cache_sync(limit).await.unwrap_err();
    assert_eq!(error.unsynced.len(), 1, "{error}");
    assert_eq!(&*error.unsynced[0].informer, "secrets.v1.");
    // The one that cannot be watched was asked for no more often than its backoff allows.
    let count: u64 = server.stats().requests["secrets"].values().sum();
    assert!((8..40).contains(&count), "{count} requests");
    factory.shutdown().await;
}

/// kube-runtime: a subscriber receives the present objects, and no deletion.
#[tokio::test(start_paused = true)]
async fn row_10_an_update_brings_the_old_object_and_a_deletion_is_reported() {
    let (server, informer) = informer_of_config_maps();
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let (update_sender, mut updates) = mpsc::channel(10);
    let (deleted_sender, mut deletions) = mpsc::channel(10);
    let data = |object: &Object<ConfigMap>| object.get().data.clone().unwrap();
    let handler = HandlerFuncs::new()
        .with_update(move |old, new| update_sender.try_send((data(old), data(new))).unwrap())
        .with_delete(move |deleted: &Deleted<ConfigMap>| {
            deleted_sender.try_send(deleted.clone()).unwrap();
        });
    let _registration = informer.add_handler(handler);
    let mut object = create_config_map(&api, "a", "1").await;
    sleep(Duration::from_secs(1)).await;
    object.data = Some([("value".to_owned(), "2".to_owned())].into());
    api.replace("a", &PostParams::default(), &object)
        .await
        .unwrap();
    let (old, new) = updates.recv().await.unwrap();
    assert_eq!((&*old["value"], &*new["value"]), ("1", "2"));
    api.delete("a", &DeleteParams::default()).await.unwrap();
    let Deleted::Object(last) = deletions.recv().await.unwrap() else {
        panic!("a deletion that was seen is no tombstone");
    };
    assert_eq!(data(&last)["value"], "2");
    assert!(updates.try_recv().is_err() && deletions.try_recv().is_err());
    informer.shutdown().await;
}

/// kube-runtime: what was deleted while no watch was open is gone from the store, without an event.
#[tokio::test(start_paused = true)]
async fn row_10_a_relist_reports_what_was_deleted_meanwhile_and_nothing_that_stayed() {
    let (server, informer) = informer_of_config_maps();
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    for name in ["a", "b", "c"] {
        create_config_map(&api, name, "1").await;
    }
    sleep(Duration::from_secs(1)).await;
    let (handler, recording) = RecordingHandler::new();
    let registration = informer.add_handler(handler);
    let limit = Duration::from_secs(1);
    registration.wait_for_sync(limit).await.unwrap();
    recording.take();
    // The watch breaks, and cannot be resumed from where it was.
    let away = ServerError::new(http_code(503))
        .rule()
        .matching(Filter::any().verb("watch"));
    let away = server.faults().install(away);
    server.disconnect();
    api.delete("b", &DeleteParams::default()).await.unwrap();
    create_config_map(&api, "d", "1").await;
    server.expire();
    sleep(Duration::from_secs(1)).await;
    drop(away);
    sleep(Duration::from_mins(2)).await;
    let text = recording.take_text();
    let words: Vec<_> = text
        .split(' ')
        .map(|word| word.split('@').next().unwrap())
        .collect();
    assert_eq!(words, ["!default/b", "+default/d"], "{text}");
    assert!(informer.metrics().replacements > 1);
    informer.shutdown().await;
}

/// kube-runtime: a map by key, to be searched from end to end.
#[tokio::test(start_paused = true)]
async fn row_10_there_are_indices_and_a_bucket_for_each_namespace() {
    let (server, informer) = informer_of_config_maps();
    for (namespace, name, value) in [
        ("default", "a", "1"),
        ("default", "b", "2"),
        ("kube-public", "c", "1"),
    ] {
        let api: Api<ConfigMap> = Api::namespaced(server.client(), namespace);
        create_config_map(&api, name, value).await;
    }
    let by_value =
        IndexFn::of_value(|object: &ConfigMap| object.data.as_ref()?.get("value").cloned());
    informer.add_index("value", by_value).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let found = informer.lister().by_index("value", "1").unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|object| object.key().to_string())
        .collect();
    assert_eq!(found, ["default/a", "kube-public/c"]);
    let default = informer.indexer().namespace("default");
    assert_eq!(default.len(), 2);
    informer.shutdown().await;
}

/// kube-runtime: a subscriber has to be there before the first list.
#[tokio::test(start_paused = true)]
async fn row_10_a_late_handler_receives_what_is_there_and_then_what_comes() {
    let (server, informer) = informer_of_config_maps();
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    create_config_map(&api, "a", "1").await;
    sleep(Duration::from_hours(1)).await;
    let (handler, recording) = RecordingHandler::new();
    let _registration = informer.add_handler(handler);
    create_config_map(&api, "b", "1").await;
    sleep(Duration::from_secs(1)).await;
    let text = recording.take_text();
    let words: Vec<_> = text
        .split(' ')
        .map(|word| word.split('@').next().unwrap())
        .collect();
    let of_default: Vec<_> = words
        .into_iter()
        .filter(|word| word.contains("default/"))
        .collect();
    assert_eq!(of_default, ["(+default/a", "+default/b"], "{text}");
    informer.shutdown().await;
}

/// kube-runtime: neither is to be had.
#[tokio::test(start_paused = true)]
async fn row_10_the_version_of_the_cache_and_its_numbers_are_reported() {
    let (server, informer) = informer_of_config_maps();
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    sleep(Duration::from_secs(1)).await;
    let held_before = informer.metrics().objects;
    let created = create_config_map(&api, "a", "1").await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        Some(informer.last_sync_resource_version().to_string()),
        created.metadata.resource_version
    );
    let metrics = informer.metrics();
    assert_eq!(metrics.objects, held_before + 1);
    assert_eq!(
        (metrics.watches + metrics.streaming_lists, metrics.failures),
        (1, 0)
    );
    informer.shutdown().await;
}

fn informer_of_config_maps() -> (FakeServer, SharedInformer<ConfigMap>) {
    let server = FakeServer::builder().build();
    let informer = SharedInformer::<ConfigMap>::new(server.client(), Scope::All);
    informer.start();
    (server, informer)
}

async fn create_config_map(api: &Api<ConfigMap>, name: &str, value: &str) -> ConfigMap {
    let object = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            ..ObjectMeta::default()
        },
        data: Some([("value".to_owned(), value.to_owned())].into()),
        ..ConfigMap::default()
    };
    api.create(&PostParams::default(), &object).await.unwrap()
}

fn http_code(code: u16) -> ::http::StatusCode {
    ::http::StatusCode::from_u16(code).unwrap()
}

/// kube-runtime, with a client made from a configuration: the first error after 278 to 320 s and 16 requests, since the
/// client retries by itself without a report.
///
/// Over a socket, hence on the real clock; nothing is waited for but the answers.
#[tokio::test]
async fn row_11_an_outage_is_received_of_with_the_first_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let tasks = TaskSet::new();
    let (requests_tx, mut requests) = tokio::sync::mpsc::channel(100);
    tasks.spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let length = connection.read(&mut request).await.unwrap_or_default();
            requests_tx.send(length).await.ok();
            let answer = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            connection.write_all(answer.as_bytes()).await.ok();
        }
    });
    let config = kube::Config::new(format!("http://{address}").parse().unwrap());
    let client = http::client(config).unwrap();
    let informed = inform(
        HttpListWatch::<ConfigMap>::new(client, Scope::All),
        streaming(),
    );
    requests.recv().await.unwrap();
    // The limit only keeps a failing test from hanging.
    let failure = informed.failures.wait();
    timeout(Duration::from_mins(1), failure).await.unwrap();
    assert_eq!(informed.failures.messages(), ["the server answered 503: "]);
    assert!(
        requests.try_recv().is_err(),
        "more than one request was made"
    );
    informed.informer.shutdown().await;
    tasks.stop_token().cancel();
}
