//! One shared informer for each resource, scope, selection and representation, however many ask for it.
//!
//! - [`SharedInformerFactory`] makes informers, and returns the same one to all callers that request the same.
//! - [`ScopedInformer`] is what it gives: the informer of its scope, or one a namespace, to be used as one.
//! - [`ScopedLister`] and [`ScopedRegistration`] are the same for reading and for a handler.
//!
//! # Examples
//!
//! ```
//! use std::time::Duration;
//!
//! use informer::{LabelSelector, factory::SharedInformerFactory};
//! use k8s_openapi::api::core::v1::Namespace;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Of a real cluster: `informer::http::client(kube::Config::infer().await?)?`.
//! let client = fakeserver::FakeServer::builder().build().client();
//! let factory = SharedInformerFactory::new(client);
//! let namespaces = factory.informer_for::<Namespace>();
//! factory.start();
//! // Once it runs, what is asked for later is started at once; here by a short name.
//! let pods = factory.for_resource_name("po").await?;
//! factory.wait_for_cache_sync(Duration::from_secs(10)).await?;
//! assert!(namespaces.lister().get("default").is_ok());
//! assert!(pods.lister().list(&LabelSelector::everything())?.is_empty());
//! factory.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! # What is the same informer
//!
//! Two requests share one reflector, one cache and one watch if they agree in resource (group, version and plural), scope,
//! [`Selectors`], representation (the Rust type, `DynamicObject`, or metadata only) and transform. Everything else (resync
//! periods, handlers, indices) belongs to those who ask, or is added to the informer that is there.
//!
//! Every `with_…` of a factory gives a view of it with other options, over the same informers. One for a part of a program
//! is made of a clone:
//!
//! ```
//! # use informer::factory::SharedInformerFactory;
//! # use k8s_openapi::api::core::v1::Pod;
//! # fn example(factory: &SharedInformerFactory) {
//! let of_team = factory.clone().with_namespace("team");
//! let pods = of_team.informer_for::<Pod>(); // not the same as `factory.informer_for::<Pod>()`
//! # }
//! ```
//!
//! Indices and observers come with a request, as an [`InformerConfig`]; the informer then has those of all requests.
//!
//! # Life of an informer
//!
//! A factory keeps its informers. [`start`](SharedInformerFactory::start) runs all of them, and from then on every
//! informer that is requested. [`shutdown`](SharedInformerFactory::shutdown) ends all, and the factory can be started
//! again: then each informer has a new generation, which takes over the cache, the indices and the handlers of the one
//! before, as after a long outage. Handlers are notified of what changed meanwhile, and of nothing that they know; an
//! object that was deleted meanwhile is delivered as a tombstone. Handles, listers and registrations stay valid. An
//! informer that was ended by other means resumes in the same way when it is requested.
//!
//! Handles are counted, but an informer does not end with its last handle: most programs add a handler, drop the handle
//! and want to receive further changes. [`release_unused`](SharedInformerFactory::release_unused) ends and forgets the
//! informers without a [`ScopedInformer`], with their handlers.
//!
//! # Where client-go differs
//!
//! - *An informer asked for after the start* waits there for another `Start`, which is easily forgotten. Here it runs.
//! - *The key is the type alone*, so that selectors and transforms of the second request are silently ignored.
//! - *A stopped informer is handed out again*, and receives no changes.
//! - *A namespace is put into the path of cluster-scoped resources* by the dynamic factory. Here it is left out.
//! - *A resource that is not served* is listed without success for ever. Here
//!   [`for_resource`](SharedInformerFactory::for_resource) asks discovery, and fails.
//! - *`Shutdown` only waits*, for ever if the context was not cancelled. Here it stops, and waits.

mod selectors;
mod object;
mod options;
mod config;
mod key;
mod error;
mod observers;
mod handler_slot;
mod managed_informer;
mod registration;
mod lister;
mod informer;
mod driver;
mod setters;
mod request;
#[cfg(test)]
mod tests;

#[cfg(feature = "controller")]
pub(crate) use self::request::is_namespaced;
pub use self::{
    config::InformerConfig,
    driver::SharedInformerFactory,
    error::{CacheSyncError, OutOfScope, UnsyncedInformer},
    informer::ScopedInformer,
    lister::ScopedLister,
    object::FactoryObject,
    registration::ScopedRegistration,
    selectors::Selectors,
};
