//! Coordinated leader election: the server decides which candidate leads.

use std::time::Duration;

use fakeserver::{
    FakeServer,
    faults::{Fault, Filter},
};
use informer::{
    controller::{Controller, Runnable},
    leader_election::{
        LeaderElectionError, LeaderElectionOptions, LeaderElector, Leadership, LeaseCandidate,
        LeaseLock, WallClock,
    },
    manager::{Manager, ManagerError},
    workqueue::Action,
};
use k8s_openapi::api::{
    coordination::{v1::LeaseSpec, v1beta1},
    core::v1::ConfigMap,
};
use kube::{Api, ResourceExt, api::ListParams};
use proptest::prelude::*;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::support::{LeadershipSlot, RIVALS, RivalFault, RivalStep, Rivals, cases, trouble};

const S: fn(u64) -> Duration = Duration::from_secs;
/// The time at which servers begin, in seconds since 1970.
const BEGINNING: i64 = 1_767_225_600;

fn server() -> FakeServer {
    FakeServer::builder()
        .with_coordinated_leader_election(true)
        .build()
}

/// A candidate whose clock is ahead of the server's by this number of seconds.
fn candidate(server: &FakeServer, name: &str, emulates: &str, ahead: i64) -> LeaseCandidate {
    let lock = LeaseLock::new(server.client_named(name), "default", "it");
    let candidate = LeaseCandidate::new(lock, name, "1.9.0").unwrap();
    candidate
        .with_emulation_version(emulates)
        .with_clock(clock(ahead))
}

fn clock(ahead: i64) -> WallClock {
    WallClock::simulated(u32::try_from(BEGINNING + ahead).unwrap())
}

fn elector(server: &FakeServer, name: &str, emulates: &str, ahead: i64) -> LeaderElector {
    let mut options = LeaderElectionOptions::default();
    options.clock = clock(ahead);
    LeaderElector::coordinated(candidate(server, name, emulates, ahead), options).unwrap()
}

async fn lead(elector: &LeaderElector) -> (Leadership, Duration) {
    let begun = Instant::now();
    let leadership = timeout(S(120), elector.acquire()).await.unwrap();
    (leadership, begun.elapsed())
}

fn spec(server: &FakeServer) -> LeaseSpec {
    let lease = server.get::<k8s_openapi::api::coordination::v1::Lease>(Some("default"), "it");
    lease.unwrap().unwrap().spec.unwrap()
}

async fn candidates(server: &FakeServer) -> Vec<String> {
    let api: Api<v1beta1::LeaseCandidate> = Api::namespaced(server.client(), "default");
    let all = api.list(&ListParams::default()).await.unwrap();
    all.iter().map(ResourceExt::name_any).collect()
}

