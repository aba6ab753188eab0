//! client-go's informer machinery for Rust: a local, indexed, always-converging copy of cluster state.
//!
//! A [`SharedInformer`] lists one resource of a Kubernetes cluster and watches it from there on. What it heard is in an
//! [`Indexer`](indexer::Indexer) that any number of tasks read without waiting, and every change is told to any number of
//! [`EventHandler`]s. Whatever fails is tried again; however it failed, the copy ends up equal to the server.
//!
//! # Examples
//!
//! ```
//! use std::time::Duration;
//!
//! use informer::{HandlerFuncs, LabelSelector, Scope, SharedInformer};
//! use k8s_openapi::api::core::v1::Namespace;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Of a real cluster: `informer::http::client(kube::Config::infer().await?)?`.
//! let client = fakeserver::FakeServer::builder().build().client();
//! let namespaces = SharedInformer::<Namespace>::new(client, Scope::All);
//! let told = namespaces.add_handler(HandlerFuncs::new().with_add(|namespace, _| println!("{}", namespace.key())));
//! namespaces.start();
//! namespaces.wait_for_cache_sync(Duration::from_secs(10)).await?;
//! let all = namespaces.lister().list(&LabelSelector::everything())?;
//! assert!(all.iter().any(|namespace| namespace.key().name() == "default"));
//! namespaces.shutdown().await;
//! assert!(told.has_synced());
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! ```text
//! http           bytes of the response
//!    ▼
//! decode         list items and WatchEvents, one by one
//!    ▼   ListWatch: seam to the server
//! reflector      list, watch, resume, back off
//!    ▼   ReflectorStore: seam between stages
//! delta_fifo     changes in order, bounded
//!    ▼   shared_informer: the only writer
//! indexer        objects and indices ◄── lister
//!    ▼
//! processor      one mailbox and one task a handler
//!    ▼   EventHandler: seam to you
//! ```
//!
//! The modules are declared in the order in which data flows, so that this page reads as the flow chart.
//!
//! # What you may rely on
//!
//! - The cache shows a change before any handler hears of it, and never goes back in time for a key.
//! - A handler hears of one key in order, and of every deletion of what it has heard of, be it as a tombstone.
//! - A handler may join and leave at any time; a slow one, or one that panics, is nobody else's problem.
//! - A relist is told as what changed; what did not change stays where it is in memory.
//! - Objects are held decoded, or [compact] at a small fraction of the memory, behind the same handle.
//! - Every wait on the server has a limit, every task an owner: dropping the last handle of an informer ends it.
//!
//! # Pages
//!
//! - [`docs::clients`]: the clients of client-go, and what they are called here.
//! - [`docs::kube_runtime`]: from `reflector` and `Store` to an informer in ten lines.
//!
//! # Features
//!
//! - `tls` (default): connects to real clusters.
//! - `kube-runtime`: feeds a `kube_runtime::Controller` from shared informers.
//! - `testing`: a scripted [`ListWatch`] and a handler that records.

// Vocabulary.
pub mod object;
pub mod field_path;
mod reading;
pub mod compact;
pub mod backoff;
mod entropy;
pub mod task;
pub mod metrics;
mod latch;
mod sync;
// Seams.
pub mod known;
pub mod list_watch;
pub mod store;
pub mod handler;
pub mod transform;
// Stages.
pub mod decode;
pub mod reflector;
pub mod delta_fifo;
pub mod indexer;
pub mod processor;
pub mod workqueue;
// Assembly.
pub mod shared_informer;
pub mod lister;
pub mod http;
pub mod watch;
#[cfg(feature = "kube-runtime")]
pub mod controller;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
// Surface.
pub mod discovery;
pub mod rest_mapper;
pub mod factory;
pub mod leader_election;
// Pages.
pub mod docs;
#[cfg(feature = "_fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod transcripts;

pub use self::{
    handler::{
        AsyncEventHandler, Cause, EventHandler, Filter, FilteringHandler, HandlerFuncs,
        Notification,
    },
    http::Scope,
    indexer::IndexFn,
    list_watch::ListWatch,
    lister::{LabelSelector, Lister},
    object::{Deleted, Object, ObjectKey, ResourceVersion, Tombstone},
    processor::{Buffer, HandlerOptions, HandlerRegistration, NotificationStream},
    shared_informer::{Informer, SharedInformer, SyncError},
    store::{ReflectorStore, Store},
};
