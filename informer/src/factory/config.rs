//! Settings of a request for an informer beside those that identify it.

use std::{fmt, sync::Arc};

use crate::{indexer::IndexFn, reflector::ReflectorObserver};

/// Indices and observers that an informer is to have, whether it is made for this request or was there before.
///
/// # Examples
///
/// ```
/// use informer::{IndexFn, factory::{InformerConfig, SharedInformerFactory}};
/// use k8s_openapi::api::core::v1::Pod;
///
/// # async fn example(factory: SharedInformerFactory) -> Result<(), Box<dyn std::error::Error>> {
/// let config = InformerConfig::<Pod>::new().with_index("team", IndexFn::by_label("team"));
/// let pods = factory.informer_with(config).await?;
/// factory.start();
/// let of_red_team = pods.lister().by_index("team", "red")?;
/// # drop(of_red_team);
/// # Ok(())
/// # }
/// ```
pub struct InformerConfig<K> {
    pub(super) indices: Vec<(Arc<str>, IndexFn<K>)>,
    pub(super) observers: Vec<Arc<dyn ReflectorObserver>>,
}

// === impl InformerConfig ===

impl<K> InformerConfig<K> {
    /// Nothing but what every informer has.
    pub fn new() -> Self {
        Self {
            indices: Vec::new(),
            observers: Vec::new(),
        }
    }

    /// Adds an index of this name. If the informer has one of this name already, that one is kept: all users of an
    /// informer must agree on what the names of its indices mean.
    #[doc(alias = "AddIndexers")]
    #[must_use]
    pub fn with_index(mut self, name: impl Into<Arc<str>>, function: IndexFn<K>) -> Self {
        self.indices.push((name.into(), function));
        self
    }

    /// Tells `observer` how the reflector is doing, from the first request on if the informer is made for this one, else
    /// from now on. It stays for as long as the factory keeps the informer.
    #[doc(alias = "SetWatchErrorHandler")]
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn ReflectorObserver>) -> Self {
        self.observers.push(observer);
        self
    }
}

impl<K> Default for InformerConfig<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for InformerConfig<K> {
    fn clone(&self) -> Self {
        Self {
            indices: self.indices.clone(),
            observers: self.observers.clone(),
        }
    }
}

impl<K> fmt::Debug for InformerConfig<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.indices.iter().map(|(name, _)| name);
        f.debug_struct("InformerConfig")
            .field("indices", &names.collect::<Vec<_>>())
            .field("observers", &self.observers.len())
            .finish()
    }
}
