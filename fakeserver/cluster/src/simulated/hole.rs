//! The placeholders that differ between the objects of one kind in a simulated cluster.

use fakeserver_server::store::{number_hole, raw_hole, text_hole};

/// A place in the prototype of an object that is filled in for each object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Placeholder {
    Name,
    Namespace,
    Uid,
    Created,
    /// The name of the workload that a pod or another object is of.
    App,
    /// The hash of the pod template.
    Hash,
    Owner,
    OwnerUid,
    Node,
    HostIp,
    /// Of a node the range of its pods.
    PodIp,
    /// The addresses of the second family.
    SecondHostIp,
    SecondPodIp,
    Started,
    Ready,
    /// The time at which a pod was deleted, or its node was lost.
    Ended,
    /// The version of an image, of which the digest is computed.
    Version,
    Digest,
    ContainerA,
    ContainerB,
    Restarts,
    Replicas,
    UpdatedReplicas,
    ReadyReplicas,
    MissingReplicas,
    Generation,
    Revision,
    ClusterIp,
    Zone,
    Number,
    Pods,
    /// The machine type of a node; its capacity and allocatable resources follow.
    InstanceType,
    Cpu,
    Memory,
    AllocatableCpu,
    AllocatableMemory,
    /// A list of JSON.
    List,
    Kind,
    ApiVersion,
    Reason,
    Message,
    Component,
    ObjectVersion,
    Renewed,
    Data,
}

/// The number of placeholders.
const COUNT: usize = Placeholder::Data as usize + 1;

/// The values of placeholders. A missing one is empty.
#[derive(Clone, Debug)]
pub(super) struct Values<'a>([&'a str; COUNT]);

// === impl Placeholder ===

impl Placeholder {
    /// The mark of a text, or of a part of one.
    pub(super) fn text(self) -> String {
        text_hole(self as u8)
    }

    /// The mark of a number.
    pub(super) fn number(self) -> i64 {
        number_hole(self as u8)
    }

    /// The mark of any value.
    pub(super) fn raw(self) -> String {
        raw_hole(self as u8)
    }
}

// === impl Values ===

impl<'a> Values<'a> {
    pub(super) fn new() -> Self {
        Self([""; COUNT])
    }

    pub(super) fn with(mut self, hole: Placeholder, value: &'a str) -> Self {
        self.0[hole as usize] = value;
        self
    }

    pub(super) fn with_all<const N: usize>(self, values: [(Placeholder, &'a str); N]) -> Self {
        let mut filled = self;
        for (hole, value) in values {
            filled = filled.with(hole, value);
        }
        filled
    }

    pub(super) fn slice(&self) -> &[&'a str] {
        &self.0
    }
}
