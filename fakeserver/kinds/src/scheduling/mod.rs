//! The group `scheduling.k8s.io`.

mod group;
pub mod priority_class;
pub mod pod_group;
pub mod workload;
