//! One attempt to place a pod: the filters in upstream's order, and the choice among the nodes that pass them.
//!
//! Upstream: `schedule_one.go`, and the default plugins of 1.36. Of the nodes that take a pod, the one with the fewest pods
//! is chosen, unless the pod has preferences.

use std::{collections::BTreeSet, sync::Arc};

use fakeserver_kinds::core::namespace;
use fakeserver_value::read::text;

use super::{
    devices::{Devices, NoDevices},
    node::{Node, NodeInfo, pairs},
    node_affinity::{CONFLICT, UNMATCHED, UNNAMED},
    objects::Objects,
    pod::{PodInfo, UnscheduledPod},
    pod_affinity::{AffinityState, AffinityTerm, Namespaces},
    ports::TAKEN,
    rejection::{Diagnosis, FitError, Rejection},
    score::Scores,
    snapshot::Snapshot,
    spread::SpreadState,
    taints::{CORDONED, UNTOLERATED, repel},
    volumes::Volumes,
};

/// A pod, and everything that its placing depends on.
pub(super) struct Cycle<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) pod: &'a UnscheduledPod,
    pub(super) namespaces: Namespaces,
    pub(super) volumes: Volumes,
    pub(super) devices: Devices,
    pub(super) state: State,
}

/// The pods on nodes, as far as they matter to a pod.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    affinity: AffinityState,
    spread: SpreadState,
}

// === impl Cycle ===

impl<'a> Cycle<'a> {
    /// Begins an attempt.
    ///
    /// # Errors
    ///
    /// No node can take the pod, whatever it has.
    pub(super) fn new(
        snapshot: &'a Snapshot,
        pod: &'a UnscheduledPod,
        objects: &dyn Objects,
    ) -> Result<Self, FitError> {
        if snapshot.len() == 0 {
            return Err(FitError::NoNodes);
        }
        let refuse = |why: String| FitError::Pod {
            nodes: snapshot.len(),
            why,
        };
        if pod.nodes.names().is_some_and(|names| names.is_empty()) {
            return Err(refuse(CONFLICT.to_owned()));
        }
        let is_used = |claim: &str| is_used(snapshot, &pod.info, claim);
        let volumes = Volumes::of(&pod.info, objects, is_used).map_err(refuse)?;
        let devices = Devices::of(&pod.info, objects).map_err(|why| match why {
            NoDevices::Unmade => FitError::Unready,
            NoDevices::Refused(why) => FitError::Claims {
                nodes: snapshot.len(),
                why,
            },
        })?;
        let namespaces = namespaces(snapshot, pod, objects);
        let nodes = |name: &str| snapshot.node(name).map(|info| Arc::clone(&info.node));
        let (anti, groups) = (&snapshot.anti_affinities, &snapshot.groups);
        let all = snapshot.nodes().map(|info| &info.node);
        let state = State {
            affinity: AffinityState::of(pod, anti, groups, &nodes, &namespaces),
            spread: SpreadState::of(pod, all, groups),
        };
        Ok(Self {
            snapshot,
            pod,
            namespaces,
            volumes,
            devices,
            state,
        })
    }

