//! An in-process Kubernetes API server that no client can tell from a real one.
//!
//! [`FakeServer`] is the entry point. It is built in microseconds, serves every built-in resource, and is reached in
//! process (as a service, or by a client without sockets) or over TCP. Time, uids and all random choices come from its
//! clock and its seed, so that a run on tokio's paused clock can be repeated byte by byte.
//!
//! [`docs::guide`] shows how to begin.

pub mod docs;

pub use fakeserver_cel::{CelError, CelExpression, CelInput};
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use fakeserver_cli as cli;
#[cfg(feature = "cluster")]
pub use fakeserver_cluster::{Churn, ClusterOptions, Stage, StageError, Workloads};
#[cfg(feature = "etcd")]
pub use fakeserver_etcd_log::EtcdOptions;
pub use fakeserver_kinds::core::service::range::{IpFamily, ServiceRange, ServiceRangeError};
pub use fakeserver_server::{
    AdmissionPlugins, AdmissionPluginsError, AuditLog, AuditLogError, AuditPolicy,
    AuditPolicyError, Authorization, BuildError, Change, ChangeKind, Clock, Compaction,
    Controllers, DataSync, ExecOutput, ExecRequest, FakeServer, FakeServerBuilder, Feature,
    FileError, Listener, LogError, ManifestError, NotReadyError, Origin, PodBackend,
    PodBackendError, RequestRecord, Restart, Snapshot, SnapshotError, Stats, StoredObject,
    TraceLog, UnreadObjects, Upgrade, WriteLogError, faults, serve_faults,
};
#[cfg(feature = "tls")]
pub use fakeserver_server::{
    CertificateError, Certificates, ClientCertificate, ServiceAccountKeyError, ServiceAccountKeys,
};
#[doc(hidden)]
pub use fakeserver_value as value;
pub use fakeserver_value::{
    object::{ObjectError, Pairs, PairsIter},
    user::UserInfo,
};
pub use fakeserver_versions::{KubernetesVersion, UnknownVersionError};
