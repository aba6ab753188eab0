//! The common case: one object, by name.

use std::time::Duration;

use kube::Resource;
use serde::de::DeserializeOwned;

use super::{ObjectState, UntilError, Waiter};
use crate::{
    http::{HttpListWatch, Scope},
    object::ObjectKey,
};

/// Waits until `condition` holds of the object `name` in `scope`, for `limit` at most, and gives the state in which it held.
/// [`Scope::All`] is for resources without namespaces.
///
/// The condition is asked about the present state, as of a moment after the call, and then after each change, deletions
/// included. [`exists`](super::exists) and [`deleted`](super::deleted) are conditions.
///
/// # Errors
///
/// As of [`Waiter::until_object`].
///
/// # Panics
///
/// If the condition does.
///
/// # Cancel safety
///
/// Nothing is left behind if dropped.
#[doc(alias = "Until")]
pub async fn until<K, C, E>(
    client: kube::Client,
    scope: Scope,
    name: &str,
    limit: Duration,
    condition: C,
) -> Result<ObjectState<K>, UntilError<E>>
where
    K: Resource<DynamicType: Default> + DeserializeOwned + Send + Sync + 'static,
    C: FnMut(&ObjectState<K>) -> Result<bool, E>,
{
    let key = match &scope {
        Scope::All => ObjectKey::cluster(name),
        Scope::Namespace(namespace) => ObjectKey::new(namespace.as_str(), name),
    };
    let one = HttpListWatch::new(client, scope).with_fields(format!("metadata.name={name}"));
    let mut waiter = Waiter::new(one);
    waiter.until_object(limit, &key, condition).await
}
