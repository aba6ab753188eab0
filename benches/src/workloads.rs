//! From deployments that are created at once to all of their pods ready, in a server with every controller.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use clap::Args;
use fakeserver::{Controllers, FakeServer, Workloads};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::Request;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, Client,
    api::{ListParams, PostParams},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{process, progress::progress_bar};

const PODS_PER_NODE: u32 = 110;
/// Creates that are under way at a time.
const CREATES: usize = 8;
const POLL: Duration = Duration::from_millis(250);

/// Options of `workloads`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Options {
    /// Number of deployments
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    deployments: u32,

    /// Pods of each
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    replicas: u32,
}

/// Creates the deployments, waits until all of them are ready, and prints how long that takes. Pods take no time to start.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let Options {
        deployments,
        replicas,
    } = *options;
    let pods = deployments * replicas;
    let nodes = usize::try_from(pods.div_ceil(PODS_PER_NODE) + 1)?;
    let workloads = Workloads::default()
        .with_nodes(nodes)
        .with_pods_per_node(PODS_PER_NODE)
        .with_pod_start(Duration::ZERO);
    let server = FakeServer::builder()
        .with_controllers(Controllers::default().with_workloads(workloads))
        .build();
    let api: Api<Deployment> = Api::default_namespaced(server.client());
    let start = Instant::now();
    create(&api, deployments, replicas).await?;
    let created = start.elapsed();
    let bar = progress_bar(u64::from(pods), "pods ready");
    loop {
        let ready = ready(&api).await?;
        bar.set_position(ready.pods);
        if ready.deployments == u64::from(deployments) {
            break;
        }
        sleep(POLL).await;
    }
    bar.finish_and_clear();
    let took = start.elapsed();
    check(&server.client(), pods).await?;
    println!(
        "{deployments} deployments of {replicas} pods on {nodes} nodes: created in {:.1} s, ready after {:.1} s; {} MB resident",
        created.as_secs_f64(),
        took.as_secs_f64(),
        process::usage()?.resident_bytes / 1_000_000,
    );
    Ok(())
}

async fn create(
    api: &Api<Deployment>,
    deployments: u32,
    replicas: u32,
) -> Result<(), Box<dyn Error>> {
    stream::iter(0..deployments)
        .map(|number| async move {
            let name = format!("web-{number}");
            let deployment = serde_json::from_value(json!({
                "metadata": {"name": name},
                "spec": {
                    "replicas": replicas,
                    "selector": {"matchLabels": {"app": name}},
                    "template": {
                        "metadata": {"labels": {"app": name}},
                        "spec": {"containers": [{"name": "web", "image": "nginx"}]},
                    },
                },
            }))?;
            api.create(&PostParams::default(), &deployment).await?;
            Ok::<_, Box<dyn Error>>(())
        })
        .buffer_unordered(CREATES)
        .try_collect()
        .await
}

/// The deployments whose pods are all ready, and the pods that are.
struct ReadyPods {
    deployments: u64,
    pods: u64,
}

async fn ready(api: &Api<Deployment>) -> Result<ReadyPods, kube::Error> {
    let mut ready = ReadyPods {
        deployments: 0,
        pods: 0,
    };
    for deployment in api.list(&ListParams::default()).await? {
        let wanted = deployment.spec.and_then(|spec| spec.replicas);
        let status = deployment.status.unwrap_or_default();
        let pods = status.ready_replicas.unwrap_or_default();
        ready.pods += u64::from(pods.unsigned_abs());
        ready.deployments += u64::from(wanted == Some(pods));
    }
    Ok(ready)
}

/// Returns an error unless the server has as many pods as were asked for.
async fn check(client: &Client, wanted: u32) -> Result<(), Box<dyn Error>> {
    let request = Request::get("/api/v1/namespaces/default/pods?limit=1").body(Vec::new())?;
    let page: Value = client.request(request).await?;
    let found = page["metadata"]["remainingItemCount"]
        .as_u64()
        .unwrap_or_default()
        + 1;
    if found != u64::from(wanted) {
        return Err(format!("the server has {found} pods, not {wanted}").into());
    }
    Ok(())
}
