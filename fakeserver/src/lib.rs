//! An in-process Kubernetes API server that no client can tell from a real one.
//!
//! [`FakeServer`] is the entry point. It is built in microseconds, serves every built-in resource, and is reached in
//! process (as a service, or by a client without sockets) or over TCP. Time, uids and all random choices come from its
//! clock and its seed, so that a run on tokio's paused clock can be repeated byte by byte.
//!
//! [`docs::guide`] shows how to begin. The modules are listed in the order in which a write becomes a watch event.

mod clock;
mod entropy;
mod task;
#[doc(hidden)]
pub mod value;
mod kinds;
mod store;
mod watch;
mod containers;
mod write;
mod controllers;
mod cluster;
pub mod faults;
mod edge;
mod verbs;
mod server;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod docs;
#[cfg(feature = "_fuzzing")]
#[doc(hidden)]
pub mod fuzzing;

pub use self::cluster::{Churn, ClusterOptions};
pub use self::kinds::cel::{CelError, CelExpression, CelInput};
pub use self::{
    clock::Clock,
    controllers::Controllers,
    edge::authorization::Authorization,
    kinds::core::service::range::{ServiceRange, ServiceRangeError},
    server::{
        AuditLog, AuditLogError, AuditPolicy, AuditPolicyError, BuildError, FakeServer,
        FakeServerBuilder, Listener, RequestRecord, Stats, TraceLog, serve_faults,
    },
    store::{
        Change, ChangeKind, Compaction, StoredObject,
        manifests::{ManifestError, Origin},
        snapshot::{Restart, Snapshot, SnapshotError},
    },
    value::{
        object::{ObjectError, Pairs, PairsIter},
        user::UserInfo,
    },
    write::{AdmissionPlugins, AdmissionPluginsError},
};
pub use self::{
    containers::{ExecOutput, ExecRequest, PodBackend, PodBackendError},
    controllers::{Stage, StageError, Workloads},
    server::WriteLogError,
};
#[cfg(feature = "tls")]
pub use self::{
    edge::authentication::{ServiceAccountKeyError, ServiceAccountKeys},
    server::{CertificateError, Certificates, ClientCertificate},
};
