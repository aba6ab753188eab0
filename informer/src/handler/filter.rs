//! Which objects are wanted.

use std::{fmt, sync::Arc};

use crate::{
    field_path::{FieldPath, Fields, ParseFieldPathError},
    object::{Metadata, Object, Reads},
    object_fn::{BoxError, ObjectFn},
};

/// Accepts some objects and not others.
///
/// As with an [`IndexFn`](crate::IndexFn), there are three kinds, and [`reads`](Self::reads) returns which: over
/// metadata, over a field, and over the object itself. It must be a function of the object alone.
///
/// A filter saves memory and calls, not requests: the server sends what it rejects all the same. Where the server can select
/// by itself (by labels, and by some fields), let it:
/// [`with_labels`](crate::http::HttpListWatch::with_labels), [`with_fields`](crate::http::HttpListWatch::with_fields).
///
/// # Examples
///
/// ```
/// use informer::Filter;
/// use k8s_openapi::api::core::v1::Pod;
///
/// let owned = Filter::<Pod>::of_metadata(|metadata| !metadata.owners.is_empty());
/// let mine = Filter::<Pod>::by_field(".spec.nodeName", |node| node == "node-1")?;
/// let failed = Filter::of_value(|pod: &Pod| {
///     pod.status.as_ref().is_some_and(|status| status.phase.as_deref() == Some("Failed"))
/// });
/// # let _ = (owned, mine, failed);
/// # Ok::<(), informer::field_path::ParseFieldPathError>(())
/// ```
pub struct Filter<K>(ObjectFn<K, bool>);

// === impl Filter ===

impl<K: 'static> Filter<K> {
    /// Accepts by what is known of every object without decoding.
    pub fn of_metadata(accepts: impl Fn(&Metadata) -> bool + Send + Sync + 'static) -> Self {
        Self(ObjectFn::of_metadata(accepts))
    }

    /// Accepts where `accepts` does so for any of the values of a field, as in `.spec.nodeName`; see [`FieldPath`].
    ///
    /// # Errors
    ///
    /// The text is not such a path; the error names the place.
    pub fn by_field(
        path: &str,
        accepts: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Result<Self, ParseFieldPathError>
    where
        K: Fields,
    {
        let path: FieldPath = path.parse()?;
        let any = move |values: Vec<Arc<str>>| values.iter().any(|value| accepts(value));
        Ok(Self(ObjectFn::of_field(path, any)))
    }

    /// Accepts by the object itself.
    pub fn of_value(accepts: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        Self(ObjectFn::of_object(move |object| Ok(accepts(object.get()))))
    }

    /// Accepts by the handle, with a function that can fail. It counts as one over the object.
    pub fn fallible<E>(
        accepts: impl Fn(&Object<K>) -> Result<bool, E> + Send + Sync + 'static,
    ) -> Self
    where
        E: Into<BoxError>,
    {
        Self(ObjectFn::of_object(move |object| {
            accepts(object).map_err(Into::into)
        }))
    }
}

impl<K> Filter<K> {
    /// Returns the part of an object that it reads.
    pub fn reads(&self) -> Reads {
        self.0.reads()
    }

    /// The field it reads, if it is over a field.
    pub fn field_path(&self) -> Option<&FieldPath> {
        self.0.field_path()
    }

    /// Returns whether `object` is accepted; one that cannot be read, or for which the function panics, is not.
    pub fn accepts(&self, object: &Object<K>) -> bool {
        self.check(object).unwrap_or(false)
    }

    /// The same, with the reason why it cannot be said.
    pub(crate) fn check(&self, object: &Object<K>) -> Result<bool, Arc<str>> {
        self.0.read(object, "filter")
    }
}

impl<K> Clone for Filter<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> fmt::Debug for Filter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field_path() {
            Some(path) => write!(f, "Filter({path})"),
            None => write!(f, "Filter({:?})", self.reads()),
        }
    }
}
