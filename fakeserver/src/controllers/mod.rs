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
mod meta;
#[cfg(feature = "controllers")]
mod kind;
mod index;
mod queue;
pub(crate) mod written;
mod cluster;
mod controller;
mod driver;
mod manager;
mod definitions;
mod api_services;
mod flow_schemas;
mod kept_objects;
mod namespaces;
mod garbage_collector;
mod protection;
mod quota;
mod leader_election;
#[cfg(feature = "controllers")]
mod cluster_role_aggregation;
#[cfg(feature = "controllers")]
mod service_account_tokens;
#[cfg_attr(not(feature = "controllers"), path = "service_accounts_off.rs")]
mod service_accounts;
#[cfg_attr(not(feature = "tls"), path = "certificates_off.rs")]
mod certificates;
#[cfg_attr(not(feature = "cel"), path = "policy_status_off.rs")]
mod policy_status;
#[cfg_attr(not(feature = "controllers"), path = "workloads_off.rs")]
mod workloads;

pub(crate) use self::manager::ControllerManager;
pub use self::options::Controllers;
#[cfg(not(feature = "controllers"))]
pub(crate) use self::workloads::Workloads;
#[cfg(feature = "cluster")]
pub(crate) use self::workloads::template_hash;
#[cfg(feature = "controllers")]
pub use self::workloads::{Stage, StageError, Workloads};
use crate::write::{self, Backend};

/// Ends what was going away when the state of the store was saved.
pub(crate) fn resume(backend: &Backend) {
    namespaces::resume(backend);
    definitions::resume(backend);
}

/// Takes the store back by `revisions`, and ends what was going away then.
pub(crate) fn roll_back(backend: &Backend, revisions: u64) {
    write::roll_back(backend, revisions);
    resume(backend);
}
