//! The controllers behind the requests: they observe every change, and reconcile the stored state with the wanted one.
//!
//! ```text
//! storage ──► Feed ──► driver ──► Index, then Controller::observe ──► Queue of keys, each with its time
//!    ▲                                                                  │
//!    └────────────── Cluster, in one transaction ◄── Controller::reconcile
//! ```
//!
//! One task does everything, key by key, so that a run is the same again on a paused clock. No controller walks through
//! the world for one event: what belongs to what is found in the [`Index`](index::Index).
//! What a controller reads in a transaction, the index knows too: the feed is read to its end under the store's lock.

mod meta;
#[cfg(feature = "controllers")]
mod kind;
mod index;
mod queue;
pub(crate) mod written;
mod cluster;
mod controller;
mod driver;
pub(crate) mod definitions;
pub(crate) mod namespaces;
mod garbage_collector;
mod protection;
#[cfg_attr(not(feature = "controllers"), path = "workloads_off.rs")]
mod workloads;

pub(crate) use self::driver::start;
#[cfg(feature = "cluster")]
pub(crate) use self::workloads::template_hash;
