//! Tests of discovery.
//!
//! - `server`: a scripted server, also used by the mapper's tests
//! - `wire`: the documents, recorded and made up
//! - `table`: what is read out of the table
//! - `client`: requests, fall-backs, partial failure, time limits
//! - `ledger`: when something is read again
//! - `cached`: the cache on the paused clock
//! - `names`: printing and reading back

pub(crate) mod server;
mod wire;
mod table;
mod client;
mod ledger;
mod cached;
mod names;

use kube::core::discovery::Scope;

use super::{GroupVersionKind, ServerGroup, ServerResource, ServerVersion};

/// A namespaced resource whose kind is its singular name with a capital.
pub(crate) fn resource(group: &str, version: &str, plural: &str, kind: &str) -> ServerResource {
    let kind = GroupVersionKind::new(group, version, kind);
    ServerResource::new(kind, plural, Scope::Namespaced)
}

/// A group all of whose versions have the same resources.
pub(crate) fn group(name: &str, versions: &[&str], resources: &[(&str, &str)]) -> ServerGroup {
    let version = |version: &&str| {
        let resources = resources.iter();
        let resources = resources.map(|(plural, kind)| resource(name, version, plural, kind));
        ServerVersion::served(version, resources.collect())
    };
    let group = ServerGroup::new(name, versions.iter().map(version));
    match versions.first() {
        Some(first) => group.with_preferred_version(first),
        None => group,
    }
}
