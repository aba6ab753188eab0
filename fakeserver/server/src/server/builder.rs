//! The builder of a server.

use std::{mem, path::PathBuf, sync::Arc};

use fakeserver_kinds::{certificates::authority::Authority, core::service::range::ServiceRange};
use fakeserver_value::user::UserInfo;
use fakeserver_versions::KubernetesVersion;
use serde::Serialize;
use serde_json::Value;

#[cfg(feature = "tls")]
use super::Certificates;
use super::{
    BuildError, Controllers, FakeServer, Progress,
    access::AccessControl,
    aggregator::Aggregator,
    assembly::{InitialState, Server},
    audit::AuditLog,
    concurrency_limit::ConcurrencyLimit,
    error::with_sources,
    feature_gates::FeatureGates,
    initial_state,
    page::Page,
    request_log::RequestLogs,
    requests::{REQUESTS_KEPT, Requests},
    security::Security,
    trace::TraceLog,
};
#[cfg(feature = "tls")]
use crate::ServiceAccountKeys;
use crate::{
    AdmissionPlugins,
    clock::Clock,
    controllers::ControllerManager,
    edge::{
        authorization::{Authorization, Authorizer},
        flow_control::FlowClassifier,
        openapi::DocumentsCache,
    },
    faults::Faults,
    kubelets::Kubelets,
    nodes::{ClusterSource, ContainerOptions},
    store::{
        Compaction, LogSource, manifests,
        snapshot::{DataFile, DataLog, DataSync, Restart, Snapshot},
    },
    task::TaskSet,
    verbs::{Api, InertWarnings, Tally},
    write::{Backend, EnabledSteps},
};

/// Builds a [`FakeServer`].
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it builds"]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are options that do not depend on each other"
)]
pub struct FakeServerBuilder {
    kubernetes: KubernetesVersion,
    pub(super) seed: u64,
    clock: Option<Clock>,
    compaction: Compaction,
    watcher_buffer: usize,
    requests_kept: usize,
    keeps_bodies: bool,
    pub(super) audit_log: Option<AuditLog>,
    pub(super) page_token: Option<String>,
    pub(super) trace: Option<TraceLog>,
    /// Of requests that read, and of those that write.
    in_flight: (usize, usize),
    /// In the order in which they go in; or why one of them cannot.
    objects: Vec<Result<Value, Arc<serde_json::Error>>>,
    bootstraps: bool,
    /// `None` if no client has chosen them.
    services: Option<ServiceRange>,
    manifests: Vec<PathBuf>,
    progress: Option<Progress>,
    pub(super) snapshot: Option<Snapshot>,
    pub(super) data_file: Option<PathBuf>,
    pub(super) data_sync: DataSync,
    pub(super) restart: Restart,
    security: Security,
    controllers: Controllers,
    pub(super) containers: ContainerOptions,
    admission: AdmissionPlugins,
    allows_privileged: bool,
    /// The authority that clients trust.
    authority: Option<Authority>,
    faults: Faults,
    pub(super) log: Option<Arc<dyn LogSource>>,
    pub(super) elects: bool,
    pub(super) cluster: Option<Arc<dyn ClusterSource>>,
    compresses: bool,
    pub(super) gates: FeatureGates,
}

// === impl FakeServerBuilder ===

impl FakeServerBuilder {
    /// Serves a version of Kubernetes: its resources, fields, discovery, OpenAPI, tables, checks and objects to begin with.
    /// Defaults and controllers are those of 1.36. The default is [`KubernetesVersion::DEFAULT`]. Servers of several versions can live in a process.
    #[doc(alias = "emulated-version")]
    pub fn with_kubernetes_version(mut self, version: KubernetesVersion) -> Self {
        self.kubernetes = version;
        self
    }

    /// Every uid, generated name and random timeout follows from `seed`. The default is 0.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The default is [`Clock::default`], from when the server is built.
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Limits the history that is kept. By default all of it is kept.
    pub fn with_compaction(mut self, compaction: Compaction) -> Self {
        self.compaction = compaction;
        self
    }

    /// Sets the number of changes that a watcher may be behind before it is cut off. The default is 1,000.
    pub fn with_watcher_buffer_frames(mut self, frames: usize) -> Self {
        self.watcher_buffer = frames;
        self
    }

    /// Sets the number of [requests](FakeServer::requests) that are remembered. The default is 1,000.
    pub fn with_requests_kept(mut self, count: usize) -> Self {
        self.requests_kept = count;
        self
    }

    /// Remembers the bodies of requests too, as far as the server reads them.
    pub fn with_request_bodies(mut self) -> Self {
        self.keeps_bodies = true;
        self
    }

