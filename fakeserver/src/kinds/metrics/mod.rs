//! The group `metrics.k8s.io`: the usage of nodes and pods. Nothing of it is stored; it is worked out when it is read.

pub(crate) mod usage;
pub(crate) mod node_metrics;
pub(crate) mod pod_metrics;
mod group;

pub(crate) use self::group::{GROUP, VERSION, group};

/// The time over which usage is measured.
const WINDOW: &str = "15s";
