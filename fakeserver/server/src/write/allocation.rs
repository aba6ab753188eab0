//! Allocates the addresses and ports of services.

use std::sync::Arc;

use fakeserver_kinds::{
    core::service::{
        self,
        allocator::{Allocator, Problem},
        families::complete_families,
        range::ServiceRange,
    },
    networking::service_cidr,
};
use fakeserver_value::{resource::GroupResource, status::Status};
use serde_json::Value;

use super::{Attempt, Source, Write, admission::Operation};
use crate::{
    store::Transaction,
    store::{ObjectKey, StoredObject},
};

/// Allocates the addresses and ports that a service lacks, including its health check port.
///
/// Requested addresses and ports must be free, unless the service is imported.
pub(super) fn allocate(attempt: &Attempt<'_, '_>, write: &mut Write<'_>) -> Result<(), Status> {
    if !write.creates(&service::KIND) && !write.updates(&service::KIND) {
        return Ok(());
    }
    let is_update = write.operation() == Operation::Update;
    let old = is_update.then_some(&write.old);
    let object = &mut write.new;
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let name = name.to_owned();
    let cluster = attempt.service_range();
    // Errors of addresses come first, without the errors of ports.
    let errors = complete_families(old, object, cluster);
    // A service of another cluster may be of families that this one does not have.
    if !errors.is_empty() && write.source != Source::Import {
        return Err(write.target.invalid(&name, &errors));
    }
    if !Allocator::concerns(old, object) {
        return Ok(());
    }
    let own = write.target.key(&name);
    let list = |resource: &GroupResource| attempt.list(resource, None);
    let is_strict = write.source != Source::Import;
    let allocator = allocator(list, cluster, (&own, object), is_strict);
    allocator
        .fill(old, object)
        .map_err(|problem| match problem {
            Problem::Refused(error) => write.target.invalid(&name, &[error]),
            Problem::Full(what) => {
                Status::internal(&format!("failed to allocate {what}: range is full"))
            }
        })
}

/// Allocates the addresses and ports of a controller's new service.
///
/// # Errors
///
/// A requested address or port is taken, or none is free, or the cluster does not have its families; the text names it.
pub fn allocate_created(
    tx: &Transaction<'_>,
    cluster: ServiceRange,
    key: &ObjectKey,
    service: &mut Value,
) -> Result<(), String> {
    let errors = complete_families(None, service, cluster);
    if let Some(error) = errors.first() {
        return Err(error.to_string());
    }
    if !Allocator::concerns(None, service) {
        return Ok(());
    }
    let list = |resource: &GroupResource| tx.list(resource, None);
    let allocator = allocator(list, cluster, (key, service), true);
    allocator
        .fill(None, service)
        .map_err(|problem| match problem {
            Problem::Refused(error) => error.to_string(),
            Problem::Full(what) => format!("failed to allocate {what}: range is full"),
        })
}

/// Returns the allocator for the service at `own`, beside all others that `list` has. It refuses what is not free if it is
/// `strict`.
fn allocator(
    list: impl Fn(&GroupResource) -> Vec<Arc<StoredObject>>,
    cluster: ServiceRange,
    (own, service): (&ObjectKey, &Value),
    strict: bool,
) -> Allocator {
    let all = list(service::KIND.storage());
    let others = all.iter().filter(|other| other.key() != own);
    let cidrs = list(service_cidr::KIND.storage());
    Allocator::new(
        cluster,
        cidrs.iter().map(|cidr| cidr.to_value()),
        others.map(|other| other.to_value()),
        seed(&service["metadata"]["uid"]),
        strict,
    )
}

/// Returns a number that differs between objects, and not between runs: it follows from the uid, which is random.
fn seed(uid: &Value) -> u64 {
    let digits = uid.as_str().unwrap_or_default().replace('-', "");
    u64::from_str_radix(digits.get(..16).unwrap_or_default(), 16).unwrap_or_default()
}