    /// Limits the reads that are served at a time; further requests are answered with 429. Watches do not count. The
    /// default, 0, is no limit.
    #[doc(alias = "MaxRequestsInFlight")]
    pub fn with_max_requests_in_flight(mut self, count: usize) -> Self {
        self.in_flight.0 = count;
        self
    }

    /// Limits the writes that are served at a time; further requests are answered with 429. The default, 0, is no
    /// limit.
    #[doc(alias = "MaxMutatingRequestsInFlight")]
    pub fn with_max_mutating_requests_in_flight(mut self, count: usize) -> Self {
        self.in_flight.1 = count;
        self
    }

    /// Sets whether the server begins with the objects that every cluster has: namespaces, the service `kubernetes`, roles
    /// and bindings, priority classes, flow schemas and others. By default it does; without them it begins empty.
    ///
    /// An object can be created in a namespace only if that is there.
    pub fn with_bootstrap(mut self, bootstraps: bool) -> Self {
        self.bootstraps = bootstraps;
        self
    }

    /// Sets the ranges of services, whose families are those of the cluster: one, or one of IPv4 and one of IPv6, the
    /// primary one first. By default it is `10.0.0.0/16`, or what a loaded state has.
    #[doc(alias = "service-cluster-ip-range")]
    pub fn with_service_range(mut self, range: ServiceRange) -> Self {
        self.services = Some(range);
        self
    }

    /// Begins with `object`, in the order in which objects are given. An existing object is replaced.
    ///
    /// The object has `kind` and `apiVersion`, and is defaulted and validated as a client's object, without unknown
    /// fields. A missing namespace is created; an object without a namespace is created in `default`. The object keeps
    /// its uid, creation time, generation and status, so that objects of another cluster can be loaded; its version,
    /// field managers and deletion time are dropped.
    pub fn with_object<T: Serialize + ?Sized>(mut self, object: &T) -> Self {
        self.objects
            .push(serde_json::to_value(object).map_err(Arc::new));
        self
    }

    /// Begins with `objects`, each as [`with_object`](Self::with_object) has it.
    pub fn with_objects<T: Serialize>(self, objects: impl IntoIterator<Item = T>) -> Self {
        let mut builder = self;
        for object in objects {
            builder = builder.with_object(&object);
        }
        builder
    }

    /// Begins with the definition of the custom resource `K`, so that it is served.
    #[cfg(feature = "client")]
    pub fn with_crd<K: kube::CustomResourceExt>(self) -> Self {
        self.with_object(&K::crd())
    }

    /// Begins with the objects in a file of YAML or JSON, or in all such files of a directory and those below it. Those that
    /// are kustomize's own (`kustomization.yaml`, `kustomization.yml`, `kustomizeconfig.yaml`) are left out.
    ///
    /// A file may hold several documents, and a document a list, as `kubectl get -o yaml` prints them. Objects come after
    /// those given one by one, in the order of the file names, but namespaces and definitions of custom resources come
    /// first. Each is taken as [`with_object`](Self::with_object) takes it. Files are read when the server is built, also
    /// if it then begins with its data file.
    ///
    /// YAML is that of version 1.1, as Kubernetes reads it from files and requests: `0644` is a number in octal digits, `yes`
    /// is true, and of duplicate keys the last one counts.
    pub fn with_manifests(mut self, path: impl Into<PathBuf>) -> Self {
        self.manifests.push(path.into());
        self
    }

    /// Calls `progress` for each object that is loaded.
    pub fn with_progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Sets how requests are authorized. By default every user may do everything.
    ///
    /// Requests through [`FakeServer::client`](super::FakeServer::client) may do everything in any case.
    pub fn with_authorization(mut self, authorization: Authorization) -> Self {
        self.security.authorization = authorization;
        self
    }

    /// Requests with the bearer token `token` are `user`'s, who is also in the group `system:authenticated`.
    pub fn with_token(mut self, token: impl Into<String>, user: UserInfo) -> Self {
        self.security.tokens.insert(token.into(), user);
        self
    }

    /// Signs tokens of service accounts with `key`, and not with one that follows from the seed.
    pub fn with_token_key(mut self, key: [u8; 32]) -> Self {
        self.security.token_key = Some(key);
        self
    }

    /// Signs and verifies tokens of service accounts with `keys`, whose public parts are at `/openid/v1/jwks` then.
    #[cfg(feature = "tls")]
    pub fn with_service_account_keys(mut self, keys: ServiceAccountKeys) -> Self {
        self.security.account_keys = keys;
        self
    }

