//! What an index is made by: a function from an object to the values under which it is found.

use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::object::Object;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Function<K> = dyn Fn(&Object<K>) -> Result<Vec<Arc<str>>, BoxError> + Send + Sync;

/// Gives the values under which an index finds an object: none, one or many; duplicates count once.
///
/// It must be a function of the object alone, since an object is taken out of an index by asking again where it was put.
/// An object for which it fails or panics is stored, but not indexed, and reported; see
/// [`Snapshot::unindexed`](super::Snapshot::unindexed).
///
/// # Examples
///
/// ```
/// use informer::indexer::IndexFn;
/// use k8s_openapi::api::core::v1::Pod;
///
/// let by_node = IndexFn::of_value(|pod: &Pod| pod.spec.as_ref()?.node_name.clone());
/// let by_team = IndexFn::<Pod>::by_label("team");
/// # let _ = (by_node, by_team);
/// ```
#[doc(alias = "IndexFunc")]
pub struct IndexFn<K>(Arc<Function<K>>);

// === impl IndexFn ===

impl<K: 'static> IndexFn<K> {
    /// An index over what is known of every object without decoding: key, labels, owners.
    pub fn new<F, I>(function: F) -> Self
    where
        F: Fn(&Object<K>) -> I + Send + Sync + 'static,
        I: IntoIterator<Item: Into<Arc<str>>>,
    {
        Self::fallible(move |object| Ok::<_, BoxError>(function(object)))
    }

    /// An index over the object itself; one that does not decode is not indexed.
    pub fn of_value<F, I>(function: F) -> Self
    where
        F: Fn(&K) -> I + Send + Sync + 'static,
        I: IntoIterator<Item: Into<Arc<str>>>,
    {
        Self::fallible(move |object| object.get().map(|value| function(&value)))
    }

    /// An index whose function can fail.
    pub fn fallible<F, I, E>(function: F) -> Self
    where
        F: Fn(&Object<K>) -> Result<I, E> + Send + Sync + 'static,
        I: IntoIterator<Item: Into<Arc<str>>>,
        E: Into<BoxError>,
    {
        Self(Arc::new(move |object| {
            let values = function(object).map_err(Into::into)?;
            Ok(values.into_iter().map(Into::into).collect())
        }))
    }

    /// An index by the value of the label `label`.
    pub fn by_label(label: impl Into<String>) -> Self {
        let label = label.into();
        Self::new(move |object| object.labels().get(&label).map(str::to_owned))
    }

    /// An index by the uids of the owners.
    pub fn by_owner_uid() -> Self {
        Self::new(|object| {
            let uids = object.owners().iter().map(|owner| Arc::clone(&owner.uid));
            uids.collect::<Vec<_>>()
        })
    }
}

impl<K> IndexFn<K> {
    /// The values of `object`, sorted and distinct; or why there are none.
    pub(super) fn values(&self, object: &Object<K>) -> Result<Vec<Arc<str>>, Arc<str>> {
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.0)(object)));
        let mut values = match outcome {
            Ok(Ok(values)) => values,
            Ok(Err(error)) => return Err(error.to_string().into()),
            Err(panic) => return Err(panic_message(&*panic)),
        };
        values.sort_unstable();
        values.dedup();
        Ok(values)
    }
}

impl<K> Clone for IndexFn<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K> fmt::Debug for IndexFn<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexFn(_)")
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> Arc<str> {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!(
        "the index function panicked: {}",
        text.unwrap_or("no message")
    )
    .into()
}
