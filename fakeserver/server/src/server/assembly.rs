//! The parts of a server, assembled.

use std::sync::Arc;

use fakeserver_kinds::{core::service::range::ServiceRange, registry::Registry};
use fakeserver_versions::{KubernetesVersion, SharedVersionSet};

use super::{
    Stats,
    access::AccessControl,
    aggregator::Aggregator,
    bootstrap::{
        bootstrap_accounts, bootstrap_namespaces, bootstrap_optional_versions, bootstrap_roles,
        foundation,
    },
    bootstrap_update::update_initial_objects,
    concurrency_limit::ConcurrencyLimit,
    metrics::LogCounts,
    page::Page,
    request_log::RequestLogs,
    trace,
    unread_objects::UnreadObjects,
};
use crate::{
    controllers::{
        self, ControllerManager,
        cluster::{service_range_key, service_range_of},
        written_object::resource_type,
    },
    edge::{authorization::Authorization, flow_control::nominal_seats, openapi::DocumentsCache},
    nodes::SimulatedCluster,
    store::{
        LogError, Transaction,
        manifests::Manifest,
        snapshot::{DataFile, DataSync, Restart, Snapshot, SnapshotError, StateSource},
    },
    verbs::Api,
    write::{self, Backend},
};

/// A server: the API, what limits and records its requests, and the controllers behind it.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) api: Api,
    pub(super) access: AccessControl,
    pub(super) in_flight: ConcurrencyLimit,
    pub(super) logs: RequestLogs,
    pub(super) openapi: DocumentsCache,
    /// The APIs of other servers.
    pub(super) aggregator: Arc<Aggregator>,
    /// The live page, if it is served.
    pub(super) page: Option<Page>,
    /// The controllers behind the requests.
    pub(super) controllers: ControllerManager,
    /// The simulated cluster, if there is one.
    pub(super) cluster: Option<Arc<dyn SimulatedCluster>>,
    pub(super) initial_state: InitialState,
    /// The file of the state, if there is one.
    pub(super) data: Option<DataFile>,
}

/// The initial state, which a reset restores.
#[derive(Debug)]
pub(super) struct InitialState {
    /// The version of Kubernetes with which the server begins.
    pub(super) kubernetes: KubernetesVersion,
    /// True if the server begins with the objects that every cluster has.
    pub(super) bootstraps: bool,
    /// The ranges of the addresses of services, if they were chosen. Those of a loaded state count otherwise.
    pub(super) services: Option<ServiceRange>,
    pub(super) snapshot: Option<(Snapshot, Restart)>,
    pub(super) objects: Vec<Manifest>,
}

/// Returns the releases by which the objects of a store may have been written, that of the server first.
fn releases(registry: &Registry, writers: &SharedVersionSet) -> Vec<String> {
    let own = registry.kubernetes();
    let others = writers.iter().filter(|version| *version != own);
    let releases = std::iter::once(own).chain(others);
    releases
        .map(|version| version.release().to_owned())
        .collect()
}

// === impl Server ===

impl Server {
    pub(super) fn backend(&self) -> &Arc<Backend> {
        &self.api.backend
    }

    /// Starts the tasks that work behind the requests, unless they run. It is to be called in a runtime.
    pub(super) fn start(&self) {
        let tasks = &self.api.tasks;
        self.controllers.start(self.backend(), tasks);
        self.aggregator.start(self.backend(), tasks);
        if let Some(cluster) = &self.cluster {
            Arc::clone(cluster).start(self.backend(), tasks);
        }
        if let Some(log) = &self.logs.trace {
            let following = trace::follow(log.clone(), self.api.faults.clone());
            let stop = tasks.stop_token().clone();
            tasks.spawn(async move {
                stop.run_until_cancelled(following).await;
            });
        }
    }

    /// Begins the trace, if there is one: what was made until now is not in it.
    pub(super) fn begin_trace(&self) {
        let Some(log) = &self.logs.trace else { return };
        let kubernetes = self.backend().registry().kubernetes();
        let backend = Arc::downgrade(self.backend());
        log.begin(
            kubernetes,
            Box::new(move |stored| {
                let backend = backend.upgrade();
                let found = backend.and_then(|backend| resource_type(&backend.registry(), stored));
                found
                    .map(|resource| (resource.kind.to_string(), resource.api_version()))
                    .unwrap_or_default()
            }),
        );
    }

    /// Resets the server to a new cluster. Time, uids and faults continue.
    pub(super) fn clear(&self) {
        let backend = self.backend();
        let services = self.initial_state.services.unwrap_or(ServiceRange::DEFAULT);
        backend.set_service_range(services);
        let kubernetes = self.initial_state.kubernetes;
        if self.initial_state.bootstraps {
            backend.reset(
                kubernetes,
                Some(&foundation(kubernetes, &backend.clock.now_text(), services)),
                |tx| {
                    // In the order of a real server: namespaces before accounts, which are in them.
                    bootstrap_namespaces(backend, tx);
                    if backend.awaits_accounts() {
                        bootstrap_accounts(backend, tx);
                    }
                    self.complete_initial_objects(tx);
                },
            );
        } else {
            backend.reset(kubernetes, None, |_| {});
        }
        self.reset_counts();
    }

