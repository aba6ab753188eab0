//! Which checks the objects of which kind have to pass.

use serde_json::Value;

use super::{
    access, claim, cluster, data, endpoints, field::Field, findings::Findings, ingress, job,
    limit_range, pod, quota, service, volume, workload, workload_status,
};
use crate::{resource::ResourceType, status::FieldError};

/// Looks at a new object.
type Check = fn(&Field<'_>, &mut Findings);
/// Looks at an object and what it replaces.
type CheckUpdate = fn(&Field<'_>, &Field<'_>, &mut Findings);

/// The checks of one kind.
pub(super) struct Kind {
    pub(super) group: &'static str,
    pub(super) plural: &'static str,
    create: Check,
    update: CheckUpdate,
    /// What is looked at in an update through a subresource.
    subresources: &'static [(&'static str, CheckUpdate)],
}

/// Every kind with checks of its own.
pub(super) const KINDS: &[Kind] = &[
    Kind::new("", "pods", pod::check_create, pod::check_update).with(&[
        ("status", pod::check_status),
        ("ephemeralcontainers", pod::check_ephemeral_update),
        ("resize", pod::check_resize),
    ]),
    Kind::new(
        "",
        "replicationcontrollers",
        workload::check_replication_controller,
        workload::update_replication_controller,
    )
    .with(&[("status", workload_status::check_replica_set)]),
    Kind::new(
        "",
        "podtemplates",
        workload::check_pod_template,
        workload::update_pod_template,
    ),
    Kind::new(
        "apps",
        "deployments",
        workload::check_deployment,
        workload::update_deployment,
    )
    .with(&[("status", workload_status::check_deployment)]),
    Kind::new(
        "apps",
        "replicasets",
        workload::check_replica_set,
        workload::update_replica_set,
    )
    .with(&[("status", workload_status::check_replica_set)]),
    Kind::new(
        "apps",
        "statefulsets",
        workload::check_stateful_set,
        workload::update_stateful_set,
    )
    .with(&[("status", workload_status::check_stateful_set)]),
    Kind::new(
        "apps",
        "daemonsets",
        workload::check_daemon_set,
        workload::update_daemon_set,
    )
    .with(&[("status", workload_status::check_daemon_set)]),
    Kind::new("batch", "jobs", job::check, job::check_update)
        .with(&[("status", job::check_status)]),
    Kind::new(
        "batch",
        "cronjobs",
        job::check_cron_job,
        job::update_cron_job,
    ),
    Kind::new("", "services", service::check, service::check_update)
        .with(&[("status", service::check_status)]),
    Kind::new("", "endpoints", endpoints::check, endpoints::check_update),
    Kind::new(
        "discovery.k8s.io",
        "endpointslices",
        endpoints::check_slice,
        endpoints::update_slice,
    ),
    Kind::new(
        "networking.k8s.io",
        "ingresses",
        ingress::check,
        ingress::check_update,
    )
    .with(&[("status", ingress::check_status)]),
    Kind::new(
        "networking.k8s.io",
        "ingressclasses",
        ingress::check_class,
        ingress::update_class,
    ),
    Kind::new(
        "networking.k8s.io",
        "networkpolicies",
        ingress::check_policy,
        ingress::update_policy,
    ),
    Kind::new(
        "",
        "configmaps",
        data::check_config_map,
        data::update_config_map,
    ),
    Kind::new("", "secrets", data::check_secret, data::update_secret),
    Kind::new("", "serviceaccounts", nothing, nothing_changed),
    Kind::new("", "persistentvolumes", volume::check, volume::check_update),
    Kind::new(
        "",
        "persistentvolumeclaims",
        claim::check,
        claim::check_update,
    ),
    Kind::new(
        "storage.k8s.io",
        "storageclasses",
        volume::check_class,
        volume::update_class,
    ),
    Kind::new(
        "",
        "resourcequotas",
        quota::check_quota,
        quota::update_quota,
    )
    .with(&[("status", quota::check_quota_status)]),
    Kind::new("", "limitranges", limit_range::check, limit_range::update),
    Kind::new(
        "node.k8s.io",
        "runtimeclasses",
        quota::check_runtime_class,
        quota::update_runtime_class,
    ),
    Kind::new("", "nodes", cluster::check_node, cluster::update_node)
        .with(&[("status", cluster::update_node)]),
    Kind::new("", "namespaces", cluster::check_namespace, nothing_changed).with(&[
        ("status", cluster::check_namespace_status),
        ("finalize", cluster::finalize_namespace),
    ]),
    Kind::new("", "events", cluster::check_event, cluster::update_event),
    Kind::new(
        "events.k8s.io",
        "events",
        cluster::check_event,
        cluster::update_event,
    ),
    Kind::new(
        "coordination.k8s.io",
        "leases",
        cluster::check_lease,
        cluster::update_lease,
    ),
    Kind::new(
        "policy",
        "poddisruptionbudgets",
        cluster::check_budget,
        cluster::update_budget,
    )
    .with(&[("status", cluster::check_budget_status)]),
    Kind::new(
        "autoscaling",
        "horizontalpodautoscalers",
        cluster::check_autoscaler,
        cluster::update_autoscaler,
    ),
    Kind::new(
        "scheduling.k8s.io",
        "priorityclasses",
        cluster::check_priority,
        cluster::update_priority,
    ),
    Kind::new(
        "rbac.authorization.k8s.io",
        "roles",
        access::check_role,
        access::update_role,
    ),
    Kind::new(
        "rbac.authorization.k8s.io",
        "clusterroles",
        access::check_cluster_role,
        access::update_cluster_role,
    ),
    Kind::new(
        "rbac.authorization.k8s.io",
        "rolebindings",
        access::check_binding,
        access::update_binding,
    ),
    Kind::new(
        "rbac.authorization.k8s.io",
        "clusterrolebindings",
        access::check_cluster_binding,
        access::update_cluster_binding,
    ),
];

