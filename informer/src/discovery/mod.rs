//! Asks a server what it serves: groups, versions, resources, and the failures to read them.
//!
//! - [`DiscoveryClient`] sends new requests for each call, in the aggregated form (two requests for everything) or the
//!   plain one.
//! - [`CachedDiscovery`] remembers, reads a group again when something is missing in it, and answers in three ways:
//!   found, not served, unknown ([`Availability`]).
//! - [`ServerResources`] is the answer, a value; [`ServerResource`] is one resource in it.
//!
//! # Partial failure
//!
//! One extension API server that is down makes a part of the API unknown, not the rest. An answer therefore always
//! comes with its [`failures`](ServerResources::failures), and only the failure of the list of groups is an error.
//!
//! # Where client-go differs
//!
//! - *Missing for ever*: its memory cache answers a group version that it does not know from the cache alone until the
//!   program calls `Invalidate`, so that new custom resources stay unknown. Here a miss reads the group again, limited
//!   by [`CacheOptions::miss_ttl`] and a rate limit.
//! - *Unknown taken for missing*: its convenience functions drop the error as soon as there is any result. Here [`Availability::Unknown`]
//!   and the failures stay with the answer.
//! - *All or nothing*: it throws aggregated resources away if only one of `/api` and `/apis` answers in that form. Here
//!   each endpoint falls back by itself.
//! - *Retries of everything*: one failing group has it read all groups twice. Here only what failed is asked for again,
//!   and by its own path, which has the reason where the aggregated document says only that it is stale.
//! - *Stale versions vanish* from the group there. Here they stay in it, with the failure, and do not count as
//!   preferred.
//! - *An empty document is an empty cluster*: here a document has to say what it is, so that a proxy's `{}` is an error.
//! - *One wait for all*: every access to its cache holds one lock during requests. Here what is known never waits.
//!
//! Left out: the cache on disk (a program that runs for long has no use for it), the OpenAPI documents (kube has them),
//! and the beta form of aggregated discovery, whose servers answer in the plain one.

mod names;
mod resource;
mod table;
mod wire;
mod client;
mod ledger;
mod cached;
mod options;
mod error;
#[cfg(test)]
pub(crate) mod tests;

pub use self::{
    cached::CachedDiscovery,
    client::DiscoveryClient,
    error::{DiscoveryError, DiscoveryFailure},
    names::{
        GroupKind, GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource,
        ParseNameError,
    },
    options::{CacheOptions, DiscoveryOptions},
    resource::{ServerResource, Subresource},
    table::{Availability, ServerGroup, ServerResources, ServerVersion},
};
pub(crate) use self::{ledger::Scope, resource::api_resource};