    /// Uses the authority of `certificates`, by which the server is to [serve](FakeServer::serve_tls): controllers sign
    /// [certificates](Controllers::with_certificates) with it, and every namespace gets its certificate, if the controller
    /// of service accounts works.
    #[cfg(feature = "tls")]
    pub fn with_certificates(mut self, certificates: &Certificates) -> Self {
        self.authority = Some(certificates.authority().clone());
        self
    }

    /// Sets whether requests without credentials are served, as those of `system:anonymous`. By default they are.
    pub fn with_anonymous_auth(mut self, is_served: bool) -> Self {
        self.security.serves_anonymous = is_served;
        self
    }

    /// Which controllers work in the server, from its first request on. By default the garbage collector and the one of
    /// namespaces.
    pub fn with_controllers(mut self, controllers: Controllers) -> Self {
        self.controllers = controllers;
        self
    }

    /// Sets which admission plugins see the writes of clients. By default those of a real server do, but for
    /// `ServiceAccount`.
    pub fn with_admission(mut self, plugins: AdmissionPlugins) -> Self {
        self.admission = plugins;
        self
    }

    /// Sets whether containers may be privileged, as in clusters whose components run in pods. By default privileged
    /// containers are rejected, as in kube-apiserver.
    #[doc(alias = "allow-privileged")]
    pub fn with_privileged_containers(mut self, are_allowed: bool) -> Self {
        self.allows_privileged = are_allowed;
        self
    }

    /// Keeps objects compressed, each resource with a dictionary of its own: a large cluster takes a fraction of the memory
    /// then, while each write and each read of an object costs some microseconds more. By default it does so only with versions
    /// that were superseded, and with objects that were not written lately, once they are more than a gibibyte of JSON.
    pub fn with_compression(mut self, compresses: bool) -> Self {
        self.compresses = compresses;
        self
    }

    /// Starts with a simulated cluster, which changes if its options say so: see the page on clusters.
    ///
    /// The cluster and its changes follow from the [seed](Self::with_seed). Objects of this builder are loaded after
    /// it. It runs its workloads itself, so leave out those [controllers](Controllers::with_workloads). With a [data
    /// file](Self::with_data_file) that exists, the saved cluster is loaded, and does not change.
    pub fn with_cluster(mut self, cluster: impl ClusterSource + 'static) -> Self {
        self.cluster = Some(Arc::new(cluster));
        self
    }

    /// Shares `faults` with another server: what is installed on one of them is in force on both, and counted together.
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Builds the server, with the objects that every cluster has. No runtime is needed until the first request.
    ///
    /// # Panics
    ///
    /// If an initial object is rejected. [`try_build`](Self::try_build) returns that as an error.
    #[must_use = "a server is stopped when it is dropped"]
    pub fn build(self) -> FakeServer {
        self.try_build()
            .unwrap_or_else(|error| panic!("{}", with_sources(&error)))
    }

