//! Ready-made transforms: what most informers can do without.
//!
//! Each is given to [`with_transform`](crate::SharedInformerBuilder::with_transform), and runs once for each
//! object that was received. Transforms come in three forms, as indices and filters do:
//!
//! - over metadata: [`drop_managed_fields`], [`drop_annotations`];
//! - over fields: [`HttpListWatch::without_fields`](crate::http::HttpListWatch::without_fields), which skips them while
//!   decoding, so that they never take memory; [`drop_fields`] for objects that come from elsewhere;
//! - over the object itself: any function.
//!
//! # Examples
//!
//! ```
//! use informer::{Scope, SharedInformer, http::HttpListWatch, transform};
//! use k8s_openapi::api::core::v1::Pod;
//!
//! # fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
//! let pods = HttpListWatch::<Pod>::new(client, Scope::All).without_fields([".spec.volumes"])?;
//! let informer = SharedInformer::builder(pods)
//!     .with_transform(transform::drop_managed_fields)
//!     .build()?;
//! # Ok(())
//! # }
//! ```

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    field_path::{DroppedFields, FieldPath, ParseFieldPathError},
    serde_layer::{Layered, Rules},
};

/// Drops `metadata.managedFields`: who set which field, often the larger part of an object. Of a large list they are better left
/// out by [`HttpListWatch::without_fields`](crate::http::HttpListWatch::without_fields), before they take memory: a server that can
/// leave them out is asked to, too.
#[doc(alias = "managedFields")]
pub fn drop_managed_fields<K: kube::Resource>(object: &mut K) {
    object.meta_mut().managed_fields = None;
}

/// Drops the annotations of these names, as in `kubectl.kubernetes.io/last-applied-configuration`.
pub fn drop_annotations<K: kube::Resource>(
    names: impl IntoIterator<Item: Into<String>>,
) -> impl Fn(&mut K) + Send + Sync + 'static {
    let names: Vec<String> = names.into_iter().map(Into::into).collect();
    move |object| {
        if let Some(annotations) = &mut object.meta_mut().annotations {
            for name in &names {
                annotations.remove(name);
            }
        }
    }
}

/// Drops what these paths lead to, as in `.spec.template`; for
/// [`with_fallible_transform`](crate::SharedInformerBuilder::with_fallible_transform).
///
/// The transform writes the object out and reads it again. Where an object comes from a server,
/// [`HttpListWatch::without_fields`](crate::http::HttpListWatch::without_fields) does the same for nothing.
/// The transform fails for an object whose type needs a field that is dropped; its error does not quote the object.
///
/// # Errors
///
/// A text is not a path; the error names the place. See [`FieldPath`].
pub fn drop_fields<'a, K: Serialize + DeserializeOwned>(
    paths: impl IntoIterator<Item = &'a str>,
) -> Result<
    impl Fn(&mut K) -> Result<(), DropFieldsError> + Send + Sync + 'static,
    ParseFieldPathError,
> {
    let paths: Result<Vec<FieldPath>, _> = paths.into_iter().map(str::parse).collect();
    let paths = paths?;
    Ok(move |object: &mut K| {
        let whole = serde_json::to_value(&*object).map_err(|_| DropFieldsError)?;
        let dropped = DroppedFields::new(&paths);
        let pruned = Layered::new(whole, Rules::new(None, &dropped));
        *object = K::deserialize(pruned).map_err(|_| DropFieldsError)?;
        Ok(())
    })
}

/// An object cannot be without the fields that were to be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the type does not accept the object without the fields")]
pub struct DropFieldsError;
