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

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde_json::Value;

use self::{
    cell::{Cells, named},
    columns::Columns,
};

/// Shows the objects of one resource as rows.
#[derive(Debug, Clone)]
pub(crate) struct Printer {
    columns: &'static Columns,
    cells: Option<CellsOf>,
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
    pub(crate) fn of(group: &str, version: &str, plural: &str) -> Self {
        Self {
            columns: columns::of(group, version, plural),
            cells: cells_of(group, plural),
        }
    }

    /// The definitions of the columns, as JSON.
    pub(crate) fn columns(&self) -> &str {
        &self.columns.json
    }

    /// The row of `object` at a time.
    pub(crate) fn row(&self, object: &Value, now: Timestamp) -> Row {
        let mut cells = match self.cells {
            Some(cells) => cells(object, now),
            None => Vec::new(),
        };
        // A type that tells nothing but its name and age needs no function of its own.
        for (name, kind) in self.columns.kinds.iter().skip(cells.len()) {
            cells.push(named(name, kind, object, now));
        }
        cells.truncate(self.columns.kinds.len());
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
