//! The controllers of a server: they observe every change, and reconcile the stored state with the wanted one.
//!
//! ```text
//! storage ──► Feed ──► driver ──► Index, then Controller::observe ──► Queue of keys, each with its time
//!    ▲                                                                  │
//!    └────────────── Cluster, in one transaction ◄── Controller::reconcile
//! ```
//!
//! One task reconciles key by key, so that a run on a paused clock can be repeated. No controller scans all objects for
//! one event: dependents are found in the [`Index`](index::Index). In a transaction the index is as new as the store:
//! the feed is read to its end under the store's lock.

mod options;
mod feed;
pub mod meta;
pub mod kind;
pub mod index;
pub mod queue;
pub mod written_object;
pub mod cluster;
pub mod correlation;
mod creation;
pub mod controller;
mod driver;
mod manager;
mod leadership;
mod definitions;
mod api_services;
mod flow_schemas;
mod kept_objects;
mod namespaces;
mod garbage_collector;
mod protection;
mod quota;
mod leader_election;
mod cluster_role_aggregation;
mod service_account_tokens;
mod service_accounts;
#[cfg_attr(not(feature = "tls"), path = "certificates_off.rs")]
mod certificates;
mod policy_status;
mod storage_migration;
pub mod pod_claims;
pub mod pods;

pub use self::manager::ControllerManager;
pub use self::options::EnabledControllers;
use crate::write::{self, Backend};

/// Ends what was going away when the state of the store was saved.
pub fn resume(backend: &Backend) {
    namespaces::resume(backend);
    definitions::resume(backend);
}

/// Takes the store back by `revisions`, and ends what was going away then.
pub fn roll_back(backend: &Backend, revisions: u64) {
    write::roll_back(backend, revisions);
    resume(backend);
}
