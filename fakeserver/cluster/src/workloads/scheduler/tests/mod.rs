//! Tests of the pure core: nodes with pods, a pod to schedule, and its node or message.

#![expect(
    clippy::needless_pass_by_value,
    reason = "objects of tests are literals, which read better without references"
)]

mod filters;
mod others;
mod preemption;
mod queue;
mod volumes;

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_kinds::Kind;
use serde_json::{Value, json};

use super::{Failure, Node, Objects, PodInfo, Scheduler, UnscheduledPod};

const NOW: &str = "2026-01-01T01:00:00Z";

/// A cluster as the scheduler sees it.
pub(super) struct Fixture {
    scheduler: Scheduler,
    pub(super) objects: ObjectStore,
}

/// Objects by plural, namespace and name.
#[derive(Default)]
pub(super) struct ObjectStore(BTreeMap<(String, String, String), Value>);

impl Objects for ObjectStore {
    fn get(&self, kind: &'static Kind, namespace: Option<&str>, name: &str) -> Option<Value> {
        let plural = kind.storage().resource().to_owned();
        let key = (plural, namespace.unwrap_or("").to_owned(), name.to_owned());
        self.0.get(&key).cloned()
    }

    fn list(&self, kind: &'static Kind) -> Vec<Value> {
        let all = self.0.iter();
        let listed = all.filter(|((plural, ..), _)| plural == kind.storage().resource());
        listed.map(|(_, object)| object.clone()).collect()
    }
}

// === impl Fixture ===

impl Fixture {
    fn new(nodes: &[Value]) -> Self {
        let mut fixture = Self {
            scheduler: Scheduler::new(110),
            objects: ObjectStore::default(),
        };
        for node in nodes {
            fixture.scheduler.snapshot.set_node(Node::of(node));
        }
        fixture
    }

    /// Nodes `a`, `b` and so on, each in a zone of its own, with two processors and room for three pods.
    pub(super) fn of_nodes(count: u8) -> Self {
        let nodes: Vec<Value> = (0..count)
            .map(|number| {
                let name = char::from(b'a' + number).to_string();
                let zone = format!("z{number}");
                let labels = json!({"kubernetes.io/hostname": name, "zone": zone});
                node(
                    &name,
                    labels,
                    json!({"cpu": "2", "memory": "4Gi", "pods": "3"}),
                )
            })
            .collect();
        Self::new(&nodes)
    }

    pub(super) fn with(mut self, kind: &'static Kind, object: Value) -> Self {
        let name = |field: &str| {
            let name = object["metadata"][field].as_str();
            name.unwrap_or_default().to_owned()
        };
        let plural = kind.storage().resource().to_owned();
        self.objects
            .0
            .insert((plural, name("namespace"), name("name")), object);
        self
    }

    /// Puts a pod on a node.
    fn on(mut self, node: &str, pod: &Value) -> Self {
        self.put(node, pod);
        self
    }

    fn put(&mut self, node: &str, pod: &Value) {
        let info = Arc::new(PodInfo::of(pod));
        self.scheduler.snapshot.place(&info, node);
    }

    /// Returns the node of a pod, or its message.
    fn place(&self, pod: &Value) -> Result<String, String> {
        let placed = self.attempt(pod);
        placed.map_err(|failure| failure.outcome.message)
    }

    pub(super) fn attempt(&self, pod: &Value) -> Result<String, Box<Failure>> {
        let pod = UnscheduledPod::of(pod);
        let placed = self.scheduler.place(&pod, &self.objects, NOW);
        placed.map(|placement| placement.node.to_string())
    }

    /// Returns the reasons of the nodes against a pod.
    pub(super) fn reasons(&self, pod: &Value) -> String {
        let message = self.place(pod).unwrap_err();
        let (_, reasons) = message.split_once(": ").unwrap();
        let (reasons, _) = reasons.split_once(". ").unwrap_or((reasons, ""));
        reasons.trim_end_matches('.').to_owned()
    }
}

fn node(name: &str, labels: Value, allocatable: Value) -> Value {
    json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {"allocatable": allocatable},
    })
}

/// A pod with these labels, and these fields in its specification.
pub(super) fn pod(name: &str, labels: Value, spec: Value) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "default", "uid": name, "labels": labels},
        "spec": spec,
        "status": {},
    })
}

/// A pod that requests these resources.
fn requesting(name: &str, requests: Value) -> Value {
    let spec = json!({"containers": [{"name": "c", "resources": {"requests": requests}}]});
    pod(name, json!({}), spec)
}
