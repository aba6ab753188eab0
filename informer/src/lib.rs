//! client-go's informer machinery for Rust: a local, indexed, always-converging copy of cluster state.
//!
//! A [`SharedInformer`] lists one resource of a Kubernetes cluster and watches it from there on. The objects are in an
//! [`Indexer`] that any number of tasks read without waiting, and any number of [`EventHandler`]s are notified of every
//! change. A request that fails is retried; after any failure, the copy ends up equal to the server.
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
//! let registration = namespaces.add_handler(HandlerFuncs::new().with_add(|namespace, _| println!("{}", namespace.key())));
//! namespaces.start();
//! namespaces.wait_for_cache_sync(Duration::from_secs(10)).await?;
//! let all = namespaces.lister().list(&LabelSelector::everything())?;
//! assert!(all.iter().any(|namespace| namespace.key().name() == "default"));
//! namespaces.shutdown().await;
//! assert!(registration.has_synced());
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
//! - The cache shows a change before any handler is notified, and never goes back in time for a key.
//! - A handler receives the changes of one key in order, and the deletion of every object it has seen, if necessary as
//!   a tombstone.
//! - A handler may join and leave at any time; a slow one, or one that panics, does not affect the others.
//! - A relist sends notifications of what changed; an unchanged object keeps its allocation.
//! - An informer may hold a [shard] of the objects only, whether or not the server can select it.
//! - Objects are held decoded, or [compact] at a small fraction of the memory.
//! - Every wait on the server has a limit, every task an owner: dropping the last handle of an informer ends it.
//!
//! # Pages
//!
//! - [`docs::clients`]: the clients of client-go, and what they are called here.
//! - [`docs::issues`]: known issues of other libraries, and what happens here.
//! - [`docs::kube_runtime`]: from `reflector` and `Store` to an informer in ten lines.
//!
//! # Where things are
//!
//! Each public item has one path. The crate root has what every program needs that keeps a cache and handles its events:
//! informers, handlers, listers, indices, objects, and their errors. Everything else is in the module of its area: sources of
//! objects in [`http`] and [`list_watch`], the reflector, its options and its target in [`reflector`], queues and workers in
//! [`workqueue`].
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `http` | yes | lists and watches through a `kube::Client`: [`http`], [`SharedInformer::new`] |
//! | `tls` | yes | connections to real clusters by rustls |
//! | `discovery` | yes | discovery, the REST mapper, and factories of informers |
//! | `leader-election` | yes | leader election by a Lease |
//! | `controller` | yes | controllers, managers that run them, and what they need: events, conditions |
//! | `endpoints` | | probes and metrics of a manager over HTTP |
//! | `compact` | | compressed objects in memory; compiles zstd, which is C |
//! | `protobuf` | | lists and watches of built-in types in protobuf: [`http::Encoding`] |
//! | `cbor` | | lists and watches in CBOR |
//! | `kube-runtime` | | streams that feed a `kube_runtime::Controller` |
//! | `testing` | | a scripted [`ListWatch`](list_watch::ListWatch) and a recording handler |
//! | `unstable-stages` | | the stages behind an informer, each by itself; they may change in any release |

#![warn(clippy::missing_errors_doc)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "unstable-stages"),
    expect(
        dead_code,
        unreachable_pub,
        reason = "stages are public, and used outside, with the feature only"
    )
)]

// Vocabulary.
mod sync;
mod latch;
mod task;
mod counter;
mod slab_map;
mod entropy;
mod backoff;
#[cfg(any(feature = "protobuf", feature = "cbor"))]
mod serde_text;
#[cfg(feature = "protobuf")]
mod protobuf;
#[cfg(feature = "cbor")]
mod cbor;
#[cfg(feature = "http")]
mod encoding;
pub mod field_path;
mod serde_layer;
mod object;
pub mod shard;
mod object_fn;
#[cfg(feature = "compact")]
pub mod compact;
// Seams.
mod held_objects;
pub mod list_watch;
mod store;
mod handler;
pub mod transform;
// Stages.
#[cfg(feature = "http")]
mod decode;
pub mod reflector;
mod delta_fifo;
mod indexer;
mod processor;
pub mod workqueue;
// Assembly.
#[cfg(feature = "http")]
pub mod http;
mod lister;
mod shared_informer;
pub mod watch;
#[cfg(feature = "kube-runtime")]
pub mod kube_runtime_streams;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
// Surface.
#[cfg(feature = "discovery")]
pub mod discovery;
#[cfg(feature = "discovery")]
pub mod rest_mapper;
#[cfg(feature = "discovery")]
pub mod factory;
#[cfg(feature = "leader-election")]
pub mod leader_election;
#[cfg(feature = "controller")]
pub mod events;
#[cfg(feature = "controller")]
pub mod conditions;
#[cfg(feature = "controller")]
pub mod controller;
#[cfg(feature = "controller")]
pub mod manager;
#[cfg(feature = "controller")]
pub mod sharded_manager;
#[cfg(feature = "controller")]
pub mod multi_cluster;
pub mod metrics;
#[cfg(feature = "unstable-stages")]
pub mod stages;
mod error;
// Pages.
pub mod docs;
#[cfg(feature = "_fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod transcripts;

#[cfg(feature = "http")]
pub use self::http::scope::Scope;
pub use self::{
    delta_fifo::DeltaFifoOptions,
    error::Error,
    handler::{
        AsyncEventHandler, EventHandler, Filter, FilteringHandler, HandlerFuncs, Notification,
        NotificationCause,
    },
    indexer::{IndexFn, Indexer, IndexerError, NAMESPACE_INDEX, RecountError, Snapshot},
    lister::{LabelSelector, Lister, ListerError, NamespacedLister, ParseSelectorError},
    object::{
        DecodeError, Deleted, Labels, Metadata, Object, ObjectKey, OwnerReference, Reads,
        ResourceVersion, Tombstone, TombstoneReason,
    },
    processor::{
        Buffer, HandlerEnd, HandlerOptions, HandlerRegistration, HandlerSyncError, ListenerMetrics,
        NotificationStream,
    },
    shared_informer::{
        ConsistencyError, ConsistencyReport, Difference, EditIndexError, Informer, InformerMetrics,
        SharedInformer, SharedInformerBuilder, StatusStream, SyncError, SyncPhase, SyncStatus,
        WaitError,
    },
    store::Store,
};
