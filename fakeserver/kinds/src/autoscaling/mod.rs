//! The group `autoscaling`.

pub mod horizontal_pod_autoscaler;
