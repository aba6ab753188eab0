//! Whole controllers: a kind, what it owns and watches, and a function that brings the cluster to the state that an object asks
//! for.
//!
//! A [`Controller`] joins what this crate has in parts: informers, a queue, workers, finalizers, and a gate for one's own writes.
//! A [`Manager`](crate::manager::Manager) runs it.
//!
//! # Examples
//!
//! ```
//! use informer::{controller::Controller, manager::Manager, workqueue::Action};
//! use k8s_openapi::api::core::v1::ConfigMap;
//! # use kube::Api;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! # let server = fakeserver::FakeServer::builder().build();
//! // Every config map has a copy, which goes with it.
//! let controller = Controller::<ConfigMap>::new("copies")
//!     .owns::<ConfigMap>()
//!     .reconcile(async |ctx, _| {
//!         let original = match ctx.object() {
//!             Some(object) if object.owners().is_empty() => object.get(),
//!             _ => return Ok(Action::AwaitChange),
//!         };
//!         let mut copy = ConfigMap::default();
//!         copy.metadata.name = original.metadata.name.as_ref().map(|name| format!("{name}-copy"));
//!         copy.metadata.owner_references = ctx.owner_reference().map(|owner| vec![owner]);
//!         copy.data = original.data.clone();
//!         ctx.apply(&copy).await?;
//!         Ok::<_, kube::Error>(Action::AwaitChange)
//!     });
//! # let client = server.client();
//! # let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
//! # let mut map = ConfigMap::default();
//! # map.metadata.name = Some("web".to_owned());
//! # api.create(&Default::default(), &map).await?;
//! let manager = Manager::new(client).with_controller(controller).start();
//! manager.settle().await?;
//! # assert!(api.get_opt("web-copy").await?.is_some());
//! manager.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises
//!
//! - A key is reconciled after the last change that satisfies its source's [`Predicate`], one reconcile of it at a time.
//! - A reconcile reads caches that show what the reconcile of that key before it wrote ([`ConsistencyGate`]).
//! - An error, a panic or a reconcile of more than two minutes is tried again after a growing delay; a [`Terminal`] error is not.
//! - A status that the controller writes does not wake it ([`Predicate::spec_changed`]).
//! - Nothing is made for an object before its finalizer is on, and the object stays until a clean-up succeeded.
//!
//! # Where it differs from controller-runtime
//!
//! | there | here |
//! |---|---|
//! | a reconcile may not see its own writes | it waits until it does |
//! | a client that reads from caches | [`Context::object`], [`Context::lister`] for caches, [`Context::client`] for the server |
//! | the first read of a kind starts a cache | caches are named when the controller is made |
//! | `source.Channel` | [`ExternalSource`], for [`Controller::woken_by`] |
//! | `controllerutil.AddFinalizer` in each reconcile | [`Controller::with_finalizer`] |
//! | `CreateOrUpdate` | [`Context::apply`], which sends nothing where nothing would change |
//! | `EnqueueRequestsFromMapFunc` | the function of [`Controller::watches`] |

mod error;
mod predicate;
mod external_source;
mod request;
mod finalizer;
mod pending;
mod gate;
mod owned_fields;
mod context;
mod runnable;
mod driver;
mod builder;
#[cfg(test)]
mod tests;

pub(crate) use self::runnable::{
    Activity, CacheSource, FollowedCache, OwnedShard, PreparedController, Running,
};
pub use self::{
    builder::{Controller, ControllerKind},
    context::{Context, UnknownKind},
    error::Terminal,
    external_source::ExternalSource,
    finalizer::{Finalizer, FinalizerStep},
    gate::{ConsistencyGate, GateError},
    predicate::Predicate,
    runnable::Runnable,
};
