//! The cluster behind a fake API server: controllers of workloads, a scheduler, kubelets and their containers, and
//! simulated clusters of any size.
//!
//! This crate uses the server through [`fakeserver_server::nodes`] alone: the server asks the nodes about containers, and lets their
//! controllers work on its store.

pub mod containers;
pub mod workloads;
mod streams;
mod kubelet_api;
mod nodes;
pub mod simulated;

pub use self::{
    simulated::{Churn, ClusterOptions},
    workloads::{Stage, StageError, Workloads},
};
