//! A controller that reads its own writes: kubernetes#129795.
//!
//! ```text
//! cargo run -p examples --example 10_own_writes
//! ```
//!
//! A controller makes three pods for each config map, as a replica set does. Its watch of pods is slow, so that its cache lacks the
//! pods that it has just made, and each further change of the map is a reason to count them. Behind the gate of a controller a
//! reconcile waits until the cache shows what the one before it wrote, and three pods are made. Without it there are more.

use std::{error::Error, time::Duration};

use fakeserver::{
    FakeServer,
    faults::{Filter, Latency},
};
use informer::{
    LabelSelector, Object,
    controller::{Context, Controller, Runnable},
    workqueue::Action,
};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;

/// The config map that has pods. Clusters keep others in each namespace.
const NAME: &str = "web";
/// The number of its pods.
const REPLICAS: usize = 3;

type AnyError = Box<dyn Error + Send + Sync>;

/// Returns the controller; without the gate, if its writes go around it.
fn replicas(has_gate: bool) -> Runnable {
    Controller::<ConfigMap>::new("replicas")
        .owns::<Pod>()
        .reconcile(move |ctx, _| async move { reconcile(&ctx, has_gate).await })
}

async fn reconcile(ctx: &Context<ConfigMap>, has_gate: bool) -> Result<Action, AnyError> {
    let Some(owner) = ctx.owner_reference().filter(|owner| owner.name == NAME) else {
        return Ok(Action::AwaitChange);
    };
    let namespace = ctx.key().namespace();
    let pods = ctx.lister::<Pod>()?.namespaced(namespace)?;
    let is_own = |pod: &&Object<Pod>| pod.owners().iter().any(|found| *found.uid == *owner.uid);
    let count = pods
        .list(&LabelSelector::everything())?
        .iter()
        .filter(is_own)
        .count();
    for _ in count..REPLICAS {
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"generateName": "web-", "ownerReferences": [owner]},
            "spec": {"containers": [{"name": "web", "image": "example.com/web:1"}]},
        }))?;
        if has_gate {
            ctx.create(&pod).await?;
        } else {
            // What the client writes by itself is not noted in the gate.
            let api: Api<Pod> = Api::namespaced(ctx.client().clone(), namespace);
            api.create(&PostParams::default(), &pod).await?;
        }
    }
    Ok(Action::AwaitChange)
}

/// Returns the number of pods that are made while the map changes, with a watch that is four seconds late.
async fn pods_made(has_gate: bool) -> Result<usize, AnyError> {
    let server = FakeServer::builder().build();
    let slow = Latency {
        frame_ms: 4_000,
        ..Latency::default()
    };
    let watch = Filter::any().resource("pods").verb("watch");
    let _slow = server.faults().install(slow.rule().matching(watch));
    let controller = replicas(has_gate).run_in(server.client());

    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let map = serde_json::from_value(json!({"metadata": {"name": NAME}}))?;
    maps.create(&PostParams::default(), &map).await?;
    for value in 1..10 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let change = Patch::Merge(json!({"data": {"value": value.to_string()}}));
        maps.patch(NAME, &PatchParams::default(), &change).await?;
    }
    controller.settle().await?;
    controller.shutdown().await?;
    let pods: Api<Pod> = Api::namespaced(server.client(), "default");
    Ok(pods.list(&ListParams::default()).await?.items.len())
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), AnyError> {
    let (with, without) = (pods_made(true).await?, pods_made(false).await?);
    println!("{with} pods with the gate, {without} without it");
    assert_eq!(with, REPLICAS);
    assert!(without > REPLICAS);
    Ok(())
}

#[cfg(test)]
mod tests {
    use informer::manager::Manager;
    use survive::{Check, Family, Subject, When, Workload};
    use tokio_util::sync::CancellationToken;

    use super::*;

    /// Lets the controller work while its reads are old, and while it is killed.
    fn check(has_gate: bool) -> Check {
        let controller = Subject::function(move |client| async move {
            let manager = Manager::new(client).with_controller(replicas(has_gate));
            manager.run(CancellationToken::new()).await
        });
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": "default"}});
        let quiet = Duration::from_secs(1);
        let workload = Workload::new()
            .apply(&map)
            .quiet(quiet)
            .patch("v1 ConfigMap default/web", json!({"data": {"value": "1"}}))
            .quiet(quiet)
            .patch("v1 ConfigMap default/web", json!({"data": {"value": "2"}}))
            .quiet(quiet)
            .rule(
                "three pods",
                When::Eventually,
                "pods.filter(p, p.metadata.namespace == 'default').size() == 3",
            );
        survive::check(controller).steps(workload)
    }

    #[test]
    fn with_the_gate_no_pod_is_too_many() {
        check(true).families([Family::Crash, Family::Stale]).run();
    }

    #[test]
    #[should_panic = "three pods"]
    fn without_the_gate_some_are() {
        check(false).families([Family::Stale]).run();
    }
}
