//! What `kubectl get` shows of an object: the columns of its resource, and a cell for each.
//!
//! The columns are those of a real server. The cells say what a real server's say, by functions from the object and the
//! time to values, one for each resource that has more to tell than its name and age.

mod age;
mod columns;
mod cell;
mod pods;
mod workloads;
mod cluster;
mod networking;
mod storage;
mod policy;
mod custom;

#[cfg(test)]
mod tests;

use std::{borrow::Cow, sync::Arc};

use jiff::Timestamp;
use serde_json::Value;

use self::{
    cell::{Cells, named},
    columns::Columns,
};
use crate::{custom_resources::CustomType, resource::ResourceType};

/// Shows the objects of one resource as rows.
#[derive(Debug, Clone)]
pub(crate) struct Printer {
    /// The definitions of the columns, as JSON.
    columns: Cow<'static, str>,
    source: Source,
}

/// Where the cells come from.
#[derive(Debug, Clone)]
enum Source {
    Builtin {
        columns: &'static Columns,
        cells: Option<CellsOf>,
    },
    Custom(Arc<CustomType>),
}

/// The cells of an object at a time.
type CellsOf = fn(&Value, Timestamp) -> Cells;

/// What is shown of one object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// As many as there are columns.
    pub(crate) cells: Cells,
    /// What a client may want to know of the row: that the object has ended.
    pub(crate) conditions: Option<Value>,
}

// === impl Printer ===

impl Printer {
    /// How a version of a resource is shown.
    pub(crate) fn of(resource: &ResourceType) -> Self {
        if let Some(custom) = &resource.custom {
            return Self {
                columns: custom::columns(custom.columns()).into(),
                source: Source::Custom(Arc::clone(custom)),
            };
        }
        let columns = columns::of(&resource.group, &resource.version, &resource.plural);
        Self {
            columns: columns.json.as_str().into(),
            source: Source::Builtin {
                columns,
                cells: cells_of(&resource.group, &resource.plural),
            },
        }
    }

    /// The definitions of the columns, as JSON.
    pub(crate) fn columns(&self) -> &str {
        &self.columns
    }

    /// The row of `object` at a time.
    pub(crate) fn row(&self, object: &Value, now: Timestamp) -> Row {
        let (columns, cells) = match &self.source {
            Source::Builtin { columns, cells } => (columns, cells),
            Source::Custom(custom) => {
                return Row {
                    cells: custom::cells(custom.columns(), object, now),
                    conditions: None,
                };
            }
        };
        let mut cells = match cells {
            Some(cells) => cells(object, now),
            None => Vec::new(),
        };
        // A type that tells nothing but its name and age needs no function of its own.
        for (name, kind) in columns.kinds.iter().skip(cells.len()) {
            cells.push(named(name, kind, object, now));
        }
        cells.truncate(columns.kinds.len());
        let conditions = match object["kind"].as_str() {
            Some("Pod") => pods::conditions(object),
            _ => None,
        };
        Row { cells, conditions }
    }
}

fn cells_of(group: &str, plural: &str) -> Option<CellsOf> {
    Some(match (group, plural) {
        ("", "pods") => pods::cells,
        ("apps", "deployments") => workloads::deployment,
        ("apps", "replicasets") | ("", "replicationcontrollers") => workloads::replica_set,
        ("apps", "statefulsets") => workloads::stateful_set,
        ("apps", "daemonsets") => workloads::daemon_set,
        ("apps", "controllerrevisions") => workloads::controller_revision,
        ("batch", "jobs") => workloads::job,
        ("batch", "cronjobs") => workloads::cron_job,
        ("autoscaling", "horizontalpodautoscalers") => workloads::autoscaler,
        ("", "podtemplates") => workloads::pod_template,
        ("", "nodes") => cluster::node,
        ("", "namespaces") => cluster::namespace,
        ("", "configmaps") => cluster::config_map,
        ("", "secrets") => cluster::secret,
        ("" | "events.k8s.io", "events") => cluster::event,
        ("", "resourcequotas") => cluster::resource_quota,
        ("coordination.k8s.io", "leases") => cluster::lease,
        ("", "services") => networking::service,
        ("", "endpoints") => networking::endpoints,
        ("discovery.k8s.io", "endpointslices") => networking::endpoint_slice,
        ("networking.k8s.io", "ingresses") => networking::ingress,
        ("networking.k8s.io", "ingressclasses") => networking::ingress_class,
        ("networking.k8s.io", "networkpolicies") => networking::network_policy,
        ("", "persistentvolumes") => storage::volume,
        ("", "persistentvolumeclaims") => storage::claim,
        ("storage.k8s.io", "storageclasses") => storage::class,
        ("storage.k8s.io", "volumeattachments") => storage::attachment,
        ("storage.k8s.io", "csinodes") => storage::csi_node,
        ("policy", "poddisruptionbudgets") => policy::disruption_budget,
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => policy::binding,
        ("scheduling.k8s.io", "priorityclasses") => policy::priority_class,
        ("node.k8s.io", "runtimeclasses") => policy::runtime_class,
        ("certificates.k8s.io", "certificatesigningrequests") => policy::signing_request,
        ("apiregistration.k8s.io", "apiservices") => policy::api_service,
        _ => return None,
    })
}