    /// Restores the contents of `snapshot`: serves its definitions, and resumes the controllers.
    pub(super) fn restore(&self, snapshot: &Snapshot, restart: Restart) {
        write::restore(self.backend(), snapshot, restart);
        let is_own = self.add_writers(snapshot);
        let completed = self.adopt_service_range().and_then(|()| {
            if !self.initial_state.bootstraps {
                return Ok(());
            }
            // The state may come from a server without rules, or without versions that this one has.
            self.commit(|tx| {
                if is_own {
                    self.complete_initial_objects(tx);
                } else {
                    self.update_initial_objects(tx);
                }
            })
        });
        completed.expect("a snapshot is restored into a store without a log");
        if !is_own {
            let served = self.backend().registry().kubernetes();
            UnreadObjects::find(self.backend()).warn(snapshot.kubernetes_release(), served);
        }
        self.reset_counts();
        // Last: what was being deleted when the state was saved is deleted now, by the restored definitions.
        controllers::resume(self.backend());
    }

    /// Adds the versions that have written the objects of `snapshot`. Returns whether that is this one alone.
    fn add_writers(&self, snapshot: &Snapshot) -> bool {
        let backend = self.backend();
        for release in &snapshot.kubernetes {
            match KubernetesVersion::all().find(|version| version.release() == release) {
                Some(version) => backend.writers.insert(version),
                None => backend.writers.insert_unknown(),
            }
        }
        backend.writers.has_only(backend.registry().kubernetes())
    }

    /// Adds the initial objects that depend on the options of the server.
    fn complete_initial_objects(&self, tx: &mut Transaction<'_>) {
        if self.has_rules() {
            bootstrap_roles(self.backend(), tx);
        }
        bootstrap_optional_versions(self.backend(), tx, self.api.has_metrics);
    }

    /// Brings the initial objects up to date with the version that is served, if the server has any.
    pub(super) fn update_initial_objects(&self, tx: &mut Transaction<'_>) {
        if !self.initial_state.bootstraps {
            return;
        }
        update_initial_objects(self.backend(), tx, &self.api.registry());
        self.complete_initial_objects(tx);
    }

    /// Takes the ranges of services from a loaded state, unless they were chosen. A chosen second range is added to it.
    pub(super) fn adopt_service_range(&self) -> Result<(), LogError> {
        let backend = self.backend();
        let key = service_range_key();
        self.commit(|tx| {
            let stored = tx.get(&key).map(|stored| stored.to_value());
            let ranges = stored.as_ref().and_then(service_range_of);
            let chosen = self.initial_state.services;
            backend.set_service_range(chosen.or(ranges).unwrap_or(ServiceRange::DEFAULT));
            if let (Some(mut object), Some(ranges), Some(chosen)) = (stored, ranges, chosen)
                && ranges.ranges().eq(chosen.ranges().take(1))
                && ranges != chosen
            {
                let cidrs = chosen.ranges().map(|range| range.to_string());
                object["spec"]["cidrs"] = cidrs.collect();
                tx.put(&key, object);
            }
        })
    }

    /// Returns a snapshot of the whole store.
    pub(super) fn snapshot(&self) -> Snapshot {
        let backend = self.backend();
        let releases = || releases(&backend.registry(), &backend.writers);
        let (storage, clock, entropy) = (&backend.storage, &backend.clock, &backend.entropy);
        Snapshot::take(releases, storage, clock, entropy, || ()).0
    }

    /// Begins the log of the data file, if there is one. `read` is what was in the file.
    pub(super) fn begin_log(
        &self,
        sync: DataSync,
        read: Option<&Snapshot>,
    ) -> Result<(), SnapshotError> {
        let Some(data) = &self.data else {
            return Ok(());
        };
        let backend = self.backend();
        // Not the backend, which has the log.
        let (registry, writers) = (backend.shared_registry(), Arc::clone(&backend.writers));
        let source = StateSource {
            storage: Arc::clone(&backend.storage),
            clock: backend.clock,
            entropy: Arc::clone(&backend.entropy),
            releases: Box::new(move || releases(&registry(), &writers)),
            log: Arc::clone(data.log()),
        };
        data.begin_log(source, sync, read)
    }

    /// Returns the counts of the log, if there is one.
    pub(super) fn log_counts(&self) -> Option<LogCounts> {
        let backlog = self.backend().data_log()?.backlog()?;
        let durability = backlog.durability();
        let (syncs, refusals) = durability.counts();
        Some(LogCounts {
            revision: durability.durable().revision,
            queue_bytes: backlog.bytes(),
            syncs,
            refusals,
        })
    }

    /// Returns the counts of the server.
    pub(super) fn stats(&self) -> Stats {
        Stats {
            revision: self.backend().storage.revision().get(),
            watchers: self.backend().watchers.len(),
            unseen_changes: self.controllers.unseen_changes(),
            requests: self.api.tally.counts(),
            requests_forgotten: self.logs.requests.forgotten(),
        }
    }

    /// Returns the seats of each priority level, by its name. Only metrics report them; no request is queued.
    pub(super) fn seats(&self) -> Vec<(String, u64)> {
        let total = u64::try_from(self.in_flight.total()).unwrap_or(u64::MAX);
        nominal_seats(&self.backend().storage, total)
    }

    /// Returns whether requests are allowed by rules.
    fn has_rules(&self) -> bool {
        self.access.authorizer.mode() == Authorization::Rbac
    }

    pub(super) fn reset_counts(&self) {
        self.api.tally.reset();
        self.api.inert.reset();
        self.logs.requests.reset();
    }
}
