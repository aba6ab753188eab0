//! Controllers in several clusters.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use fakeserver::{
    FakeServer,
    faults::{Filter, ServerError},
};
use http::StatusCode;
use informer::{
    ObjectKey,
    controller::{Controller, ExternalSource, Runnable},
    leader_election::{LeaderElector, LeaseLock},
    manager::ManagerError,
    multi_cluster::{Clusters, MultiClusterManager},
    workqueue::Action,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{ListParams, PostParams},
};
use serde_json::json;
use tokio::time::sleep;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// The keys that were reconciled, each with its cluster.
#[derive(Clone, Default)]
struct ReconciledKeys(Arc<Mutex<Vec<(String, String)>>>);

impl ReconciledKeys {
    /// Returns a controller of config maps in the namespace `default` that notes what it is called for.
    fn controller(&self) -> Runnable {
        let reconciled = self.clone();
        Controller::<ConfigMap>::new("maps").reconcile(move |ctx, key| {
            let cluster = ctx.cluster().unwrap_or_default().to_owned();
            if key.namespace() == "default" {
                let mut reconciled = reconciled.0.lock().unwrap();
                reconciled.push((cluster, key.name().to_owned()));
            }
            async { Ok::<_, kube::Error>(Action::AwaitChange) }
        })
    }

    /// Returns those that came since the last call.
    fn take(&self) -> BTreeSet<String> {
        let taken = std::mem::take(&mut *self.0.lock().unwrap());
        taken
            .into_iter()
            .map(|(cluster, name)| format!("{cluster}/{name}"))
            .collect()
    }
}

fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

async fn create(server: &FakeServer, name: &str) {
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let map = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    api.create(&PostParams::default(), &map).await.unwrap();
}

/// Returns the number of open watches.
fn watches_of(server: &FakeServer) -> usize {
    server.stats().watchers
}

async fn a_moment() {
    sleep(Duration::from_secs(5)).await;
}

