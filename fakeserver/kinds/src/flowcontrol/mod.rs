//! The group `flowcontrol.apiserver.k8s.io`: priority and fairness.

mod conditions;
pub mod flow_schema;
pub mod priority_level_configuration;
#[cfg(test)]
mod tests;
