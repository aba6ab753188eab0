//! The nodes and the pods on them, indexed for the scheduler, and kept with each change.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use fakeserver_server::store::ObjectKey;

use super::{
    groups::Groups,
    node::{Node, NodeInfo},
    pod::PodInfo,
    pod_affinity::AntiAffinities,
    taints::Taint,
};

type Pods = BTreeMap<ObjectKey, Arc<PodInfo>>;

/// The state of the cluster that pods are placed by.
///
/// # Memory
///
/// Some hundred bytes for each pod on a node, and some entries for each node.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    nodes: BTreeMap<Arc<str>, NodeInfo>,
    /// The nodes by how many pods they have.
    by_load: BTreeSet<(usize, Arc<str>)>,
    /// The nodes of pods.
    places: BTreeMap<ObjectKey, Arc<str>>,
    /// The pods of nodes that are not there.
    strays: BTreeMap<Arc<str>, Pods>,
    pub(super) anti_affinities: AntiAffinities,
    pub(super) groups: Groups,
    /// The pods for which nodes are cleared.
    nominated: BTreeMap<Arc<str>, Pods>,
    nominations: BTreeMap<ObjectKey, Arc<str>>,
    /// The number of nodes that some pods should keep away from.
    discouraging: usize,
    /// The number of pods that fit on a node that does not say it.
    pods_per_node: usize,
    version: u64,
}

// === impl Snapshot ===

impl Snapshot {
    pub(super) fn new(pods_per_node: usize) -> Self {
        Self {
            pods_per_node,
            ..Self::default()
        }
    }

    /// Returns a number that grows with each change.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Notes a change of objects beside nodes and pods.
    pub(super) fn touch(&mut self) {
        self.version += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, name: &str) -> Option<&NodeInfo> {
        self.nodes.get(name)
    }