#[tokio::test(start_paused = true)]
async fn clusters_come_and_go() -> Result<(), AnyError> {
    let (east, west) = (FakeServer::builder().build(), FakeServer::builder().build());
    create(&east, "a").await;
    create(&west, "a").await;
    let clusters = Clusters::new();
    let reconciled = ReconciledKeys::default();
    let recorder = reconciled.clone();
    let manager = MultiClusterManager::new(&clusters)
        .with_controller(move |_| recorder.controller())
        .start();
    clusters.insert("east", east.client());
    a_moment().await;
    assert_eq!(reconciled.take(), set(["east/a"]));

    clusters.insert("west", west.client());
    create(&east, "b").await;
    a_moment().await;
    assert_eq!(reconciled.take(), set(["east/b", "west/a"]));
    assert!(clusters.get("west").unwrap().is_ready());

    assert!(clusters.remove("east"));
    assert!(!clusters.remove("east"));
    a_moment().await;
    assert_eq!(watches_of(&east), 0);
    create(&east, "c").await;
    create(&west, "c").await;
    a_moment().await;
    assert_eq!(reconciled.take(), set(["west/c"]));

    // The same name leads to another server now.
    clusters.insert("west", east.client());
    a_moment().await;
    assert_eq!(reconciled.take(), set(["west/a", "west/b", "west/c"]));
    assert_eq!(watches_of(&west), 0);
    manager.shutdown().await?;
    assert_eq!(watches_of(&east), 0);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_fails_is_tried_again_and_holds_up_no_other() -> Result<(), AnyError> {
    let (east, west) = (FakeServer::builder().build(), FakeServer::builder().build());
    create(&east, "a").await;
    create(&west, "a").await;
    let refusal = ServerError::new(StatusCode::FORBIDDEN).rule();
    let refusal = refusal.matching(Filter::any().resource("configmaps"));
    let outage = east.faults().install(refusal);
    let clusters = Clusters::new();
    clusters.insert("east", east.client());
    clusters.insert("west", west.client());
    let reconciled = ReconciledKeys::default();
    let recorder = reconciled.clone();
    let manager = MultiClusterManager::new(&clusters)
        .with_controller(move |_| recorder.controller())
        .with_sync_limit(Duration::from_secs(10))
        .start();
    sleep(Duration::from_secs(30)).await;
    assert_eq!(reconciled.take(), set(["west/a"]));
    let failed = clusters.get("east").unwrap();
    assert!(!failed.is_ready());
    assert!(matches!(
        failed.error().as_deref(),
        Some(ManagerError::Sync(_))
    ));

    drop(outage);
    sleep(Duration::from_mins(2)).await;
    assert_eq!(reconciled.take(), set(["east/a"]));
    let again = clusters.get("east").unwrap();
    assert!(again.is_ready() && again.error().is_none());
    manager.shutdown().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_change_in_one_cluster_wakes_a_key_of_another() -> Result<(), AnyError> {
    let (hub, edge) = (FakeServer::builder().build(), FakeServer::builder().build());
    create(&hub, "summary").await;
    let changed = ExternalSource::new();
    let seen = ReconciledKeys::default();
    let (of_hub, of_edge) = (seen.clone(), changed.clone());
    let clusters = Clusters::new();
    clusters.insert("hub", hub.client());
    clusters.insert("edge", edge.client());
    let manager = MultiClusterManager::new(&clusters)
        .with_controller(move |cluster| {
            if &**cluster.name() == "hub" {
                let of_hub = of_hub.clone();
                return Controller::<ConfigMap>::new("summary")
                    .woken_by(&changed)
                    .reconcile(move |ctx, key| {
                        let exists = ctx.object().is_some();
                        let mut seen = of_hub.0.lock().unwrap();
                        seen.push((key.name().to_owned(), exists.to_string()));
                        async { Ok::<_, kube::Error>(Action::AwaitChange) }
                    });
            }
            let wake = of_edge.clone();
            Controller::<ConfigMap>::new("edge").reconcile(move |_, key| {
                if key.namespace() == "default" {
                    wake.enqueue(&ObjectKey::new("default", "summary"));
                    wake.enqueue(&ObjectKey::new("default", "missing"));
                }
                async { Ok::<_, kube::Error>(Action::AwaitChange) }
            })
        })
        .start();
    a_moment().await;
    seen.take();
    create(&edge, "a").await;
    a_moment().await;
    assert_eq!(seen.take(), set(["missing/false", "summary/true"]));
    manager.shutdown().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn one_copy_works_in_all_clusters_and_stops_without_its_lease() -> Result<(), AnyError> {
    let (hub, edge) = (FakeServer::builder().build(), FakeServer::builder().build());
    create(&edge, "a").await;
    let clusters = Clusters::new();
    clusters.insert("edge", edge.client());
    let start = |copy: &str| {
        let reconciled = ReconciledKeys::default();
        let recorder = reconciled.clone();
        let lock = LeaseLock::new(hub.client(), "default", "maps");
        let manager = MultiClusterManager::new(&clusters)
            .with_leader_election(LeaderElector::new(lock, copy)?)
            .with_controller(move |_| recorder.controller());
        let health = manager.health();
        Ok::<_, AnyError>((manager.start(), health, reconciled))
    };
    let (first, leads, by_first) = start("first")?;
    a_moment().await;
    let (second, waits, by_second) = start("second")?;
    a_moment().await;
    assert_eq!(by_first.take(), set(["edge/a"]));
    assert!(leads.is_leading() && waits.is_ready() && !waits.is_leading());
    assert_eq!(by_second.take(), set([]));

    // The lease cannot be renewed: the first copy ends, and the second one works once it can be taken.
    let refusal = ServerError::new(StatusCode::INTERNAL_SERVER_ERROR).rule();
    let refusal = refusal.matching(Filter::any().resource("leases"));
    let outage = hub.faults().install(refusal);
    sleep(Duration::from_secs(12)).await;
    assert!(!leads.is_live());
    assert_eq!(watches_of(&edge), 0);
    drop(outage);
    sleep(Duration::from_secs(20)).await;
    assert!(waits.is_leading());
    assert_eq!(by_second.take(), set(["edge/a"]));
    assert!(matches!(
        first.shutdown().await,
        Err(ManagerError::LeadershipLost)
    ));
    second.shutdown().await?;
    let maps: Api<ConfigMap> = Api::all(edge.client());
    assert!(!maps.list(&ListParams::default()).await?.items.is_empty());
    Ok(())
}
