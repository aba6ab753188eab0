//! Controllers in two clusters.
//!
//! ```text
//! cargo run -p examples --example 12_two_clusters
//! ```
//!
//! Config maps of a hub are copied to an edge, another cluster. If somebody changes the copy there, the edge's controller wakes the
//! hub's, which brings it back. The edge goes for a while, and has all copies when it comes again.

use std::{error::Error, time::Duration};

use fakeserver::FakeServer;
use informer::{
    controller::{Controller, ExternalSource, Runnable},
    multi_cluster::{Clusters, MultiClusterManager},
    workqueue::Action,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::time::sleep;

type AnyError = Box<dyn Error + Send + Sync>;

// ANCHOR: controllers
/// Returns the controller of the hub, which copies to the edge while that is there.
fn copying(clusters: &Clusters, changed: &ExternalSource) -> Runnable {
    let clusters = clusters.clone();
    Controller::<ConfigMap>::new("copies")
        .woken_by(changed)
        .reconcile(move |ctx, key| {
            let edge = clusters.get("edge");
            async move {
                let Some(map) = ctx.object() else {
                    return Ok(Action::AwaitChange);
                };
                let Some(edge) = edge else {
                    return Ok(Action::RequeueAfter(Duration::from_secs(3)));
                };
                let copies: Api<ConfigMap> =
                    Api::namespaced(edge.client().clone(), key.namespace());
                let copy = json!({
                    "apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": key.name()}, "data": map.get().data,
                });
                let params = PatchParams::apply("copies").force();
                copies
                    .patch(key.name(), &params, &Patch::Apply(copy))
                    .await?;
                Ok::<_, kube::Error>(Action::AwaitChange)
            }
        })
}

/// Returns the controller of the edge, which wakes the hub's for each change.
fn watching(changed: &ExternalSource) -> Runnable {
    let changed = changed.clone();
    Controller::<ConfigMap>::new("changes").reconcile(move |_, key| {
        changed.enqueue(&key);
        async { Ok::<_, kube::Error>(Action::AwaitChange) }
    })
}

fn manager(clusters: &Clusters) -> MultiClusterManager {
    let changed = ExternalSource::new();
    let of_hub = clusters.clone();
    MultiClusterManager::new(clusters).with_controller(move |cluster| match &**cluster.name() {
        "hub" => copying(&of_hub, &changed),
        _ => watching(&changed),
    })
}
// ANCHOR_END: controllers

async fn greeting(edge: &Client) -> Result<Option<String>, AnyError> {
    sleep(Duration::from_secs(5)).await;
    let copies: Api<ConfigMap> = Api::namespaced(edge.clone(), "default");
    let copy = copies.get_opt("web").await?;
    Ok(copy.and_then(|copy| copy.data?.get("greeting").cloned()))
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), AnyError> {
    let (hub, edge) = (
        FakeServer::builder().build().client(),
        FakeServer::builder().build().client(),
    );
    let maps: Api<ConfigMap> = Api::namespaced(hub.clone(), "default");
    let map = json!({"metadata": {"name": "web"}, "data": {"greeting": "hello"}});
    maps.create(&PostParams::default(), &serde_json::from_value(map)?)
        .await?;

    let clusters = Clusters::new();
    clusters.insert("hub", hub);
    let manager = manager(&clusters).start();
    assert_eq!(greeting(&edge).await?, None);
    clusters.insert("edge", edge.clone());
    assert_eq!(greeting(&edge).await?.as_deref(), Some("hello"));

    // Somebody changes the copy.
    let copies: Api<ConfigMap> = Api::namespaced(edge.clone(), "default");
    let change = Patch::Merge(json!({"data": {"greeting": "bye"}}));
    copies
        .patch("web", &PatchParams::default(), &change)
        .await?;
    assert_eq!(greeting(&edge).await?.as_deref(), Some("hello"));

    clusters.remove("edge");
    copies
        .patch("web", &PatchParams::default(), &change)
        .await?;
    assert_eq!(greeting(&edge).await?.as_deref(), Some("bye"));
    clusters.insert("edge", edge.clone());
    assert_eq!(greeting(&edge).await?.as_deref(), Some("hello"));
    manager.shutdown().await?;
    println!("the copy is what the hub says");
    Ok(())
}
