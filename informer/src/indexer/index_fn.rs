//! Index functions: from an object to the values under which it is found.

use std::{fmt, sync::Arc};

use crate::{
    field_path::{FieldPath, Fields, ParseFieldPathError},
    object::{Metadata, Object, Reads},
    object_fn::{BoxError, ObjectFn},
};

/// Gives the values under which an index finds an object: none, one or many; duplicates count once.
///
/// There are three kinds, and [`reads`](Self::reads) returns which: over metadata, over a field, and over the object
/// itself. Take the first that will do, since the last forces every object to be decoded where a store holds it
/// compressed.
///
/// The values must depend on the object alone, since an object is taken out of an index by asking again where it was put.
/// An object for which it fails or panics is stored, but not indexed, and reported; see
/// [`Snapshot::unindexed`](super::Snapshot::unindexed).
///
/// To find objects by several things at once, give values made of them, as in `format!("{namespace}/{node}")`.
///
/// # Examples
///
/// ```
/// use informer::IndexFn;
/// use k8s_openapi::api::core::v1::Pod;
///
/// let by_team = IndexFn::<Pod>::by_label("team");
/// let by_node = IndexFn::<Pod>::by_field(".spec.nodeName")?;
/// let by_restarts = IndexFn::of_value(|pod: &Pod| {
///     let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
///     Some(statuses.iter().map(|status| status.restart_count).sum::<i32>().to_string())
/// });
/// # let _ = (by_node, by_team, by_restarts);
/// # Ok::<(), informer::field_path::ParseFieldPathError>(())
/// ```
#[doc(alias = "IndexFunc")]
#[doc(alias = "TypedIndexFunc")]
pub struct IndexFn<K>(ObjectFn<K, Vec<Arc<str>>>);

// === impl IndexFn ===

impl<K: 'static> IndexFn<K> {
    /// An index over what is known of every object without decoding.
    pub fn of_metadata<F, I>(function: F) -> Self
    where
        F: Fn(&Metadata) -> I + Send + Sync + 'static,
        I: IntoIterator<Item: Into<Arc<str>>>,
    {
        Self(ObjectFn::of_metadata(move |metadata| {
            function(metadata).into_iter().map(Into::into).collect()
        }))
    }

    /// An index by the values of a field, as in `.spec.nodeName` or `.spec.containers[*].image`; see [`FieldPath`].
    ///
    /// # Errors
    ///
    /// The text is not such a path; the error names the place.
    pub fn by_field(path: &str) -> Result<Self, ParseFieldPathError>
    where
        K: Fields,
    {
        let path: FieldPath = path.parse()?;
        Ok(Self(ObjectFn::of_field(path, |values| values)))
    }

    /// An index over the object itself.
    pub fn of_value<F, I>(function: F) -> Self
    where
        F: Fn(&K) -> I + Send + Sync + 'static,
        I: IntoIterator<Item: Into<Arc<str>>>,
    {
        Self::new(move |object| function(object.get()))
    }

    /// An index over the handle, from which both the metadata and the object can be had. It counts as one over the object.
    pub fn new<F, I>(function: F) -> Self
    where
        F: Fn(&Object<K>) -> I + Send + Sync + 'static,
        I: IntoIterator<Item: Into<Arc<str>>>,
    {
        Self::fallible(move |object| Ok::<_, BoxError>(function(object)))
    }

    /// The same with a function that can fail.
    pub fn fallible<F, I, E>(function: F) -> Self
    where
        F: Fn(&Object<K>) -> Result<I, E> + Send + Sync + 'static,
        I: IntoIterator<Item: Into<Arc<str>>>,
        E: Into<BoxError>,
    {
        Self(ObjectFn::of_object(move |object| {
            let values = function(object).map_err(Into::into)?;
            Ok(values.into_iter().map(Into::into).collect())
        }))
    }

    /// An index by the value of the label `label`.
    pub fn by_label(label: impl Into<String>) -> Self {
        let label = label.into();
        Self::of_metadata(move |metadata| metadata.labels.get(&label).map(str::to_owned))
    }

    /// An index by the uids of the owners.
    pub fn by_owner_uid() -> Self {
        Self::of_metadata(|metadata| {
            let uids = metadata.owners.iter().map(|owner| Arc::clone(&owner.uid));
            uids.collect::<Vec<_>>()
        })
    }
}

impl<K> IndexFn<K> {
    /// Returns the part of an object that it reads.
    pub fn reads(&self) -> Reads {
        self.0.reads()
    }

    /// The field it is by, if it is by a field.
    pub fn field_path(&self) -> Option<&FieldPath> {
        self.0.field_path()
    }

    /// The values of `object`, sorted and distinct; or why there are none.
    pub(super) fn values(&self, object: &Object<K>) -> Result<Vec<Arc<str>>, Arc<str>> {
        let mut values = self.0.read(object, "index function")?;
        values.sort_unstable();
        values.dedup();
        Ok(values)
    }
}

impl<K> Clone for IndexFn<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> fmt::Debug for IndexFn<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field_path() {
            Some(path) => write!(f, "IndexFn({path})"),
            None => write!(f, "IndexFn({:?})", self.reads()),
        }
    }
}
