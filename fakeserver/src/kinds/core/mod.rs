//! The core group.

pub(crate) mod binding;
pub(crate) mod component_status;
pub(crate) mod config_map;
mod data;
pub(crate) mod endpoints;
pub(crate) mod event;
pub(crate) mod limit_range;
pub(crate) mod namespace;
pub(crate) mod node;
pub(crate) mod persistent_volume;
pub(crate) mod persistent_volume_claim;
pub(crate) mod pod;
pub(crate) mod pod_template;
pub(crate) mod replication_controller;
pub(crate) mod resource_quota;
pub(crate) mod secret;
pub(crate) mod service;
pub(crate) mod service_account;
