//! Gives services addresses and ports as they are written.

use serde_json::Value;

use super::{Call, attempt::Attempt, write::Source};
use crate::{
    defaults::{Allocator, Problem},
    status::Status,
    storage::GroupResource,
};

/// Gives a service what it needs and does not have: addresses, ports on nodes, a port for health checks.
///
/// What it asks for has to be free, unless it comes from another cluster's dump. `old` is what an update replaces, of which
/// everything that it still needs is in `service` already.
pub(super) fn allocate(
    call: &Call<'_>,
    tx: &Attempt<'_, '_>,
    old: Option<&Value>,
    service: &mut Value,
    source: Source,
) -> Result<(), Status> {
    let is_service = (&*call.resource.group, &*call.resource.plural) == ("", "services");
    if !is_service || !call.subresource().is_empty() || !Allocator::concerns(old, service) {
        return Ok(());
    }
    let name = service["metadata"]["name"].as_str().unwrap_or_default();
    let name = name.to_owned();
    let own = call.key(&name);
    let all = tx.list(&GroupResource::new("", "services"), None);
    let others = all.iter().filter(|other| other.key() != &own);
    let allocator = Allocator::new(
        others.map(|other| other.to_value()),
        // They follow from its uid: what is random about one is random about all.
        seed(&service["metadata"]["uid"]),
        source != Source::Loaded,
    );
    allocator
        .fill(old, service)
        .map_err(|problem| match problem {
            Problem::Refused(error) => call.invalid(&name, &[error]),
            Problem::Full => Status::internal("failed to allocate a nodePort: range is full"),
        })
}

/// A number that differs between objects, and not between runs.
fn seed(uid: &Value) -> u64 {
    let digits = uid.as_str().unwrap_or_default().replace('-', "");
    u64::from_str_radix(digits.get(..16).unwrap_or_default(), 16).unwrap_or_default()
}
