//! The group `flowcontrol.apiserver.k8s.io`: priority and fairness.

mod conditions;
pub(crate) mod flow_schema;
pub(crate) mod priority_level_configuration;
#[cfg(test)]
mod tests;
