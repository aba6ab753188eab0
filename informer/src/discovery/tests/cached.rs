//! The cache, on the paused clock: what it answers at once, what it asks for again, and what it says when it cannot.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::{Instant, sleep, timeout};

use crate::discovery::{
    Availability, CacheOptions, CachedDiscovery, DiscoveryClient, DiscoveryError, GroupVersion,
    ServerGroup,
};

use super::{
    group,
    server::{Reply, ScriptedServer},
};

fn core() -> ServerGroup {
    group("", &["v1"], &[("pods", "Pod")])
}

fn foos() -> ServerGroup {
    group("a.io", &["v1"], &[("foos", "Foo")])
}

fn cache(server: &ScriptedServer) -> CachedDiscovery {
    CachedDiscovery::new(DiscoveryClient::new(server.client()))
}

fn a_v1() -> GroupVersion {
    GroupVersion::new("a.io", "v1")
}

async fn is_found(cache: &CachedDiscovery) -> bool {
    matches!(cache.group_version(&a_v1()).await, Availability::Found(_))
}

const NOTHING: [&str; 0] = [];

#[tokio::test(start_paused = true)]
async fn a_cached_answer_is_not_requested_again() {
    let server = ScriptedServer::of([core(), foos()]);
    let cache = cache(&server);
    assert_eq!(
        server.take_requests(),
        NOTHING,
        "nothing before the first use"
    );
    assert!(is_found(&cache).await);
    assert_eq!(server.take_requests().len(), 4);
    assert!(is_found(&cache.clone()).await);
    cache.server_resources().await.unwrap();
    assert_eq!(server.take_requests(), NOTHING);
}

#[tokio::test(start_paused = true)]
async fn a_miss_reads_its_group_and_is_then_believed_for_a_while() {
    let server = ScriptedServer::of([core()]);
    let cache = cache(&server);
    // The first fill is itself the proof that the group is not there.
    assert!(cache.group_version(&a_v1()).await.is_not_served());
    assert_eq!(server.take_requests().len(), 3);

    sleep(Duration::from_secs(10)).await;
    assert!(cache.group_version(&a_v1()).await.is_not_served());
    assert_eq!(server.take_requests(), ["/apis/a.io"], "only the group");
    assert!(cache.group_version(&a_v1()).await.is_not_served());
    assert_eq!(server.take_requests(), NOTHING);

    server.serve_group(&foos());
    assert!(!is_found(&cache).await, "still believed");
    sleep(Duration::from_secs(10)).await;
    assert!(is_found(&cache).await);
    assert_eq!(server.take_requests(), ["/apis/a.io", "/apis/a.io/v1"]);
}

#[tokio::test(start_paused = true)]
async fn a_group_that_is_gone_is_forgotten_when_it_is_declared_out_of_date() {
    let server = ScriptedServer::of([core(), foos()]);
    let cache = cache(&server);
    assert!(is_found(&cache).await);
    server.serve([core()]);
    assert!(is_found(&cache).await);
    cache.invalidate_group("a.io");
    assert!(cache.group_version(&a_v1()).await.is_not_served());
}

#[tokio::test(start_paused = true)]
async fn a_group_that_cannot_be_read_again_is_unknown_and_the_others_stay() {
    let server = ScriptedServer::of([core(), foos()]);
    let cache = cache(&server);
    assert!(is_found(&cache).await);
    server.set("/apis/a.io", Reply::Status(503, "down".to_owned()));
    cache.invalidate_group("a.io");
    let answer = cache.group_version(&a_v1()).await;
    let Availability::Unknown(failures) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(
        failures[0].to_string(),
        "a.io/v1: the server answered 503: down"
    );
    let pods = GroupVersion::new("", "v1");
    assert!(matches!(
        cache.group_version(&pods).await,
        Availability::Found(_)
    ));

    server.serve([core(), foos()]);
    sleep(Duration::from_secs(2)).await;
    assert!(
        is_found(&cache).await,
        "known again after the failure's time"
    );
}

#[tokio::test(start_paused = true)]
async fn a_version_that_failed_is_unknown_and_asked_for_again_soon() {
    let server = ScriptedServer::of([core(), foos()]);
    server.set("/apis/a.io/v1", Reply::Reset);
    let cache = cache(&server);
    assert!(cache.group_version(&a_v1()).await.is_unknown());
    server.take_requests();
    assert!(cache.group_version(&a_v1()).await.is_unknown());
    assert_eq!(
        server.take_requests(),
        NOTHING,
        "the failure is believed for 2 s"
    );
    server.serve([core(), foos()]);
    sleep(Duration::from_secs(2)).await;
    assert!(is_found(&cache).await);
}

