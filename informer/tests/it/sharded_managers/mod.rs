//! Copies of a program that share shards, in a simulation.
//!
//! Each copy has a runtime and a clock of its own, which may stand still while those of others go on, and runs 5 % fast or slow.
//! Copies crash, join, leave, and lose their connections; writes are slow, fail, or lose their answers; objects come, change and go,
//! and come again under their names. At each moment:
//!
//! - no copy begins to reconcile an object while another one is at it, unless that one stands still;
//! - no write of a copy arrives at the server once another copy has begun to reconcile the object;
//!
//! and when nothing fails any more, within a bound:
//!
//! - each shard has one owner, and shares are even;
//! - each object is as its last change wants it.

mod oracle;
mod network;
mod copy;
mod world;

use std::time::Duration;

use fakeserver::FakeServer;
use informer::{
    controller::{Controller, Runnable},
    leader_election::LeaderElectionOptions,
    sharded_manager::{ShardedManager, ShardedManagerError},
    workqueue::Action,
};
use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
use kube::{Api, ResourceExt, api::ListParams};
use tokio::time::sleep;

use self::world::World;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |number| number.parse().expect("a number"))
}

/// `SEEDS=10000` draws as often, from `FIRST_SEED` on.
#[test]
fn each_object_has_one_owner_whatever_fails() {
    let first = environment("FIRST_SEED", 0);
    let mut counts = Vec::new();
    for seed in first..first + environment("SEEDS", 20) {
        match World::new(seed).run() {
            Ok(run) => counts.push(run),
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    let total = world::total(counts);
    println!("{total:?}");
    assert!(total["handovers"] > 0 && total["dropped"] > 0, "{total:?}");
}

#[test]
fn a_seed_determines_a_run() {
    let run = |seed| format!("{:?}", World::new(seed).run());
    assert_eq!(run(3), run(3));
}

fn idle() -> Runnable {
    Controller::<ConfigMap>::new("idle")
        .reconcile(async |_, _| Ok::<_, kube::Error>(Action::AwaitChange))
}

fn manager(
    server: &FakeServer,
    identity: &str,
    shard_count: u32,
) -> Result<ShardedManager, ShardedManagerError> {
    let client = server.client_named(identity);
    let manager = ShardedManager::new(client, "default", "operator", identity, shard_count)?;
    Ok(manager.with_controller(idle))
}

#[tokio::test(start_paused = true)]
async fn copies_share_shards_and_hand_them_over() -> Result<(), AnyError> {
    let server = FakeServer::builder().with_seed(1).build();
    let first = manager(&server, "first", 6)?.start();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(first.ownership().shards().len(), 6);
    let second = manager(&server, "second", 6)?.start();
    sleep(Duration::from_secs(12)).await;
    let [of_first, of_second] = [&first, &second].map(|copy| copy.ownership().shards());
    assert_eq!((of_first.len(), of_second.len()), (3, 3));
    assert!(of_first.is_disjoint(&of_second));
    assert_eq!(first.ownership().members().len(), 2);
    // In good order, the other one need not wait until the leases have run out.
    first.shutdown().await?;
    sleep(Duration::from_secs(8)).await;
    assert_eq!(second.ownership().shards().len(), 6);
    // After a crash it has to.
    let third = manager(&server, "third", 6)?.start();
    sleep(Duration::from_secs(12)).await;
    assert_eq!(third.ownership().shards().len(), 3);
    drop(second);
    sleep(Duration::from_secs(8)).await;
    assert_eq!(third.ownership().shards().len(), 3);
    sleep(Duration::from_secs(16)).await;
    assert_eq!(third.ownership().shards().len(), 6);
    third.shutdown().await?;
    let leases: Api<Lease> = Api::namespaced(server.client(), "default");
    let leases = leases.list(&ListParams::default()).await?.items;
    let members = leases
        .iter()
        .filter(|lease| lease.name_any().contains("-member-"));
    // That of the one that crashed is left, and removed by those that are there two minutes later.
    assert_eq!(members.count(), 1);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn leases_of_copies_that_are_long_gone_are_removed() -> Result<(), AnyError> {
    let server = FakeServer::builder().with_seed(1).build();
    let first = manager(&server, "first", 1)?.start();
    let second = manager(&server, "second", 1)?.start();
    sleep(Duration::from_secs(5)).await;
    drop(second);
    sleep(Duration::from_mins(3)).await;
    let leases: Api<Lease> = Api::namespaced(server.client(), "default");
    let leases = leases.list(&ListParams::default()).await?.items;
    let names: Vec<_> = leases.iter().map(ResourceExt::name_any).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    first.shutdown().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn copies_with_other_shards_wait_for_those_that_are_there() -> Result<(), AnyError> {
    let server = FakeServer::builder().with_seed(1).build();
    let old = manager(&server, "old", 2)?.start();
    sleep(Duration::from_secs(5)).await;
    let new = manager(&server, "new", 4)?.start();
    sleep(Duration::from_mins(2)).await;
    assert_eq!(old.ownership().shards().len(), 2);
    assert_eq!(new.ownership().shards().len(), 0);
    old.shutdown().await?;
    sleep(Duration::from_secs(10)).await;
    assert_eq!(new.ownership().shards().len(), 4);
    new.shutdown().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn options_that_make_no_sense_are_refused() -> Result<(), AnyError> {
    let server = FakeServer::builder().build();
    let refused = |error: ShardedManagerError| error.to_string();
    assert_eq!(
        refused(manager(&server, "a", 0).unwrap_err()),
        "0 shards: there must be 1 to 1,000"
    );
    assert!(manager(&server, "", 2).is_err());
    let mut options = LeaderElectionOptions::default();
    options.renew_deadline = options.lease_duration;
    assert!(
        manager(&server, "a", 2)?
            .with_election_options(options)
            .is_err()
    );
    Ok(())
}
