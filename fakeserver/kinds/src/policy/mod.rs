//! The group `policy`.

pub mod pod_disruption_budget;