/// What is wrong with an object of a built-in kind, apart from its metadata; `old` is what it replaces.
pub(crate) fn kind_errors(
    resource: &ResourceType,
    subresource: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<FieldError> {
    errors_of(
        (&resource.group, &resource.plural),
        subresource,
        object,
        old,
    )
}

/// The same of a kind by its group and plural.
pub(super) fn errors_of(
    named: (&str, &str),
    subresource: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<FieldError> {
    let kind = KINDS.iter().find(|kind| (kind.group, kind.plural) == named);
    let Some(kind) = kind else {
        return Vec::new();
    };
    let mut found = Findings::default();
    let object = Field::root(object);
    match old.map(Field::root) {
        None => (kind.create)(&object, &mut found),
        // A scale is written into the object, which has to be acceptable as a whole.
        Some(old) if matches!(subresource, "" | "scale") => {
            (kind.update)(&old, &object, &mut found);
        }
        Some(old) => {
            let own = kind.subresources.iter();
            if let Some((_, check)) = own.into_iter().find(|(name, _)| *name == subresource) {
                check(&old, &object, &mut found);
            }
        }
    }
    found.into_errors()
}

/// Metadata is all that is checked.
fn nothing(_object: &Field<'_>, _found: &mut Findings) {}

/// Metadata is all that is checked.
fn nothing_changed(_old: &Field<'_>, _new: &Field<'_>, _found: &mut Findings) {}

// === impl Kind ===

impl Kind {
    const fn new(
        group: &'static str,
        plural: &'static str,
        create: Check,
        update: CheckUpdate,
    ) -> Self {
        Self {
            group,
            plural,
            create,
            update,
            subresources: &[],
        }
    }

    const fn with(self, subresources: &'static [(&'static str, CheckUpdate)]) -> Self {
        Self {
            subresources,
            ..self
        }
    }
}
