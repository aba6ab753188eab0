//! Of several candidates one leads, under faults of the leader and of the server.

use std::time::Duration;

use fakeserver::{
    FakeServer,
    faults::{Fault, Filter, LostAnswer, ServerError, SlowWebhook},
};
use http::StatusCode;
use informer::leader_election::{
    LeaderElectionError, LeaderElectionOptions, LeaderElector, Leadership, LeaseLock, WallClock,
};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::{Api, api::PostParams};
use proptest::prelude::*;
use tokio::time::{Instant, advance, sleep, timeout};

use crate::support::{LeadershipSlot, RIVALS, RivalStep, Rivals, cases, trouble};

const S: fn(u64) -> Duration = Duration::from_secs;
/// 2026-01-01T00:00:00Z
const TODAY: u32 = 1_767_225_600;

fn options(clock_seconds: u32) -> LeaderElectionOptions {
    let mut options = LeaderElectionOptions::default();
    options.clock = WallClock::simulated(clock_seconds);
    options
}

/// A candidate whose requests the server knows by its name.
fn candidate_with(
    server: &FakeServer,
    identity: &str,
    options: LeaderElectionOptions,
) -> LeaderElector {
    let lock = LeaseLock::new(server.client_named(identity), "default", "it");
    LeaderElector::with_options(lock, identity, options).unwrap()
}

fn candidate(server: &FakeServer, identity: &str) -> LeaderElector {
    candidate_with(server, identity, options(TODAY))
}

fn leases(server: &FakeServer) -> Api<Lease> {
    Api::namespaced(server.client(), "default")
}

async fn spec(server: &FakeServer) -> LeaseSpec {
    leases(server).get("it").await.unwrap().spec.unwrap()
}

