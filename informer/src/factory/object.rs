//! The types of objects that a factory makes informers of.

use kube::Resource;
use serde::de::DeserializeOwned;

use self::sealed::Sealed;
use super::options::Options;
#[cfg(feature = "compact")]
use crate::compact::Compact;
use crate::{discovery::GroupResource, http::HttpListWatch};

/// A type of objects that a factory makes informers of: a [`Resource`], or `Compact` of one.
///
/// The trait is sealed: every type that can be decoded has it.
#[diagnostic::on_unimplemented(
    message = "a factory cannot make informers of `{Self}`",
    label = "neither a `kube::Resource` that can be decoded, nor `Compact` of one",
    note = "a custom resource is what `#[derive(kube::CustomResource)]` makes of its spec"
)]
pub trait FactoryObject: Sealed<Self::Resource> + Send + Sync + 'static {
    /// The resource that is listed and watched.
    type Resource: Resource + DeserializeOwned + Send + Sync + 'static;
}

mod sealed {
    use super::{super::options::Options, GroupResource, HttpListWatch};

    pub trait Sealed<R>: Sized {
        /// Lists and watches objects of this type in place of plain ones.
        fn list_watch(
            plain: HttpListWatch<R>,
            resource: &GroupResource,
            options: &Options,
        ) -> HttpListWatch<Self>;
    }
}

// === impl FactoryObject ===

impl<K: Resource + DeserializeOwned + Send + Sync + 'static> FactoryObject for K {
    type Resource = K;
}

impl<K: Resource + DeserializeOwned + Send + Sync + 'static> Sealed<K> for K {
    fn list_watch(plain: HttpListWatch<K>, _: &GroupResource, _: &Options) -> HttpListWatch<K> {
        plain
    }
}

#[cfg(feature = "compact")]
impl<K: Resource + DeserializeOwned + Send + Sync + 'static> FactoryObject for Compact<K> {
    type Resource = K;
}

#[cfg(feature = "compact")]
impl<K: Resource + DeserializeOwned + Send + Sync + 'static> Sealed<K> for Compact<K> {
    fn list_watch(
        plain: HttpListWatch<K>,
        resource: &GroupResource,
        options: &Options,
    ) -> HttpListWatch<Compact<K>> {
        plain.compact(options.compact(resource).clone())
    }
}
