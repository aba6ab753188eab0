//! The server under load: a fake API server with many pods, over TCP.

use std::{collections::BTreeMap, error::Error};

use fakeserver::FakeServer;
use futures::{StreamExt, TryStreamExt, stream};
use http::Request;
use indicatif::ProgressBar;
use kube::Client;
use serde_json::{Value, json};

use crate::pods;

/// How many writes are under way at once while the cluster is filled.
const WRITES_IN_FLIGHT: usize = 16;

/// Fills `server` with `count` running pods: each is created by a controller, then reported on by a kubelet.
pub(crate) async fn fill(
    server: &FakeServer,
    count: usize,
    progress: &ProgressBar,
) -> Result<(), Box<dyn Error>> {
    let controller = server.client_named("kube-controller-manager");
    let kubelet = server.client_named("kubelet");
    for index in 0..count.min(20) {
        let namespace = pods::pod_name(index).namespace;
        let body =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        send(&controller, "POST", "/api/v1/namespaces", &body).await?;
    }
    stream::iter(0..count)
        .map(|index| {
            let (controller, kubelet) = (&controller, &kubelet);
            async move {
                let pods::PodName { namespace, name } = pods::pod_name(index);
                let collection = format!("/api/v1/namespaces/{namespace}/pods");
                let mut pod = send(controller, "POST", &collection, &pods::pod(index)).await?;
                pod["status"] = pods::status(index);
                send(kubelet, "PUT", &format!("{collection}/{name}/status"), &pod).await?;
                progress.inc(1);
                Ok::<_, Box<dyn Error>>(())
            }
        })
        .buffer_unordered(WRITES_IN_FLIGHT)
        .try_collect::<()>()
        .await
}

/// What a synced cache must hold: the version of each pod.
pub(crate) fn versions(server: &FakeServer) -> BTreeMap<String, String> {
    server
        .objects("", "v1", "pods")
        .into_iter()
        .map(|pod| {
            let namespace = pod.namespace().unwrap_or_default();
            (
                format!("{namespace}/{}", pod.name()),
                pod.revision().to_string(),
            )
        })
        .collect()
}

/// The size of all pods as the server stores them, in bytes of JSON.
pub(crate) fn json_bytes(server: &FakeServer) -> u64 {
    server
        .objects("", "v1", "pods")
        .iter()
        .map(|pod| pod.json().len() as u64)
        .sum()
}

async fn send(
    client: &Client,
    method: &str,
    path: &str,
    body: &Value,
) -> Result<Value, Box<dyn Error>> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("Content-Type", "application/json")
        .body(serde_json::to_vec(body)?)?;
    Ok(client.request(request).await?)
}
