//! The group `metrics.k8s.io`: the usage of nodes and pods. Nothing of it is stored; it is worked out when it is read.

pub mod usage;
pub mod node_metrics;
pub mod pod_metrics;
mod group;

pub use self::group::{GROUP, VERSION, group, versions};

/// The time over which usage is measured.
const WINDOW: &str = "15s";
