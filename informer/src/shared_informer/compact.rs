//! Transforms of compact objects, which run when an object is decoded.

use std::{convert::Infallible, error::Error, sync::Arc};

use super::{
    SharedInformerBuilder,
    transform::{Function, Transform},
};
use crate::{
    compact::{Change, Compact},
    list_watch::ListWatch,
    object::Object,
};

// === impl SharedInformerBuilder ===

impl<K, L> SharedInformerBuilder<Compact<K>, L>
where
    K: Send + Sync + 'static,
    L: ListWatch<Compact<K>>,
{
    /// Changes each object whenever it is decoded.
    ///
    /// Key, uid, version, labels and owners of the handle stay as they arrived. If the transform panics,
    /// [`decode`](Object#method.decode) fails.
    pub fn with_decode_transform(self, transform: impl Fn(&mut K) + Send + Sync + 'static) -> Self {
        self.with_fallible_decode_transform(move |object| {
            transform(object);
            Ok::<_, Infallible>(())
        })
    }

    /// The same with a transform that can fail: then [`decode`](Object#method.decode) fails.
    pub fn with_fallible_decode_transform<F, E>(self, transform: F) -> Self
    where
        F: Fn(&mut K) -> Result<(), E> + Send + Sync + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.with_transform_stage(Transform::on_decode(transform))
    }
}

// === impl Transform ===

impl<K: Send + Sync + 'static> Transform<Compact<K>> {
    /// Changes objects when they are decoded.
    fn on_decode<F, E>(transform: F) -> Self
    where
        F: Fn(&mut K) -> Result<(), E> + Send + Sync + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let change: Arc<Change<K>> = Arc::new(move |value| transform(value).map_err(Into::into));
        let function: Arc<Function<Compact<K>>> =
            Arc::new(move |object: Object<Compact<K>>| Ok(object.with_change(&change)));
        Self::of(function)
    }
}
