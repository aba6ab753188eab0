//! The time until the cluster behind the API is there: its nodes are ready, and its pods have started.

use std::{cell::LazyCell, collections::BTreeSet, time::Duration};

use fakeserver_kinds::{Kind, conditions, core};
use fakeserver_value::read::text;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use super::assembly::Server;
use crate::store::Range;

/// The longest wait.
const LIMIT: Duration = Duration::from_secs(30);
/// The time between two looks at the objects.
const INTERVAL: Duration = Duration::from_millis(100);
/// The number of objects that an error names.
const NAMED_MAX: usize = 5;
/// The reasons of containers that have yet to start. With any other, they wait for something else than time.
const STARTING: [&str; 3] = ["", "ContainerCreating", "PodInitializing"];

/// The cluster behind the API was not there in time. It may still come: wait again, or look at the objects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the cluster is not ready after {} s: {}", LIMIT.as_secs(), self.missing.join("; "))]
pub struct NotReadyError {
    missing: Vec<String>,
}

// === impl NotReadyError ===

impl NotReadyError {
    /// Returns what is missing: the first nodes and pods with the reasons, and the number of others.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }
}

/// Starts the controllers, and waits for what they have to do at once, for nodes and for pods.
pub(super) async fn wait(server: &Server) -> Result<(), NotReadyError> {
    server.start();
    let deadline = Instant::now() + LIMIT;
    let mut missing = vec!["the controllers have work that is due".to_owned()];
    while timeout_at(deadline, server.controllers.at_rest())
        .await
        .is_ok()
    {
        missing = missing_objects(server);
        if missing.is_empty() {
            return Ok(());
        }
        if Instant::now() >= deadline {
            break;
        }
        sleep(INTERVAL).await;
    }
    Err(NotReadyError { missing })
}

/// Returns the nodes and pods that are yet to come, if there are nodes at all.
fn missing_objects(server: &Server) -> Vec<String> {
    if server.api.kubelet_api.is_none() {
        return Vec::new();
    }
    let nodes = waiting(server, &core::node::KIND, "node", node_problem);
    // Read only if a pod is pending: most clusters have more events than pods.
    let without_volumes = LazyCell::new(|| pods_without_volumes(server));
    let pods = waiting(server, &core::pod::KIND, "pod", |pod| {
        let problem = pod_problem(pod)?;
        let is_stuck = without_volumes.contains(text(&pod["metadata"]["uid"]));
        (!is_stuck).then_some(problem)
    });
    let mut missing: Vec<String> = nodes.into_iter().chain(pods).collect();
    let others = missing.len().saturating_sub(NAMED_MAX);
    if others > 0 {
        missing.truncate(NAMED_MAX);
        missing.push(format!("and {others} more"));
    }
    missing
}

fn waiting(
    server: &Server,
    kind: &Kind,
    name: &str,
    problem: impl Fn(&Value) -> Option<String>,
) -> Vec<String> {
    let storage = &server.backend().storage;
    let snapshot = storage.view(|view| view.snapshot(kind.storage()));
    let objects = snapshot.objects(&Range::All, None);
    let problems = objects.filter_map(|stored| {
        let problem = problem(&stored.to_value())?;
        let key = stored.key();
        let namespace = key.namespace().map(|namespace| format!("{namespace}/"));
        let namespace = namespace.unwrap_or_default();
        Some(format!("{name} {namespace}{} {problem}", key.name()))
    });
    problems.collect()
}

/// Returns the uids of the pods with an event of a volume that could not be mounted: they wait for a config map, a secret or a
/// claim that somebody has to create.
fn pods_without_volumes(server: &Server) -> BTreeSet<String> {
    let storage = &server.backend().storage;
    let snapshot = storage.view(|view| view.snapshot(core::event::KIND.storage()));
    let events = snapshot.objects(&Range::All, None);
    let failed = events.filter_map(|stored| {
        let event = stored.to_value();
        let is_failed_mount = event["reason"] == "FailedMount";
        is_failed_mount.then(|| text(&event["involvedObject"]["uid"]).to_owned())
    });
    failed.collect()
}

/// Returns why a node is not there yet. One that a client has made unready stays so.
fn node_problem(node: &Value) -> Option<String> {
    let ready = conditions::find(&node["status"], "Ready");
    ready.is_none().then(|| "has no condition Ready".to_owned())
}

/// Returns why a pod has not started yet, unless it waits for something else than time.
fn pod_problem(pod: &Value) -> Option<String> {
    let (metadata, status) = (&pod["metadata"], &pod["status"]);
    let is_unscheduled = conditions::find(status, "PodScheduled")
        .is_some_and(|condition| text(&condition["status"]) == "False");
    if text(&status["phase"]) != "Pending"
        || is_unscheduled
        || !metadata["deletionTimestamp"].is_null()
    {
        return None;
    }
    let lists = ["initContainerStatuses", "containerStatuses"];
    let containers = lists.iter().filter_map(|list| status[list].as_array());
    let mut reasons = containers
        .flatten()
        .map(|container| text(&container["state"]["waiting"]["reason"]));
    match reasons.find(|reason| !STARTING.contains(reason)) {
        Some(_) => None,
        None => Some("is pending".to_owned()),
    }
}
