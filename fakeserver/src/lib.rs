//! An in-process Kubernetes API server that no client can tell from a real one.
//!
//! [`FakeServer`] is the entry. It is built in microseconds, serves every built-in resource, and is reached in process
//! (as a service or a client without sockets) or over TCP. Time, uids and everything random come from its clock and its
//! seed, so that a run can be repeated to the byte on tokio's paused clock.
//!
//! [`docs::guide`] shows how to begin. The modules stand in the order in which a write becomes a watch event.

mod clock;
mod entropy;
mod task;
mod revision;
mod status;
mod resource;
mod object;
#[doc(hidden)]
pub mod schema;
#[doc(hidden)]
pub mod protobuf;
#[doc(hidden)]
pub mod patch;
mod registry;
mod custom_resources;
mod conversion;
mod defaults;
mod validation;
mod strategy;
mod managed_fields;
mod apply;
mod webhook;
mod admission;
mod request;
mod storage;
mod snapshot;
mod manifests;
mod watch_cache;
mod authentication;
mod authorization;
pub mod faults;
mod table;
mod openapi;
mod state;
mod deletion;
mod controllers;
mod cluster;
mod response;
mod handlers;
mod discovery;
mod server;
#[doc(hidden)]
pub mod cli;
pub mod docs;
#[cfg(feature = "_fuzzing")]
#[doc(hidden)]
pub mod fuzzing;

pub use self::{
    authentication::UserInfo,
    authorization::Authorization,
    clock::Clock,
    cluster::{Churn, ClusterOptions},
    manifests::{ManifestError, Origin},
    object::{Pairs, PairsIter},
    server::{
        BuildError, CertificateError, Certificates, ClientCertificate, FakeServer,
        FakeServerBuilder, Listener, ObjectError, serve_faults,
    },
    snapshot::{Restart, Snapshot, SnapshotError},
    state::{Controllers, RequestRecord, Stats, Workloads},
    storage::{Change, ChangeKind, Compaction, StoredObject},
};