#[tokio::test(start_paused = true)]
async fn a_candidate_leads_once_the_server_has_granted_it_the_lease() {
    let server = server();
    let (leadership, waited) = lead(&elector(&server, "a", "1.9.0", 0)).await;
    assert!(waited < S(10), "{waited:?}");
    assert_eq!(candidates(&server).await, ["a"]);
    for _ in 0..60 {
        sleep(S(1)).await;
        assert!(leadership.is_held());
    }
    let held = spec(&server);
    assert_eq!(held.holder_identity.as_deref(), Some("a"));
    assert_eq!(held.strategy.as_deref(), Some("OldestEmulationVersion"));
    assert_eq!(held.lease_duration_seconds, Some(15));
    leadership.release().await;
    assert_eq!(spec(&server).holder_identity.as_deref(), Some(""));
    assert_eq!(candidates(&server).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_strategy_of_the_users_own_is_left_to_a_controller() {
    let server = server();
    let candidate = candidate(&server, "a", "1.9.0", 0).with_strategy("example.com/newest");
    let mut options = LeaderElectionOptions::default();
    options.clock = clock(0);
    let elector = LeaderElector::coordinated(candidate, options).unwrap();
    // The server grants the lease to no candidate.
    assert!(timeout(S(120), elector.acquire()).await.is_err());
    let api: Api<v1beta1::LeaseCandidate> = Api::namespaced(server.client(), "default");
    let spec = api.get("a").await.unwrap().spec;
    assert_eq!(spec.strategy, "example.com/newest");
}

#[tokio::test(start_paused = true)]
async fn a_better_candidate_gets_the_lead_when_the_work_of_the_other_has_ended() {
    let server = server();
    let (first, _) = lead(&elector(&server, "new", "1.9.0", 0)).await;
    let better = elector(&server, "old", "1.8.0", 0);
    let mut second = Box::pin(lead(&better));
    tokio::select! {
        biased;
        () = first.lost() => {}
        _ = &mut second => panic!("two lead"),
    }
    // The work of the first one ends a second later.
    let still = timeout(S(1), &mut second).await;
    assert!(still.is_err(), "two lead");
    assert!(!first.is_held());
    let transitions = first.transitions();
    first.release().await;
    let (second, waited) = second.await;
    assert!(waited < S(15), "{waited:?}");
    assert!(second.is_held());
    assert!(second.transitions() > transitions);
    assert_eq!(spec(&server).holder_identity.as_deref(), Some("old"));
    assert_eq!(spec(&server).preferred_holder, None);
    // A worse one changes nothing.
    let worse = elector(&server, "new", "1.9.0", 0);
    assert!(timeout(S(60), worse.acquire()).await.is_err());
    assert!(second.is_held());
}

#[tokio::test(start_paused = true)]
async fn one_that_dies_is_passed_over() {
    let server = server();
    let best = elector(&server, "best", "1.7.0", 0);
    let (first, _) = lead(&best).await;
    let next = elector(&server, "next", "1.8.0", 0);
    let mut second = Box::pin(lead(&next));
    assert!(timeout(S(10), &mut second).await.is_err());
    let filter = Filter::any().client("best");
    let _guard = server.faults().install(Fault::Hang.rule().matching(filter));
    first.lost().await;
    let (second, waited) = second.await;
    assert!(waited < S(45), "{waited:?}");
    assert!(second.is_held());
}

#[tokio::test(start_paused = true)]
async fn one_that_is_the_holder_by_its_name_waits_for_a_grant() {
    let server = server();
    // It crashes as the leader, and comes again under its name.
    let first = elector(&server, "a", "1.9.0", 0);
    let (leadership, _) = lead(&first).await;
    let held = spec(&server);
    let filter = Filter::any().client("a");
    let guard = server.faults().install(Fault::Hang.rule().matching(filter));
    drop(leadership);
    sleep(S(60)).await;
    drop(guard);
    assert_eq!(spec(&server).renew_time, held.renew_time);
    let (leadership, waited) = lead(&first).await;
    assert!(waited < S(15), "{waited:?}");
    assert!(leadership.is_held());
}

#[tokio::test(start_paused = true)]
async fn the_clocks_of_candidates_need_not_agree_with_the_servers() {
    for (ahead_first, ahead_second) in [(43_200, -43_200), (-43_200, 43_200), (-20, 20)] {
        let server = server();
        let (first, waited) = lead(&elector(&server, "new", "1.9.0", ahead_first)).await;
        assert!(waited < S(10), "{waited:?}");
        sleep(S(100)).await;
        assert!(first.is_held());
        let better = elector(&server, "old", "1.8.0", ahead_second);
        let second = lead(&better);
        let handed_over = async {
            first.lost().await;
            first.release().await;
        };
        let ((second, waited), ()) = tokio::join!(second, handed_over);
        assert!(waited < S(20), "{waited:?}");
        sleep(S(100)).await;
        assert!(second.is_held());
    }
}

#[tokio::test(start_paused = true)]
async fn a_candidate_runs_by_itself() {
    let server = server();
    let stop = CancellationToken::new();
    let candidate = candidate(&server, "alone", "1.9.0", 0);
    let run = candidate.run(stop.clone());
    let granted = async {
        sleep(S(3)).await;
        let granted = spec(&server);
        assert_eq!(granted.holder_identity.as_deref(), Some("alone"));
        assert_eq!(granted.acquire_time, None);
        sleep(Duration::from_hours(1)).await;
        // It is renewed, whether somebody asks or not.
        assert_eq!(candidates(&server).await, ["alone"]);
        stop.cancel();
    };
    tokio::join!(run, granted);
}

#[tokio::test(start_paused = true)]
async fn a_candidate_has_a_name_and_a_version() {
    let server = server();
    let lock = || LeaseLock::new(server.client(), "default", "it");
    let error = LeaseCandidate::new(lock(), "", "1.0.0").unwrap_err();
    assert!(matches!(error, LeaderElectionError::NoIdentity));
    let error = LeaseCandidate::new(lock(), "a", "").unwrap_err();
    assert!(matches!(error, LeaderElectionError::NoVersion));
}

fn idle() -> Runnable {
    Controller::<ConfigMap>::new("idle")
        .reconcile(async |_, _| Ok::<_, kube::Error>(Action::AwaitChange))
}

#[tokio::test(start_paused = true)]
async fn a_manager_hands_over_to_a_better_one() {
    let server = server();
    let manager = |name, emulates| {
        Manager::new(server.client_named(name))
            .with_leader_election(elector(&server, name, emulates, 0))
            .with_controller(idle())
    };
    let first = manager("new", "1.9.0");
    let health = first.health();
    let second = manager("old", "1.8.0");
    let stop = CancellationToken::new();
    let others = async {
        sleep(S(10)).await;
        assert!(health.is_ready());
        let second_run = timeout(S(60), second.run(stop.clone()));
        second_run.await
    };
    let (first, second) = tokio::join!(first.run(CancellationToken::new()), others);
    assert!(matches!(first, Err(ManagerError::LeadershipLost)));
    assert!(second.is_err(), "it runs on");
    assert_eq!(spec(&server).holder_identity.as_deref(), Some("old"));
}

/// Leads again and again, and shows what it holds.
async fn compete(elector: LeaderElector, slot: LeadershipSlot) {
    loop {
        let leadership = elector.acquire().await;
        let token = leadership.token();
        *slot.lock().unwrap() = Some(leadership);
        token.cancelled().await;
        let lost = slot.lock().unwrap().take();
        if let Some(lost) = lost {
            lost.release().await;
        }
    }
}

async fn run(skews: [i64; 3], troubles: Vec<RivalStep>) {
    let server = server();
    let versions = ["1.7.0", "1.8.0", "1.9.0"];
    let rivals = Rivals::start(server.clone(), |place, slot| {
        let elector = elector(&server, RIVALS[place], versions[place], skews[place]);
        compete(elector, slot)
    });
    rivals.suffer(troubles).await;
    sleep(S(120)).await;
    assert_eq!(rivals.leaders(), ["a"], "in peace the best one leads");
    rivals.stop().await;
}

#[tokio::test(start_paused = true)]
async fn one_that_comes_late_and_hangs_at_first_leads_in_the_end() {
    let troubles = vec![(0, RivalFault::Fails, 15), (0, RivalFault::Hangs, 4)];
    run([0; 3], troubles).await;
}

fn skew() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0), -20..20_i64, -43_200..43_200_i64]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn never_do_two_lead_at_once_and_in_peace_the_best_one_does(
        skews in [skew(), skew(), skew()],
        troubles in prop::collection::vec(trouble(), 1..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(skews, troubles));
    }
}
