//! The group `flowcontrol.apiserver.k8s.io`: priority and fairness.

pub(crate) mod flow_schema;
pub(crate) mod priority_level_configuration;
