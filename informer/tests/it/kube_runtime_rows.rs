//! Faults that kube-runtime 5.0 does not get over, and that an informer does.
//!
//! The faults are numbered; each test says what kube-runtime does about its own.
//!
//! | row | fault |
//! |---|---|
//! | 3 | a response that never comes |
//! | 4 | a watch that ends at once |
//! | 5 | a first list that fails for long |
//! | 7 | 410 as the status of a watch |
//! | 8 | an event that cannot be decoded |
//! | 9 | a continue token that has expired |
//! | 11 | a client that tries again by itself |

use std::time::Duration;

use informer::{
    http::{self, HttpListWatch, Scope},
    reflector::ReflectorOptions,
    task::TaskSet,
};
use k8s_openapi::api::core::v1::ConfigMap;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::{sleep, timeout},
};

use crate::support::{
    Answer, Informed, Server, added, config_map, empty_list, inform, list, status,
};

const HOUR: Duration = Duration::from_hours(1);

fn lists_only() -> ReflectorOptions {
    streaming().with_streaming_lists(false)
}

fn streaming() -> ReflectorOptions {
    ReflectorOptions::default().with_seed(0)
}

fn inform_from(server: &Server, options: ReflectorOptions) -> Informed<ConfigMap> {
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
    assert_eq!(informed.failures.told(), ["no whole page within 120s"]);
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
    assert_eq!(informed.failures.told(), ["no response within 30s"]);
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

/// kube-runtime: 21,000 watches a second, and twice as many events to whoever listens.
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
            informed.failures.told()[0],
            "the server answered 503: told by the test"
        );
        // Whoever waits is told why.
        let limit = Duration::from_secs(1);
        let error = informed.informer.wait_for_cache_sync(limit).await;
        let told = error.unwrap_err().to_string();
        assert!(told.contains("the server answered 503"), "{told}");
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

/// kube-runtime: skips the event and goes on, so that the store keeps `a@1` until the next relist; the error is empty.
#[tokio::test(start_paused = true)]
async fn row_8_an_undecodable_event_is_told_by_key_and_the_stale_copy_is_not_kept() {
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
    assert_eq!(informed.heard(), "(+n/a@1) !n/a@1 +n/b@7");
    // Not a failure of the watch: it goes on.
    assert!(informed.failures.told().is_empty());
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

/// kube-runtime, with a client made from a configuration: the first error after 278 to 320 s and 16 requests, since the
/// client tries again by itself and tells nobody.
///
/// Over a socket, hence on the real clock; nothing is waited for but the answers.
#[tokio::test]
async fn row_11_an_outage_is_heard_of_with_the_first_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let tasks = TaskSet::new();
    let (heard, mut requests) = tokio::sync::mpsc::channel(100);
    tasks.spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let length = connection.read(&mut request).await.unwrap_or_default();
            heard.send(length).await.ok();
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
    assert_eq!(informed.failures.told(), ["the server answered 503: "]);
    assert!(
        requests.try_recv().is_err(),
        "more than one request was made"
    );
    informed.informer.shutdown().await;
    tasks.stop_token().cancel();
}
