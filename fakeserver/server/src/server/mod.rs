//! The server: built in process, reached by any transport, and controlled behind the API.

mod stats;
mod requests;
mod concurrency_limit;
mod security;
mod bootstrap;
mod bootstrap_update;
mod unread_objects;
mod audit;
mod aggregator;
mod assembly;
mod controller_options;
mod feature_gates;
mod builder;
mod log;
mod error;
mod initial_state;
mod readiness;
mod objects;
mod data;
mod upgrade;
mod router;
mod metrics;
mod request_log;
mod access;
mod logging;
mod response_headers;
#[cfg(feature = "tls")]
mod openid;
mod control_faults;
mod control_version;
mod control_openapi;
mod control;
#[cfg(feature = "tls")]
mod client_certificates;
#[cfg(feature = "tls")]
mod certificates;
mod socket;
mod observed_body;
mod connection_break;
#[cfg(feature = "client")]
mod transport_error;
mod http1;
mod listen;
#[cfg(feature = "tls")]
mod secure;
mod activity;
mod body_drain;
mod in_flight;
mod origins;
mod page;
mod trace;
pub mod session;
pub mod websocket;
mod pods;
#[cfg(feature = "client")]
mod client;

use std::{future::Future, sync::Arc};

use axum::{Extension, Router};
use fakeserver_kinds::storage_of;
use fakeserver_value::{revision::Revision, user::UserInfo};
use fakeserver_versions::KubernetesVersion;
use http::Uri;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    controllers,
    edge::authentication::Peer,
    faults::FaultSpec,
    faults::Faults,
    store::{Change, Range, StoredObject},
    write::Backend,
};

use self::assembly::Server;
#[cfg(feature = "tls")]
pub use self::certificates::{CertificateError, Certificates, ClientCertificate};
pub use self::control_openapi::{fault_parameters, match_schema, when_schema};
pub use self::initial_state::Progress;
pub use self::pods::WriteLogError;
pub use self::{
    audit::{AuditLog, AuditLogError, AuditPolicy, AuditPolicyError},
    builder::FakeServerBuilder,
    control_faults::serve_faults,
    controller_options::Controllers,
    error::{BuildError, with_sources},
    listen::Listener,
    readiness::NotReadyError,
    requests::RequestRecord,
    stats::Stats,
    trace::TraceLog,
    unread_objects::UnreadObjects,
    upgrade::Upgrade,
};

/// A Kubernetes API server in this process. Clones are handles of the same server.
///
/// Its open watches end when the last handle, [router](Self::router) and client are gone.
///
/// # Examples
///
/// ```
/// # use fakeserver_server as fakeserver;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let server = fakeserver::FakeServer::builder().with_seed(7).build();
/// let before = server.revision();
/// server.reset();
/// assert_eq!(server.revision(), before);
/// server.shutdown().await;
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FakeServer {
    server: Arc<Server>,
}

// === impl FakeServer ===

impl FakeServer {
    /// Starts with the defaults of a simulation: seed 0, a clock from 2026 on tokio's time, and all history kept.
    pub fn builder() -> FakeServerBuilder {
        FakeServerBuilder::default()
    }

    fn new(server: Server) -> Self {
        // Once all initial objects are stored, which are no events of the trace.
        server.begin_trace();
        Self {
            server: Arc::new(server),
        }
    }

    /// The whole API as a service, for any transport. Requests are authenticated by their headers alone.
    pub fn router(&self) -> Router {
        router::router(Arc::clone(&self.server))
    }

    /// The [router](Self::router) for requests of `user`, who is also in the group `system:authenticated`.
    pub fn router_as(&self, user: UserInfo) -> Router {
        let peer = Peer::User(Arc::new(user.authenticated()));
        self.router().layer(Extension(peer))
    }

    /// Serves HTTP/1.1, and HTTP/2 by prior knowledge, until `stop` fires or the server is shut down.
    ///
    /// Then open watches end, and connections get a few seconds to finish their requests.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, its connections are dropped with it.
    pub fn serve(
        &self,
        listener: TcpListener,
        stop: CancellationToken,
    ) -> impl Future<Output = ()> + Send + use<> {
        self.serve_by(Listener::new(listener), stop)
    }