    /// The server, as [`build`](Self::build) gives it.
    ///
    /// # Errors
    ///
    /// It is to begin with something that it does not take. Trying again does not help.
    pub fn try_build(mut self) -> Result<FakeServer, BuildError> {
        // Errors of the configuration come before any file is touched.
        self.admission.check()?;
        // Read before the data file is locked: a manifest with an error leaves no lock behind.
        let mut objects = initial_state::given(mem::take(&mut self.objects))?;
        objects.extend(manifests::read(&self.manifests)?);
        let commit_log = self.open_log()?;
        let file = self.data_file.as_deref();
        let (data, kept) = file.map(DataFile::open).transpose()?.unzip();
        let kept = kept.flatten();
        let controllers = self.gates.allowed(mem::take(&mut self.controllers));
        let has_metrics = controllers.serves_metrics();
        let Controllers {
            mut enabled,
            workloads,
        } = controllers;
        enabled.authority = self.authority.take();
        enabled.has_rules = self.security.authorization == Authorization::Rbac;
        enabled.bootstrapped = self.bootstraps;
        enabled.elected = self.elects;
        // After the gates have decided on the controllers: the plugin waits for accounts only if a controller creates
        // them.
        self.admission = self.admission.with_accounts(enabled.service_accounts);
        let tasks = TaskSet::new();
        let nodes =
            workloads.map(|options| options.nodes(self.containers.clone(), tasks.stop_token()));
        let controllers = ControllerManager::new(enabled, nodes.clone().map(|nodes| nodes as _));
        let kubelets = nodes.clone().map(|nodes| nodes as _);
        let from = kept.as_ref().or(self.snapshot.as_ref());
        let aggregator = Arc::<Aggregator>::default();
        // A log costs every write something, so that there is none where it would have nothing to do.
        let data_log = data.as_ref().map(|data| Arc::clone(data.log()));
        let data_log = data_log.filter(|_| self.data_sync != DataSync::OnSave);
        let backend = self.backend(from, kubelets, &controllers, &aggregator, data_log);
        let backend = Arc::new(backend);
        let drawn = from.map(|snapshot| snapshot.drawn);
        // Drawn before anything else, so that a seed gives the same uids, whatever objects follow.
        let default_flow = (backend.entropy.audit_id(), backend.entropy.audit_id());
        let server = Server {
            access: AccessControl {
                authorizer: Authorizer::new(self.security.authorization),
                flows: FlowClassifier::default(),
                default_flow,
            },
            in_flight: ConcurrencyLimit::new(self.in_flight.0, self.in_flight.1),
            logs: RequestLogs {
                requests: Arc::new(Requests::new(self.requests_kept, self.keeps_bodies)),
                audit: self.audit_log,
                trace: self.trace,
            },
            openapi: DocumentsCache::default(),
            aggregator,
            page: self.page_token.as_deref().map(Page::new),
            controllers,
            cluster: self.cluster.map(|source| source.cluster()),
            initial_state: InitialState {
                kubernetes: self.kubernetes,
                bootstraps: self.bootstraps,
                services: self.services,
                snapshot: self.snapshot.map(|snapshot| (snapshot, self.restart)),
                objects,
            },
            data,
            api: Api {
                authenticator: self.security.authenticator(&backend),
                backend,
                faults: self.faults,
                kubelet_api: nodes.map(|nodes| nodes as _),
                tally: Tally::default(),
                media_types: self.gates.media_types,
                has_shards: self.gates.has_shards,
                features: self.gates.settings,
                has_metrics,
                inert: InertWarnings::default(),
                tasks,
            },
        };
        match &commit_log {
            Some(log) => server.join(log)?,
            None => server.clear(),
        }
        // After the bootstrap objects, which all servers of the process share and which stay uncompressed.
        if self.compresses {
            server.backend().storage.compress();
        }
        // After the bootstrap, which has drawn uids: the generators continue where those of the saved server stood, so
        // that no uid is drawn twice.
        if let Some(drawn) = drawn {
            server.backend().entropy.resume_from(drawn);
        }
        match &kept {
            // The data file replaces the initial state, which counts for a new file and for resets only.
            Some(kept) => server.restore(kept, self.restart),
            None => initial_state::fill(&server, self.progress.as_ref())?,
        }
        server.begin_log(self.data_sync, kept.as_ref())?;
        Ok(FakeServer::new(server))
    }

    /// Creates a backend that continues from a snapshot, if there is one.
    fn backend(
        &self,
        from: Option<&Snapshot>,
        kubelets: Option<Arc<dyn Kubelets>>,
        controllers: &ControllerManager,
        aggregator: &Arc<Aggregator>,
        data_log: Option<Arc<DataLog>>,
    ) -> Backend {
        let seed = from.map_or(self.seed, |snapshot| snapshot.seed);
        let clock = match (self.clock, from) {
            (Some(clock), _) => clock,
            (None, Some(snapshot)) => Clock::simulated(snapshot.time),
            (None, None) => Clock::default(),
        };
        let (compaction, buffer) = (self.compaction, self.watcher_buffer);
        let steps = EnabledSteps::new(&self.admission);
        let mut feeds = vec![controllers.feed(), Arc::clone(aggregator) as _];
        feeds.extend(self.trace.clone().map(|trace| Arc::new(trace) as _));
        feeds.extend(data_log.clone().map(|log| log as _));
        Backend::new(seed, clock, compaction, buffer, kubelets, feeds, steps)
            .with_privileged_containers(self.allows_privileged)
            .with_data_log(data_log)
            .with_base(self.gates.registry(self.kubernetes))
    }
}

impl Default for FakeServerBuilder {
    fn default() -> Self {
        Self {
            kubernetes: KubernetesVersion::DEFAULT,
            seed: 0,
            clock: None,
            compaction: Compaction::default(),
            watcher_buffer: 1_000,
            requests_kept: REQUESTS_KEPT,
            keeps_bodies: false,
            audit_log: None,
            page_token: None,
            trace: None,
            in_flight: (0, 0),
            objects: Vec::new(),
            bootstraps: true,
            services: None,
            manifests: Vec::new(),
            progress: None,
            snapshot: None,
            data_file: None,
            data_sync: DataSync::default(),
            restart: Restart::default(),
            security: Security::default(),
            controllers: Controllers::default(),
            containers: ContainerOptions::default(),
            admission: AdmissionPlugins::default(),
            allows_privileged: false,
            authority: None,
            faults: Faults::default(),
            log: None,
            elects: true,
            cluster: None,
            compresses: false,
            gates: FeatureGates::default(),
        }
    }
}
