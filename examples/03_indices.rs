//! Finding objects by what is in them, without looking at all: indices over labels, over fields, over anything.
//!
//! ```console
//! $ cargo run -p examples --example 03_indices
//! ```

use std::time::Duration;

use fakeserver::FakeServer;
use informer::{IndexFn, Scope, SharedInformer, http::HttpListWatch};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, api::PostParams};
use serde_json::json;

type Error = Box<dyn std::error::Error>;

const LIMIT: Duration = Duration::from_secs(10);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = FakeServer::builder().build();
    let api: Api<Pod> = Api::namespaced(server.client(), "default");
    for number in 0..6 {
        let pod = json!({
            "metadata": {"name": format!("pod-{number}"), "labels": {"team": format!("team-{}", number % 3)}},
            "spec": {
                "nodeName": format!("node-{}", number % 2),
                "containers": [{"name": "main", "image": format!("example.com/image:{}", number % 2)}],
            },
        });
        api.create(&PostParams::default(), &serde_json::from_value(pod)?)
            .await?;
    }

    let pods = SharedInformer::builder(HttpListWatch::<Pod>::new(server.client(), Scope::All))
        // Of metadata: labels, owners and the like.
        .with_index("team", IndexFn::by_label("team"))
        // A field is named as kubectl names it.
        .with_index("node", IndexFn::by_field(".spec.nodeName")?)
        // A function of the whole object can do anything, and needs all of it.
        .with_index("image", IndexFn::of_value(images))
        .build()?;
    pods.start();
    pods.wait_for_cache_sync(LIMIT).await?;

    let indexer = pods.indexer();
    println!("teams: {:?}", indexer.list_index_values("team")?);
    for pod in indexer.by_index("node", "node-1")? {
        println!("on node-1: {}", pod.key());
    }
    assert_eq!(indexer.index_keys("node", "node-1")?.len(), 3);
    assert_eq!(indexer.by_index("image", "example.com/image:0")?.len(), 3);

    // An index can be added while the informer runs, and has the objects that are already held.
    pods.add_index(
        "first letter",
        IndexFn::new(|pod| pod.key().name().get(..1).map(str::to_owned)),
    )
    .await?;
    assert_eq!(indexer.by_index("first letter", "p")?.len(), 6);
    pods.shutdown().await;
    server.shutdown().await;
    Ok(())
}

/// The images that a pod runs.
fn images(pod: &Pod) -> Vec<String> {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    containers
        .filter_map(|container| container.image.clone())
        .collect()
}
