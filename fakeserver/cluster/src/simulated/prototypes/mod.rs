//! Prototypes: one object of each kind, written as its real writers would, with placeholders; then cut into a stencil.

mod draft;
mod template;
mod pod;
mod node;
mod workload;
mod service;
mod data;

use fakeserver_kinds::{core::service::range::ServiceRange, registry::Registry};
use fakeserver_server::store::Stencil;

pub(super) use self::{
    service::{ENDPOINTS_PER_SLICE, SliceStencil},
    template::Profile,
};

/// The phase of a pod's life, as far as it shows in the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PodPhase {
    /// The pod has no node yet.
    Pending,
    /// The pod has a node, and does not run yet.
    Scheduled,
    Running,
    /// The container has crashed, and restarts soon.
    Crashed,
    /// The pod is being deleted.
    Terminating,
    Succeeded,
    /// Its node is not heard of any more.
    Lost,
}

/// The prototypes of all objects of a cluster.
#[derive(Debug)]
pub(super) struct Prototypes {
    pub(super) namespace: Stencil,
    pub(super) service_account: Stencil,
    pub(super) root_certificate: Stencil,
    pub(super) config_map: Stencil,
    pub(super) secret: Stencil,
    pub(super) node: Stencil,
    pub(super) lost_node: Stencil,
    pub(super) lease: Stencil,
    pub(super) service: Stencil,
    pub(super) slice: SliceStencil,
    pub(super) daemon_set: Stencil,
    pub(super) cron_job: Stencil,
    pub(super) running_job: Stencil,
    pub(super) finished_job: Stencil,
    pub(super) event: Stencil,
    /// By profile.
    deployments: Vec<Stencil>,
    replica_sets: Vec<Stencil>,
    /// By profile, then by phase.
    pods: Vec<Vec<Stencil>>,
}

// === impl Prototypes ===

impl Prototypes {
    pub(super) fn new(registry: &Registry, services: ServiceRange) -> Self {
        let cut = |draft: draft::Draft<'_>| draft.stencil();
        let primary = services.primary().family();
        let is_dual = services.families().count() == 2;
        let services = Profile::ALL.iter().filter(|profile| profile.is_service());
        Self {
            namespace: cut(data::namespace(registry)),
            service_account: cut(data::service_account(registry)),
            root_certificate: cut(data::root_certificate(registry)),
            config_map: cut(data::config_map(registry)),
            secret: cut(data::secret(registry)),
            node: cut(node::ready(registry, is_dual)),
            lost_node: cut(node::lost(registry, is_dual)),
            lease: cut(node::lease(registry)),
            service: cut(service::service(registry, primary)),
            slice: service::slice(registry, primary),
            daemon_set: cut(workload::daemon_set(registry)),
            cron_job: cut(workload::cron_job(registry)),
            running_job: cut(workload::running_job(registry)),
            finished_job: cut(workload::finished_job(registry)),
            event: cut(data::event(registry)),
            deployments: services
                .clone()
                .map(|profile| cut(workload::deployment(registry, *profile)))
                .collect(),
            replica_sets: services
                .map(|profile| cut(workload::replica_set(registry, *profile)))
                .collect(),
            pods: Profile::ALL
                .iter()
                .map(|profile| {
                    let phases = PodPhase::ALL.iter();
                    phases
                        .map(|phase| cut(pod::pod(registry, *profile, *phase, is_dual)))
                        .collect()
                })
                .collect(),
        }
    }

    pub(super) fn deployment(&self, profile: Profile) -> &Stencil {
        &self.deployments[profile as usize]
    }

    pub(super) fn replica_set(&self, profile: Profile) -> &Stencil {
        &self.replica_sets[profile as usize]
    }

    pub(super) fn pod(&self, profile: Profile, phase: PodPhase) -> &Stencil {
        &self.pods[profile as usize][phase as usize]
    }
}

// === impl PodPhase ===

impl PodPhase {
    /// In the order of their numbers.
    const ALL: [Self; 7] = [
        Self::Pending,
        Self::Scheduled,
        Self::Running,
        Self::Crashed,
        Self::Terminating,
        Self::Succeeded,
        Self::Lost,
    ];
}
