//! Workloads: small controllers that create pods, a scheduler that binds them, and kubelets that run them.
//!
//! ```text
//! Deployment ──► ReplicaSet ─┐
//! ReplicationController ─────┤
//! StatefulSet ───────────────┤
//! DaemonSet ─────────────────┼──► Pod ──► scheduler (node) ──► kubelet (phases, end)
//! CronJob ──► Job ───────────┘
//!
//! Service, and the pods that it selects ──► EndpointSlice, Endpoints
//! HorizontalPodAutoscaler, and the usage of pods ──► scale of a workload
//! PersistentVolumeClaim ◄──► PersistentVolume
//! Pod, and ResourceClaimTemplate ──► ResourceClaim ──► scheduler (devices of ResourceSlices)
//! Node ──► taints ──► evictions; pods of nodes that are gone go
//! ```
//!
//! The controllers follow the rules of the real ones as far as clients can see: counts, conditions, revisions, owners, names,
//! events. Each reconciles a key when one of its objects has changed, and finds its pods in the index.

mod stages;
mod options;
mod backoff;
mod objects;
mod volume_rules;
mod revisions;
mod selectors;
mod replica_failure;
mod deployment;
mod replica_set;
mod claim_retention;
mod stateful_set;
mod daemon_set;
mod job;
mod cron_job;
mod disruption;
mod autoscaler;
mod endpoints;
mod service_addresses;
mod service_cidrs;
mod volumes;
mod resource_claims;
mod node_addresses;
mod nodes;
mod system_pods;
mod node_lifecycle;
mod taint_eviction;
mod pod_gc;
mod scheduler;
mod kubelet;

use fakeserver_server::controllers::controller::Controller;

pub(crate) use self::objects::hash as template_hash;
use self::{
    autoscaler::Autoscalers,
    cron_job::CronJobs,
    daemon_set::DaemonSets,
    deployment::Deployments,
    disruption::Disruption,
    endpoints::ServiceEndpoints,
    job::Jobs,
    kubelet::Kubelet,
    node_lifecycle::NodeLifecycle,
    nodes::NodeRegistrar,
    pod_gc::PodGarbageCollector,
    replica_set::ReplicaSets,
    resource_claims::ResourceClaims,
    scheduler::Scheduler,
    service_addresses::ServiceAddresses,
    service_cidrs::ServiceCidrs,
    stages::ObjectStages,
    stateful_set::StatefulSets,
    system_pods::SystemPods,
    taint_eviction::TaintEviction,
    volumes::{EphemeralVolumes, Volumes},
};

use std::sync::Arc;

use crate::containers::Containers;

pub use self::{
    options::Workloads,
    stages::{Stage, StageError},
};

/// Returns the controllers of workloads, in the order in which they observe changes.
pub(crate) fn controllers(
    options: &Workloads,
    containers: &Arc<Containers>,
) -> Vec<Box<dyn Controller>> {
    let mut controllers: Vec<Box<dyn Controller>> = vec![
        Box::new(NodeRegistrar::new(options.clone())),
        Box::new(Deployments::default()),
        Box::new(ReplicaSets::new()),
        Box::new(ReplicaSets::of_replication_controllers()),
        Box::new(StatefulSets),
        Box::new(DaemonSets::default()),
        Box::new(Jobs::new(options)),
        Box::new(CronJobs::default()),
        Box::new(Disruption::default()),
        Box::new(Autoscalers::new(options.serves_metrics())),
        Box::new(ServiceEndpoints::default()),
        Box::new(ServiceAddresses::default()),
        Box::new(ServiceCidrs::default()),
        Box::new(Volumes::new(options)),
        Box::new(EphemeralVolumes),
        Box::new(ResourceClaims::default()),
        Box::new(NodeLifecycle::default()),
        Box::new(TaintEviction::default()),
        Box::new(PodGarbageCollector),
        Box::new(Scheduler::new(options.pods_per_node)),
        Box::new(Kubelet::new(options.clone(), Arc::clone(containers))),
        Box::new(ObjectStages::new(&options.stages)),
    ];
    if options.has_system_pods {
        controllers.push(Box::new(SystemPods::default()));
    }
    controllers
}
