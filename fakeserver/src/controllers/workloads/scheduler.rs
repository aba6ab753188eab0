//! The scheduler: gives each pod the node that takes it and has the fewest pods.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    nodes::Node,
    objects::{ReconciledKind, text},
};
use crate::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, Observed},
        queue::Due,
    },
    kinds::core,
    store::ObjectKey,
};

const ACTOR: Actor = Actor::new("kube-scheduler");
const NAME: &str = "default-scheduler";
/// The kind that events of scheduling are about.
const POD: ReconciledKind = ReconciledKind {
    kind: &core::pod::KIND,
    name: "Pod",
    api_version: "v1",
    component: NAME,
};

/// Places pods.
///
/// # Memory
///
/// Some entries for each node, and a key for each pod that fits nowhere.
#[derive(Debug)]
pub(super) struct Scheduler {
    nodes: BTreeMap<String, Node>,
    /// The nodes by how many pods they have.
    by_load: BTreeSet<(usize, String)>,
    loads: BTreeMap<String, usize>,
    /// Pods that were looked at, and fit on no node.
    waiting: BTreeSet<ObjectKey>,
    pods_per_node: usize,
}

// === impl Scheduler ===

impl Scheduler {
    pub(super) fn new(pods_per_node: u32) -> Self {
        Self {
            nodes: BTreeMap::new(),
            by_load: BTreeSet::new(),
            loads: BTreeMap::new(),
            waiting: BTreeSet::new(),
            pods_per_node: usize::try_from(pods_per_node).unwrap_or(usize::MAX),
        }
    }

    fn observe_node(&mut self, change: &Observed<'_>, index: &Index, due: &mut Due<'_>) {
        let name = change.key().name();
        if let Some((node, _)) = &change.after {
            self.nodes
                .insert(name.to_owned(), Node::of(&node.to_value()));
            self.count(name, index);
            self.look_again(due);
        } else {
            self.nodes.remove(name);
            if let Some(load) = self.loads.remove(name) {
                self.by_load.remove(&(load, name.to_owned()));
            }
        }
    }

    /// Recounts the pods of a node.
    fn count(&mut self, name: &str, index: &Index) {
        if !self.nodes.contains_key(name) {
            return;
        }
        let load = index.pods.count_on(name);
        let before = self.loads.insert(name.to_owned(), load);
        if before == Some(load) {
            return;
        }
        if let Some(before) = before {
            self.by_load.remove(&(before, name.to_owned()));
        }
        self.by_load.insert((load, name.to_owned()));
    }

    fn look_again(&mut self, due: &mut Due<'_>) {
        for key in std::mem::take(&mut self.waiting) {
            due.add(key, Duration::ZERO);
        }
    }

    /// The node for a pod of this specification.
    fn choose(&self, spec: &Value) -> Option<&Node> {
        let mut nodes = self.by_load.iter();
        nodes.find_map(|(load, name)| {
            let node = self.nodes.get(name)?;
            let fits = *load < node.pods.unwrap_or(self.pods_per_node);
            (fits && node.accepts(spec)).then_some(node)
        })
    }
}

impl Controller for Scheduler {
    fn name(&self) -> &'static str {
        "scheduler"
    }

    fn observe(&mut self, change: &Observed<'_>, index: &Index, due: &mut Due<'_>) {
        if change.is_of(&core::node::KIND) {
            self.observe_node(change, index, due);
            return;
        }
        if !change.is_of(&core::pod::KIND) {
            return;
        }
        let key = change.key();
        match index.pods.get(key) {
            Some(pod) if !pod.node.is_empty() => {
                self.waiting.remove(key);
                self.count(&pod.node.clone(), index);
                if pod.is_finished() {
                    self.look_again(due);
                }
            }
            Some(pod) if pod.is_active() => due.add(key.clone(), Duration::ZERO),
            _ => {
                self.waiting.remove(key);
            }
        }
        if let (Some((before, _)), None) = (&change.before, &change.after) {
            self.count(before.field("spec.nodeName"), index);
            self.look_again(due);
        }
    }

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, _due: &mut Due<'_>) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let pod = stored.to_value();
        let spec = &pod["spec"];
        let is_gated = spec["schedulingGates"]
            .as_array()
            .is_some_and(|gates| !gates.is_empty());
        let is_ours = matches!(text(&spec["schedulerName"]), "" | NAME);
        let is_placed = !text(&spec["nodeName"]).is_empty();
        let is_deleted = !pod["metadata"]["deletionTimestamp"].is_null();
        if is_gated || !is_ours || is_placed || is_deleted {
            return;
        }
        let now = cluster.now_text();
        if let Some(node) = self.choose(spec) {
            let name = node.name.clone();
            // As with a binding, the fields that are set have no owner, and the generation stays.
            let mut bound = pod.clone();
            bound["spec"]["nodeName"] = json!(name);
            set_scheduled(&mut bound, None, &now);
            cluster.tx.put(key, bound);
            let path = key.path();
            let message = format!("Successfully assigned {path} to {name}");
            cluster.event(&POD, &pod, "Scheduled", &message);
        } else {
            let count = self.nodes.len();
            let why = format!("0/{count} nodes are available");
            self.waiting.insert(key.clone());
            let status = ACTOR.of_status();
            cluster.update(key, status, |pod| set_scheduled(pod, Some(&why), &now));
        }
    }
}

/// Sets the condition that tells whether a pod has a node, or why not.
fn set_scheduled(pod: &mut Value, why_not: Option<&str>, now: &str) {
    let mut condition = json!({
        "type": "PodScheduled",
        "status": if why_not.is_some() { "False" } else { "True" },
        "lastProbeTime": null,
        "lastTransitionTime": now,
    });
    if let Some(why) = why_not {
        condition["reason"] = json!("Unschedulable");
        condition["message"] = json!(why);
    }
    let mut conditions = pod["status"]["conditions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let before = conditions
        .iter()
        .position(|known| known["type"] == "PodScheduled");
    match before {
        Some(at) if conditions[at]["status"] == condition["status"] => return,
        Some(at) => conditions[at] = condition,
        None => conditions.push(condition),
    }
    pod["status"]["conditions"] = conditions.into();
}
