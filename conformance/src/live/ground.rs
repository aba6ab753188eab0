//! Prepares a real server for a run: creates the namespaces and deletes the objects of earlier runs.

use std::time::Duration;

use axum::Router;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{
    LiveError,
    objects::{List, Object, all, ask, refused, send},
};
use crate::plan::{NAMESPACES, Resource};

/// The label on the namespaces of runs.
const OURS: &str = "conformance.example/ours";
/// The time for deletions, and for a namespace to accept objects.
const LIMIT: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Prepares the server behind `router`.
pub(super) async fn prepare(router: &Router) -> Result<(), LiveError> {
    for name in NAMESPACES {
        claim(router, name).await?;
    }
    // After the namespaces are known to be ours: nothing foreign is deleted.
    for resource in Resource::ALL {
        remove(router, resource).await?;
    }
    // Last, since the service account is created while the objects are removed.
    for name in NAMESPACES {
        wait_until_it_takes_pods(router, name).await?;
    }
    Ok(())
}

/// Creates a namespace or checks that it is one of ours. Before it creates the first one, checks that there are no
/// foreign nodes with our names.
async fn claim(router: &Router, name: &str) -> Result<(), LiveError> {
    let path = format!("/api/v1/namespaces/{name}");
    let found = send(router, "GET", &path, None).await;
    match found.status {
        200 => {
            let namespace: Object = serde_json::from_slice(&found.body).unwrap_or_default();
            if namespace.metadata.labels.contains_key(OURS) {
                return Ok(());
            }
            let what = format!("a namespace {name}");
            Err(LiveError::NotOurs { what })
        }
        404 => {
            if name == NAMESPACES[0] {
                check_no_nodes(router).await?;
            }
            let namespace = json!({
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": name, "labels": {OURS: "true"}},
            });
            let made = send(router, "POST", "/api/v1/namespaces", Some(namespace)).await;
            match made.status {
                201 => Ok(()),
                _ => Err(refused(format!("create namespace {name}"), &made)),
            }
        }
        _ => Err(refused(format!("GET {path}"), &found)),
    }
}

async fn check_no_nodes(router: &Router) -> Result<(), LiveError> {
    let nodes: List = ask(router, &all(Resource::Nodes)).await?;
    let mut names = nodes.items.iter().map(|node| &node.metadata);
    match names.find(|node| node.is_of_a_plan(Resource::Nodes)) {
        Some(node) => Err(LiveError::NotOurs {
            what: format!("a node {}", node.name),
        }),
        None => Ok(()),
    }
}

/// Deletes the objects of earlier runs and waits until they are gone.
async fn remove(router: &Router, resource: Resource) -> Result<(), LiveError> {
    let began = Instant::now();
    loop {
        let found: List = ask(router, &all(resource)).await?;
        let mut left = found.items.iter().map(|object| &object.metadata);
        let left: Vec<_> = left
            .by_ref()
            .filter(|object| object.is_of_a_plan(resource))
            .collect();
        let Some(first) = left.first() else {
            return Ok(());
        };
        if began.elapsed() > LIMIT {
            let what = format!("{} {}", resource.kind(), first.key());
            return Err(LiveError::Left { what });
        }
        for object in left {
            let path = match &object.namespace {
                Some(namespace) => format!(
                    "/api/v1/namespaces/{namespace}/{}/{}",
                    resource.plural(),
                    object.name
                ),
                None => format!("{}/{}", all(resource), object.name),
            };
            // Finalizers of earlier runs, whose owners are gone.
            if !object.finalizers.is_empty() {
                let release = json!({"metadata": {"finalizers": null}});
                send(router, "PATCH", &path, Some(release)).await;
            }
            // No grace: there may be no kubelet to end a pod.
            let options =
                json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0});
            // The next list shows whether it is gone.
            send(router, "DELETE", &path, Some(options)).await;
        }
        sleep(LOOK_EVERY).await;
    }
}

/// Waits until a new namespace has its service account: before, it rejects pods.
async fn wait_until_it_takes_pods(router: &Router, namespace: &str) -> Result<(), LiveError> {
    let began = Instant::now();
    let path = format!("/api/v1/namespaces/{namespace}/pods?dryRun=All");
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod-0"},
        "spec": {"containers": [{"name": "main", "image": "example.com/app:1"}]},
    });
    loop {
        let answer = send(router, "POST", &path, Some(pod.clone())).await;
        if answer.status == 201 {
            return Ok(());
        }
        if began.elapsed() > LIMIT {
            return Err(refused(format!("create a pod in {namespace}"), &answer));
        }
        sleep(LOOK_EVERY).await;
    }
}
