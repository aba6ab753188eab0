//! The pods on nodes, counted by namespace and labels: the pods of one workload are asked about once.

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_value::object::Pairs;

use super::pod::PodInfo;

/// The numbers of pods on nodes, by namespace, then by labels.
///
/// # Memory
///
/// An entry for each set of labels in a namespace, and one in it for each node.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups(BTreeMap<Box<str>, BTreeMap<Pairs, Group>>);

/// The numbers of pods with the same labels, by node.
pub(super) type Group = BTreeMap<Arc<str>, Count>;

/// A number of pods on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    all: i64,
    deleted: i64,
}

// === impl Groups ===

impl Groups {
    /// Adds a pod on a node, or takes it away.
    pub(super) fn change(&mut self, pod: &PodInfo, node: &Arc<str>, is_added: bool) {
        let by = if is_added { 1 } else { -1 };
        let namespace = pod.namespace();
        let groups = match self.0.get_mut(namespace) {
            Some(groups) => groups,
            None => self.0.entry(namespace.into()).or_default(),
        };
        let group = match groups.get_mut(&pod.labels) {
            Some(group) => group,
            None => groups.entry(pod.labels.clone()).or_default(),
        };
        let count = group.entry(Arc::clone(node)).or_default();
        count.all += by;
        count.deleted += if pod.is_deleted { by } else { 0 };
        if count.all == 0 {
            group.remove(node);
        }
        if group.is_empty() {
            groups.remove(&pod.labels);
        }
        if groups.is_empty() {
            self.0.remove(namespace);
        }
    }

    /// Returns the groups that are selected by namespace and by labels.
    pub(super) fn matching(
        &self,
        near: impl Fn(&str) -> bool,
        selects: impl Fn(&Pairs) -> bool,
    ) -> impl Iterator<Item = (&Pairs, &Group)> {
        let namespaces = self.0.iter().filter(move |(name, _)| near(name));
        namespaces
            .flat_map(|(_, groups)| groups)
            .filter(move |(labels, _)| selects(labels))
    }
}

// === impl Count ===

impl Count {
    pub(super) fn all(self) -> i64 {
        self.all
    }

    /// The number of those that are not being deleted.
    pub(super) fn staying(self) -> i64 {
        self.all - self.deleted
    }
}