    /// Returns all nodes in the order of their names.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &NodeInfo> {
        self.nodes.values()
    }

    /// Returns all nodes, those with the fewest pods first.
    pub(super) fn nodes_by_load(&self) -> impl Iterator<Item = &NodeInfo> {
        self.by_load
            .iter()
            .filter_map(|(_, name)| self.nodes.get(name))
    }

    /// Returns the number of pods that fit on a node.
    pub(super) fn limit(&self, node: &Node) -> usize {
        node.pods.unwrap_or(self.pods_per_node)
    }

    /// Returns whether pods should rather not be on some of the nodes.
    pub(super) fn discourages(&self) -> bool {
        self.discouraging > 0
    }

    /// Returns a pod on a node, and that node.
    pub(super) fn pod(&self, key: &ObjectKey) -> Option<(&Arc<str>, &Arc<PodInfo>)> {
        let name = self.places.get(key)?;
        let pod = match self.nodes.get(name) {
            Some(node) => node.pods.get(key),
            None => self.strays.get(name)?.get(key),
        };
        Some((name, pod?))
    }

    /// Returns the pods for which a node is cleared.
    pub(super) fn nominated(&self, node: &str) -> impl Iterator<Item = &Arc<PodInfo>> {
        self.nominated.get(node).into_iter().flat_map(Pods::values)
    }

    /// Puts a node in. False if nothing has changed that matters here.
    pub(super) fn set_node(&mut self, node: Node) -> bool {
        let name = Arc::clone(&node.name);
        let Some(before) = self.nodes.get_mut(&name) else {
            self.add_node(node);
            self.touch();
            return true;
        };
        if *before.node == node {
            return false;
        }
        self.discouraging += discourages(&node);
        self.discouraging -= discourages(&before.node);
        let old = std::mem::replace(&mut before.node, Arc::new(node));
        if old.labels != before.node.labels {
            for pod in before.pods.values() {
                self.anti_affinities.change(pod, &old, false);
                self.anti_affinities.change(pod, &before.node, true);
            }
        }
        self.touch();
        true
    }

    fn add_node(&mut self, node: Node) {
        let name = Arc::clone(&node.name);
        self.discouraging += discourages(&node);
        self.by_load.insert((0, Arc::clone(&name)));
        self.nodes.insert(Arc::clone(&name), NodeInfo::new(node));
        for pod in self.strays.remove(&name).unwrap_or_default().into_values() {
            self.add(&name, &pod);
        }
    }

    /// Takes a node out. Its pods stay until they are gone.
    pub(super) fn remove_node(&mut self, name: &str) {
        let Some(node) = self.nodes.get(name) else {
            return;
        };
        let name = Arc::clone(&node.node.name);
        let pods: Vec<Arc<PodInfo>> = node.pods.values().cloned().collect();
        for pod in &pods {
            self.take(&name, &pod.key);
        }
        if let Some(node) = self.nodes.remove(&name) {
            self.discouraging -= discourages(&node.node);
        }
        self.by_load.remove(&(0, Arc::clone(&name)));
        for pod in &pods {
            self.add(&name, pod);
        }
        self.touch();
    }

    /// Puts a pod on a node, and replaces former facts about the pod.
    pub(super) fn place(&mut self, pod: &Arc<PodInfo>, node: &str) {
        self.remove(&pod.key);
        let name = match self.nodes.get(node) {
            Some(info) => Arc::clone(&info.node.name),
            None => node.into(),
        };
        self.places.insert(pod.key.clone(), Arc::clone(&name));
        self.add(&name, pod);
        self.touch();
    }

    /// Notes when a pod on a node was started.
    pub(super) fn set_started(&mut self, key: &ObjectKey, started: &str) {
        let Some(name) = self.places.get(key) else {
            return;
        };
        let pods = match self.nodes.get_mut(name) {
            Some(node) => Some(&mut node.pods),
            None => self.strays.get_mut(name),
        };
        let pod = pods.and_then(|pods| pods.get_mut(key));
        if let Some(pod) = pod.filter(|pod| pod.started != started) {
            started.clone_into(&mut Arc::make_mut(pod).started);
        }
    }

    /// Takes a pod off its node, and returns both.
    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<(Arc<str>, Arc<PodInfo>)> {
        let name = self.places.remove(key)?;
        let pod = self.take(&name, key)?;
        self.touch();
        Some((name, pod))
    }

    fn add(&mut self, name: &Arc<str>, pod: &Arc<PodInfo>) {
        let Some(node) = self.nodes.get_mut(name) else {
            let strays = self.strays.entry(Arc::clone(name)).or_default();
            strays.insert(pod.key.clone(), Arc::clone(pod));
            return;
        };
        self.by_load.remove(&(node.pods.len(), Arc::clone(name)));
        node.add(pod);
        self.by_load.insert((node.pods.len(), Arc::clone(name)));
        self.anti_affinities.change(pod, &node.node, true);
        self.groups.change(pod, name, true);
    }

    fn take(&mut self, name: &Arc<str>, key: &ObjectKey) -> Option<Arc<PodInfo>> {
        let Some(node) = self.nodes.get_mut(name) else {
            let strays = self.strays.get_mut(name)?;
            let pod = strays.remove(key);
            if strays.is_empty() {
                self.strays.remove(name);
            }
            return pod;
        };
        self.by_load.remove(&(node.pods.len(), Arc::clone(name)));
        let pod = node.remove(key);
        self.by_load.insert((node.pods.len(), Arc::clone(name)));
        let pod = pod?;
        self.anti_affinities.change(&pod, &node.node, false);
        self.groups.change(&pod, name, false);
        Some(pod)
    }

    /// Returns whether a node, or none if its name is empty, is known to be cleared for a pod of this generation.
    pub(super) fn is_nominated(&self, key: &ObjectKey, node: &str, generation: i64) -> bool {
        let Some(name) = self.nominations.get(key) else {
            return node.is_empty();
        };
        let pods = self.nominated.get(name);
        let pod = pods.and_then(|pods| pods.get(key));
        **name == *node && pod.is_some_and(|pod| pod.generation == generation)
    }

    /// Clears a node for a pod, or none. Returns the node that was cleared for it before, if that
    /// is another.
    pub(super) fn nominate(
        &mut self,
        key: &ObjectKey,
        pod: Option<(&Arc<PodInfo>, &str)>,
    ) -> Option<Arc<str>> {
        let before = self.nominations.remove(key);
        if let Some(pods) = before
            .as_ref()
            .and_then(|name| self.nominated.get_mut(name))
        {
            pods.remove(key);
        }
        self.nominated.retain(|_, pods| !pods.is_empty());
        let after: Option<Arc<str>> = pod.map(|(_, name)| name.into());
        if let (Some((pod, _)), Some(name)) = (pod, &after) {
            let pods = self.nominated.entry(Arc::clone(name)).or_default();
            pods.insert(key.clone(), Arc::clone(pod));
            self.nominations.insert(key.clone(), Arc::clone(name));
        }
        if before.is_some() || after.is_some() {
            self.touch();
        }
        before.filter(|before| Some(before) != after.as_ref())
    }
}

fn discourages(node: &Node) -> usize {
    usize::from(node.taints.iter().any(Taint::is_preference))
}