    /// [Serves](Self::serve) by TLS, HTTP/1.1 or HTTP/2 as the client prefers.
    ///
    /// A client with a certificate of the client authority, valid by the server's clock, is the user named in it. Any
    /// other certificate is answered with 401.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, its connections are dropped with it.
    #[cfg(feature = "tls")]
    pub fn serve_tls(
        &self,
        listener: TcpListener,
        certificates: &Certificates,
        stop: CancellationToken,
    ) -> impl Future<Output = ()> + Send + use<> {
        let certificates = certificates.at(self.backend().clock);
        let listener = Listener::new(listener).with_certificates(&certificates);
        self.serve_by(listener, stop)
    }

    /// Answers calls to webhooks at `host` in process by `webhooks`, without TLS: the host, or host and port, of a
    /// `url`, or `NAME.NAMESPACE.svc` for a service.
    ///
    /// Each question is a POST of an `AdmissionReview` to the path that a webhook configuration names, with
    /// `?timeout=10s`. Calls to other hosts use HTTPS, and trust only the `caBundle` of their configuration.
    ///
    /// Requests for an `APIService` with a service of that name are answered the same way: see
    /// `fakeserver::docs::aggregation`.
    pub fn serve_webhooks(&self, host: &str, webhooks: Router) {
        self.backend().webhooks.serve(host, webhooks);
    }

    /// Sends calls to webhooks at `host`, named as in [`serve_webhooks`](Self::serve_webhooks), and requests forwarded
    /// to an aggregated API server there, to the scheme, host and port of `to`: `https`, or `http` without TLS.
    ///
    /// The certificate has to be that of `host`, as it would be in a cluster.
    pub fn redirect_webhooks(&self, host: &str, to: Uri) {
        self.backend().webhooks.redirect(host, to);
    }

    /// The revision of the last write.
    pub fn revision(&self) -> u64 {
        self.backend().storage.revision().get()
    }

    /// Removes the history up to now: lists of older revisions, and the continuation of older lists, are answered with
    /// 410. Open watches continue, and watches can start at the same revisions as before.
    pub fn compact(&self) {
        self.backend().storage.compact();
    }

    /// [Compacts](Self::compact), and lets no watch start at an older revision: it receives an ERROR event, 410.
    ///
    /// [`history`](Self::history) still has the older changes.
    pub fn expire(&self) {
        self.backend().storage.expire();
    }

    /// Ends every open watch, cleanly, without what it has not sent yet.
    pub fn disconnect(&self) {
        self.backend().watchers.disconnect();
    }

    /// Rolls the store back by `revisions`, at most to the beginning of its history, like a cluster that was restored
    /// from a backup. Later writes are lost, open watches end, and new writes reuse the lost revisions. Time and uids
    /// continue.
    ///
    /// A watch from a lost revision sends nothing until the server has passed that revision. A server with [a commit
    /// log](FakeServerBuilder::with_etcd) is not rolled back.
    pub fn roll_back(&self, revisions: u64) {
        if self.backend().storage.log().is_some() {
            warn!("not rolled back: the state in the log is not this server's alone");
            return;
        }
        controllers::roll_back(self.backend(), revisions);
    }

    /// Resets the server to its state after it was built, with its initial objects and its version: open watches end, and
    /// revisions and counters restart.
    ///
    /// Time, uids and installed faults continue. A server with [a commit log](FakeServerBuilder::with_etcd) is not reset.
    pub fn reset(&self) {
        initial_state::reset(&self.server);
    }

    /// Returns the version of Kubernetes that it serves.
    pub fn kubernetes_version(&self) -> KubernetesVersion {
        self.server.api.registry().kubernetes()
    }

    /// Returns a warning if the fault of `spec` is for a resource that is not served now.
    pub fn fault_warning(&self, spec: &FaultSpec) -> Option<String> {
        control_faults::unserved(&self.server.api.registry(), spec)
    }

    /// Returns the faults, to install and count them.
    pub fn faults(&self) -> Faults {
        self.server.api.faults.clone()
    }

    /// Returns the counts of the server.
    pub fn stats(&self) -> Stats {
        self.server.stats()
    }