    /// Chooses a node.
    ///
    /// # Errors
    ///
    /// The reasons of all nodes.
    pub(super) fn choose(&self) -> Result<&'a NodeInfo, Diagnosis> {
        let mut diagnosis = Diagnosis {
            nodes: self.snapshot.len(),
            has_claims: self.devices.is_some(),
            ..Diagnosis::default()
        };
        // The nominated node comes first: its victims were evicted for this pod.
        let nominated = self.snapshot.node(&self.pod.nominated);
        if let Some(node) = nominated.filter(|node| self.reject(node).is_none()) {
            return Ok(node);
        }
        let names = self.pod.nodes.names();
        if names.is_some() {
            diagnosis.others = UNNAMED.into();
        }
        let mut scores = Scores::of(self);
        let mut best: Option<(i64, &NodeInfo)> = None;
        for node in self.candidates(names) {
            if let Some(rejection) = self.reject(node) {
                let name = Arc::clone(&node.node.name);
                diagnosis.rejections.insert(name, rejection);
                continue;
            }
            let Some(scores) = &mut scores else {
                // Without scores all nodes are equal, and the candidates are in order of their load: the first that fits is the best.
                return Ok(node);
            };
            let score = scores.of_node(&node.node);
            // `>` and not `>=`: of equal scores the node with fewer pods wins, which comes first.
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, node));
            }
        }
        best.map(|(_, node)| node).ok_or(diagnosis)
    }

    /// Returns the nodes to look at, those with the fewest pods first.
    fn candidates(
        &self,
        names: Option<BTreeSet<&'a str>>,
    ) -> Box<dyn Iterator<Item = &'a NodeInfo> + 'a> {
        let snapshot = self.snapshot;
        match names {
            Some(names) => {
                let mut nodes: Vec<&NodeInfo> = names
                    .into_iter()
                    .filter_map(|name| snapshot.node(name))
                    .collect();
                nodes.sort_by_key(|node| node.pods.len());
                Box::new(nodes.into_iter())
            }
            None => Box::new(snapshot.nodes_by_load()),
        }
    }

    /// Returns the reasons of a node against the pod, with and without the pods that it is cleared for.
    pub(super) fn reject(&self, node: &NodeInfo) -> Option<Rejection> {
        self.reject_in(node, &self.state)
    }

    /// Returns the reasons of a node in a state that may not be that of the cluster.
    pub(super) fn reject_in(&self, node: &NodeInfo, state: &State) -> Option<Rejection> {
        let pod = &self.pod.info;
        let before_it =
            |other: &&Arc<PodInfo>| other.priority >= pod.priority && other.uid != pod.uid;
        let nominated = self.snapshot.nominated(&node.node.name);
        let first: Vec<&Arc<PodInfo>> = nominated.filter(before_it).collect();
        if first.is_empty() {
            return self.filter(node, state);
        }
        let (mut fuller, mut state_then) = (node.clone(), state.clone());
        for other in first {
            fuller.add(other);
            self.change(&mut state_then, other, &node.node, 1);
        }
        // Upstream filters twice: with the nominated pods, which may take the place, and without them, on which an affinity must
        // not rely since they may never arrive.
        self.filter(&fuller, &state_then)
            .or_else(|| self.filter(node, state))
    }

    fn filter(&self, node: &NodeInfo, state: &State) -> Option<Rejection> {
        let pod = self.pod;
        // In the order of upstream's plugins, and only up to the first rejection: messages count the nodes by it.
        reject_locally(self.snapshot, pod, node)
            .or_else(|| self.volumes.reject(&node.node))
            .or_else(|| state.spread.reject(pod, &node.node))
            .or_else(|| state.affinity.reject(pod, &node.node, &self.namespaces))
            .or_else(|| self.devices.reject(&node.node))
    }

    /// Adds a pod on a node to a state, or takes it away.
    pub(super) fn change(&self, state: &mut State, other: &PodInfo, node: &Node, by: i64) {
        let namespaces = &self.namespaces;
        let affinity = &mut state.affinity;
        affinity.change(self.pod, other, node, by, namespaces);
        state.spread.change(self.pod, other, node, by);
    }
}

/// Returns the reasons of a node against a pod that do not depend on volumes, and on the pods of other nodes.
pub(super) fn reject_locally(
    snapshot: &Snapshot,
    pod: &UnscheduledPod,
    info: &NodeInfo,
) -> Option<Rejection> {
    let node = &info.node;
    if node.is_closed_to(&pod.tolerations) {
        return Some(Rejection::for_good(CORDONED));
    }
    if repel(&node.taints, &pod.tolerations) {
        return Some(Rejection::for_good(UNTOLERATED));
    }
    if !pod.nodes.include(node) {
        return Some(Rejection::for_good(UNMATCHED));
    }
    let mut ports = pod.info.ports.iter();
    if ports.any(|port| info.ports.iter().any(|taken| port.conflicts(taken))) {
        return Some(Rejection::for_now(TAKEN));
    }
    let offered = node.allocatable.as_ref();
    let lack = offered.and_then(|offered| offered.lack(&pod.info.requests, &info.requested));
    if info.pods.len() < snapshot.limit(node) {
        return lack;
    }
    let mut rejection = Rejection::for_now("Too many pods");
    if let Some(lack) = lack {
        rejection.reasons.extend(lack.reasons);
        rejection.is_final = lack.is_final;
    }
    Some(rejection)
}

/// Returns whether a pod on a node, another than `pod`, uses a claim of its namespace.
fn is_used(snapshot: &Snapshot, pod: &PodInfo, claim: &str) -> bool {
    let pods = snapshot.nodes().flat_map(|node| node.pods.values());
    let mut others = pods.filter(|other| other.namespace() == pod.namespace());
    others.any(|other| other.claims.iter().any(|used| used.name == claim))
}

/// Returns the labels of namespaces, if a term selects by them.
fn namespaces(snapshot: &Snapshot, pod: &UnscheduledPod, objects: &dyn Objects) -> Namespaces {
    let own = pod.affinity.iter();
    let own = own.chain(pod.info.anti_affinity.iter().map(|term| &**term));
    let preferred = pod.preferences.pods.iter().map(|(_, term)| term);
    let mut terms = own.chain(preferred);
    if !snapshot.anti_affinities.select_namespaces() && !terms.any(AffinityTerm::selects_namespaces)
    {
        return Namespaces::new();
    }
    let all = objects.list(&namespace::KIND).into_iter();
    all.map(|namespace| {
        let metadata = &namespace["metadata"];
        (
            text(&metadata["name"]).to_owned(),
            pairs(&metadata["labels"]),
        )
    })
    .collect()
}
