//! Copies of a controller that share its objects.
//!
//! ```text
//! cargo run -p examples --example 11_shards
//! ```
//!
//! Three copies divide all config maps into eight shards, and label each map with the copy that owns it. One of the copies leaves,
//! and another one crashes: the last one takes their shards, at once and when the leases have run out.

use std::{collections::BTreeMap, error::Error, time::Duration};

use fakeserver::FakeServer;
use informer::{
    controller::{Controller, Runnable},
    sharded_manager::{RunningShardedManager, ShardedManager},
    workqueue::Action,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::time::sleep;

type AnyError = Box<dyn Error + Send + Sync>;

// ANCHOR: manager
/// Returns a controller that labels its objects with the name of the copy.
fn labelling(copy: &'static str) -> Runnable {
    Controller::<ConfigMap>::new("labels").reconcile(move |ctx, key| async move {
        let api: Api<ConfigMap> = Api::namespaced(ctx.client().clone(), key.namespace());
        let label = Patch::Merge(json!({"metadata": {"labels": {"copy": copy}}}));
        api.patch(key.name(), &PatchParams::default(), &label)
            .await?;
        Ok::<_, kube::Error>(Action::AwaitChange)
    })
}

fn start(server: &FakeServer, copy: &'static str) -> Result<RunningShardedManager, AnyError> {
    let manager = ShardedManager::new(server.client(), "default", "labels", copy, 8)?;
    Ok(manager.with_controller(move || labelling(copy)).start())
}
// ANCHOR_END: manager

/// Returns the number of maps of each copy, once whatever happened is over.
async fn maps_of_copies(server: &FakeServer) -> Result<BTreeMap<String, usize>, AnyError> {
    sleep(Duration::from_secs(30)).await;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let mut counts = BTreeMap::new();
    for map in maps.list(&ListParams::default()).await? {
        *counts.entry(map.labels()["copy"].clone()).or_default() += 1;
    }
    println!("{counts:?}");
    Ok(counts)
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), AnyError> {
    // A server without shards would send all maps to each copy, which would drop those of others.
    let server = FakeServer::builder().with_shards(true).build();
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    for number in 0..40 {
        let map = json!({"metadata": {"name": format!("map-{number}")}});
        let map = serde_json::from_value(map)?;
        maps.create(&PostParams::default(), &map).await?;
    }
    let [a, b, c] = [
        start(&server, "a")?,
        start(&server, "b")?,
        start(&server, "c")?,
    ];
    assert_eq!(maps_of_copies(&server).await?.len(), 3);
    a.shutdown().await?;
    assert_eq!(maps_of_copies(&server).await?.len(), 2);
    // A crash.
    drop(b);
    assert_eq!(
        maps_of_copies(&server).await?,
        [("c".to_owned(), 40)].into()
    );
    c.shutdown().await?;
    Ok(())
}