    /// Returns the current objects of a resource in the order of a list: by the bytes of `namespace/name`.
    ///
    /// All versions of a resource have the same objects.
    pub fn objects(&self, group: &str, _version: &str, resource: &str) -> Vec<Arc<StoredObject>> {
        let resource = storage_of(group, resource);
        let snapshot = self.backend().storage.view(|view| view.snapshot(&resource));
        snapshot.objects(&Range::All, None).cloned().collect()
    }

    /// Returns the writes to a resource after the revision `after` that are in the history, oldest first.
    pub fn history(
        &self,
        group: &str,
        _version: &str,
        resource: &str,
        after: u64,
    ) -> Vec<Arc<Change>> {
        let resource = storage_of(group, resource);
        self.backend()
            .storage
            .view(|view| view.log(&resource, &Range::All, Revision::new(after)))
    }

    /// Copies the writes of `leader` from this server's revision to `up_to`, and returns the revision reached. This
    /// server then behaves as the watch cache of one of several API servers: it lags behind the shared store until the
    /// next call.
    ///
    /// This server must have the leader's initial state: with the same seed, or with the same
    /// [snapshot](crate::FakeServerBuilder::with_snapshot). It needs [no controllers](crate::Controllers::none), and no
    /// client may write to it. It stops before changes that the leader has compacted. Custom resource definitions are
    /// copied as objects, but their resources are not served.
    ///
    /// # Examples
    ///
    /// ```
    /// # use fakeserver_server as fakeserver;
    /// use fakeserver::{Controllers, FakeServer};
    ///
    /// let leader = FakeServer::builder().build();
    /// let replica = FakeServer::builder().with_controllers(Controllers::none()).build();
    /// let node = serde_json::json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
    /// leader.apply(&node)?;
    /// assert!(replica.objects("", "v1", "nodes").is_empty());
    /// assert_eq!(replica.follow(&leader, u64::MAX), leader.revision());
    /// assert_eq!(replica.objects("", "v1", "nodes").len(), 1);
    /// # Ok::<(), fakeserver::ObjectError>(())
    /// ```
    pub fn follow(&self, leader: &Self, up_to: u64) -> u64 {
        let storage = &self.backend().storage;
        let (after, up_to) = (storage.revision(), Revision::new(up_to));
        let changes = leader
            .backend()
            .storage
            .view(|view| view.log_of_all(after, up_to));
        for version in leader.backend().writers.iter() {
            self.backend().writers.insert(version);
        }
        storage.follow(changes).get()
    }

    /// Starts the controllers, as the first request does, and waits until they have done all that is due, every node has the
    /// condition `Ready`, and no pod is pending that only needs time to start.
    ///
    /// A pod counts as started if it cannot be scheduled, is being deleted, or has an event of a volume that could not be
    /// mounted, and if a container waits for a reason of its own, such as an image that cannot be pulled.
    ///
    /// # Errors
    ///
    /// The cluster is not there after 30 s of tokio's clock. It may still come.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the controllers go on.
    pub async fn ready(&self) -> Result<(), NotReadyError> {
        readiness::wait(&self.server).await
    }

    /// Ends open watches and connections, and waits until all tasks of the server have ended.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the tasks still end, but no caller waits for them.
    pub async fn shutdown(&self) {
        // Before the trace ends: the last changes of the tasks are in it.
        self.server.api.tasks.shutdown().await;
        if let Some(trace) = &self.server.logs.trace {
            trace.end();
        }
    }

    #[cfg(test)]
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    fn serve_by(
        &self,
        listener: Listener,
        stop: CancellationToken,
    ) -> impl Future<Output = ()> + Send + use<> {
        let server = Arc::clone(&self.server);
        async move {
            let stopped = async {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => {}
                    () = server.api.tasks.stop_token().cancelled() => {}
                }
            };
            let router = router::router(Arc::clone(&server));
            let listener = listener.with_gate(server.api.faults.listen_gate());
            // A watch would keep its connection for an hour.
            let disconnect = || server.backend().disconnect();
            listener.serve_until(router, stopped, disconnect).await;
        }
    }

    pub(crate) fn backend(&self) -> &Arc<Backend> {
        self.server.backend()
    }
}

#[cfg(test)]
mod tests;