/// Waits until `elector` leads, and returns how long that took.
async fn lead(elector: &LeaderElector) -> (Leadership, Duration) {
    let began = Instant::now();
    let leadership = timeout(S(120), elector.acquire()).await.unwrap();
    (leadership, began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn the_first_leads_at_once_and_for_as_long_as_it_renews() {
    let server = FakeServer::builder().build();
    let (leadership, took) = lead(&candidate(&server, "a")).await;
    assert_eq!(took, Duration::ZERO);
    let first = spec(&server).await;
    assert_eq!(first.holder_identity.as_deref(), Some("a"));
    assert_eq!(first.lease_duration_seconds, Some(15));
    assert_eq!(first.lease_transitions, Some(0));
    assert_eq!(first.acquire_time, first.renew_time);
    let b = candidate(&server, "b");
    assert!(timeout(S(600), b.acquire()).await.is_err());
    assert!(leadership.is_held());
    let later = spec(&server).await;
    assert_eq!(later.acquire_time, first.acquire_time);
    assert!(later.renew_time > first.renew_time);
    // Renewed every two seconds, not more often.
    let updates = server.stats().requests["leases.coordination.k8s.io"]["update"];
    assert!((299..=301).contains(&updates), "{updates}");
}

#[tokio::test(start_paused = true)]
async fn one_that_leaves_hands_over_at_once() {
    let server = FakeServer::builder().build();
    let (first, _) = lead(&candidate(&server, "a")).await;
    let token = first.token();
    let b = candidate(&server, "b");
    let ((second, took), ()) = tokio::join!(lead(&b), async {
        sleep(S(60)).await;
        first.release().await;
        assert!(token.is_cancelled());
        let free = spec(&server).await;
        assert_eq!(free.holder_identity.unwrap_or_default(), "");
    });
    // The next attempt is 2 to 4.4 s after the one before.
    assert!((S(60)..S(65)).contains(&took), "{took:?}");
    assert_eq!(second.transitions(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_that_dies_is_followed_once_its_lease_has_run_out_and_not_before() {
    let server = FakeServer::builder().build();
    let mut dies = options(TODAY);
    dies.release_on_cancel = false;
    let (first, _) = lead(&candidate_with(&server, "a", dies)).await;
    sleep(S(1)).await;
    drop(first);
    let (second, took) = lead(&candidate(&server, "b")).await;
    assert!((S(15)..S(20)).contains(&took), "{took:?}");
    assert_eq!(second.transitions(), 1);
    assert_eq!(spec(&server).await.holder_identity.as_deref(), Some("b"));
}

#[tokio::test(start_paused = true)]
async fn one_that_is_dropped_gives_the_lease_back_too() {
    let server = FakeServer::builder().build();
    let (first, _) = lead(&candidate(&server, "a")).await;
    drop(first);
    let (_second, took) = lead(&candidate(&server, "b")).await;
    assert!(took < S(5), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn one_that_leaves_after_a_failed_renewal_gives_the_lease_back_all_the_same() {
    let failures = [
        ServerError::new(StatusCode::INTERNAL_SERVER_ERROR).rule(),
        // The write takes effect, and the candidate does not hear of it.
        LostAnswer::default().rule(),
        Fault::Hang.rule(),
    ];
    for failure in failures {
        let server = FakeServer::builder().build();
        let (leadership, _) = lead(&candidate(&server, "a")).await;
        let guard = server.faults().install(failure);
        // The first renewal comes after two seconds.
        sleep(S(3)).await;
        drop(guard);
        leadership.release().await;
        assert_eq!(spec(&server).await.holder_identity.as_deref(), Some(""));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_the_deadline_makes_no_leader() {
    let server = FakeServer::builder().build();
    let _guard = server.faults().install(SlowWebhook::default().rule());
    let elector = candidate(&server, "a");
    let acquiring = elector.acquire();
    tokio::pin!(acquiring);
    let early = timeout(S(1), &mut acquiring).await;
    assert!(early.is_err(), "the write takes three seconds");
    // The machine sleeps meanwhile.
    advance(S(60)).await;
    let began = Instant::now();
    let leadership = timeout(S(60), acquiring).await.unwrap();
    // It tries again first: after a retry period, with a write that takes its time.
    assert!(began.elapsed() >= S(2 + 3), "{:?}", began.elapsed());
    assert!(leadership.is_held());
}

#[tokio::test(start_paused = true)]
async fn one_that_leaves_does_not_wait_for_a_request_that_hangs() {
    let server = FakeServer::builder().build();
    let (leadership, _) = lead(&candidate(&server, "a")).await;
    let _guard = server.faults().install(Fault::Hang.rule());
    sleep(S(3)).await;
    let (began, token) = (Instant::now(), leadership.token());
    let delay = async {
        token.cancelled().await;
        began.elapsed()
    };
    let (delay, ()) = tokio::join!(delay, leadership.release());
    assert_eq!(delay, Duration::ZERO);
    // The time limit of giving back: half of the renew deadline.
    assert_eq!(began.elapsed(), S(5));
}

#[tokio::test(start_paused = true)]
async fn one_that_has_to_give_up_sends_nothing_any_more() {
    let server = FakeServer::builder().build();
    let mut options = options(TODAY);
    options.retry_period = S(3);
    let (leadership, _) = lead(&candidate_with(&server, "a", options)).await;
    let code = StatusCode::INTERNAL_SERVER_ERROR;
    let _guard = server.faults().install(ServerError::new(code).rule());
    leadership.lost().await;
    // After 3, 6 and 9 seconds, and not after 10.
    assert_eq!(server.faults().fired()["server_error"], 3);
}

#[tokio::test(start_paused = true)]
async fn one_that_cannot_reach_the_server_gives_up_before_another_leads() {
    let hangs = |server: &FakeServer| {
        let rule = Fault::Hang.rule().matching(Filter::any().client("a"));
        server.faults().install(rule)
    };
    let fails = |server: &FakeServer| {
        let code = StatusCode::INTERNAL_SERVER_ERROR;
        let rule = ServerError::new(code)
            .rule()
            .matching(Filter::any().client("a"));
        server.faults().install(rule)
    };
    for is_hanging in [true, false] {
        let server = FakeServer::builder().build();
        let (first, _) = lead(&candidate(&server, "a")).await;
        sleep(S(61)).await;
        let _guard = if is_hanging {
            hangs(&server)
        } else {
            fails(&server)
        };
        let b = candidate(&server, "b");
        let began = Instant::now();
        let (lost, (second, took)) = tokio::join!(
            async {
                first.lost().await;
                began.elapsed()
            },
            lead(&b)
        );
        // The last renewal was up to two seconds before.
        assert!((S(8)..=S(10)).contains(&lost), "{lost:?}");
        assert!(took > lost + S(3), "{took:?}");
        assert!(!first.is_held() && second.is_held());
    }
}

#[tokio::test(start_paused = true)]
async fn a_short_outage_costs_no_leadership() {
    let server = FakeServer::builder().build();
    let (leadership, _) = lead(&candidate(&server, "a")).await;
    for _ in 0..10 {
        let code = StatusCode::INTERNAL_SERVER_ERROR;
        let guard = server.faults().install(ServerError::new(code).rule());
        sleep(S(6)).await;
        drop(guard);
        sleep(S(6)).await;
    }
    assert!(leadership.is_held());
    assert_eq!(spec(&server).await.lease_transitions, Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_stolen_lease_is_noticed_at_the_next_renewal_and_not_taken_back() {
    let server = FakeServer::builder().build();
    let (leadership, _) = lead(&candidate(&server, "a")).await;
    sleep(S(61)).await;
    let api = leases(&server);
    let mut lease = api.get("it").await.unwrap();
    let labels = [("kept".to_owned(), "yes".to_owned())];
    lease.metadata.labels = Some(labels.into());
    lease.spec.as_mut().unwrap().holder_identity = Some("thief".to_owned());
    api.replace("it", &PostParams::default(), &lease)
        .await
        .unwrap();
    let began = Instant::now();
    leadership.lost().await;
    assert!(began.elapsed() <= S(2), "{:?}", began.elapsed());
    leadership.release().await;
    assert_eq!(
        spec(&server).await.holder_identity.as_deref(),
        Some("thief")
    );
    // What an election does not know of a lease stays.
    let (_second, _) = lead(&candidate(&server, "b")).await;
    let lease = api.get("it").await.unwrap();
    assert_eq!(lease.metadata.labels.unwrap()["kept"], "yes");
}

#[tokio::test(start_paused = true)]
async fn clocks_need_not_agree() {
    // The second candidate's clock is half a century behind, or ahead.
    for clock in [0, u32::MAX] {
        let server = FakeServer::builder().build();
        let (first, _) = lead(&candidate(&server, "a")).await;
        let b = candidate_with(&server, "b", options(clock));
        assert!(timeout(S(600), b.acquire()).await.is_err());
        assert!(first.is_held());
        first.release().await;
        let (second, took) = lead(&b).await;
        assert!(took < S(5), "{took:?}");
        assert!(second.is_held());
    }
}

#[tokio::test(start_paused = true)]
async fn a_renewal_whose_answer_was_lost_is_no_loss() {
    let server = FakeServer::builder().build();
    let (leadership, _) = lead(&candidate(&server, "a")).await;
    for _ in 0..20 {
        sleep(S(3)).await;
        // Another client touches the lease, so that its version differs from the leader's.
        let api = leases(&server);
        let mut lease = api.get("it").await.unwrap();
        let touched = [("at".to_owned(), server.revision().to_string())];
        lease.metadata.annotations = Some(touched.into());
        api.replace("it", &PostParams::default(), &lease)
            .await
            .unwrap();
    }
    assert!(leadership.is_held());
}

#[tokio::test(start_paused = true)]
async fn a_candidate_has_a_name() {
    let server = FakeServer::builder().build();
    let lock = LeaseLock::new(server.client(), "default", "it");
    let error = LeaderElector::new(lock, "").unwrap_err();
    assert!(matches!(error, LeaderElectionError::NoIdentity));
    assert_eq!(candidate(&server, "a").identity(), "a");
}

/// Leads again and again, and shows what it holds.
async fn compete(elector: LeaderElector, slot: LeadershipSlot) {
    loop {
        let leadership = elector.acquire().await;
        let token = leadership.token();
        *slot.lock().unwrap() = Some(leadership);
        token.cancelled().await;
    }
}

async fn run(troubles: Vec<RivalStep>) {
    let server = FakeServer::builder().build();
    let rivals = Rivals::start(server.clone(), |place, slot| {
        compete(candidate(&server, RIVALS[place]), slot)
    });
    rivals.suffer(troubles).await;
    sleep(S(30)).await;
    assert_eq!(rivals.leaders().len(), 1, "in peace one leads");
    rivals.stop().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn never_do_two_lead_at_once_and_in_peace_one_does(
        troubles in prop::collection::vec(trouble(), 1..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(troubles));
    }
}