#[tokio::test(start_paused = true)]
async fn nothing_known_and_nothing_to_be_had_is_an_error_that_is_remembered() {
    let server = ScriptedServer::of([core()]);
    server.set("/apis", Reply::Status(500, "boom".to_owned()));
    let cache = cache(&server);
    for _ in 0..3 {
        let error = cache.server_resources().await.unwrap_err();
        assert_eq!(error.status().unwrap().code, 500);
    }
    let requests = server.take_requests();
    assert_eq!(requests.iter().filter(|it| *it == "/apis").count(), 1);
    assert!(cache.group_version(&a_v1()).await.is_unknown());
    server.serve([core()]);
    sleep(Duration::from_secs(2)).await;
    assert!(cache.server_resources().await.unwrap().is_complete());
}

#[tokio::test(start_paused = true)]
async fn an_expired_answer_is_read_again_and_used_if_that_fails() {
    let server = ScriptedServer::of([core(), foos()]);
    let cache = cache(&server);
    assert!(is_found(&cache).await);
    server.take_requests();
    sleep(Duration::from_mins(10)).await;
    server.set("/apis", Reply::Reset);
    assert!(is_found(&cache).await);
    assert!(!server.take_requests().is_empty());
    sleep(Duration::from_secs(2)).await;
    server.serve([core()]);
    assert!(!is_found(&cache).await);
}

#[tokio::test(start_paused = true)]
async fn invalidating_forgets_everything() {
    let server = ScriptedServer::of([core(), foos()]);
    let cache = cache(&server);
    assert!(is_found(&cache).await);
    cache.invalidate();
    server.set("/apis", Reply::Reset);
    let error = cache.server_resources().await.unwrap_err();
    assert!(matches!(error, DiscoveryError::Transport(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_began_before_an_invalidation_does_not_count() {
    let server = ScriptedServer::of([core()]);
    let cache = cache(&server);
    let list = serde_json::json!({"kind": "APIGroupList", "groups": []}).to_string();
    let slow = Reply::After(Duration::from_secs(5), Box::new(Reply::Json(list)));
    server.set("/apis", slow);
    let change = async {
        sleep(Duration::from_secs(1)).await;
        server.serve([core(), foos()]);
        cache.invalidate();
    };
    let (known, ()) = tokio::join!(cache.server_resources(), change);
    assert!(known.unwrap().group("a.io").is_some());
}

#[tokio::test(start_paused = true)]
async fn many_who_ask_at_once_share_one_refresh_and_its_failure() {
    let server = ScriptedServer::of([core()]);
    server.set("/apis", Reply::Hang);
    let cache = cache(&server);
    let begin = Instant::now();
    let answers = join_all((0..20).map(|_| cache.server_resources())).await;
    assert!(answers.iter().all(Result::is_err));
    assert_eq!(
        begin.elapsed(),
        Duration::from_secs(32),
        "not one after the other"
    );
    let requests = server.take_requests();
    assert_eq!(requests.iter().filter(|it| *it == "/apis").count(), 1);

    server.serve([core(), foos()]);
    sleep(Duration::from_secs(2)).await;
    let found = join_all((0..20).map(|_| is_found(&cache))).await;
    assert!(found.into_iter().all(|it| it));
    assert_eq!(server.take_requests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_is_dropped_is_begun_again_by_the_next() {
    let server = ScriptedServer::of([core(), foos()]);
    server.set("/apis", Reply::Hang);
    let cache = cache(&server);
    let dropped = timeout(Duration::from_secs(1), cache.server_resources()).await;
    assert!(dropped.is_err());
    server.serve([core(), foos()]);
    assert!(is_found(&cache).await);
}

#[tokio::test(start_paused = true)]
async fn a_cached_answer_does_not_wait_for_a_refresh() {
    let server = ScriptedServer::of([core(), foos()]);
    let cache = cache(&server);
    assert!(is_found(&cache).await);
    sleep(Duration::from_secs(10)).await;
    server.set("/apis/slow.io", Reply::Hang);
    let slow = GroupVersion::new("slow.io", "v1");
    let quick = async {
        sleep(Duration::from_secs(1)).await;
        let begin = Instant::now();
        assert!(is_found(&cache).await);
        begin.elapsed()
    };
    let (missed, waited) = tokio::join!(cache.group_version(&slow), quick);
    assert!(missed.is_unknown(), "{missed:?}");
    assert_eq!(waited, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn too_many_misses_are_unknown_instead_of_a_storm() {
    let server = ScriptedServer::of([core()]);
    let options = CacheOptions::default().with_refresh_rate(3, Duration::from_secs(1));
    let cache = CachedDiscovery::with_options(DiscoveryClient::new(server.client()), options);
    cache.server_resources().await.unwrap();
    sleep(Duration::from_secs(10)).await;
    server.take_requests();
    let mut unknown = 0;
    for at in 0..20 {
        let version = GroupVersion::new(format!("g{at}.io"), "v1");
        match cache.group_version(&version).await {
            Availability::NotServed => {}
            Availability::Unknown(failures) => {
                unknown += 1;
                assert_eq!(
                    failures[0].error.retry_after(),
                    Some(Duration::from_secs(1))
                );
            }
            Availability::Found(_) => panic!("found"),
        }
    }
    assert_eq!(unknown, 17);
    assert_eq!(server.take_requests().len(), 3);
}
