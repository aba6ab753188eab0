//! A Kubernetes API server in process: the store, its watches, writes, verbs, faults, and the controllers of an API server.
//!
//! Users depend on the crate `fakeserver`, which re-exports the public items. The crates above this one bring the
//! cluster behind the API ([`nodes`]) and the program. The modules are listed in the order in which a write becomes a
//! watch event.
#![expect(
    clippy::return_self_not_must_use,
    missing_docs,
    reason = "the API of users is that of the crate `fakeserver`, whose items are all documented"
)]

pub mod clock;
pub mod entropy;
pub mod task;
pub mod store;
pub mod watch;
pub mod kubelets;
pub mod write;
pub mod controllers;
pub mod faults;
pub mod edge;
pub mod verbs;
pub mod nodes;
pub mod server;

pub use self::{
    clock::Clock,
    edge::{authorization::Authorization, request::Feature},
    nodes::{ExecOutput, ExecRequest, PodBackend, PodBackendError},
    server::{
        AuditLog, AuditLogError, AuditPolicy, AuditPolicyError, BuildError, Controllers,
        FakeServer, FakeServerBuilder, Listener, NotReadyError, RequestRecord, Stats, TraceLog,
        UnreadObjects, Upgrade, WriteLogError, serve_faults,
    },
    store::{
        Change, ChangeKind, Compaction, LogError, StoredObject,
        manifests::{FileError, ManifestError, Origin},
        snapshot::{DataSync, Restart, Snapshot, SnapshotError},
    },
    write::{AdmissionPlugins, AdmissionPluginsError},
};
#[cfg(feature = "tls")]
pub use self::{
    edge::authentication::{ServiceAccountKeyError, ServiceAccountKeys},
    server::{CertificateError, Certificates, ClientCertificate},
};
// The examples in the docs of this crate name these items as users do.
pub use fakeserver_value::{object::ObjectError, user::UserInfo};
pub use fakeserver_versions::KubernetesVersion;
